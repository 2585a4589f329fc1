"""A bound on contributions must keep as many as it charges for.

A library that was asked for k groups of each person kept k - 1, and added noise for k. Nobody's privacy suffers, but
everybody pays for data that is thrown away, and no test that looks only for too many finds it.

Defence: tests count what is kept. A person within the bounds loses nothing, and one beyond them keeps exactly as many
groups, rows and weight as the noise is made for.
Source: Found while comparing libraries: a truncation that kept one group too few.
"""

import dataclasses

import pyarrow as pa
import pytest

import discreet as dp
from discreet.tables.measures import UNIT

PEOPLE, TAGS, REPEATS = 40, 12, 6
DATA = pa.table(
    {
        "user": [u for u in range(PEOPLE) for _ in range(TAGS * REPEATS)],
        "tag": [f"t{i}" for _ in range(PEOPLE) for i in range(TAGS) for _ in range(REPEATS)],
        "n": [j for _ in range(PEOPLE * TAGS) for j in range(REPEATS)],
    }
)


def kept(groups, rows, change=lambda bounding: bounding):
    """Return how many (person, group) pairs, rows, different values and rows in histograms count."""
    unit = dp.Person("user", groups=groups, rows=rows)
    session = dp.Session(DATA, name="t", schema={"n": dp.Bounds(0, 9)}, unit=unit, budget=dp.Budget(1, 1e-6))
    query = session.query.group_by("tag").agg(n_=dp.count(), m=dp.median("n"))
    plan = session.planned(query, epsilon=1)
    staged = dataclasses.replace(plan.rows, bounding=change(plan.rows.bounding))
    (count,) = plan.measures.values()
    totals = session._tables.engine.run(staged.totals([count])).to_pylist()
    cells = session._tables.engine.run(staged.cells(plan.columns[-1].cells)).to_pylist()
    weight = sum(int(row["w"]) for row in cells) / UNIT
    return sum(row["units"] for row in totals), sum(int(row[count.name]) for row in totals), weight


def complete(groups, rows, **settings):
    pairs, counted, weight = kept(groups, rows, **settings)
    wanted = PEOPLE * min(groups, TAGS)
    full = wanted * min(rows, REPEATS)
    return pairs == wanted and counted == full and full * (1 - REPEATS / UNIT) <= weight <= full


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("groups", [1, 2, 3, 7, 8, 9, 12, 50])
@pytest.mark.parametrize("rows", [1, 5, 6, 50])
def test_as_much_is_kept_as_is_paid_for(groups, rows, fast):
    assert complete(groups, rows, change=lambda bounding: dataclasses.replace(bounding, fast=fast))


def test_the_check_catches_one_too_few():
    def fewer(name):
        return lambda bounding: dataclasses.replace(bounding, **{name: getattr(bounding, name) - 1})

    for groups, rows in ((2, 2), (12, 6)):
        assert not complete(groups, rows, change=fewer("groups"))
        assert not complete(groups, rows, change=fewer("rows"))
