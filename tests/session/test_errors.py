"""Errors of a session: each says what to write, and none holds a value from the data."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter, UnboundedSensitivity

SECRET = "4711"
DATA = pa.table({"user": [1, 2], "city": [SECRET, "b"], "x": [4711.0, 2.0], "n": [4711, 2]})
UNIT = dp.Person("user", groups=2, rows=2)


def opened(schema=None, unit=UNIT, budget=None, **settings):
    return dp.Session(DATA, name="t", schema=schema or {}, unit=unit, budget=budget or dp.Budget(1, 1e-6), **settings)


MISSING = {
    "unit": (lambda: opened(unit=None), "unit=dp.Person"),
    "budget": (lambda: dp.Session(DATA, name="t", unit=UNIT), "budget=dp.Budget"),
    "column of persons": (lambda: opened(unit=dp.Person("who", groups=1, rows=1)), "no column 'who'"),
    "position of persons": (lambda: opened(unit=dp.Person(0, groups=1, rows=1)), "named by a column"),
    "bounds of a column": (lambda: opened().preview("SELECT SUM(x) AS s FROM t"), "min: 0, max: 500"),
    "bounds of an expression": (
        lambda: (s := opened()).preview(s.query.agg(a=dp.mean(dp.col("x") * 2))),
        r"clip\(0, 500\)",
    ),
    "rows": (lambda: opened(unit=dp.Person("user", groups=1)).preview("SELECT COUNT(*) AS n FROM t"), "rows=5"),
    "groups": (
        lambda: opened(unit=dp.Person("user", rows=1)).preview("SELECT city, COUNT(*) AS n FROM t GROUP BY city"),
        "groups=3",
    ),
    "delta": (
        lambda: opened(budget=dp.Budget(1)).preview("SELECT city, COUNT(*) AS n FROM t GROUP BY city"),
        "schema: values",
    ),
    "values": (lambda: (s := opened()).preview(s.query.agg(a=dp.top_k("city", 1))), "values: "),
    "aggregates": (lambda: (s := opened()).preview(s.query.group_by("city")), "agg"),
    "table": (lambda: opened().table("u"), "There are: t"),
    "column": (lambda: (s := opened()).preview(s.query.agg(a=dp.sum("z"))), "There are: city, n, user, x"),
    "query": (lambda: opened().preview(7), "SQL or built from session.query"),
    "key of decimals": (lambda: (s := opened()).preview(s.query.group_by("x").agg(n=dp.count())), r"\.bin\("),
    "schema": (lambda: opened({"z": "int"}), "has only"),
    "data": (lambda: dp.Session([1, 2], unit=UNIT, budget=dp.Budget(1)), "a table is a path"),
    "file": (lambda: dp.Session("nowhere.parquet", unit=UNIT, budget=dp.Budget(1)), "no file"),
    "ending": (lambda: dp.Session("visits.xlsx", unit=UNIT, budget=dp.Budget(1)), "Parquet, CSV or JSON"),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing_is_named_with_what_to_write(name):
    build, hint = MISSING[name]
    with pytest.raises(InvalidParameter, match=hint) as caught:
        build()
    assert SECRET not in str(caught.value)
    assert isinstance(caught.value, DiscreetError)


def test_missing_bounds_have_their_own_error():
    with pytest.raises(UnboundedSensitivity):
        opened().preview("SELECT SUM(x) AS s FROM t")


@pytest.mark.parametrize(
    "schema",
    [
        {"user": dp.Bounds(0, 1)},
        {"user": dp.Column("int", nulls=0)},
        {"user": "float"},
        {"user": "bool"},
    ],
)
def test_a_key_that_would_make_two_persons_one_is_refused(schema):
    """Bounded by somebody else's rows, a person could move twice as many groups as are paid for."""
    with pytest.raises(InvalidParameter):
        opened(schema).preview("SELECT COUNT(*) AS n FROM t")


@pytest.mark.parametrize("kind", [pa.uint64(), pa.float64(), pa.decimal128(20, 0)])
def test_keys_of_more_than_64_bits_are_refused(kind):
    """Read as whole numbers, all beyond 2^53 would be one person."""
    data = pa.table({"user": pa.array([2**52, 2**52 + 2], pa.int64()).cast(kind), "x": [1.0, 2.0]})
    for schema in ({}, {"user": "int"}):
        session = dp.Session(data, name="t", schema=schema, unit=UNIT, budget=dp.Budget(1))
        with pytest.raises(InvalidParameter, match="persons"):
            session.preview("SELECT COUNT(*) AS n FROM t")


def test_no_repr_of_a_session_holds_data():
    session = opened({"x": dp.Bounds(0, 1)})
    shown = [
        repr(session),
        session._repr_html_(),
        repr(session.query),
        repr(session.preview("SELECT COUNT(*) AS n FROM t")),
    ]
    assert not any(SECRET in text for text in shown)
