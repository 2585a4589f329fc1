"""A column that is computed anew must not keep the bounds of the old one.

Bounds were looked up by the name of a column. A query that clamped salary to (0, 1) and then called a thousand times
salary by the same name was charged for the clamped one: a sensitivity of 1 for values up to a million.

Defence: bounds belong to an expression and follow from its parts by interval arithmetic; a new expression has its own,
or none at all, and then it cannot be added up.
Source: OpenDP issue 2949.
"""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import UnboundedSensitivity

DATA = pa.table({"x": [0.5, 1.0, 1e6, -1e6], "z": ["1", "1000000", "", None]})
X, Z = dp.col("x"), dp.col("z")


def opened():
    return dp.Session(DATA, name="t", schema={"x": dp.Bounds(0, 1)}, unit=dp.Row(), budget=dp.Budget(1))


def kept(reach_of, rewrite):
    """Tell whether the promised reach covers the largest value that the engine computes for one row."""
    session = opened()
    query = rewrite(session.query).agg(s=dp.sum("x"))
    plan = session.planned(query, epsilon=1)
    (measure,) = plan.measures.values()
    rows = session._tables.engine.run(plan.rows._rows([measure])).to_pylist()
    largest = max(abs(int(row[measure.name] or 0)) for row in rows)
    return largest * measure.step <= reach_of(plan, measure)


def promised(plan, measure):
    return plan.noise[measure.name].reach.first * measure.step


REWRITES = {
    "not at all": lambda q: q,
    "a thousand times": lambda q: q.with_columns(x=X * 1000),
    "twice": lambda q: q.with_columns(x=X * 1000).with_columns(x=dp.col("x") * 1000),
    "clipped wider": lambda q: q.with_columns(x=(X * 1000).clip(0, 500)),
    "clipped, then more": lambda q: q.with_columns(x=X.clip(0, 0.5)).with_columns(x=dp.col("x") + 900),
    "another column": lambda q: q.with_columns(x=Z.cast("float").clip(0, 1e6)),
    "a choice": lambda q: q.with_columns(x=dp.when(X > 0.7, 5000).otherwise(X)),
    "filled": lambda q: q.with_columns(x=Z.cast("float").clip(0, 10).fill(-700)),
    "a quotient": lambda q: q.with_columns(x=1000 / (X + 1)),
}


@pytest.mark.parametrize("name", REWRITES)
def test_the_bounds_are_those_of_what_is_added_up(name):
    assert kept(promised, REWRITES[name])


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda q: q.with_columns(x=Z.cast("float")),
        lambda q: q.with_columns(x=Z.length()),
        lambda q: q.with_columns(x=1 / X),
        lambda q: q.with_columns(x=X.fill(Z.cast("int"))),
    ],
)
def test_what_has_no_bounds_is_refused_whatever_it_is_called(rewrite):
    session = opened()
    with pytest.raises(UnboundedSensitivity):
        session.preview(rewrite(session.query).agg(s=dp.sum("x")))


def test_the_same_in_sql():
    session = opened()
    inner = "SELECT x * 1000 AS x FROM t"
    forecast = session.preview(f"SELECT SUM(x) AS s FROM ({inner}) AS u", epsilon=0.5)
    assert forecast["s"].error > 100 * session.preview("SELECT SUM(x) AS s FROM t", epsilon=0.5)["s"].error


def test_the_check_catches_bounds_that_are_looked_up_by_name():
    by_name = {"x": 1}
    assert kept(lambda *_: by_name["x"], REWRITES["not at all"])
    assert not any(kept(lambda *_: by_name["x"], REWRITES[name]) for name in list(REWRITES)[1:])
