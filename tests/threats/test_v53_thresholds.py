"""The delta of a threshold must cover every group that one person can add.

A group that nobody else is in is shown only if the noise lifts one person over the threshold. A library stated the
delta of one group where a person may be in several, and of a count that may be as large as the person likes.

Defence: the laws of one, two and three keys are enumerated exactly for neighbours that add a person to all of them at
once, and the plan of a session charges the same bound on groups that its bounding enforces.
Source: OpenDP issue 2922; Desfontaines et al., Differentially Private Partition Selection, PETS 2022.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.mechanisms import OptimalSelection

CASES = [(1, Fraction(1, 100)), (Fraction(1, 4), Fraction(1, 1000)), (3, Fraction(1, 10**6))]


def law(keep, counts):
    """Return the probability of each set of groups shown; groups are decided independently."""
    found = {}
    for shown in product((False, True), repeat=len(counts)):
        found[shown] = math.prod(keep(n) if s else 1 - keep(n) for n, s in zip(counts, shown, strict=True))
    return found


def delta_of(keep, counts, others, epsilon):
    a, b = law(keep, counts), law(keep, others)
    return max(sum(max(0.0, p[s] - math.exp(epsilon) * q[s]) for s in p) for p, q in ((a, b), (b, a)))


def covers(keep, groups, epsilon, delta):
    """Tell whether one person in so many groups at once stays within (epsilon, delta), from every number of others."""
    starts = product(range(25), repeat=groups) if groups < 3 else [(n,) * groups for n in range(25)]
    worst = max(delta_of(keep, counts, [n + 1 for n in counts], float(epsilon)) for counts in starts)
    return worst <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_delta_covers_all_groups_of_a_person(epsilon, delta, groups):
    selection = OptimalSelection(epsilon=epsilon, delta=delta, groups=groups)
    kept = [0.0, *(float(selection.kept(n).mid()) for n in range(1, 30))]
    assert covers(lambda n: kept[n], groups, epsilon, delta)


@pytest.mark.parametrize("groups", [1, 2, 5])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_session_pays_for_as_many_groups_as_it_lets_through(groups, relation):
    data = pa.table(
        {"user": [u for u in range(20) for _ in range(8)], "tag": [f"t{i}" for _ in range(20) for i in range(8)]}
    )
    unit = dp.Person("user", groups=groups, rows=3, relation=relation)
    session = dp.Session(data, name="t", unit=unit, budget=dp.Budget(1, 1e-6))
    for keys in ("optimal", "laplace", "gaussian"):
        query = session.query.group_by("tag").agg(n=dp.count())
        plan = session.planned(query, epsilon=1, keys=keys)
        assert plan.selection.groups == plan.rows.bounding.groups == groups
        assert plan.selection.relation == relation
        assert Fraction(plan.selection.delta) <= plan.delta <= Fraction(1, 10**6)
        units = [row["units"] for row in session._tables.engine.run(plan.rows.totals([])).to_pylist()]
        assert sum(units) == 20 * groups  # nobody counts in more groups than that, nor twice in one


def test_a_group_of_nobody_is_never_shown():
    assert not OptimalSelection(epsilon=1, delta=1e-3).keep(np.zeros(10_000, dtype=int)).any()


def test_the_check_catches_a_delta_for_one_group():
    for epsilon, delta in CASES:
        one = OptimalSelection(epsilon=epsilon, delta=delta, groups=1)
        kept = [0.0, *(float(one.kept(n).mid()) for n in range(1, 30))]
        assert covers(lambda n, kept=kept: kept[n], 1, epsilon, delta)
        assert not covers(lambda n, kept=kept: kept[n], 2, epsilon, delta)
