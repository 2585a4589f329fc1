"""HAVING, ORDER BY and LIMIT: they look at released values alone, and cost nothing."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter

CITIES = ["a", "b", "c", "d"]
SIZES = {"a": 400, "b": 100, "c": 300, "d": 0}
DATA = pa.table({"city": [city for city, size in SIZES.items() for _ in range(size)]})


@pytest.fixture
def session():
    return dp.Session(DATA, name="t", schema={"city": dp.Values(CITIES)}, unit=dp.Row(), budget=dp.Budget(1e6))


def shown(session, query):
    return session.release(query, epsilon=100).keys["city"]


def counts(session):
    return session.query.group_by("city").agg(n=dp.count())


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (dp.col("n") > 200, ("a", "c")),
        ((dp.col("n") > 200) & (dp.col("city") != "a"), ("c",)),
        ((dp.col("n") < 50) | (dp.col("city") == "a"), ("a", "d")),
        (~(dp.col("n") > 200), ("b", "d")),
        (dp.col("city").isin(["b", "z"]), ("b",)),
        (dp.col("n").is_null(), ()),
        (dp.col("n_low") >= 350, ("a",)),
        (dp.col("n") == "text", ()),
        (dp.col("n") > "text", ()),
        (dp.col("n").between(90, 310), ("b", "c")),
    ],
)
def test_having_keeps_groups_by_released_values(session, condition, kept):
    assert shown(session, counts(session).having(condition)) == kept


def test_order_and_limit(session):
    assert shown(session, counts(session).order_by("n", descending=True)) == ("a", "c", "b", "d")
    assert shown(session, counts(session).order_by("n").limit(2)) == ("d", "b")
    assert shown(session, counts(session).order_by("city", descending=True).limit(1)) == ("d",)
    assert shown(session, counts(session).limit(0)) == ()
    sql = "SELECT city, COUNT(*) AS n FROM t GROUP BY city HAVING n > 50 ORDER BY n DESC LIMIT 2"
    assert shown(session, sql) == ("a", "c")


def test_what_comes_after_costs_nothing(session):
    losses = {
        repr(session.preview(query, epsilon=1).loss)
        for query in (
            counts(session),
            counts(session).having(dp.col("n") > 3),
            counts(session).order_by("n").limit(1),
        )
    }
    assert len(losses) == 1


@pytest.mark.parametrize(
    "build",
    [
        lambda q: q.order_by("size"),
        lambda q: q.having(dp.col("size") > 1),
        lambda q: q.having(dp.col("n") + 1 > 3),
        lambda q: q.having(dp.col("city").lower() == "a"),
        lambda q: q.having((dp.col("n") > 1) & dp.col("hidden").is_null()),
    ],
)
def test_what_is_not_released_is_refused_before_anything_is_spent(session, build):
    with pytest.raises(InvalidParameter, match=r"HAVING|ORDER BY"):
        session.release(build(counts(session)), epsilon=1)
    assert session.spent == 0
