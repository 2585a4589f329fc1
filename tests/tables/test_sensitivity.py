"""No neighbour of any table moves what a plan measures by more than its noise is made for, in exact arithmetic.

Pairs of small tables full of hostile values are drawn, each pair at distance 1 by the unit's own definition. The whole
numbers that the plan's SQL finds on DuckDB are compared: L1 and squared L2 distance over all groups for each count and
sum, weights for each histogram, units for the choice of groups. Hundreds of pairs share two tables (one of all firsts,
one of all seconds), told apart by a column ``world`` that is grouped by; persons have numbers of their own in each
world, so that no bound is shared. Some more pairs go through the untouched plan, one table after another.
"""

import dataclasses
import math
import random
from collections import defaultdict
from datetime import date
from functools import cache

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.session.columns import Ranked
from discreet.tables.bounding import Rows
from discreet.tables.engines import DuckDBEngine
from discreet.tables.grid import Grid
from discreet.tables.measures import UNIT, Distinct
from discreet.tables.typed import Typed

COLUMNS = {
    "world": pa.int64(),
    "user": pa.int64(),
    "who": pa.string(),
    "city": pa.string(),
    "tag": pa.string(),
    "x": pa.float64(),
    "y": pa.float64(),
    "n": pa.int64(),
    "z": pa.string(),
    "ok": pa.bool_(),
    "day": pa.date32(),
}

SCHEMA = {
    "x": dp.Bounds(-3, 7),
    "y": dp.Bounds(0, 1, nulls=0.5),
    "n": dp.Bounds(-5, 1000),
    "city": dp.Values(["a", "b", "é", ""]),
}

POOL = {
    "city": ["a", "b", "é", "e\u0301", "", "A", None],
    "tag": ["p", "q", "\U0001f600", "", "~", None, "p" * 300],
    "x": [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e308, -1e308, -3.0, 7.0, 2.5, 0.1, -2.9999999],
    "y": [None, math.nan, math.inf, -math.inf, 0.0, 1.0, 0.25, 1e-310, -1e300],
    "n": [None, -(2**63), 2**63 - 1, 2**53 + 1, 0, 1, -5, 1000, 999, 3, 4],
    "z": [None, "", "1", "-3", "7.25", "1e5", "-1e99", "nan", "inf", "abc", "9" * 30, "\uff12"],
    "ok": [True, False, None],
    "day": [None, date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(2026, 1, 1)],
}

X, Y, N, Z = dp.col("x"), dp.col("y"), dp.col("n"), dp.col("z")

AGGREGATES = {
    "rows": dp.count(),
    "some": dp.count("x"),
    "texts": dp.count("z"),
    "persons": dp.count_distinct("user"),
    "names": dp.count_distinct("who"),
    "numbers": dp.count_distinct("n"),
    "cities": dp.count_distinct("city"),
    "column": dp.sum("x"),
    "whole": dp.sum("n"),
    "filled": dp.mean("y"),
    "centred": dp.mean("n"),
    "spread": dp.variance("x"),
    "spread of whole": dp.stddev("n"),
    "both": dp.covariance("x", "n"),
    "alike": dp.correlation("x", "y"),
    "arithmetic": dp.sum(X * 2 - N / (Y + 1)),
    "product": dp.sum(X * N),
    "case": dp.sum(dp.when(N > 3, X).when(Z == "1", -X).otherwise(Y)),
    "clip": dp.sum(X.clip(-0.5, 2)),
    "unbounded clip": dp.sum(Z.cast("float").clip(-2, 9)),
    "unbounded whole": dp.sum(Z.length().clip(0, 3)),
    "cast": dp.sum(N.cast("float")),
    "cut": dp.sum(X.cast("int")),
    "truth": dp.sum(dp.col("ok").cast("int")),
    "coalesce": dp.sum(X.fill(N)),
    "rounded": dp.mean(X.round()),
    "size": dp.sum(abs(N)),
    "root": dp.sum(X.sqrt()),
    "negative": dp.sum(-X),
    "part": dp.mean(dp.col("day").month()),
}

