"""Expressions: descriptions that say exactly what they are, and bounds that no rewriting outlives."""

from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidParameter, InvalidQuery, UnboundedSensitivity
from discreet.tables.expressions import Call, Expression, Name
from discreet.tables.query import Query

A, B = dp.col("a"), dp.col("b")

LEAVES = st.sampled_from([A, B, A + 2, -2 * B, B - 0.5])
BOOLEANS = st.sampled_from([A > 1, B.is_null(), A.isin([1, 2])])


def grown(children):
    return st.one_of(
        st.tuples(children, children).map(lambda p: p[0] + p[1]),
        st.tuples(children, children).map(lambda p: p[0] - p[1]),
        st.tuples(children, children).map(lambda p: p[0] * p[1]),
        st.tuples(children, children).map(lambda p: p[0] / p[1]),
        children.map(lambda x: -x),
        children.map(abs),
        children.map(lambda x: x.clip(-1, 1)),
        children.map(lambda x: x.round()),
        st.tuples(children, children).map(lambda p: p[0].fill(p[1])),
        st.tuples(BOOLEANS, children, children).map(lambda p: dp.when(~p[0], p[1]).otherwise(p[2])),
        st.tuples(children, children).map(lambda p: dp.when(~(p[0].is_null() | (p[1] > 1)), p[0]).otherwise(p[1])),
    )


NUMBERS = st.recursive(LEAVES, grown, max_leaves=6)


def same(a, b):
    """Tell whether two expressions are built alike."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Call):
        parts = zip(a.arguments, b.arguments, strict=True)
        return (
            a.function == b.function
            and len(a.arguments) == len(b.arguments)
            and a.options == b.options
            and all(same(x, y) for x, y in parts)
        )
    return (a.name, a.table) == (b.name, b.table) if isinstance(a, Name) else (a.value, a.kind) == (b.value, b.kind)


@given(NUMBERS)
def test_a_repr_is_the_python_that_makes_it(value):
    again = eval(repr(value), {"col": dp.col, "when": dp.when})
    assert same(again, value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((-A).clip(0, 5), -(A.clip(0, 5))),
        ((~(A > 1)).is_null(), ~((A > 1).is_null())),
        (-(A + B), (-A) + B),
        ((A - B) - 1, A - (B - 1)),
        (dp.lit("1"), dp.lit(1)),
        (dp.lit(1.0), dp.lit(1)),
        (dp.lit(True), dp.lit(1)),
        (dp.col("t.a"), A),
    ],
)
def test_different_expressions_look_different(one, other):
    assert repr(one) != repr(other)
    assert hash(one) != hash(other)


def test_measures_are_shared_by_equal_expressions_only():
    """Columns share what they both need; two that merely look alike would share a wrong number."""
    data = pa.table({"a": [1, 2, 3, -4]})
    session = dp.Session(data, name="t", schema={"a": dp.Bounds(-10, 10)}, unit=dp.Row(), budget=dp.Budget(1e9))
    query = session.query.agg(one=dp.count_distinct((-A).clip(0, 5)), other=dp.count_distinct(-(A.clip(0, 5))))
    answer = session.release(query, epsilon=1e6)
    assert (answer["one"].tolist(), answer["other"].tolist()) == ([2], [4])


@pytest.mark.parametrize("test", [lambda: bool(A > 1), lambda: A in [B], lambda: 1 < A < 3, lambda: not A])
def test_an_expression_is_never_true_by_itself(test):
    with pytest.raises(InvalidParameter, match="write & for and"):
        test()


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, b"x", 1j])
def test_other_values_are_refused(value):
    with pytest.raises(InvalidParameter):
        A + value


@pytest.mark.parametrize("value", [float("nan"), "a\x00b"])
def test_constants_that_engines_read_differently_are_refused(value):
    with pytest.raises(InvalidParameter):
        dp.lit(value)


@pytest.mark.parametrize("name", ["", None, 3, b"a"])
def test_columns_are_named_by_texts(name):
    with pytest.raises(InvalidParameter):
        dp.col(name)


def test_a_choice_must_be_completed():
    with pytest.raises(InvalidParameter, match="otherwise"):
        A + dp.when(A > 1, 2)


# Bounds.

SCHEMA = {"a": dp.Bounds(-3, 7), "b": dp.Bounds(1, 2), "n": dp.Bounds(0, 100)}
DATA = pa.table(
    {
        "a": [-3.0, 7.0, 0.0, None, 2.5, float("nan"), 1e300],
        "b": [1.0, 2.0, 1.5, 1.0, None, 1.25, -1e300],
        "n": pa.array([0, 100, 3, None, 2**62, -(2**63), 50]),
        "z": ["1", "", None, "1e99", "x", "-4", "7"],
        "d": [date(2024, 1, 1)] * 7,
    }
)


def typed(value):
    session = dp.Session(DATA, name="t", schema=SCHEMA, unit=dp.Row(), budget=dp.Budget(1), threads=1)
    plan = session.planned(session.query.agg(n=dp.count()), epsilon=1)
    return session, plan.rows, plan.rows.scope.resolve(value)


@given(st.data())
def test_values_lie_where_their_bounds_say(data):
    """Whatever is computed, the engine's values lie in the interval that the sensitivity is made of."""
    leaves = st.sampled_from([A, B, dp.col("n"), dp.lit(3), dp.lit(-0.25)])
    value = data.draw(st.recursive(leaves, grown, max_leaves=5))
    session, rows, found = typed(value)
    sql = rows._staged({"v": found}, [])
    for row in session._tables.engine.run(sql).to_pylist():
        if row["v"] is not None:
            assert found.interval.low <= Fraction(row["v"]) <= found.interval.high
        else:
            assert found.nullable
    session.close()


