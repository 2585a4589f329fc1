import math
import warnings
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch
from discreet.errors import NotPrivateWarning
from discreet.mechanisms import GaussianThreshold, LaplaceThreshold, OptimalSelection, optimal_selection, partition
from discreet.mechanisms.gaussian_threshold import gaussian_survival
from discreet.mechanisms.partition import BLOCK
from discreet.noise.bits import override
from discreet.testing import check_mechanism, seeded
from discreet.testing.seeded import SeededSource

ALL = [
    OptimalSelection(epsilon=1, delta=1e-5),
    OptimalSelection(epsilon=2, delta=0.05, groups=2, relation="replace_one"),
    LaplaceThreshold(epsilon=1, delta=1e-5),
    LaplaceThreshold(epsilon=1, delta=0.05, groups=2),
    GaussianThreshold(sigma=2, delta=1e-5),
    GaussianThreshold(epsilon=1, delta=0.05, groups=2),
]


def subsets(size):
    return list(chain.from_iterable(combinations(range(size), k) for k in range(size + 1)))


@pytest.mark.parametrize("mechanism", ALL)
def test_keeps_the_contract(mechanism, monkeypatch):
    monkeypatch.setattr(partition, "BLOCK", 64)  # thousands of small releases
    done = check_mechanism(mechanism, outputs=subsets(len(mechanism.worst_case()[0])))
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize(
    "counts",
    [
        np.array([], dtype=np.int64),
        np.zeros(10, dtype=np.int64),
        np.array([-5, -(2**63), 0]),
        np.array([2**62, 2**63 - 1]),
        np.array([2**64 - 1, 0], dtype=np.uint64),
        np.array([200, 0], dtype=np.uint8),
        [],
        [0, 10**30],
        range(3),
    ],
)
def test_any_counts_are_answered(mechanism, counts):
    kept = mechanism.keep(counts)
    assert kept.dtype == np.bool_
    assert kept.shape == (len(counts),)
    for count, shown in zip(list(counts), kept.tolist(), strict=True):
        if count <= 0:
            assert not shown
        if count >= 2**60:
            assert shown


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize(
    "counts", [np.array([1.5]), np.array([True]), ["a"], [None], [True], np.ones((2, 2), int), 7, "ab"]
)
def test_what_is_no_count_is_refused_without_showing_it(mechanism, counts):
    with pytest.raises(InvalidInput) as refusal:
        mechanism.keep(counts)
    assert "1.5" not in str(refusal.value)


@pytest.mark.parametrize("make", [OptimalSelection, LaplaceThreshold, GaussianThreshold])
def test_parameters_are_checked(make):
    for wrong in (
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"delta": 0},
        {"delta": 1},
        {"delta": math.nan},
        {"groups": 0},
        {"groups": 1.5},
        {"groups": -1},
    ):
        with pytest.raises(InvalidParameter):
            make(**{"epsilon": 1, "delta": 1e-6, **wrong})
    with pytest.raises(RelationMismatch):
        make(epsilon=1, delta=1e-6, relation="swap")


def test_gaussian_noise_is_said_in_one_way():
    with pytest.raises(InvalidParameter, match="how much noise"):
        GaussianThreshold(delta=1e-6)
    with pytest.raises(InvalidParameter, match="either"):
        GaussianThreshold(sigma=1, epsilon=1, delta=1e-6)
    with pytest.raises(InvalidParameter, match="above 0"):
        GaussianThreshold(sigma=0, delta=1e-6)


def test_numpy_parameters_mean_the_numbers_they_are():
    a = OptimalSelection(epsilon=np.float32(0.5), delta=np.float64(1e-6), groups=np.int64(3))
    assert a == OptimalSelection(epsilon=0.5, delta=1e-6, groups=3)
    assert type(a.groups) is int


@pytest.mark.parametrize(
    ("epsilon", "delta", "threshold"), [(1, 1e-6, 14), (2, 1e-6, 7), (0.5, 1e-6, 27), (1, 5.1e-7, 15), (1, 1e-3, 7)]
)
def test_laplace_thresholds_by_the_formula(epsilon, delta, threshold):
    """The least T with ``a^T / (1 + a) <= delta``, ``a = e^-epsilon``; noise of one group under add_remove."""
    a = math.exp(-epsilon)
    assert LaplaceThreshold(epsilon=epsilon, delta=delta).threshold == threshold
    assert a**threshold / (1 + a) <= delta < a ** (threshold - 1) / (1 + a)


def test_a_unit_that_may_move_has_twice_the_groups():
    for make in (OptimalSelection, LaplaceThreshold):
        moved = make(epsilon=1, delta=1e-4, groups=2, relation="replace_one")
        still = make(epsilon=1, delta=1e-4, groups=4)
        assert (moved.threshold, moved.probability(9)) == (still.threshold, still.probability(9))
        assert moved.loss.terms == still.loss.terms
        assert moved.loss.relation == "replace_one"


