"""Declared bounds clamp what is added up; conditions, bins and keys see what is stored: the same on every engine."""

from decimal import Decimal

import functions_reference
import pytest
from engines_reference import FLOATS, INTEGERS, LIMIT, clean, limited_whole

from discreet.tables.dialects import DuckDB
from discreet.tables.expressions import col, when
from discreet.tables.schema import Column
from discreet.tables.typed import CONDITIONS, Origin, Scope

STORED = {"i": "int", "j": "int", "f": "float", "m": "decimal", "t": "str"}
BOUNDS = (0, 80)
DECLARED = {
    "i": Column("int", bounds=BOUNDS),
    "j": Column("int", bounds=(-10, 1000), nulls=-1),
    "f": Column("float", bounds=BOUNDS),
    "m": Column("float", bounds=BOUNDS),
    "t": Column("int", bounds=BOUNDS),
}
MONEY = [None, "0.10", "80.00", "80.01", "99.00", "-1.00", "999.99", "12345678901234.56"]
TEXTS = [None, "", "7", "80", "81", "99", "-1", "999", "x", "123456789012345678"]
WHOLE = [99, -1, 999, 0, 80, 81, 41, *INTEGERS]
REAL = [99.0, -1.0, 999.0, 80.0, 80.5, 40.0, *FLOATS]

i, j, f, m, t = (col(name) for name in STORED)


def table():
    """Return columns of one length that meet in ever new pairs."""
    lists = {"i": WHOLE, "j": WHOLE, "f": REAL, "m": MONEY, "t": TEXTS}
    steps = {"i": 1, "j": 7, "f": 1, "m": 1, "t": 1}
    return {name: [lists[name][n * steps[name] % len(lists[name])] for n in range(200)] for name in STORED}


def read(name, value):
    """Return a stored value as conditions see it."""
    if name == "t":
        return int(value) if value and value != "x" else None
    if name == "m":
        return None if value is None else clean(float(Decimal(value)))
    if name == "f":
        return clean(value)
    return -1 if name == "j" and value is None else value


def double(x):
    return limited_whole(x) if isinstance(x, int) else x