RANKED = {
    "median": dp.median("x"),
    "tree": dp.quantiles(X + Y, [0.25, 0.5, 0.75]),
    "least": dp.min("n"),
    "top": dp.top_k("city", 2),
}

GROUPS = {
    "nothing": lambda q: q,
    "public": lambda q: q.group_by("city"),
    "private": lambda q: q.group_by("tag"),
    "two": lambda q: q.group_by("city", "ok"),
    "public and private": lambda q: q.group_by("city", "tag"),
    "nullable": lambda q: q.group_by("city", keys={"city": ["b", None]}),
    "bins": lambda q: q.group_by(bin=X.bin([-3, 0, 2.5, 7])),
    "filtered": lambda q: q.where((N > 0) | X.is_null()).group_by(month=dp.col("day").month()),
}

UNITS = [
    dp.Row(),
    dp.Row(relation="replace_one"),
    dp.Row(relation="replace_one", size=6),
    dp.Person("user", groups=1, rows=1),
    dp.Person("user", groups=2, rows=2),
    dp.Person("user", groups=1, rows=3),
    dp.Person("user", groups=10, rows=1),
    dp.Person("who", groups=2, rows=1),
    dp.Person("user", groups=2, rows=2, relation="replace_one"),
    dp.Person("who", groups=1, rows=2, relation="replace_one"),
]

WORLDS = 400


# Neighbours.


def a_row(rng, world, few):
    user = rng.choice([1, 1, 1, 2, 2, 3, 4, None])
    return person_row(rng, world, user, few)


def person_row(rng, world, user, few):
    values = {name: rng.choice(few.get(name, pool)) for name, pool in POOL.items()}
    number = None if user is None else 8 * world + user
    return {"world": world, "user": number, "who": None if user is None else f"{number}é", **values}


def a_pair(rng, unit, world=0):
    """Return two tables at distance 1; every other time of values of which there are few, so that bounds are met."""
    few = {name: rng.sample(pool, 2) for name, pool in POOL.items()} if rng.random() < 0.5 else {}
    most = unit.size if isinstance(unit, dp.Row) and unit.size else rng.randrange(13)
    before = [a_row(rng, world, few) for _ in range(most)]
    if isinstance(unit, dp.Row):
        gone = before and (unit.relation == "replace_one" or rng.random() < 0.7)
        after = list(before)
        if gone:
            after.pop(rng.randrange(len(after)))
        if not gone or unit.relation == "replace_one":
            after.append(a_row(rng, world, few))
    else:
        user = rng.choice([1, 1, 1, 2, None])
        number = None if user is None else 8 * world + user
        before.append(person_row(rng, world, user, few))
        after = [row for row in before if row["user"] != number]
        if unit.relation == "replace_one":
            other = rng.choice([user, 5])
            after += [person_row(rng, world, other, few) for _ in range(rng.randrange(1, 7))]
    if unit.relation == "replace_one" and unit.distance(before, after) > 1:
        return a_pair(rng, unit, world)  # two rows were added to an empty table
    assert unit.distance(before, after) <= 1
    return (before, after) if rng.random() < 0.5 else (after, before)


@cache
def many_pairs(unit):
    rng = random.Random(repr(unit))
    return [a_pair(rng, unit, world) for world in range(WORLDS)]


# What a plan measures.


