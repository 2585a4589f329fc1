"""A person with a thousand rows must count as one person.

Noise that hides one row hides nobody who has many. Joins make it worse, for they multiply rows after somebody counted
them. Whatever is added up must be bounded for each person first, in the number of groups and of rows in each.

Defence: the privacy unit is part of every session; persons are cut to so many groups, and in each to so many rows, by
their own rows alone, after every join and before anything is added up.
Source: Wilson et al., Differentially Private SQL with Bounded User Contribution, PETS 2020.
"""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.tables.measures import UNIT, Distinct
from discreet.tables.order import Salt

OTHERS = [(person, "a", 1.0) for person in range(2, 6)]
LOUD = [(1, f"g{i % 50}", 1000.0) for i in range(1000)] + [(1, "a", -1000.0)] * 10
NAMES = ("user", "city", "x")
TYPES = (pa.int64(), pa.string(), pa.float64())
SCHEMA = {"x": dp.Bounds(-1, 2), "city": dp.Values(["a", *(f"g{i}" for i in range(50))])}
AGGREGATES = {
    "n": dp.count(),
    "some": dp.count("x"),
    "persons": dp.count_distinct("user"),
    "values": dp.count_distinct(dp.col("x").round()),
    "total": dp.sum("x"),
    "mean": dp.mean("x"),
    "spread": dp.variance("x"),
}


def table(rows):
    return pa.table({n: pa.array([r[i] for r in rows], t) for i, (n, t) in enumerate(zip(NAMES, TYPES, strict=True))})


def measured(rows, unit, build=lambda query: query, public=None):
    """Return a plan and what it finds in a table, by measure and group."""
    session = dp.Session(table(rows), name="t", schema=SCHEMA, unit=unit, budget=dp.Budget(1), public=public)
    session._planner.salt = Salt("fixed", 1664525789, 1986745321)
    plan = session.planned(build(session.query).agg(**AGGREGATES), epsilon=1)
    together = [m for m in plan.measures.values() if not isinstance(m, Distinct)]
    queries = [plan.rows.totals(together)]
    queries += [plan.rows.distinct(m) for m in plan.measures.values() if isinstance(m, Distinct)]
    found = {}
    for sql in queries:
        for row in session._tables.engine.run(sql).to_pylist():
            key = row.get("k_0")
            found |= {(name, key): int(value or 0) for name, value in row.items() if name in plan.measures}
    return plan, found


def hidden(unit, promised=None, **settings):
    """Tell whether the loudest person moves no measure by more than the noise covers."""
    plan, before = measured(OTHERS + LOUD, unit, **settings)
    _, after = measured(OTHERS, unit, **settings)
    moved = dict.fromkeys(plan.measures, 0)
    for name, key in {*before, *after}:
        moved[name] += abs(before.get((name, key), 0) - after.get((name, key), 0))
    reaches = {name: noise.reach.first for name, noise in (promised or plan).noise.items()}
    return all(moved[name] <= reaches[name] for name in reaches)


def grouped(query):
    return query.group_by("city")


def joined(query):
    return query.join("lands", on={"city": "name"}).group_by("city")


LANDS = {"lands": pa.table({"name": ["a", *(f"g{i}" for i in range(50))], "land": ["N"] * 51})}


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("build", [lambda query: query, grouped, joined])
def test_one_loud_person_counts_as_one(groups, rows, build):
    unit = dp.Person("user", groups=groups, rows=rows)
    assert hidden(unit, build=build, public=LANDS)


def test_rows_joined_to_rows_are_bounded_after_the_join():
    visits = pa.table({"user": [1] * 30 + [2], "x": [2.0] * 31})
    session = dp.Session(
        {"a": dp.Table(visits, {"x": dp.Bounds(0, 2)}), "b": dp.Table(visits)},
        unit=dp.Person("user", groups=1, rows=2),
        budget=dp.Budget(1e9),
    )
    query = session.query.join("b", on="user").agg(n=dp.count(), s=dp.sum("a.x"))
    answer = session.release(query, epsilon=1e7).row()
    assert (answer["n"], round(answer["s"])) == (3, 6)  # two of 900, and one of one


def test_histograms_weigh_a_person_once():
    session = dp.Session(
        table(OTHERS + LOUD), name="t", schema=SCHEMA, unit=dp.Person("user", groups=1, rows=3), budget=dp.Budget(1)
    )
    query = session.query.agg(m=dp.median("x"))
    plan = session.planned(query, epsilon=1)
    weights = session._tables.engine.run(plan.rows.cells(plan.columns[0].cells)).to_pylist()
    assert sum(int(row["w"]) for row in weights) <= (3 + len(OTHERS)) * UNIT


@pytest.mark.parametrize("unit", [None, "user", dp.Person("user"), dp.Person("user", rows=1)])
def test_a_session_must_be_told_whom_it_protects(unit):
    def preview():
        session = dp.Session(table(OTHERS), name="t", schema=SCHEMA, unit=unit, budget=dp.Budget(1))
        session.preview(session.query.group_by("city").agg(n=dp.count()))

    with pytest.raises(InvalidParameter):
        preview()


def test_the_check_catches_rows_that_are_protected_instead_of_persons():
    person = dp.Person("user", groups=1, rows=1)
    promised, _ = measured(OTHERS, person, grouped)
    assert hidden(person, promised, build=grouped)
    assert not hidden(dp.Row(), promised, build=grouped)