def strict(function):
    """Return the function of a row that is null where any column it looks at is."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return lambda row: None if any(row[name] is None for name in names) else function(*(row[name] for name in names))


def binned(x):
    if x is None or not 0 <= double(x) <= 80:
        return None
    return "[0, 40)" if double(x) < 40 else "[40, 80]"


def caught(x):
    return "[80, 1000]" if x is not None and 80 <= double(x) <= 1000 else "[0, 80)" if binned(x) else None


CASES = [
    (i != 99, strict(lambda i: i != 99)),
    (i == 80, strict(lambda i: i == 80)),
    (f != 99, strict(lambda f: f != 99)),
    (m > 80, strict(lambda m: m > 80)),
    (t >= 99, strict(lambda t: t >= 99)),
    (j == -1, strict(lambda j: j == -1)),
    (i.between(-1, 80), strict(lambda i: -1 <= i <= 80)),
    (i.isin([99, -1, 999]), strict(lambda i: i in (99, -1, 999))),
    (~i.isin([99, -1, 999]), strict(lambda i: i not in (99, -1, 999))),
    (i > j, strict(lambda i, j: i > j)),
    (f > i, strict(lambda i, f: f > double(i))),
    (abs(i) > j, strict(lambda i, j: min(abs(i), LIMIT) > j)),
    (i * 2 > 160, strict(lambda i: double(i) * 2 > 160)),
    (f / 2 > 40, strict(lambda f: f / 2 > 40)),
    (f - f == 0, strict(lambda f: True)),
    (f.is_null(), lambda row: row["f"] is None),
    (f.clip(0, 90) == 90, strict(lambda f: f >= 90)),
    (i.cast("str").startswith("99"), strict(lambda i: str(i).startswith("99"))),
    (when(i == 99, 0).otherwise(i) > 80, strict(lambda i: i > 80 and i != 99)),
    (i, lambda row: row["i"]),
    (when(i.isin([99, -1, 999]), None).otherwise(i), strict(lambda i: None if i in (99, -1, 999) else i)),
    (i.bin([0, 40, 80]), lambda row: binned(row["i"])),
    (f.bin([0, 40, 80]), lambda row: binned(row["f"])),
    (m.bin([0, 80, 1000]), lambda row: caught(row["m"])),
]
"""Conditions, keys and bins, and what they give for a row of stored values."""


def filled(row):
    """Return the quotient of clamped numbers; a divisor may be 0 only once it is clamped."""
    if row["m"] is None or row["i"] is None or row["i"] <= 0:
        return 7.5
    return min(max(min(max(row["m"], 0.0), 80.0) / min(row["i"], 80), 0.0), 9.0)


def told_outside(x):
    return None if x is None else 1000.0 if x > 80 else max(x, 0.0)


RATIO = (m / i).clip(0, 9)

VALUES = [
    (i, strict(lambda i: min(max(i, 0), 80))),
    (j, strict(lambda j: min(max(j, -10), 1000))),
    (f, strict(lambda f: min(max(f, 0.0), 80.0))),
    (m + 1, strict(lambda m: min(max(m, 0.0), 80.0) + 1)),
    (when(i != 99, i).otherwise(None), strict(lambda i: None if i == 99 else min(max(i, 0), 80))),
    (when(f > 80, 1000).otherwise(f), lambda row: told_outside(row["f"])),
    (RATIO.fill(7.5), filled),
    (when((m / i).is_null(), 7.5).otherwise(RATIO), filled),
    (when(abs(i) > 80, 1).otherwise(0), lambda row: int(row["i"] is not None and abs(row["i"]) > 80)),
]
"""What is added up."""


def asked(engine, relation, expressions, *, stored):
    """Return the values of expressions, row by row, and what is promised of each."""
    dialect = engine.dialect
    columns = {}
    for name, kind in STORED.items():
        quoted = dialect.identifier(name)
        columns[None, name] = Origin(quoted, quoted, kind, DECLARED[name])
    scope = Scope(dialect, columns)
    values = [scope.resolve(expression, stored=stored) for expression in expressions]
    query = f"SELECT * FROM {relation.sql}"
    for level in range(1, max(value.level for value in values) + 1):
        named = "".join(f", {sql} AS {dialect.identifier(name)}" for name, sql in scope.stages.get(level, {}).items())
        query = f"SELECT q.*{named} FROM ({query}) q{dialect.barrier}"
    chosen = ", ".join(f"{value.sql} AS v{place}" for place, value in enumerate(values))
    found = engine.run(f"SELECT place, {chosen} FROM ({query}) q ORDER BY place")
    return [found.column(f"v{place}").to_pylist() for place in range(len(values))], values


@pytest.fixture(scope="module")
def tables():
    return {}


def loaded(engine, tables):
    if engine.name not in tables:
        kinds = {"place": "int"} | STORED | {"m": "DECIMAL(38, 2)"}
        tables[engine.name] = engine.load("visits", {"place": list(range(200))} | table(), kinds)
    return tables[engine.name]


def expected(oracle):
    columns = {name: [read(name, value) for value in values] for name, values in table().items()}
    return [oracle(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def test_conditions_and_keys_see_what_is_stored(engine, tables):
    found, _ = asked(*loaded(engine, tables), [expression for expression, _ in CASES], stored=True)
    for (expression, oracle), values in zip(CASES, found, strict=True):
        assert values == expected(oracle), expression


def test_what_is_added_up_is_clamped_and_lies_where_its_bounds_say(engine, tables):
    found, typed = asked(*loaded(engine, tables), [expression for expression, _ in VALUES], stored=False)
    for (expression, oracle), values, one in zip(VALUES, found, typed, strict=True):
        assert values == expected(oracle), expression
        assert one.declared
        assert all(one.interval.low <= value <= one.interval.high for value in values if value is not None)


def test_every_function_that_gives_a_truth_is_a_condition():
    """But those that pass on what they are given, and casts: of these the comparison inside is one."""
    others = {"and", "or", "not", "is_null", "cast", "case", "coalesce"}
    dialect = DuckDB()
    columns = {
        (None, name): Origin(name, name, kind, Column(kind)) for name, kind in functions_reference.STORED.items()
    }
    for function, cases in functions_reference.CASES.items():
        for case in cases:
            made = Scope(dialect, columns).resolve(case.expression)
            assert made.kind != "bool" or function in CONDITIONS | others, function
