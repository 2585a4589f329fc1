"""Whole releases on every engine: the same answers, no row that stops them, and claims that stand an audit."""

import math
import warnings
from collections import Counter
from uuid import uuid4

import pytest
from engines_types import SHARED, TYPES

import discreet as dp
from discreet import audit
from discreet.auditing import hostile_neighbours
from discreet.auditing.queries import CopiedQuery, table_neighbours
from discreet.errors import NotPrivateWarning
from discreet.tables.measures import UNIT
from discreet.tables.order import Salt
from discreet.testing import seeded

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

SALT = Salt("0123456789abcdef", 1664525789, 1013904223)
STORED = {"world": "int", "user": "str", "city": "str", "amount": "float"}
CITIES = ["Bonn", "Ulm"]
PERSON = dp.Person("user", groups=2, rows=3)
TREE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'hierarchy') city, BIN(amount, 0, 250, 500) AS bin, "
    "COUNT(*) AS n FROM t GROUP BY ROLLUP (city), GROUPING SETS ((), (bin))"
)
QUERIES = [
    "SELECT city, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS m FROM t GROUP BY city",
    "SELECT COUNT(DISTINCT user) AS persons, COUNT(DISTINCT city) AS cities, VARIANCE(amount) AS v FROM t",
    "SELECT world, COUNT(amount) AS n, MEDIAN(amount) AS q FROM t WHERE amount * 2 > 3 GROUP BY world",
    "SELECT MIN(amount) AS low, MAX(amount) AS high FROM t WHERE city LIKE '%l%' OR city IS NULL",
    "SELECT BIN(amount, 0, 100, 250, 500) AS bin, COUNT(*) AS n FROM t GROUP BY bin ORDER BY n DESC LIMIT 2",
    "SELECT city, BIN(amount, 0, 250, 500) AS bin, COUNT(*) AS n FROM t GROUP BY CUBE (city, bin)",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'tree') amount, COUNT(*) AS n FROM t GROUP BY amount",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = 'cdf') amount, COUNT(*) AS n FROM t GROUP BY amount",
    TREE,
]


def source_of(loader, rows, stored):
    """Return a source for a session that holds these rows in the engine of a loader, and the engine."""
    known = SHARED | TYPES[loader.name]
    declared = {column: known.get(kind, kind) for column, kind in stored.items()}
    return getattr(loader, f"_{loader.name}")(f"t_{uuid4().hex[:8]}", rows, declared)


def hostile():
    """Return many pairs of neighbours in one table: two worlds for each pair, with persons of their own."""
    columns = {name: [] for name in STORED}
    pairs = list(hostile_neighbours({"amount": (0, 500), "city": CITIES, "user": "key"}))
    for place, (_, *sides) in enumerate(pairs):
        for side, rows in enumerate(sides):
            for row in rows:
                user, amount = row["user"], row["amount"]
                columns["world"].append(2 * place + side)
                columns["user"].append(None if user is None else f"{user} of {place}")
                columns["city"].append(row["city"] if row["city"] is None else str(row["city"]).replace("\x00", ""))
                columns["amount"].append(float(amount) if isinstance(amount, int | float) else math.nan)
    return columns, len(pairs)


def opened(loader, columns, worlds, unit=PERSON):
    engine, source = source_of(loader, columns, STORED)
    schema = {"amount": dp.Bounds(0, 500), "city": dp.Values(CITIES)}
    session = dp.Session(source, name="t", schema=schema, unit=unit, budget=dp.Budget(10**6, 1e-3), engine=engine)
    session._planner.salt = SALT
    return session


def test_the_same_answers_everywhere(all_engines):
    columns, worlds = hostile()
    found = []
    for loader in all_engines:
        quiet = warnings.catch_warnings(action="ignore", category=NotPrivateWarning)
        with opened(loader, columns, worlds) as session, quiet, seeded("engines"):
            answers = [session.release(sql, epsilon=50) for sql in QUERIES]
        found.append([(answer.keys, answer.columns) for answer in answers])
    assert found[0] == found[1] == found[2]


def test_a_declared_step_makes_the_same_lattice_everywhere(engine):
    """Stored values, on points, between them, at the ends, beyond them and missing, count at the nearest point."""
    amounts = [0.1 * place for place in range(1001)] + [0.04, 0.051, 49.96, 99.99, -3.0, 1e300, -1e300]
    amounts += [math.inf, -math.inf, math.nan, None]
    own, source = source_of(engine, {"amount": amounts}, {"amount": "float"})
    schema = {"amount": dp.Bounds(0, 100, step=0.1)}
    budget = dp.Budget(1e9)
    with dp.Session(source, name="t", schema=schema, unit=dp.Row(), budget=budget, engine=own) as session:
        plan = session.planned("SELECT MEDIAN(amount) AS q FROM t", epsilon=1)
        (column,) = plan.columns
        table = session._tables.engine.run(plan.rows.cells(column.cells))
        found = dict(zip(table["v"].to_pylist(), table["w"].to_pylist(), strict=True))
    wanted = Counter(column.grid.number(x) for x in amounts if x is not None and x == x)
    assert found == {place: count * UNIT for place, count in wanted.items()}
    assert [column.grid.value(place) for place in (0, 3, 1000)] == [0.0, 0.3, 100.0]


def test_neighbours_stay_within_the_sensitivity(engine):
    columns, pairs = hostile()
    with opened(engine, columns, 2 * pairs, dp.Person("user", groups=2 * len(CITIES), rows=3)) as session:
        query = session.query.group_by("world", "city", keys={"world": range(2 * pairs)}).agg(
            n=dp.count(), total=dp.sum("amount"), m=dp.mean("amount"), q=dp.count("amount")
        )
        plan = session.planned(query, epsilon=1)
        table = session._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
        groups = dict(
            zip(zip(table["k_0"].to_pylist(), table["k_1"].to_pylist(), strict=True), table.to_pylist(), strict=True)
        )
    assert len(groups) > pairs
    moved = 0
    for pair in range(pairs):
        for name, measure in plan.measures.items():
            sides = [[int(groups.get((2 * pair + s, city), {name: 0})[name]) for city in CITIES] for s in (0, 1)]
            apart = sum(abs(a - b) for a, b in zip(*sides, strict=True))
            low, high = measure.range(3)
            assert apart <= len(CITIES) * max(abs(low), abs(high)), (pair, name)
            moved += apart > 0
    assert moved > pairs  # the neighbours do differ


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("user", groups=1, rows=2)])
def test_claims_stand_an_audit(engine, unit):
    stored = {"user": "int", "copy": "int", "city": "str", "spent": "float"}

    def load(columns):
        return source_of(engine, columns, stored)[1]

    query = CopiedQuery({"total": dp.sum("spent")}, unit, engine=None if engine.name == "duckdb" else load)
    found = audit(
        lambda data: query.draw(data, 1)[0],
        claims=query.claims,
        neighbours=list(table_neighbours(unit))[:1],
        batch=query.draw,
        draws=4_000,
        alpha=1e-9,
    )
    assert not found.refuted
