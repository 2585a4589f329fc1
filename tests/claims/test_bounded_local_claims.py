"""A bound on the local sensitivity, then the value: exact divergences between all neighbours of a small domain."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.bounded_local import BoundedLocal, Fitted
from discreet.sensitivity.smooth import Levels

SIZE = 6
ROUNDED = 1 + 2.0**-30


def local(ones):
    """How far the square of the number of ones among six bits moves, from the definition."""
    return max(abs(ones**2 - k**2) for k in range(SIZE + 1) if abs(ones - k) <= 1)


GLOBAL = max(abs(local(k) - local(k + 1)) for k in range(SIZE))


class Squared:
    relation, size, range, dimension, norm = "replace_one", SIZE, (0, SIZE**2), 1, 1.0

    def at(self, records):
        ones = sum(records)
        return Levels(float(ones**2), np.array([float(local(ones))]))


def laplace_divergence(epsilon, theta):
    """The hockey-stick divergence of Laplace laws that are theta scales apart."""
    if epsilon >= theta:
        return 0.0
    return -math.expm1(epsilon) if epsilon <= -theta else -math.expm1((epsilon - theta) / 2)


def bound_law(ones, made, scale, tail, most):
    """Log-probabilities of the bound, in steps from 1 to most; all that is below 1 counts as 1."""
    a, start = math.exp(-1 / scale), math.ceil(local(ones) / made.step) + tail
    b = np.arange(1, most + 1)
    law = math.log((1 - a) / (1 + a)) - np.abs(b - start) / scale
    law[0] = math.log(a ** (start - 1) / (1 + a)) if start > 1 else math.log1p(-(a ** (2 - start)) / (1 + a))
    return law


def divergence(ones, other, made, epsilon, *, scale=None, tail=None):
    """The divergence of the pair (bound, value), the value being on the real line."""
    scale = float(made._noise.scale) if scale is None else scale
    tail = made.tail if tail is None else tail
    most = math.ceil(local(SIZE) / made.step) + tail + math.ceil(45 * scale)
    p, q = (bound_law(k, made, scale, tail, most) for k in (ones, other))
    second = float(made.epsilon) * (1 - float(made.test))
    move = abs(ones**2 - other**2)
    return math.fsum(
        math.exp(one) * laplace_divergence(epsilon - (one - two), move * second / (b * float(made.step) * ROUNDED))
        for b, (one, two) in enumerate(zip(p, q, strict=True), start=1)
    )


def worst(made, epsilon, **changed):
    pairs = [(k, k + 1) for k in range(SIZE)]
    return max(divergence(*pair, made, epsilon, **changed) for a, b in pairs for pair in ((a, b), (b, a)))


def mechanism(**settings):
    given = {"sensitivity": GLOBAL, "epsilon": 2, "delta": 0.01, "steps": 1} | settings
    return BoundedLocal(function=Squared(), **given)


CASES = [
    mechanism(),
    mechanism(steps=8),
    mechanism(epsilon=0.5, delta=0.2),
    mechanism(epsilon=5, delta=1e-4, test=Fraction(1, 5)),
]


@pytest.mark.parametrize("made", CASES)
def test_every_neighbour_keeps_the_claim(made):
    epsilon = float(made.epsilon)
    claim = made.loss.delta(epsilon)
    assert claim <= made.delta
    assert worst(made, epsilon) <= claim * (1 + 1e-9)
    assert made.loss.epsilon(made.delta) <= epsilon


def test_the_bound_fails_with_probability_delta_at_most():
    made = mechanism(steps=8)
    for k in range(SIZE + 1):
        law = np.exp(bound_law(k, made, float(made._noise.scale), made.tail, 4000))
        assert law.sum() == pytest.approx(1)
        short = law[: math.ceil(local(k) / made.step) - 1].sum()
        assert short <= made.loss.delta(made.epsilon) * (1 + 1e-9)
        assert short == pytest.approx(made.loss.delta(made.epsilon), rel=1e-9) or local(k) <= made.step


def test_it_tells_the_law_of_its_bound():
    made = mechanism(epsilon=6, grid=1)
    for ones in (0, 3, 6):
        records = [1] * ones + [0] * (SIZE - ones)
        law = bound_law(ones, made, float(made._noise.scale), made.tail, 40)
        for bound in (1, 5, 9, 13):
            told = [made.log_probability(records, Fitted(float(y), 2.0 * bound)) for y in range(-400, 500)]
            assert math.fsum(np.exp(told)) == pytest.approx(math.exp(law[bound - 1]), rel=1e-6)


def test_the_check_catches_a_bound_without_its_tail():
    assert worst(mechanism(), 2, tail=0) > 2 * 0.01


def test_the_check_catches_a_wrong_sensitivity():
    made = mechanism()
    assert worst(made, 2, scale=float(made._noise.scale) / 4) > made.loss.delta(2)
