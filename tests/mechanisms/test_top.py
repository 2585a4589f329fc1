import math
import warnings
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, NoTheorem
from discreet.errors import NotPrivateWarning
from discreet.mechanisms import TopK, top
from discreet.sensitivity import Histogram
from discreet.testing import check_mechanism, seeded


@pytest.mark.parametrize(
    "mechanism",
    [TopK(k=1, epsilon=1), TopK(k=2, epsilon=1, monotone=True), TopK(k=3, epsilon=2, sensitivity=Fraction(1, 2))],
)
def test_keeps_the_contract(mechanism):
    done = check_mechanism(mechanism, outputs=list(permutations(range(mechanism.k + 1), mechanism.k)))
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)


@pytest.mark.parametrize(
    "counts",
    [
        [],
        np.array([], dtype=np.int64),
        [0],
        [0, 0, 0],
        [-5, 3],
        np.array([2**62, -(2**62), 2**63 - 1]),
        np.array([2**64 - 1, 0], dtype=np.uint64),
        np.arange(7, dtype=np.uint8),
        [10**30, -(10**30)],
    ],
)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_any_counts_are_answered(counts, k):
    chosen = TopK(k=k, epsilon=1).release(counts)
    assert len(chosen) == len(set(chosen)) == min(k, len(counts))
    assert all(0 <= i < len(counts) for i in chosen)


def test_the_largest_come_first():
    counts = [10**6 * i for i in (3, 9, 1, 7, 5)]
    assert TopK(k=3, epsilon=1).release(counts) == (1, 3, 4)
    assert TopK(k=9, epsilon=1).release(np.array(counts)) == (1, 3, 4, 0, 2)


def test_balls_and_floats_decide_alike(monkeypatch):
    counts, found = np.random.default_rng(3).integers(0, 40, 50), []
    for believed in (top.BELIEVED, 1 << 63):
        monkeypatch.setattr(top, "BELIEVED", believed)
        with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("alike"):
            found.append([TopK(k=5, epsilon=3).release(counts) for _ in range(40)])
    assert found[0] == found[1]


def test_monotone_counts_are_refused_where_a_record_is_replaced():
    bins = Histogram(bins=("a", "b"))
    assert TopK(k=2, epsilon=1, monotone=True).of(bins, relation="add_remove").loss.epsilon() == pytest.approx(1)
    with pytest.raises(NoTheorem, match="monotone"):
        TopK(k=2, epsilon=1, monotone=True).of(bins, relation="replace_one")


def test_parameters_are_checked():
    for wrong in ({"k": 0}, {"k": 1.5}, {"k": -1}, {"epsilon": 0}, {"sensitivity": 0}, {"monotone": 1}):
        with pytest.raises(InvalidParameter):
            TopK(**{"k": 2, "epsilon": 1, **wrong})
    for counts in (["a"], [math.nan], np.ones((2, 2)), [None]):
        with pytest.raises(InvalidInput):
            TopK(k=2, epsilon=1).release(counts)


def test_impossible_orders():
    mechanism = TopK(k=2, epsilon=1)
    for order in ((0, 0), (0,), (0, 5), (0, 1, 2)):
        assert mechanism.log_probability([1, 2, 3], order) == -math.inf
    assert mechanism.log_probability([], ()) == 0


def test_the_error_holds():
    """All others just out of reach: the chance that one of them is among the k is at most beta."""
    mechanism = TopK(k=2, epsilon=1)
    gap = math.ceil(mechanism.error(0.05, candidates=6))
    counts = [gap, gap, 0, 0, 0, 0]
    best = math.fsum(math.exp(mechanism.log_probability(counts, order)) for order in ((0, 1), (1, 0)))
    assert 1 - best <= 0.05
