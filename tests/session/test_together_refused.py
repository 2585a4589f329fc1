"""What cannot be answered together is refused in words, before anything is spent."""

import warnings
from contextlib import nullcontext, suppress

import pyarrow as pa
import pytest
from joint_people import CUBE, OPTIONS, SUMS, TREE, session

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter, InvalidQuery
from discreet.tables import Column, Values
from discreet.tables.query import Query


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT sex, user, COUNT(*) AS n FROM people GROUP BY CUBE (sex, user)", "values of user"),
        ("SELECT sex, city, AVG(age) AS n FROM people GROUP BY CUBE (sex, city)", "counted"),
        ("SELECT sex, city, COUNT(*) AS n, COUNT(*) AS m FROM people GROUP BY CUBE (sex, city)", "counted"),
        (
            "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex), ())",
            "Add it to GROUP BY",
        ),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = 'x') sex, COUNT(*) AS n FROM people GROUP BY sex",
            "prefixes",
        ),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'x') sex, COUNT(*) AS n FROM people GROUP BY sex",
            "method",
        ),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(exact = 'x') sex, COUNT(*) AS n FROM people GROUP BY sex",
            "hierarchy",
        ),
        (OPTIONS.format("method = 1", "sex"), "quotes"),
        (OPTIONS.format("method = 'hierarchy'", "CUBE (sex)"), "levels in front"),
        (TREE.format(", shares = '1 1; 1 1'"), "shares have a row"),
        (TREE.format(", exact = 'sex'"), "no level"),
        (TREE.format(", rules = 'age > 3'"), "age|column"),
        (TREE.format(", rules = 'sex'"), "no condition"),
        (TREE.format(", rules = 'sex = 1'"), "another type"),
        (TREE.format(", rules = 'sex IN (''f'', 3)'"), "type"),
        (TREE.format(", rules = 'LOWER(sex) = ''f'' '"), "compares keys"),
        (TREE.format(", rules = 'sex LIKE ''f%'' '"), "compares keys"),
        (TREE.format(", rules = 'sex = ''f'' GROUP BY sex'"), "rule|SELECT|column"),
        ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex WITH ROLLUP", "ROLLUP"),
    ],
)
def test_what_cannot_be_answered_together_is_refused(sql, words):
    with session(unit=dp.Row(relation="replace_one"), exact=[sql]) as own, pytest.raises(DiscreetError, match=words):
        own.preview(sql, epsilon=1)


def test_a_missing_key_needs_a_name():
    with session() as own:
        query = Query("people").group_by("sex", "city", keys={"sex": ["f", None]}).agg(n=dp.count())
        with pytest.raises(InvalidParameter, match="nulls: unknown"):
            own.preview(query.margins(("sex",), ("city",)), epsilon=1)


def test_named_nulls_are_a_value():
    data = pa.table({"sex": ["f", None, "m", None], "city": ["Oslo"] * 4})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = dp.Session(
            data,
            name="people",
            schema={"sex": Column("str", values=("f", "m", "unknown"), nulls="unknown"), "city": Values(["Oslo"])},
            unit=dp.Row(),
            budget=dp.Budget(1000, 1e-6),
        )
    with own:
        answer = own.release("SELECT sex, city, COUNT(*) AS n FROM people GROUP BY CUBE (sex, city)", epsilon=500)
        assert round(answer.row(sex="unknown", city=None)["n"]) == 2


def test_builders_refuse_what_is_not_there():
    query = Query("people").group_by("sex", "city").agg(n=dp.count())
    for wrong in (
        lambda: query.margins("sex"),
        lambda: query.margins(("age",)),
        lambda: query.margins(("sex",)),
        lambda: query.margins(),
        lambda: query.margins(order=3),
        lambda: query.ranges("all"),
        lambda: query.hierarchy([], tables=[()]),
        lambda: query.hierarchy(["city"], tables=[("city",)]),
        lambda: query.hierarchy(["city"], tables=[()], exact={"sex": ()}),
        lambda: query.hierarchy(["city"], tables=[("sex",), ("sex",)]),
        lambda: query.hierarchy(["city"], tables=[()], rules={"r": True}),
        lambda: query.hierarchy(["city"], tables=[()], shares=[[1]]),
        lambda: query.hierarchy(["city"], tables=[()], shares=[[1], [-1]]),
    ):
        with pytest.raises(InvalidParameter):
            wrong()


def test_too_much_is_refused_before_anything_is_spent():
    with session(delta=0) as own:
        wide = own.query.group_by("sex", "city", "state", keys={"city": range(3000), "state": range(3000)})
        with pytest.raises(DiscreetError):
            own.preview(wide.agg(n=dp.count()).margins(("sex",), ("city",), ("state",)), epsilon=1)
        assert own.spent == 0


def test_the_text_of_a_query_may_not_smuggle_options():
    with session() as own, pytest.raises(InvalidQuery):
        own.preview("SELECT sex, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex), GROUPING SETS ()", epsilon=1)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-6, 1e6])
def test_extreme_epsilons_are_answered_or_refused_in_words(epsilon):
    for delta in (0, 1e-6):
        with session(delta=delta, epsilon=10**7) as own:
            for sql in (CUBE, SUMS.format("ranges")):
                with nullcontext() if epsilon > 1e-100 else suppress(DiscreetError):
                    assert own.preview(sql, epsilon=epsilon)["n"].error > 0
