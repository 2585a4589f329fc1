"""A query that Python builds, written as SQL and read again, is the same query."""

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.tables import aggregates as agg
from discreet.tables.expressions import Call, Constant, Expression, Name, col, lit, when
from discreet.tables.query import Query
from discreet.tables.sql import parse
from discreet.tables.sql.shape import shape

TABLES = {
    "visits": ["person", "city", "day", "amount", "age", 'odd "name"', "Größe", "select"],
    "regions": ["city", "region"],
}
OPERATORS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "equal": "=",
    "unequal": "<>",
    "less": "<",
    "at_most": "<=",
    "greater": ">",
    "at_least": ">=",
    "and": "AND",
    "or": "OR",
    "concat": "||",
}
NAMES = {
    "absolute": "ABS",
    "floor": "FLOOR",
    "ceiling": "CEIL",
    "round": "ROUND",
    "square_root": "SQRT",
    "lower": "LOWER",
    "upper": "UPPER",
    "trim": "TRIM",
    "length": "LENGTH",
    "year": "YEAR",
    "month": "MONTH",
    "day": "DAY",
    "hour": "HOUR",
    "coalesce": "COALESCE",
    "clip": "CLIP",
    "bin": "BIN",
    "substring": "SUBSTRING",
    "replace": "REPLACE",
    "starts_with": "STARTS_WITH",
    "ends_with": "ENDS_WITH",
    "contains": "CONTAINS",
}
TYPES = {"int": "BIGINT", "float": "DOUBLE", "str": "VARCHAR", "date": "DATE", "bool": "BOOLEAN"}
AGGREGATES = {
    "count": "COUNT",
    "sum": "SUM",
    "mean": "AVG",
    "variance": "VARIANCE",
    "stddev": "STDDEV",
    "min": "MIN",
    "max": "MAX",
    "covariance": "COVAR_POP",
    "correlation": "CORR",
}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def constant(value):
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
    return f"({value!r})"


def sql(one):
    match one:
        case Name(name, None):
            return quoted(name)
        case Name(name, table):
            return f"{quoted(table)}.{quoted(name)}"
        case Constant(value, _):
            return constant(value)
    assert isinstance(one, Call)
    parts = [sql(argument) for argument in one.arguments]
    options = [constant(option) for option in one.options]
    match one.function:
        case "negate":
            return f"(- ({parts[0]}))"
        case "not":
            return f"(NOT {parts[0]})"
        case "is_null":
            return f"({parts[0]} IS NULL)"
        case "is_in":
            return f"({parts[0]} IN ({', '.join(options)}))"
        case "like":
            return f"({parts[0]} LIKE {options[0]})"
        case "cast":
            return f"CAST({parts[0]} AS {TYPES[one.options[0]]})"
        case "weekday":
            return f"EXTRACT(ISODOW FROM {parts[0]})"
        case "month_start":
            return f"DATE_TRUNC('month', {parts[0]})"
        case "case":
            cases = " ".join(f"WHEN {a} THEN {b}" for a, b in zip(parts[:-1:2], parts[1::2], strict=True))
            return f"CASE {cases} ELSE {parts[-1]} END"
    if one.function in OPERATORS:
        return f"({f' {OPERATORS[one.function]} '.join(parts)})"
    return f"{NAMES[one.function]}({', '.join(parts + options)})"


def aggregate_sql(one):
    parts = [sql(argument) for argument in one.arguments]
    if one.function == "count_distinct":
        return f"COUNT(DISTINCT {parts[0]})"
    if one.function == "quantiles":
        return f"QUANTILE_CONT({parts[0]}, [{', '.join(map(repr, one.options))}])"
    return f"{AGGREGATES[one.function]}({', '.join(parts) or '*'})"


def render(query):
    """Write a query as SQL."""
    items = [f"{sql(key)} AS {quoted(name)}" for name, key in query.keys]
    items += [f"{aggregate_sql(one)} AS {quoted(name)}" for name, one in query.aggregates]
    clause = "" if query.epsilon is None else f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = {query.epsilon!r}) "
    text = f"SELECT {clause}{', '.join(items)} FROM {quoted(query.table)}"
    for join in query.joins:
        pairs = " AND ".join(
            f"{quoted(query.table)}.{quoted(a)} = {quoted(join.table)}.{quoted(b)}" for a, b in join.on
        )
        text += f"{' LEFT' if join.outer else ''} JOIN {quoted(join.table)} ON {pairs}"
    for condition in query.filters:
        text += f" WHERE {sql(condition)}"
    if query.keys:
        text += f" GROUP BY {', '.join(sql(key) for _, key in query.keys)}"
    if query.kept is not None:
        text += f" HAVING {sql(query.kept)}"
    if query.order:
        text += " ORDER BY " + ", ".join(f"{quoted(o.column)}{' DESC' if o.descending else ''}" for o in query.order)
    if query.most is not None:
        text += f" LIMIT {query.most}"
    return text


whole = st.integers(-(2**53), 2**53)
decimal = st.floats(-(2.0**53), 2.0**53, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-300)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
moments = st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 1, 1)).map(  # noqa: DTZ001
    lambda moment: moment.replace(fold=0)
)
values = st.one_of(whole, decimal, words, st.booleans(), st.dates(min_value=date(1000, 1, 1)), moments)
columns = st.sampled_from([name for name in TABLES["visits"] if name != "city"]).map(Name)
leaves = st.one_of(columns, values.map(lit), st.just(lit(None)))


