"""Inputs on which a bound of the numerical accountant was once wrong, found by attacking it."""

import math

import numpy as np
import pytest

from discreet.accounting.numerical import Atoms, Composition, GaussianPair, LaplacePair, Sampled
from discreet.accounting.numerical.bounded_range import BoundedRangePair
from discreet.accounting.numerical.direction import Direction
from discreet.accounting.numerical.symmetric import SymmetricPair


def exactly(parts, epsilon):
    """Return delta of a product of few atoms by enumeration, the larger of both directions."""
    p = q = np.ones(1)
    for pair, count in parts:
        for _ in range(count):
            p, q = np.multiply.outer(p, pair.p).ravel(), np.multiply.outer(q, pair.q).ravel()
    x = math.exp(epsilon)
    return max(np.maximum(p - x * q, 0).sum(), np.maximum(q - x * p, 0).sum())


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(
    ("mu", "loss", "rate", "copies"), [(1.167, 0.106, 6e-13, 1671), (4.93, 0.13, 4.4e-12, 5950), (1.0, 0.2, 1e-11, 10)]
)
def test_a_loss_far_smaller_than_a_step_loses_no_mass(mu, loss, rate, copies, removed):
    alone = math.erf(mu / math.sqrt(8))
    composition = Composition(((GaussianPair(mu), 1), (Sampled(LaplacePair(loss), rate, removed), copies)))
    assert composition.delta(0.0) >= alone * (1 - 1e-9)
    for pairs in (composition.pairs, tuple((pair.reversed(), count) for pair, count in composition.pairs)):
        assert Direction(pairs).delta(0.0, "upper") >= alone * (1 - 1e-9)
    assert composition.delta(0.0, "lower") <= alone * (1 + 1e-9) + copies * rate


@pytest.mark.parametrize(("mu", "rate", "epsilon"), [(8.0, 1e-9, 40.0), (1.0, 1e-12, 1.0), (3.0, 1e-11, 4.0)])
def test_a_tiny_rate_between_two_directions(mu, rate, epsilon):
    from scipy.special import ndtr

    gaussian = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    composition = Composition(((GaussianPair(mu), 1), (SymmetricPair(GaussianPair(5.0), rate), 1)))
    assert composition.delta(epsilon, "lower") <= gaussian + rate * (1 + math.exp(epsilon)) + 1e-12
    assert composition.delta(epsilon) >= gaussian * (1 - 1e-9)


@pytest.mark.parametrize("top", [245.0, 260.0, 600.0])
def test_a_rare_huge_loss_does_not_hide_the_common_ones(top):
    p = 0.15 * math.exp(0.003)
    pair = Atoms(
        np.array([math.log((1 - p) / 0.85), 0.003, top]),
        np.array([1 - p, p, 1e-32]),
        np.array([0.85, 0.15, 1e-32 * math.exp(-top)]),
    )
    assert Composition(((pair, 6),)).epsilon(1.26e-5) >= 0.009066 * (1 - 1e-4)


def test_concave_corners_are_not_raised():
    a = Atoms(
        np.array([-0.11447301204078485, -0.05854050891338601, -0.045140508043672166, 0.04514150801045137]),
        np.array([2.524353515321294e-24, 0.42267161223679833, 6.160740562357329e-28, 0.5773283877632018]),
        np.array([2.8305131164406628e-24, 0.4481536113176423, 6.445211806378079e-28, 0.5518463886823578]),
    )
    b = Atoms(
        np.array([-0.25137018180373133, -0.15880918336364364, 0.2382304814332879]),
        np.array([0.42585704278490344, 5.871362395593654e-06, 0.574137085852701]),
        np.array([0.5475610111849067, 6.881907627306986e-06, 0.45243210690746594]),
    )
    parts = ((a, 1), (b, 5))
    epsilon = 5.4775975809452586e-05
    exact = exactly(parts, epsilon)
    assert (
        Composition(parts).delta(epsilon, "lower")
        <= exact * (1 + 1e-10)
        <= Composition(parts).delta(epsilon) * (1 + 2e-10)
    )
    ranged = Composition(((Sampled(BoundedRangePair(5.558809061292706), 0.2750259874370664), 92),))
    assert ranged.delta(0.004900186969826947, "lower") <= ranged.delta(0.004900186969826947)


@pytest.mark.parametrize("spared", [1.3e-15, 1e-12, 1e-9])
def test_a_rate_close_to_one(spared):
    """Whoever is nearly always sampled has nearly the whole loss."""
    sure = Atoms(np.array([-100.0, math.log(2)]), np.array([0.5 * math.exp(-100), 1.0]), np.array([0.5, 0.5]))
    mu, epsilon = 7.2752995032631915, 134.20912269932528
    composition = Composition(((Sampled(GaussianPair(mu), 1 - spared), 1), (sure, 1)))
    whole = Composition(((GaussianPair(mu), 1), (sure, 1)))
    assert composition.delta(epsilon) <= whole.delta(epsilon) * (1 + 1e-6)
    if spared < 1e-14:
        assert composition.delta(epsilon) >= 1.09e-3


def test_a_wide_pair_among_many_narrow_ones_needs_little_memory():
    import tracemalloc

    pairs = tuple((LaplacePair(50.0 if i == 1 else 1e-4 * (1 + i / 1000)), 1) for i in range(520))
    tracemalloc.start()
    epsilon = Composition(pairs).epsilon(1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert epsilon >= 49
    assert peak < 400e6
