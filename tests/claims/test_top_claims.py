"""The k largest: all small vectors of counts, all neighbours, all orders that can come out."""

import math
from fractions import Fraction
from itertools import permutations
from itertools import product as every

import numpy as np
import pytest
from claims_reference import DENSITIES, DUST, SLACK, largest_loss, softmax, steps, worse
from scipy import integrate, stats

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import TopK

ALARM = 1e-9
GRID = list(every(range(3), repeat=3))
BOTH_WAYS, ONE_WAY = (-1, 0, 1), (0, 1)


def peeled(counts, rate, k):
    """Return the law of the exponential mechanism run k times, each time without those already chosen."""
    law = []
    for order in permutations(range(len(counts)), k):
        left, total = list(range(len(counts))), 0.0
        for i in order:
            total += softmax([counts[j] for j in left], rate)[left.index(i)]
            left.remove(i)
        law.append(total)
    return np.array(law)


def all_kept(loss, rate, k, moves, epsilon, sensitivity=1):
    known = {}

    def of(counts):
        key = tuple(c - max(counts) for c in counts)
        if key not in known:
            known[key] = peeled(key, rate, k)
        return known[key]

    allowed = {e: loss.delta(e) * (1 + SLACK) + DUST for e in steps(epsilon)}
    pairs = {
        (counts, tuple(c + sensitivity * m for c, m in zip(counts, move, strict=True)))
        for counts in GRID
        for move in every(moves, repeat=3)
    }
    return all(worse(of(a), of(b), e) <= most for a, b in pairs for e, most in allowed.items())


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("monotone", [False, True])
def test_every_small_neighbour_keeps_the_claim(k, monotone):
    mechanism = TopK(k=k, epsilon=2, monotone=monotone)
    assert mechanism.loss == k * PrivacyLoss.bounded_range(Fraction(2, k))
    assert mechanism.rate == Fraction(2, k * (1 if monotone else 2))
    assert all_kept(mechanism.loss, float(mechanism.rate), k, ONE_WAY if monotone else BOTH_WAYS, 2)


def test_sensitivity_is_divided_out():
    mechanism = TopK(k=2, epsilon=2, sensitivity=3)
    assert all_kept(mechanism.loss, float(mechanism.rate), 2, BOTH_WAYS, 2, sensitivity=3)
    assert not all_kept(mechanism.loss, float(mechanism.rate), 2, BOTH_WAYS, 2, sensitivity=6)


@pytest.mark.parametrize(
    ("rate", "why"), [(1, "k choices with the noise of one"), (1, "counts that move both ways taken as monotone")]
)
def test_the_check_catches_twice_the_rate(rate, why):
    """With k = 2 and epsilon 2 the rate is a half; either mistake makes it 1."""
    assert TopK(k=2, epsilon=2).rate == Fraction(1, 2)
    assert not all_kept(TopK(k=2, epsilon=2).loss, rate, 2, BOTH_WAYS, 2), why


def test_monotone_is_false_where_counts_move_both_ways():
    mechanism = TopK(k=2, epsilon=2, monotone=True)
    assert not all_kept(mechanism.loss, float(mechanism.rate), 2, BOTH_WAYS, 2)


@pytest.mark.parametrize(("monotone", "down"), [(False, -1), (True, 0)])
def test_epsilon_is_attained_in_the_limit(monotone, down):
    """Two candidates rise, in order, among thousands that fall."""
    mechanism, many = TopK(k=2, epsilon=1, monotone=monotone), 10**4
    before, after = np.zeros(many), np.full(many, down)
    after[:2] = 1
    found = largest_loss(mechanism.log_probability(before, (0, 1)), mechanism.log_probability(after, (0, 1)))
    assert 0.999 < found <= 1 + 1e-12


def test_one_shot_of_gumbel_noise_is_peeling():
    """The chance of an order by integration over the second variable, against the product of two softmaxes."""
    density, below = DENSITIES["gumbel"]
    starts = (0.0, 0.7, 1.5)
    for i, j in permutations(range(3), 2):
        other = ({0, 1, 2} - {i, j}).pop()
        found, _ = integrate.quad(
            lambda x, i=i, j=j, o=other: density(x - starts[j]) * below(x - starts[o]) * (1 - below(x - starts[i])),
            -20,
            60,
            epsabs=1e-13,
            limit=400,
        )
        expected = peeled(starts, 1, 2)[list(permutations(range(3), 2)).index((i, j))]
        assert math.isclose(math.log(found), expected, rel_tol=1e-8)


@pytest.mark.parametrize("k", [1, 2, 4, 9])
@pytest.mark.parametrize("counts", [[3, 1, 0, 3], np.array([3, 1, 0, 3]), [2**62 + 3, 2**62 + 1, 2**62, 2**62 + 3]])
def test_what_is_drawn_has_the_law(k, counts, repeatable):
    mechanism = TopK(k=k, epsilon=4)
    orders = list(permutations(range(4), min(k, 4)))
    law = np.exp([mechanism.log_probability(counts, order) for order in orders])
    assert np.allclose(law, np.exp(peeled([3, 1, 0, 3], float(mechanism.rate), min(k, 4))), rtol=0, atol=1e-12)
    drawn = [orders.index(mechanism.release(counts)) for _ in range(6000)]
    expected = law * len(drawn)
    counted = np.bincount(drawn, minlength=expected.size)
    common = expected >= 10
    if not common.all():
        counted = np.append(counted[common], counted[~common].sum())
        expected = np.append(expected[common], expected[~common].sum())
    assert stats.chisquare(counted, expected * counted.sum() / expected.sum()).pvalue > ALARM