@pytest.mark.parametrize("sigma", [0.3, 1, 5, 40])
@pytest.mark.parametrize("t", [1, 2, 7, 60])
def test_the_gaussian_tail_is_its_sum(sigma, t):
    z = np.arange(-60 * math.ceil(sigma) - 80, 60 * math.ceil(sigma) + 81)
    law = np.exp(-(z**2) / (2 * sigma**2))
    expected = math.fsum(law[z >= t].tolist()) / math.fsum(law.tolist())
    assert float(gaussian_survival(Fraction(sigma) ** 2, t).mid()) == pytest.approx(expected, rel=1e-9, abs=1e-290)


@pytest.mark.parametrize("t", [1, 100, 299, 301, 1000, 2000])
def test_the_tail_of_large_noise_is_bounded_from_above(t):
    sigma = 300
    z = np.arange(-40 * sigma, 40 * sigma + 1)
    law = np.exp(-(z**2) / (2 * sigma**2))
    exact = math.fsum(law[z >= t].tolist()) / math.fsum(law.tolist())
    bound = float(gaussian_survival(Fraction(sigma) ** 2, t).mid())
    assert exact * (1 - 1e-12) <= bound <= exact * 1.01


def test_noisy_counts_come_with_the_decision():
    mechanism = LaplaceThreshold(epsilon=1, delta=1e-3)
    kept, noisy = mechanism.reveal(np.repeat([0, 3, 7, 2**62], 500))
    assert (noisy[kept] > mechanism.threshold).all()
    assert not noisy[~kept].any()
    assert not kept[:500].any()
    assert kept[1500:].all()


def test_thousands_of_groups_in_one_call_and_in_blocks(instructions):
    """Work follows blocks of a public size: one group and a full block cost the same."""
    for mechanism in ALL:
        mechanism.keep(np.full(BLOCK, 5))  # what is computed once is there now
        few, block = (instructions(lambda n=n, m=mechanism: m.keep(np.full(n, 5))) for n in (1, BLOCK))
        assert 0.5 * block < few < 2 * block  # now and then a draw that is close asks for more bits
        assert block < 100_000


class Counting(SeededSource):
    """A source that tells how many words were drawn."""

    drawn = 0

    def words(self, count, /):
        self.drawn += count
        return super().words(count)


@pytest.mark.parametrize("size", [0, 1, 5000, BLOCK, BLOCK + 1])
def test_randomness_is_drawn_in_blocks(size):
    source = Counting(1)
    token = override.set(source)
    try:
        OptimalSelection(epsilon=1, delta=1e-5).keep(np.zeros(size, dtype=np.int64))
    finally:
        override.reset(token)
    assert source.drawn == BLOCK * max(1, -(-size // BLOCK))


@pytest.mark.parametrize("settings", [(1, 1e-5), (0.001, 1e-8), (20, 1e-300), (900, 0.1), (1, 0.5)])
def test_balls_and_floats_decide_alike(settings, monkeypatch):
    """If nothing that float64 says is believed, the same words give the same answers."""
    mechanism = OptimalSelection(epsilon=settings[0], delta=settings[1])
    counts = np.unique(np.linspace(0, mechanism.certain + 2, 3000).astype(np.int64))
    answers = []
    for doubt in (optimal_selection.DOUBT, math.inf):
        monkeypatch.setattr(optimal_selection, "DOUBT", doubt)
        with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("alike"):
            answers.append(mechanism.keep(counts))
    assert (answers[0] == answers[1]).all()
    assert answers[0].any()


def test_no_work_follows_the_largest_count(instructions):
    """Probabilities are formulas: an epsilon for which nothing is certain below millions costs no loop."""

    def asked():
        mechanism = OptimalSelection(epsilon=1e-9, delta=1e-12)
        assert mechanism.certain > 10**9
        assert mechanism.keep(np.array([2**62, mechanism.certain, 1])).tolist()[:2] == [True, True]
        assert 0 < mechanism.probability(10**6) < mechanism.probability(10**9) < 1

    assert instructions(asked) < 1_000_000


def test_noise_beyond_all_counts_is_refused():
    with pytest.raises(InvalidParameter, match="no count would ever be shown"):
        LaplaceThreshold(epsilon=2.0**-70, delta=1e-6)


@pytest.mark.parametrize("mechanism", ALL)
def test_log_probabilities_add_up(mechanism):
    for counts in ([], [0], [3, 0, mechanism.threshold], [1, 2, mechanism.threshold + 1]):
        total = math.fsum(math.exp(mechanism.log_probability(counts, s)) for s in subsets(len(counts)))
        assert total == pytest.approx(1, abs=1e-12)
    assert mechanism.log_probability([0, 5], (0,)) == -math.inf
    assert mechanism.log_probability([5], (3,)) == -math.inf