class Bench:
    """A connection with one table, and sessions on it."""

    def __init__(self):
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        self.fill([])
        self.engine = DuckDBEngine(self.connection)
        self.prepared = {}

    def fill(self, rows):
        columns = {name: pa.array([row[name] for row in rows], type=kind) for name, kind in COLUMNS.items()}
        self.connection.register("arriving", pa.table(columns))
        exists = self.connection.execute("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 't'")
        if not exists.fetchone()[0]:
            self.connection.execute("CREATE TABLE t AS SELECT * FROM arriving")
        else:
            self.connection.execute("DELETE FROM t")
            self.connection.execute("INSERT INTO t SELECT * FROM arriving")
        self.connection.unregister("arriving")

    def plan(self, unit, grouping, *, worlds=False, aggregates=None):
        session = dp.Session("t", schema=SCHEMA, unit=unit, budget=dp.Budget(1, 1e-5), engine=self.engine)
        query = session.query.group_by("world") if worlds else session.query
        query = GROUPS[grouping](query).agg(**(AGGREGATES | RANKED if aggregates is None else aggregates))
        return session.planned(query, epsilon=1)

    def measured(self, plan):
        """Return what the engine finds: measures of every group, and weights of every group and cell."""
        together = [m for m in plan.measures.values() if not isinstance(m, Distinct)]
        totals = self.read(plan, plan.rows.totals(together))
        for measure in plan.measures.values():
            if isinstance(measure, Distinct):
                for group, values in self.read(plan, plan.rows.distinct(measure)).items():
                    totals.setdefault(group, {}).update(values)
        cells = {}
        for column in plan.columns:
            if isinstance(column, Ranked):
                found = defaultdict(dict)
                for *key, value, weight in self.rows(plan.rows.cells(column.cells)):
                    found[tuple(key)][value] = int(weight)
                cells[column.name] = dict(found)
        return totals, cells

    def read(self, plan, sql):
        names = ["units", *plan.measures]
        keys = len(plan.rows.keys)
        rows = self.rows(sql)
        columns = [name for name, *_ in self.connection.description][keys:]
        assert set(columns) <= set(names)
        found = {}
        for row in rows:
            values = [0 if value is None else value for value in row[keys:]]
            assert all(value == int(value) for value in values)
            found[tuple(row[:keys])] = dict(zip(columns, map(int, values), strict=True))
        assert len(found) == len(rows)
        return found

    def rows(self, sql):
        return self.connection.execute(sql).fetchall()


# The check.


def broken(plan, before, after, public=None):
    """Return what moved by more than the plan's noise covers: names of measures, columns, and the choice of groups."""
    (totals, cells), (other_totals, other_cells) = before, after
    bounding, wrong = plan.rows.bounding, []
    relation = plan.loss.relation
    sides = 1 if relation == "add_remove" else 2
    for name, noise in plan.noise.items():
        moved = [
            totals.get(group, {}).get(name, 0) - other_totals.get(group, {}).get(name, 0)
            for group in {*totals, *other_totals}
            if public is None or group in public
        ]
        if sum(map(abs, moved)) > noise.reach.first or sum(m * m for m in moved) > noise.reach.squared:
            wrong.append(name)
    shifts = [
        totals.get(group, {}).get("units", 0) - other_totals.get(group, {}).get("units", 0)
        for group in {*totals, *other_totals}
    ]
    if plan.selection is not None and (
        any(abs(shift) > 1 for shift in shifts) or sum(map(abs, shifts)) > sides * bounding.groups
    ):
        wrong.append("groups")
    for name in {*cells, *other_cells}:
        gone, new = [], []
        before_cells, after_cells = cells.get(name, {}), other_cells.get(name, {})
        for group in {*before_cells, *after_cells}:
            if public is not None and group not in public:
                continue
            here, there = before_cells.get(group, {}), after_cells.get(group, {})
            moved = [here.get(v, 0) - there.get(v, 0) for v in {*here, *there}]
            gone.append(sum(m for m in moved if m > 0))
            new.append(sum(-m for m in moved if m < 0))
        limit = UNIT * bounding.rows
        touched = [sum(m > 0 for m in one) for one in (gone, new)]
        if max([*gone, *new], default=0) > limit or max(touched) > bounding.groups or (sides == 1 and min(touched)):
            wrong.append(name)
    return wrong


def by_world(found):
    totals, cells = found
    worlds = defaultdict(lambda: ({}, {name: {} for name in cells}))
    for (world, *key), values in totals.items():
        worlds[world][0][tuple(key)] = values
    for name, groups in cells.items():
        for (world, *key), weights in groups.items():
            worlds[world][1][name][tuple(key)] = weights
    return worlds


NOTHING: tuple[dict, dict] = ({}, {})


def some(unit, grouping):
    """Return a third of the aggregates, another one for each of three cases: all of them meet every kind of unit."""
    turn = (UNITS.index(unit) + list(GROUPS).index(grouping)) % 3
    chosen = list(AGGREGATES)[1 + turn :: 3]
    return {name: (AGGREGATES | RANKED)[name] for name in ["rows", *chosen, *list(RANKED)[turn::2]]}


