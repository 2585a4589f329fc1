"""Bounding keeps what it says, neither more nor less, and its two forms of SQL agree with plain Python."""

import dataclasses
import random
from collections import Counter, defaultdict
from datetime import date

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.tables.bounding import MOST_FILTERED
from discreet.tables.engines import DuckDBEngine
from discreet.tables.measures import UNIT, Count, Distinct, Persons, Sum
from discreet.tables.order import key_text

TAGS = ["", "~", "é", "e\u0301", "\U0001f600", *(f"tag {i}" for i in range(12)), None]
GROUPS = (1, 2, 3, 5, MOST_FILTERED, MOST_FILTERED + 1, 10)
PERSONS = {
    "user": [*range(1, 9), -1, -(2**63), 2**63 - 1, 2**31, None],
    "who": ["", "Ada", "Åsa", "A\u030asa", "\U0001f600", "x" * 1000, None],
    "born": [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31), None],
}


def table(rng, rows, tags=TAGS):
    values = {
        "user": [rng.choice(PERSONS["user"]) for _ in range(rows)],
        "who": [rng.choice(PERSONS["who"]) for _ in range(rows)],
        "born": [rng.choice(PERSONS["born"]) for _ in range(rows)],
        "tag": [rng.choice(tags) for _ in range(rows)],
        "ok": [rng.choice([True, False, None]) for _ in range(rows)],
        "x": [rng.choice([None, -3.0, 7.0, 2.5, -0.3, rng.uniform(-4, 8)]) for _ in range(rows)],
        "n": [rng.choice([None, rng.randrange(-9, 30)]) for _ in range(rows)],
    }
    types = {"born": pa.date32(), "ok": pa.bool_(), "x": pa.float64(), "n": pa.int64(), "user": pa.int64()}
    return pa.table({name: pa.array(column, type=types.get(name, pa.string())) for name, column in values.items()})


def plan_of(data, unit, keys, *, delta=1e-6):
    schema = {"x": dp.Bounds(-3, 7), "n": dp.Bounds(-5, 20)}
    session = dp.Session(data, name="t", schema=schema, unit=unit, budget=dp.Budget(1, delta), threads=1)
    query = session.query.group_by(*keys) if keys else session.query
    query = query.agg(
        rows=dp.count(),
        some=dp.count("x"),
        persons=dp.count_distinct(unit.key),
        numbers=dp.count_distinct("n"),
        total=dp.sum("x"),
        whole=dp.sum("n"),
        middle=dp.median("n"),
    )
    return session, session.planned(query, epsilon=1)


def measured(session, plan):
    """Return measures by group, and weights by group and cell."""
    keys = len(plan.rows.keys)
    together = [m for m in plan.measures.values() if not isinstance(m, Distinct)]
    queries = [plan.rows.totals(together)]
    queries += [plan.rows.distinct(m) for m in plan.measures.values() if isinstance(m, Distinct)]
    found = defaultdict(dict)
    for sql in queries:
        for row in session._tables.engine.run(sql).to_pylist():
            values = list(row.items())
            found[tuple(v for _, v in values[:keys])].update((name, int(v)) for name, v in values[keys:])
    cells = Counter()
    for row in session._tables.engine.run(plan.rows.cells(plan.columns[-1].cells)).to_pylist():
        *group, cell, weight = row.values()
        cells[*group, int(cell)] = int(weight)
    return {group: values for group, values in found.items() if any(values.values())}, +cells


def slow(plan):
    return dataclasses.replace(plan, rows=dataclasses.replace(plan.rows, bounding=portable(plan.rows.bounding)))


def portable(bounding):
    return dataclasses.replace(bounding, fast=False)


# The same in plain Python.