def compared(function, a, b):
    """Comparisons with null are refused, so they have something else there."""
    a, b = (lit(1) if isinstance(x, Constant) and x.value is None else x for x in (a, b))
    return Call(function, (a, b))


def grown(inner):
    one = st.sampled_from(["absolute", "floor", "lower", "upper", "trim", "length", "year", "hour", "weekday"])
    two = st.sampled_from([name for name in OPERATORS if name != "concat"])
    numbers = st.tuples(whole, whole).map(sorted)
    return st.one_of(
        st.builds(lambda f, a: Call(f, (a,)), one, inner),
        st.builds(lambda f, a: Call(f, (a,)), st.sampled_from(["month_start", "round", "square_root"]), inner),
        st.builds(compared, two, inner, inner),
        inner.filter(lambda x: not isinstance(x, Constant)).map(lambda x: -x),
        inner.map(lambda x: ~x),
        inner.map(lambda x: x.is_null()),
        st.builds(lambda a, b: a.concat(b), inner, inner),
        st.builds(lambda a, b: a.fill(b), inner, inner),
        st.builds(lambda a, b: a.clip(*b), inner, numbers),
        st.builds(lambda a, b: a.isin(b), inner, st.lists(values, min_size=1, max_size=4)),
        st.builds(lambda a, b: a.bin(b), inner, st.lists(whole, min_size=2, max_size=5, unique=True).map(sorted)),
        st.builds(lambda a, b: a.slice(*b), inner, st.tuples(st.integers(1, 99), st.integers(0, 99))),
        st.builds(lambda a, b: a.contains(b), inner, words),
        st.builds(lambda a, b: Call("like", (a,), (b,)), inner, words),
        st.builds(lambda a, b: a.replace(*b), inner, st.tuples(words, words)),
        st.builds(
            lambda a, k: a.cast(k), inner.filter(lambda x: not isinstance(x, Constant)), st.sampled_from([*TYPES])
        ),
        st.builds(lambda c, a, b: when(c, a).otherwise(b), inner, inner, inner),
        st.builds(lambda c, a, d, b: when(c, a).when(d, b).otherwise(None), inner, inner, inner, inner),
    )


expressions = st.recursive(leaves, grown, max_leaves=12)
keys = expressions.filter(lambda x: not isinstance(x, Constant))
aggregates = st.one_of(
    st.just(agg.count()),
    st.builds(agg.count, expressions),
    st.builds(agg.count_distinct, expressions),
    *(st.builds(f, expressions) for f in (agg.sum, agg.mean, agg.variance, agg.stddev, agg.min, agg.max, agg.median)),
    st.builds(agg.correlation, expressions, expressions),
    st.builds(agg.covariance, expressions, expressions),
    st.builds(agg.quantiles, expressions, st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.9]), min_size=1, unique=True)),
)


@st.composite
def queries(draw):
    query = Query("visits", epsilon=draw(st.none() | st.integers(1, 9) | st.sampled_from([0.1, 1e-05])))
    if draw(st.booleans()):
        query = query.join("regions", on={"person": "region"}, how=draw(st.sampled_from(["inner", "left"])))
    if draw(st.booleans()):
        query = query.where(draw(expressions))
    wanted = draw(st.lists(keys, max_size=2, unique_by=lambda key: shape(key)))
    query = query.group_by(**{f'k{place} ü"': key for place, key in enumerate(wanted)})
    asked = draw(st.lists(aggregates, min_size=1, max_size=3, unique_by=lambda one: shape(one)))
    query = query.agg(**{f"a{place}": one for place, one in enumerate(asked)})
    if draw(st.booleans()):
        query = query.having((Name("a0") > draw(whole)) & ~Name("a0").is_null())
    if draw(st.booleans()):
        query = query.order_by("a0", descending=draw(st.booleans())).order_by("a0")
    return query.limit(draw(st.integers(0, 2**53))) if draw(st.booleans()) else query


def parts(query):
    return (
        query.table,
        [(join.table, join.on, join.outer) for join in query.joins],
        [shape(condition) for condition in query.filters],
        [(name, shape(key)) for name, key in query.keys],
        [(name, shape(one)) for name, one in query.aggregates],
        query.kept is not None and shape(query.kept),
        query.order,
        query.most,
        query.epsilon,
        query.delta,
    )


@settings(max_examples=300, deadline=None)
@given(queries())
def test_what_is_written_is_read_again(query):
    again = parse(render(query), TABLES)
    assert parts(again) == parts(query)
    assert repr(again) == repr(query)


@settings(max_examples=100, deadline=None)
@given(expressions, expressions)
def test_the_shape_tells_expressions_apart(one, other):
    assert isinstance(one, Expression)
    assert (shape(one) == shape(other)) == (sql(one) == sql(other))


@pytest.mark.parametrize(
    "name", ["1", "a b", "a''b", "a;b", "--", "/*", "count", "group", "ΑΒΓ", "列", "🙂", "a\u0301"]
)
def test_any_name_that_can_be_seen_can_be_quoted(name):
    query = Query("t").group_by(**{name: Name(name)}).agg(n=agg.count())
    assert parts(parse(render(query), {"t": [name]})) == parts(query)


def test_a_cast_of_a_column_is_no_literal():
    assert shape(parse("SELECT COUNT(CAST(day AS DATE)) AS n FROM visits", TABLES).aggregates[0][1]) == shape(
        agg.count(col("day").cast("date"))
    )
