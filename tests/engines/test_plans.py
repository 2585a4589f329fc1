"""One plan, three engines: every whole number that leaves them is the same."""

import random

import pytest
from engines_reference import BOOLEANS, DATES, FLOATS, INTEGERS, TEXTS

from discreet.tables.bounding import Bounding, Rows
from discreet.tables.expressions import col
from discreet.tables.grid import Grid
from discreet.tables.kinds import Interval
from discreet.tables.measures import Cells, Count, Distinct, Persons, Sum
from discreet.tables.order import Salt
from discreet.tables.schema import Column
from discreet.tables.typed import Origin, Scope

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

STORED = {
    "person": "int",
    "name": "str",
    "city": "str",
    "day": "date",
    "amount": "float",
    "money": "decimal",
    "yes": "bool",
}
SALT = Salt("0123456789abcdef", 1664525789, 1013904223)
MONEY = [None, "0.1", "-3.7500000001", "12345678901234567.5", "-9999999999999999999999999999.9999999999", "2.5"]


@pytest.fixture(scope="module")
def tables(loaders):
    """Two thousand visits with hostile values, in each engine."""
    draw = random.Random(7)
    columns = {name: [] for name in STORED}
    for _ in range(2000):
        columns["person"].append(draw.choice([*INTEGERS, *range(60)]))
        columns["name"].append(draw.choice(TEXTS))
        columns["city"].append(
            draw.choice([None, "", "Oslo", "oslo", "São Paulo", "Sa\u0303o Paulo", "a'b\\", "😀", "x "])
        )
        columns["day"].append(draw.choice(DATES))
        columns["amount"].append(draw.choice([*FLOATS, draw.uniform(-600, 600), draw.gauss(100, 50)]))
        columns["money"].append(draw.choice(MONEY))
        columns["yes"].append(draw.choice(BOOLEANS))
    return [loaders(name).load("visits", columns, STORED) for name in ("duckdb", "postgres", "spark")]


def scope_of(dialect, **declared):
    kinds = {"money": "float"}
    columns = {}
    for name, stored in STORED.items():
        quoted = dialect.identifier(name)
        columns[None, name] = Origin(quoted, quoted, stored, declared.get(name, Column(kinds.get(name, stored))))
    return Scope(dialect, columns)


def asked(tables, plan):
    """Return the sorted rows of each engine, whole numbers as int."""
    answers = []
    for engine, relation in tables:
        rows = engine.run(plan(engine.dialect, relation.sql)).to_pylist()
        told = [
            tuple(int(v) if isinstance(v, float) or hasattr(v, "as_tuple") else v for v in row.values()) for row in rows
        ]
        answers.append(sorted(told, key=repr))
    return answers


def rows_of(scope, source, keys, person, *, groups=2, rows=3, filters=()):
    typed = [scope.resolve(col(key)) for key in keys]
    key = None if person is None else scope.resolve(col(person))
    bounding = Bounding(key, groups, rows, SALT)
    return Rows(scope, source, [scope.resolve(each) for each in filters], typed, [None] * len(keys), bounding)


PERSONS = [None, "person", "name", "day"]
KEYS = [[], ["city"], ["city", "yes"], ["day"]]


@pytest.mark.parametrize("person", PERSONS)
@pytest.mark.parametrize("keys", KEYS, ids="-".join)
def test_totals(tables, person, keys):
    def plan(dialect, source):
        scope = scope_of(dialect, amount=Column("float", bounds=(-500, 500)))
        amount, ratio = (
            scope.resolve(col("amount")),
            scope.resolve((col("money") * col("amount") / 3).clip(-1000, 1000)),
        )
        measures = [
            Count("a"),
            Count("b", amount),
            Sum("c", amount, Grid.over(Interval.of(-500, 500), whole=False)),
            Sum("d", ratio, Grid.over(Interval.of(-1000, 1000), whole=False, centred=True)),
        ]
        measures += [] if person is None else [Persons("e")]
        filters = [(col("money") > -5) | col("money").is_null()]
        return rows_of(scope, source, keys, person, filters=filters).totals(measures)

    first, second, third = asked(tables, plan)
    assert first == second == third
    assert len(first) > 1 or not keys


@pytest.mark.parametrize("person", PERSONS)
def test_cells_and_different_values(tables, person):
    def cells(dialect, source):
        scope = scope_of(dialect, amount=Column("float", bounds=(-500, 500)))
        grid = Grid.over(Interval.of(-500, 500), whole=False, fineness=8)
        return rows_of(scope, source, ["city"], person).cells(Cells("q", scope.resolve(col("amount")), grid))

    def distinct(dialect, source):
        scope = scope_of(dialect)
        return rows_of(scope, source, ["city"], person).distinct(Distinct("n", scope.resolve(col("name"))))

    for plan in (cells, distinct):
        first, second, third = asked(tables, plan)
        assert first == second == third
        assert len(first) > 5