def public_of(plan):
    return None if plan.public_keys is None else set(plan.public_keys)


@pytest.fixture(scope="module")
def bench():
    return Bench()


def trial(bench, unit, grouping, *, aggregates=None, spoil=lambda plan: plan):
    """Run many pairs at once, and return those that break what the plan promises, and the largest count that moved."""
    pairs = many_pairs(unit)
    real, spread = (bench.plan(unit, grouping, worlds=worlds, aggregates=aggregates) for worlds in (False, True))
    spread = spoil(spread)
    assert set(real.measures) == set(spread.measures)
    found = []
    for side in (0, 1):
        bench.fill([row for pair in pairs for row in pair[side]])
        found.append(by_world(bench.measured(spread)))
    public = public_of(real) if real.key_names else None
    bad, most = [], 0
    (rows,) = real.columns[0].inputs
    for world, pair in enumerate(pairs):
        before, after = (side.get(world, NOTHING) for side in found)
        if wrong := broken(real, before, after, public):
            bad.append((wrong, pair))
        moved = [
            abs(before[0].get(group, {}).get(rows, 0) - after[0].get(group, {}).get(rows, 0))
            for group in {*before[0], *after[0]}
            if public is None or group in public
        ]
        most = max(most, sum(moved))
    return bad, most, real


@pytest.mark.parametrize("grouping", GROUPS)
@pytest.mark.parametrize("unit", UNITS)
def test_no_neighbour_moves_a_measure_further_than_its_noise_covers(bench, unit, grouping):
    bad, most, plan = trial(bench, unit, grouping, aggregates=some(unit, grouping))
    assert not bad, f"{len(bad)} of {WORLDS}, for example {bad[0]}"
    if unit.relation == "add_remove" and plan.rows.bounding.groups <= 2 and grouping != "filtered":
        assert most == plan.noise[plan.columns[0].inputs[0]].reach.first  # the bound is reached, and not merely kept


@pytest.mark.parametrize("grouping", ["nothing", "public", "private", "two"])
@pytest.mark.parametrize("unit", UNITS[1::2])
def test_one_table_after_another_keeps_the_same_promise(bench, unit, grouping):
    """The plan as a session makes it, without a world around it."""
    plan = bench.plan(unit, grouping, aggregates=some(unit, grouping))

    @given(st.integers(0, 2**32))
    @settings(max_examples=5)
    def check(seed):
        found = []
        for rows in a_pair(random.Random(seed), unit):
            bench.fill(rows)
            found.append(bench.measured(plan))
        assert broken(plan, *found, public_of(plan)) == []

    check()


def test_a_public_size_is_the_only_measure_without_noise(bench):
    known = bench.plan(dp.Row(relation="replace_one", size=6), "nothing")
    assert set(known.known.values()) == {6}
    assert set(known.known) == {known.columns[0].inputs[0]}
    for unit in UNITS:
        for grouping in GROUPS:
            plan = bench.plan(unit, grouping, aggregates=some(unit, grouping))
            assert set(plan.noise) | set(plan.known) == set(plan.measures)
            assert not plan.known or (unit == dp.Row(relation="replace_one", size=6) and grouping == "nothing")


# The same check on plans that are broken.


def rebound(plan, **changes):
    rows = dataclasses.replace(plan.rows, bounding=dataclasses.replace(plan.rows.bounding, **changes))
    return dataclasses.replace(plan, rows=rows)


PERSON = dp.Person("user", groups=2, rows=2)
FEW = {name: (AGGREGATES | RANKED)[name] for name in ("rows", "column", "whole", "median", "tree", "least", "top")}
BOTH_PERSONS = [PERSON, dp.Person("user", groups=2, rows=2, relation="replace_one")]


