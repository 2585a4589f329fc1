"""Propose-test-release from its definition: all small data sets, all neighbours, distances by brute force."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from types import SimpleNamespace

import numpy as np
import pytest
from claims_reference import cells, kept, laplace_survival, worse

from discreet.accounting import PrivacyLoss
from discreet.mechanisms.margin import Outcome
from discreet.mechanisms.propose_test_release import ProposeTestRelease
from discreet.sensitivity.smooth import Levels, Median, OrderStatistic, TrimmedMean

VALUES = (0, 1, 40)
SIZE = 3
DATA = list(combinations_with_replacement(VALUES, SIZE))
ROUNDED = 1 + 2.0**-30


def median(data):
    return sorted(data)[SIZE // 2]


def distance(one, other):
    """How many records must be replaced, as multisets."""
    left = list(other)
    for record in one:
        if record in left:
            left.remove(record)
    return len(left)


APART = {(x, y): distance(x, y) for x in DATA for y in DATA}
PAIRS = [(x, y) for (x, y), far in APART.items() if far == 1 and x < y]
LOCAL = {x: max(abs(median(x) - median(y)) for y in DATA if APART[x, y] <= 1) for x in DATA}
NEAR = {x: [max(LOCAL[y] for y in DATA if APART[x, y] <= k) for k in range(SIZE + 1)] for x in DATA}


class BruteForce:
    """The median of three numbers out of a few, with its local sensitivity by brute force."""

    relation, size, range, dimension, norm = "replace_one", SIZE, (0, 40), 1, 1.0

    def at(self, records):
        return Levels(float(median(records)), np.array(NEAR[tuple(records)], dtype=float))


def margin(x, bound):
    """The least distance at which a data set has a larger local sensitivity, from the definition."""
    return min((APART[x, y] for y in DATA if LOCAL[y] > bound), default=math.inf)


def reach(bound):
    """How far from 0 noise for a bound goes, but for a negligible rest."""
    return 100 + 60 * math.ceil(bound)


def upper(scale, t):
    """``P[Z >= t]`` for integer Laplace noise."""
    a = math.exp(-1 / scale)
    return a**t / (1 + a) if t >= 1 else 1 - a ** (1 - t) / (1 + a)


def law(x, *, bound, first, second, threshold):
    """The log-probabilities of refusing and of each point of the grid of whole numbers."""
    d = margin(x, bound)
    passing = 1.0 if math.isinf(d) else upper(1 / first, threshold - d + 1)
    noisy = cells(laplace_survival, bound * ROUNDED / second, median(x), 1, reach(bound))
    with np.errstate(divide="ignore"):
        return np.concatenate([np.log([1 - passing]), np.log(passing) + noisy])


def mechanism(bound=1, epsilon=2, delta=0.05, **more):
    return ProposeTestRelease(function=BruteForce(), bound=bound, epsilon=epsilon, delta=delta, grid=1, **more)


def laws(made, **changed):
    settings = {
        "bound": float(made.bound),
        "first": float(made.test_epsilon),
        "second": float(made.epsilon) - float(made.test_epsilon),
        "threshold": made.threshold,
    } | changed
    return {x: law(x, **settings) for x in DATA}


def all_kept(loss, found, epsilons):
    claim = SimpleNamespace(delta=cache(loss.delta))
    return all(kept(claim, found[x], found[y], epsilons) for x, y in PAIRS)


CASES = [
    mechanism(),
    mechanism(bound=0.5, delta=0.2),
    mechanism(bound=39, epsilon=1),
    mechanism(bound=40),
    mechanism(epsilon=4, delta=0.001, test=Fraction(3, 4)),
]


@pytest.mark.parametrize("made", CASES)
def test_every_small_neighbour_keeps_the_claim(made):
    epsilon = float(made.epsilon)
    assert all_kept(made.loss, laws(made), (0, epsilon / 4, epsilon / 2, epsilon, 1.5 * epsilon))
    assert made.loss.delta(epsilon) <= made.delta
    assert made.loss.epsilon(made.delta) <= epsilon


@pytest.mark.parametrize("made", CASES)
def test_it_tells_its_own_law(made):
    found, far = laws(made), reach(made.bound)
    outputs = [Outcome(None, False), *(Outcome(float(y), True) for y in range(-far, far + 1))]
    for x in DATA[::3]:
        some = [0, *range(1, len(outputs), max(1, len(outputs) // 200))]
        told = np.array([made.log_probability(x, outputs[i]) for i in some])
        assert np.allclose(np.exp(told), np.exp(found[x][some]), rtol=1e-9, atol=1e-15)
        assert np.exp(found[x]).sum() == pytest.approx(1, abs=1e-9)


def test_the_margin_is_what_the_proof_says():
    for bound in (0.5, 1, 39, 40):
        found = {x: margin(x, bound) for x in DATA}
        told = {x: BruteForce().at(x).distance(bound) for x in DATA}
        assert all(told[x] == (None if math.isinf(found[x]) else found[x]) for x in DATA)
        assert all(found[x] == found[y] or abs(found[x] - found[y]) <= 1 for x, y in PAIRS)


def test_delta_is_attained_where_nothing_may_be_released():
    made = mechanism()
    x, y = (0, 0, 40), (0, 40, 40)
    assert margin(x, 1) == margin(y, 1) == 0
    found = laws(made)
    assert worse(found[x], found[y], 2) == pytest.approx(float(made._margin.failure), rel=1e-6)


def test_the_threshold_is_least():
    for epsilon, delta in ((1, 0.05), (0.1, 1e-6), (3, 1e-9), (Fraction(1, 3), 0.49)):
        made = ProposeTestRelease(function=BruteForce(), bound=1, epsilon=2 * Fraction(epsilon), delta=delta)
        a = math.exp(-float(epsilon))
        assert a ** (made.threshold + 1) / (1 + a) <= delta * (1 + 1e-12)
        assert made.threshold == 0 or a**made.threshold / (1 + a) > delta
        assert made.threshold <= math.log(1 / (2 * delta)) / epsilon + 1


def test_the_check_catches_a_lower_threshold():
    made = mechanism()
    found = laws(made, threshold=made.threshold - 1)
    assert not all_kept(PrivacyLoss.approximate(made.epsilon, made.delta), found, (float(made.epsilon),))


def test_the_check_catches_too_little_noise():
    made = mechanism()
    assert not all_kept(made.loss, laws(made, second=2.5), (float(made.epsilon),))


def test_the_check_catches_the_local_sensitivity_itself():
    """Noise for the local sensitivity of the data at hand, without a test."""
    x, y = (0, 0, 0), (0, 0, 40)
    noisy = [cells(laplace_survival, max(LOCAL[z], 1e-3), median(z), 1, 80) for z in (x, y)]
    assert LOCAL[x] == 0
    assert LOCAL[y] == 40
    assert worse(*noisy, 2) > 0.5


FUNCTIONS = [
    Median(bounds=(0, 40)),
    Median(bounds=(0, 40), kind="lower"),
    Median(bounds=(0, 40), kind="lower", relation="add_remove"),
    OrderStatistic(rank=1, bounds=(0, 40)),
    TrimmedMean(bounds=(0, 40), trim=1),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_tell_margins_as_the_proof_needs_them(function):
    """Margins that differ by at most 1 between neighbours, and values that move by at most the local sensitivity."""
    sizes = range(2, 6) if function.relation == "add_remove" else (3, 4)
    for n in sizes:
        for x in combinations_with_replacement(VALUES, n):
            changed = [x[:i] + x[i + 1 :] for i in range(n)]
            if function.relation == "replace_one":
                changed = [(*rest, new) for rest in changed for new in VALUES]
            here = function.at(list(x))
            for y in changed:
                there = function.at(list(y))
                assert abs(here.value - there.value) <= min(here.local(), there.local()) * ROUNDED
                for bound in (0.5, 1, 20, 39, 40):
                    one, other = (v.distance(bound) for v in (here, there))
                    assert one == other or (None not in (one, other) and abs(one - other) <= 1)
                    assert (one == 0) == (here.local() > bound)