def towards_zero(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


def first(numbers, most):
    """Return those of numbered things that stay: as many as may, but neither of two that share the last place."""
    return {thing for thing, o in numbers.items() if sum(other <= o for other in numbers.values()) <= most}


def oracle(data, unit, keys, plan):
    salt, rows = plan.rows.bounding.salt, plan.rows.bounding.rows
    groups = plan.rows.bounding.groups
    person_rows = defaultdict(lambda: defaultdict(list))
    for row in data.to_pylist():
        if row[unit.key] is not None and ("ok" not in keys or row["ok"] is not None):
            person_rows[row[unit.key]][tuple(row[key] for key in keys)].append(row)
    found, cells = defaultdict(Counter), Counter()
    histogram = plan.columns[-1].cells.grid

    def kept(person, parts):
        if not keys:
            return set(parts)
        return first({group: salt.number(person, key_text(list(group))) for group in parts}, groups)

    for person, parts in person_rows.items():
        for group in kept(person, parts):
            mine = parts[group]
            found[group]["units"] += 1
            for name, measure in plan.measures.items():
                if isinstance(measure, Persons):
                    found[group][name] += 1
                elif isinstance(measure, Count):
                    counted = mine if measure.value is None else [row for row in mine if row["x"] is not None]
                    found[group][name] += min(rows, len(counted))
                elif isinstance(measure, Sum):
                    column = "n" if measure.grid.exponent == 0 else "x"
                    steps = [measure.grid.number(float(row[column])) for row in mine if row[column] is not None]
                    total, count = sum(steps), len(steps)
                    found[group][name] += towards_zero(total * rows, count) if count > rows else total
        with_n = {g: [min(max(r["n"], -5), 20) for r in part if r["n"] is not None] for g, part in parts.items()}
        with_n = {group: numbers for group, numbers in with_n.items() if numbers}
        for group in kept(person, with_n):
            counts = Counter(histogram.number(float(value)) for value in with_n[group])
            total = counts.total()
            for cell, count in counts.items():
                cells[*group, cell] += count * (UNIT * rows // total if total > rows else UNIT)
    for name, measure in plan.measures.items():
        if isinstance(measure, Distinct):
            told = defaultdict(set)
            for person, parts in person_rows.items():
                with_n = {g: {r["n"] for r in part if r["n"] is not None} for g, part in parts.items()}
                with_n = {group: numbers for group, numbers in with_n.items() if numbers}
                for group in kept(person, with_n):
                    told[group] |= first({v: salt.number(person, str(v)) for v in with_n[group]}, rows)
            for group, values in told.items():
                found[group][name] = len(values)
    return {
        group: {k: v for k, v in values.items() if v} for group, values in found.items() if any(values.values())
    }, +cells


def nonzero(found):
    totals, cells = found
    return {group: {k: v for k, v in values.items() if v} for group, values in totals.items()}, cells


@pytest.mark.parametrize("keys", [(), ("tag",), ("tag", "ok")])
@pytest.mark.parametrize("groups", GROUPS)
def test_both_forms_of_sql_find_what_python_finds(groups, keys):
    for rows, key in ((1, "user"), (2, "who"), (5, "born")):
        rng = random.Random(f"{groups} {rows} {keys}")
        data = table(rng, 400)
        unit = dp.Person(key, groups=groups, rows=rows)
        session, plan = plan_of(data, unit, keys)
        fast = nonzero(measured(session, plan))
        assert fast == nonzero(measured(session, slow(plan)))
        assert fast == oracle(data, unit, keys, plan)


def test_the_comparison_catches_another_order():
    data = table(random.Random(1), 400)
    unit = dp.Person("user", groups=2, rows=2)
    session, plan = plan_of(data, unit, ("tag",))
    found = nonzero(measured(session, plan))
    bounding = plan.rows.bounding
    turned = dataclasses.replace(bounding, salt=dataclasses.replace(bounding.salt, first=bounding.salt.first ^ 2))
    other = dataclasses.replace(plan, rows=dataclasses.replace(plan.rows, bounding=turned))
    assert oracle(data, unit, ("tag",), other) != found


@pytest.mark.parametrize("fast", [True, False])
def test_as_many_groups_stay_as_are_paid_for(fast):
    """A person in k groups counts in the smaller of k and the bound, unless two of their numbers are the same."""
    people = {person: 1 + person % 12 for person in range(200)}
    pairs = [(person, f"tag {i}") for person, k in people.items() for i in range(k)]
    data = pa.table({"user": [p for p, _ in pairs], "tag": [t for _, t in pairs]})
    for groups in GROUPS:
        unit = dp.Person("user", groups=groups, rows=1)
        session = dp.Session(data, name="t", unit=unit, budget=dp.Budget(1, 1e-6), threads=1)
        query = session.query.group_by("tag").agg(n=dp.count())
        plan = session.planned(query, epsilon=1)
        plan = plan if fast else slow(plan)
        salt = plan.rows.bounding.salt
        assert all(len({salt.number(p, f"tag {i}") for i in range(k)}) == k for p, k in people.items())
        found = session._tables.engine.run(plan.rows.totals([])).to_pylist()
        assert sum(row["units"] for row in found) == sum(min(groups, k) for k in people.values())


def test_nothing_within_the_bounds_is_dropped():
    rng = random.Random(7)
    data = table(rng, 300)
    for keys in ((), ("tag",), ("tag", "ok")):
        unit = dp.Person("user", groups=3 * len(TAGS), rows=300)
        session, plan = plan_of(data, unit, keys)
        found, cells = measured(session, plan)
        there = [row for row in data.to_pylist() if row["user"] is not None]
        there = [row for row in there if "ok" not in keys or row["ok"] is not None]  # true and false are declared
        plain = defaultdict(list)
        for row in there:
            plain[tuple(row[key] for key in keys)].append(row)
        assert set(found) == set(plain)
        names = {column.name: column.inputs[0] for column in plan.columns[:-1]}
        grid = plan.measures[names["total"]].grid
        for group, rows in plain.items():
            values = found[group]
            numbers = [min(max(row["n"], -5), 20) for row in rows if row["n"] is not None]
            reals = [row["x"] for row in rows if row["x"] is not None]
            assert values[names["rows"]] == len(rows)
            assert values[names["some"]] == len(reals)
            assert values[names["persons"]] == values["units"] == len({row["user"] for row in rows})
            assert values[names["whole"]] == sum(numbers)
            assert values[names["total"]] == sum(map(grid.number, reals))
            assert values.get(names["numbers"], 0) == len({row["n"] for row in rows} - {None})
            assert sum(w for (*key, _), w in cells.items() if tuple(key) == group) == UNIT * len(numbers)


def test_rows_beyond_the_bound_count_for_their_mean():
    values = [7.0, 7.0, 7.0, 1.0, 2.0, None]
    data = pa.table({"user": [1] * 6, "x": values})
    for rows in (1, 2, 3, 4, 5):
        unit = dp.Person("user", groups=1, rows=rows)
        session = dp.Session(data, name="t", schema={"x": dp.Bounds(-8, 8)}, unit=unit, budget=dp.Budget(1), threads=1)
        query = session.query.agg(total=dp.sum("x"), n=dp.count("x"), all=dp.count())
        plan = session.planned(query, epsilon=1)
        (row,) = session._tables.engine.run(plan.rows.totals(list(plan.measures.values()))).to_pylist()
        total, n, everything = (int(row[column.inputs[0]]) for column in plan.columns)
        step = plan.measures[plan.columns[0].inputs[0]].step
        assert n == rows
        assert everything == min(6, rows)
        assert abs(total * step - 24 * rows / 5) <= step


def test_rows_without_a_person_count_for_nobody():
    data = pa.table({"user": pa.array([None, None, 1], pa.int64()), "tag": ["a", "b", "a"]})
    unit = dp.Person("user", groups=1, rows=1)
    session = dp.Session(data, name="t", schema={"tag": dp.Values(["a", "b"])}, unit=unit, budget=dp.Budget(1e9))
    answer = session.release(session.query.group_by("tag").agg(n=dp.count()), epsilon=1e6)
    assert answer["n"].tolist() == [1, 0]


def test_undeclared_keys_take_no_place_from_declared_ones():
    """A person in one declared group and many others counts in the declared one, whatever the order says."""
    data = pa.table({"user": [p for p in range(50) for _ in range(9)], "tag": ["a", *"bcdefghi"] * 50})
    unit = dp.Person("user", groups=1, rows=1)
    for keys in (["a"], ["a", None]):
        session = dp.Session(data, name="t", unit=unit, budget=dp.Budget(1e9))
        query = session.query.group_by("tag", keys={"tag": keys}).agg(n=dp.count())
        assert session.release(query, epsilon=1e6)["n"].tolist()[0] == 50


def test_which_groups_stay_is_a_matter_of_one_person_alone():
    data = table(random.Random(3), 400)
    unit = dp.Person("user", groups=2, rows=2)
    session, plan = plan_of(data, unit, ("tag",))
    whole, _ = measured(session, plan)
    parts = Counter()
    connection = duckdb.connect()
    for user in PERSONS["user"][:-1]:
        mine = data.filter(pa.compute.equal(data["user"], user))
        connection.register("mine", mine)
        connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM mine")
        alone = dp.Session(
            "t",
            schema={"x": dp.Bounds(-3, 7), "n": dp.Bounds(-5, 20)},
            unit=unit,
            budget=dp.Budget(1, 1e-6),
            engine=DuckDBEngine(connection),
        )
        alone._planner.salt = plan.rows.bounding.salt
        lonely = alone.planned(plan.query, epsilon=1)
        found, _ = measured(alone, lonely)
        parts.update({group: values.get("units", 0) for group, values in found.items()})
    assert +parts == +Counter({group: values.get("units", 0) for group, values in whole.items()})


def test_sums_over_many_rows_are_exact():
    """A million values at the ends of the grid, added as doubles and as whole numbers."""
    count = 1_000_000
    data = pa.table({"x": [7.0, -2.7, 6.9999999] * (count // 3)})
    session = dp.Session(data, name="t", schema={"x": dp.Bounds(-3, 7)}, unit=dp.Row(), budget=dp.Budget(1))
    plan = session.planned(session.query.agg(s=dp.sum("x")), epsilon=1)
    (measure,) = plan.measures.values()
    exact = sum(measure.grid.number(x) for x in (7.0, -2.7, 6.9999999)) * (count // 3)
    for wide in (False, True):
        (row,) = session._tables.engine.run(plan.rows.totals([measure], wide=wide)).to_pylist()
        assert int(row[measure.name]) == exact