@pytest.mark.parametrize("unit", BOTH_PERSONS)
def test_the_check_catches_a_bound_on_rows_that_is_ignored(bench, unit):
    bad, _, real = trial(bench, unit, "public", aggregates=FEW, spoil=lambda plan: rebound(plan, rows=3))
    caught = {name for wrong, _ in bad for name in wrong}
    assert real.columns[0].inputs[0] in caught
    assert {"median", "tree", "least", "top"} <= caught


@pytest.mark.parametrize("unit", BOTH_PERSONS)
@pytest.mark.parametrize("grouping", ["private", "public and private"])
def test_the_check_catches_one_group_too_many(bench, unit, grouping):
    bad, _, _ = trial(bench, unit, grouping, aggregates=FEW, spoil=lambda plan: rebound(plan, groups=3))
    assert "groups" in {name for wrong, _ in bad for name in wrong}


def test_the_check_catches_persons_that_are_taken_for_one(bench):
    """Which groups stay must not depend on anybody else's rows."""

    def merged(plan):
        key = plan.rows.bounding.key
        return rebound(plan, key=dataclasses.replace(key, sql=f"({key.sql} // 8)"), groups=2)

    bad, _, _ = trial(bench, PERSON, "private", aggregates=FEW, spoil=merged)
    assert "groups" in {name for wrong, _ in bad for name in wrong}


def test_the_check_catches_values_that_are_not_clamped(bench, monkeypatch):
    clamped = Grid.sql

    def loose(grid, scope, value):
        wide = dataclasses.replace(grid, low=grid.low - 1, high=grid.high + 1)
        return clamped(wide, scope, dataclasses.replace(value))

    monkeypatch.setattr(Grid, "sql", loose)
    for unit in (dp.Row(), dp.Person("user", groups=1, rows=1)):
        bad, _, real = trial(bench, unit, "public", aggregates=FEW)
        column = next(column for column in real.columns if column.name == "column")
        assert column.inputs[0] in {name for wrong, _ in bad for name in wrong}


def test_the_check_catches_weights_that_are_not_scaled(bench, monkeypatch):
    scaled = Rows.cells
    monkeypatch.setattr(
        Rows,
        "cells",
        lambda rows, measure: scaled(
            dataclasses.replace(rows, bounding=dataclasses.replace(rows.bounding, rows=99)), measure
        ),
    )
    bad, _, _ = trial(bench, PERSON, "nothing", aggregates=FEW)
    assert {"median", "tree", "least", "top"} <= {name for wrong, _ in bad for name in wrong}


def test_the_check_catches_missing_persons_that_count_together(bench, monkeypatch):
    """Rows without a person belong to nobody who could be bounded, so they count for nobody."""
    rows = Rows._rows

    def kept(self, *arguments, **options):
        key = self.bounding.key
        filled = dataclasses.replace(key, sql=f"COALESCE({key.sql}, -1)")
        spoiled = dataclasses.replace(self, bounding=dataclasses.replace(self.bounding, key=filled))
        return rows(spoiled, *arguments, **options)

    plan = bench.plan(PERSON, "nothing")
    bench.fill([person_row(random.Random(0), 0, None, {}) for _ in range(4)])
    exact, _ = bench.measured(plan)
    assert exact[()]["units"] == 0
    monkeypatch.setattr(Rows, "_rows", kept)
    spoiled, _ = bench.measured(plan)
    assert spoiled[()]["units"] == 1


@pytest.mark.parametrize("part", ["first", "squared"])
def test_the_check_catches_noise_for_half_the_distance(bench, part, monkeypatch):
    from discreet.session.noise import Reach

    honest = getattr(Reach, part)
    monkeypatch.setattr(Reach, part, property(lambda reach: max(1, honest.fget(reach) // 2)))
    for unit in (dp.Row(relation="replace_one"), PERSON):
        bad, _, real = trial(bench, unit, "two", aggregates=FEW)
        caught = {name for wrong, _ in bad for name in wrong}
        assert next(column for column in real.columns if column.name == "whole").inputs[0] in caught


def test_a_typed_value_is_what_the_engine_computes(bench):
    """The plan's key is a value of its own and no text that is pasted: sabotage above changes what it says."""
    key = bench.plan(PERSON, "public").rows.bounding.key
    assert isinstance(key, Typed)
    assert key.kind == "int"