UNBOUNDED = [
    dp.col("z").cast("float"),
    dp.col("z").cast("int"),
    dp.col("z").length(),
    A / (B - 1.5),
    A.fill(dp.col("z").cast("float")),
    dp.when(A > 1, A).otherwise(dp.col("z").cast("float")),
]


@pytest.mark.parametrize("value", UNBOUNDED)
def test_what_has_no_bounds_cannot_be_added_up(value):
    session, *_ = typed(A)
    for make in (dp.sum, dp.mean, dp.variance, dp.min, dp.max, dp.median):
        with pytest.raises(UnboundedSensitivity, match="clip"):
            session.preview(session.query.agg(x=make(value)))
        session.preview(session.query.agg(x=make(value.clip(0, 9))))


@pytest.mark.parametrize("value", [dp.col("z"), dp.col("d"), A > 1])
def test_what_is_no_number_cannot_be_added_up(value):
    session, *_ = typed(A)
    with pytest.raises(InvalidParameter, match="a number is needed"):
        session.preview(session.query.agg(x=dp.sum(value)))


def test_every_method_returns_an_expression():
    for made in (A + 1, 1 + A, A - 1, 1 - A, A * 2, 2 * A, A / 2, 2 / A, A.between(0, 1), A.isin([1]), ~(A > 1)):
        assert isinstance(made, Expression)


def test_an_expression_that_doubles_is_refused_before_it_fills_memory():
    """What it would take to count or to show its parts grows with its length and not with its size."""
    grown = dp.col("a")
    with pytest.raises(InvalidQuery, match="at most 5000 parts in 100 levels"):  # noqa: PT012
        for _ in range(30):
            grown = grown + grown
    assert grown.parts <= 5000


def test_a_column_that_is_rewritten_by_itself_is_refused_too():
    query = Query("t")
    with pytest.raises(InvalidQuery, match="at most 5000 parts"):  # noqa: PT012
        for _ in range(30):
            query = query.with_columns(a=dp.col("a") + dp.col("a"))


def test_an_expression_of_many_levels_is_refused_in_words():
    grown = dp.col("a")
    with pytest.raises(InvalidQuery, match="100 levels"):  # noqa: PT012
        for _ in range(2000):
            grown = -grown
    wide = dp.col("a").isin(range(10_000))  # values are no parts
    assert wide.parts == 2
