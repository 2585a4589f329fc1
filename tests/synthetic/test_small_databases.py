"""The exponential mechanism over small data sets, by brute force."""

import itertools
import math

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter
from discreet.synthetic import AllRanges, Explicit, Prefix
from discreet.synthetic.small_databases import SmallDatabases, sample_size
from discreet.testing import check_mechanism

SETTINGS = {"workload": AllRanges(size=3), "records": 2, "size": 3, "epsilon": 1, "relation": "replace_one"}


def neighbours(relation):
    """All histograms of at most three records on three cells, in pairs of neighbours."""
    unit = np.eye(3, dtype=int)
    for n in (1, 2, 3):
        for cells in itertools.combinations_with_replacement(range(3), n):
            one = np.bincount(cells, minlength=3)
            for i in set(cells):
                if relation == "add_remove":
                    yield one, one - unit[i]
                else:
                    yield from ((one, one - unit[i] + unit[j]) for j in range(3))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("workload", [AllRanges(size=3), Explicit(matrix=[[0.5, 1, 0], [0, 0.25, 1]])])
def test_exact_loss_over_all_neighbours(relation, workload):
    small = SmallDatabases(**SETTINGS | {"relation": relation, "workload": workload})
    assert small.loss.epsilon() == 1
    moved, lost = 0, 0.0
    for one, two in neighbours(relation):
        scores = small.scores(one), small.scores(two)
        moved = max(moved, int(np.abs(scores[0] - scores[1]).max()))
        logs = np.array([[small.choice.log_probability(s, i) for i in range(small.candidates)] for s in scores])
        lost = max(lost, float(np.abs(logs[0] - logs[1]).max()))
    assert moved == small.choice.sensitivity
    assert 0.3 < lost <= 1 + 1e-12


def test_scores_are_the_largest_error():
    small = SmallDatabases(**SETTINGS | {"size": 10})
    data = np.array([7, 1, 2])
    work = small.workload.matvec(np.eye(3))
    for database, score in zip(small.databases(), small.scores(data), strict=True):
        assert -score / 2 == pytest.approx(np.abs(work @ data - 5 * (work @ database)).max())
    assert len(small.databases()) == small.candidates == math.comb(4, 2)


def test_releases_follow_their_law():
    small = SmallDatabases(**SETTINGS | {"epsilon": 4})
    data = [3, 0, 0]
    draws = [tuple(small.release(data).tolist()) for _ in range(2000)]
    for database in small.databases():
        expected = math.exp(small.log_probability(data, database))
        seen = draws.count(tuple(database.tolist())) / 2000
        assert abs(seen - expected) < 5 * math.sqrt(expected / 2000) + 1e-3
    assert small.log_probability(data, [9, 9, 9]) == -math.inf


def test_its_promise_is_kept():
    small = SmallDatabases(workload=Prefix(size=4), records=12, size=2000, epsilon=1, relation="replace_one")
    data = np.array([900, 100, 0, 1000])
    worst = [np.abs(np.cumsum(data) - np.cumsum(small.release(data)) * 2000 / 12).max() for _ in range(30)]
    assert max(worst) <= small.error(1e-3)


def test_samples_are_large_enough():
    assert sample_size(10, 0.1) == math.floor(math.log(20) / 0.02) + 1
    assert 2 * 10 * math.exp(-2 * sample_size(10, 0.1) * 0.01) < 1
    with pytest.raises(InvalidParameter):
        sample_size(0, 0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"records": 0},
        {"size": 0},
        {"epsilon": 0},
        {"workload": Explicit(matrix=[[1, -1, 0]])},
        {"workload": Prefix(size=100), "records": 10},
        {"workload": None},
    ],
    ids=["no records", "no size", "no epsilon", "negative", "many", "none"],
)
def test_odd_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        SmallDatabases(**SETTINGS | wrong)


def test_odd_data():
    small = SmallDatabases(**SETTINGS | {"relation": "add_remove"})
    assert small.release([0, 0, 0]).sum() == 2
    assert small.release([2**62, 0, 0]).sum() == 2
    with pytest.raises(InvalidInput):
        small.release([1, 2])
    assert SmallDatabases(**SETTINGS | {"workload": Prefix(size=1)}).release([3]).tolist() == [2]
    assert SmallDatabases(**SETTINGS | {"workload": Explicit(matrix=[[0, 0]])}).release([1, 2]).sum() == 2


def test_it_conforms():
    found = check_mechanism(SmallDatabases(**SETTINGS))
    assert {"interface", "frozen", "repr", "loss"} <= set(found.passed)
