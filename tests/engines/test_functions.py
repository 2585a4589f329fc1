"""Every function of the closed list, on every engine: its values, its totality, and that it looks at one row."""

from functools import cache
from itertools import cycle, islice

import pytest
from engines_reference import BOOLEANS, DATES, FLOATS, INTEGERS, LARGEST, SMALLEST, TEXTS, TIMESTAMPS, pairs
from functions_reference import CASES, KINDS, STORED, read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.tables.dialects import DuckDB, PostgreSQL, Spark
from discreet.tables.engines.engine import Relation
from discreet.tables.expressions import Call, col
from discreet.tables.functions import FUNCTIONS
from discreet.tables.kinds import LONGEST
from discreet.tables.schema import Column
from discreet.tables.typed import Origin, Scope


def test_every_function_has_an_oracle():
    assert set(CASES) == set(FUNCTIONS)


@cache
def hostile():
    """Return a table in which every pair of numbers, dates and truths meets, and every text."""
    columns = {}
    for names, values in (("ij", INTEGERS), ("fg", FLOATS), ("de", DATES), ("bc", BOOLEANS)):
        columns |= dict(zip(names, pairs(values), strict=True))
    columns |= {"s": TEXTS, "u": TEXTS[::-1] + TEXTS[:1], "t": TIMESTAMPS}
    size = max(map(len, columns.values()))
    return {name: list(islice(cycle(columns[name]), size)) for name in STORED}


def staged(dialect, relation, expressions):
    """Return SQL of the values of expressions, by row."""
    columns = {}
    for name, stored in STORED.items():
        quoted = dialect.identifier(name)
        columns[None, name] = Origin(quoted, quoted, stored, Column(KINDS[name]))
    scope = Scope(dialect, columns)
    values = [scope.resolve(expression) for expression in expressions]
    query = f"SELECT * FROM {relation.sql}"
    for level in range(1, max(value.level for value in values) + 1):
        named = "".join(f", {sql} AS {dialect.identifier(name)}" for name, sql in scope.stages.get(level, {}).items())
        query = f"SELECT q.*{named} FROM ({query}) q{dialect.barrier}"
    chosen = ", ".join(f"{value.sql} AS v{place}" for place, value in enumerate(values))
    return f"SELECT place, {chosen} FROM ({query}) q ORDER BY place"


def asked(engine, relation, expressions):
    table = engine.run(staged(engine.dialect, relation, expressions))
    return [table.column(f"v{place}").to_pylist() for place in range(len(expressions))]


def loaded(engine, rows):
    size = len(rows["i"])
    return engine.load("rows", {"place": list(range(size))} | rows, {"place": "int"} | STORED)


def expected(rows, oracle):
    cleaned = {name: [read(name, value) for value in values] for name, values in rows.items()}
    return [oracle(dict(zip(cleaned, row, strict=True))) for row in zip(*cleaned.values(), strict=True)]


@pytest.fixture(scope="module")
def hostile_tables():
    return {}


@pytest.mark.parametrize("function", sorted(CASES))
def test_values(engine, hostile_tables, function):
    if engine.name not in hostile_tables:
        hostile_tables[engine.name] = loaded(engine, hostile())
    made, relation = hostile_tables[engine.name]
    cases = CASES[function]
    for case, found in zip(cases, asked(made, relation, [case.expression for case in cases]), strict=True):
        truth = expected(hostile(), case.oracle)
        wrong = [(x, y) for x, y in zip(found, truth, strict=True) if x != y or type(x) is not type(y)]
        assert not wrong, (case.expression, wrong[:3])


@pytest.mark.parametrize("dialect", [DuckDB(), PostgreSQL(), Spark()], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "divide", "coalesce", "concat"])
def test_sql_grows_with_the_expression(dialect, function):
    name = "s" if function == "concat" else "f"
    sizes, relation = {}, Relation("t", dict(STORED))
    for depth in (4, 8, 12):
        expression = col(name)
        for _ in range(depth):
            expression = Call(function, (expression, col(name)))
        sizes[depth] = len(staged(dialect, relation, [expression]))
    assert sizes[12] - sizes[8] <= 1.2 * (sizes[8] - sizes[4])


def test_texts_are_cut_alike_when_they_are_read_and_when_they_are_made(engine):
    long = "é" + "x" * LONGEST
    rows = {name: values[:3] for name, values in hostile().items()} | {"s": ["x" * 2**14, long, "x"]}
    twice, tenfold = col("s").concat(col("s")), col("s").replace("x", "x" * 10)
    hundredfold = tenfold.replace("x", "x" * 10)
    expressions = [col("s"), twice, tenfold, hundredfold.length(), col("s").length(), col("s").endswith("x")]
    assert asked(*loaded(engine, rows), expressions) == [
        ["x" * 2**14, long[:LONGEST], "x"],
        ["x" * 2**15, long[:LONGEST], "xx"],
        ["x" * LONGEST, ("é" + "x" * LONGEST)[:LONGEST], "x" * 10],
        [LONGEST, LONGEST, 100],
        [2**14, LONGEST, 1],
        [True] * 3,
    ]


strange = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
ROW = st.fixed_dictionaries(
    {
        **dict.fromkeys("ij", st.none() | st.integers(SMALLEST, LARGEST) | st.integers(-9, 9)),
        **dict.fromkeys("fg", st.none() | st.floats() | st.floats(-9, 9)),
        **dict.fromkeys("su", st.none() | st.text(strange, max_size=8) | st.text(" aA'\\%_\n!", max_size=5)),
        **dict.fromkeys("de", st.none() | st.dates()),
        "t": st.none() | st.datetimes(),
        **dict.fromkeys("bc", st.sampled_from(BOOLEANS)),
    }
)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(ROW, min_size=60, max_size=120), cut=st.integers(1, 59))
def test_a_table_cut_in_two_gives_the_same_values(engine, rows, cut):
    columns = {name: [row[name] for row in rows] for name in STORED}
    cases = [case for listed in CASES.values() for case in listed]
    expressions = [case.expression for case in cases]
    whole, first, second = (
        asked(*loaded(engine, {name: values[part] for name, values in columns.items()}), expressions)
        for part in (slice(None), slice(cut), slice(cut, None))
    )
    for case, x, a, b in zip(cases, whole, first, second, strict=True):
        assert x == a + b, case.expression
        assert x == expected(columns, case.oracle), case.expression
