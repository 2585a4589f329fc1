"""The joint delta of Gaussian noise and a threshold, against convolutions of the laws of single bins."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import ball
from discreet.mechanisms.gaussian_threshold import gaussian_survival
from discreet.mechanisms.histogram import gaussian_sigma
from discreet.mechanisms.partition import touched
from discreet.mechanisms.sparse_gaussian import SparseGaussian, _groups, calibrated, sparse_loss
from discreet.mechanisms.stability_histogram import StabilityHistogram
from discreet.mechanisms.thresholds import least_threshold

RELATIONS = ["add_remove", "replace_one"]
BUDGETS = [(1.0, 1e-6), (0.3, 1e-3), (3.0, 1e-4), (0.1, 0.3), (8.0, 1e-5), (20.0, 1e-9)]


# --- by brute force ------------------------------------------------------------------------------------------------


def noise_law(sigma):
    z = np.arange(-math.ceil(39 * sigma) - 1, math.ceil(39 * sigma) + 2)
    weights = np.exp(-(z**2) / (2 * sigma**2))
    return z, weights / weights.sum()


def moved(r, sigma):
    """Return pairs of log-ratio and probability of r noisy counts that change by one each, by convolution."""
    z, one = noise_law(sigma)
    law, start = np.ones(1), 0
    for _ in range(r):
        law, start = np.convolve(law, one), start + int(z[0])
    return (r - 2.0 * (start + np.arange(law.size))) / (2 * sigma**2), law


def brute_force(sigma, threshold, bins, relation, epsilon):
    """Return the supremum over all mixes of bins that vanish, appear and change, output by output."""
    z, one = noise_law(sigma)
    p = float(one[1 + z > threshold].sum())
    worst, total = 0.0, touched(bins, relation)
    for k, j in product(range(bins + 1), repeat=2):
        if relation == "add_remove" and k and j:
            continue
        loss, law = moved(total - k - j, sigma)
        loss = loss + (k - j) * math.log1p(-p)
        rest = law[loss > epsilon] * -np.expm1(epsilon - loss[loss > epsilon])
        worst = max(worst, -math.expm1(k * math.log1p(-p)) + (1 - p) ** k * math.fsum(rest.tolist()))
    return worst


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bins", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_curve_is_that_of_the_worst_mix(epsilon, delta, bins, relation):
    sigma, threshold = calibrated(Fraction(epsilon), Fraction(delta), bins, relation)
    curve = SparseGaussian(sigma, threshold, bins, relation)
    loss = sparse_loss(sigma, threshold, bins, relation, Fraction(epsilon))
    assert loss.relation == relation
    chord = 1.03 if sigma > 1 else 1.5  # the curve of little noise has few corners, and chords cut them off
    for e in (0.0, epsilon / 3, epsilon * 0.9, epsilon, 1.3 * epsilon, 3 * epsilon):
        exact = brute_force(sigma, threshold, bins, relation, e)
        assert exact * (1 - 1e-9) <= curve.delta(e) <= exact * (1 + 1e-6) + 1e-15
        assert exact * (1 - 1e-9) <= loss.delta(e) <= exact * chord + 1e-15
    assert loss.delta(epsilon) <= delta
    assert loss.delta(epsilon) <= brute_force(sigma, threshold, bins, relation, epsilon) * (1 + 1e-5)
    assert loss.epsilon(delta) <= epsilon


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bins", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_neither_less_noise_nor_a_lower_threshold_fits(epsilon, delta, bins, relation):
    sigma, threshold = calibrated(Fraction(epsilon), Fraction(delta), bins, relation)
    assert brute_force(sigma, threshold, bins, relation, epsilon) <= delta
    assert brute_force(sigma * 0.9999, threshold + 9, bins, relation, epsilon) > delta
    assert threshold == 0 or brute_force(sigma, threshold - 1, bins, relation, epsilon) > delta * (1 - 2e-6)


# --- against adding deltas -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bins", [1, 2, 3, 20])
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_it_is_never_more_than_half_of_delta_for_the_noise(epsilon, delta, bins, relation):
    changed = touched(bins, relation)
    old = gaussian_sigma(changed, Fraction(epsilon), Fraction(delta) / 2)
    noise = PrivacyLoss.discrete_gaussian(squared_sensitivity=changed, sigma_squared=Fraction(old) ** 2)
    made = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, bins=bins, noise="gaussian")
    assert made.unit.sigma < old
    left = 1 - (1 - Fraction(delta)) / (1 - Fraction(noise.delta(epsilon)))
    assert made.threshold <= least_threshold(partial(gaussian_survival, Fraction(old) ** 2), bins, left)


def test_what_it_saves():
    made = StabilityHistogram(epsilon=1, delta=1e-6, relation="add_remove", bins=100, noise="gaussian")
    assert (round(made.unit.sigma, 1), made.threshold) == (42.2, 238)
    assert made.loss.delta(1) <= 1e-6 < made.failure + SparseGaussian(made.unit.sigma, 238, 100, "add_remove").noise(1)


# --- many bins -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [1, 2, 11, 23, 24, 25, 30, 31, 99, 100, 1000])
def test_groups_hold_every_number_once(bins):
    groups = list(_groups(bins))
    assert [k for fewest, most in groups for k in range(fewest, most + 1)] == list(range(bins + 1))


@pytest.mark.parametrize("relation", RELATIONS)
def test_taking_many_together_is_above_each_of_them(relation):
    for e, threshold in product((0.0, 0.5, 1.0, 2.0), (5, 10)):
        curve = SparseGaussian(3.0, threshold, 30, relation)
        exact = brute_force(3.0, threshold, 30, relation, e) if relation == "add_remove" else None
        if exact is None:  # a few of the 961 mixes
            z, one = noise_law(3.0)
            p = float(one[1 + z > threshold].sum())
            exact = 0.0
            for k, j in [(0, 0), (1, 0), (15, 15), (15, 0), (30, 30), (30, 0), (0, 30), (14, 13), (20, 17)]:
                loss, law = moved(60 - k - j, 3.0)
                loss = loss + (k - j) * math.log1p(-p)
                rest = law[loss > e] * -np.expm1(e - loss[loss > e])
                exact = max(exact, 1 - (1 - p) ** k + (1 - p) ** k * rest.sum())
        assert curve.delta(e) >= exact * (1 - 1e-9)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 1.99, 2.0, 5.0])
@pytest.mark.parametrize("r", [1, 2, 7])
def test_sums_of_noise_are_bounded_closely(sigma, r):
    """Summed number by number below a sigma of 2, by a Gaussian function from there on."""
    curve = SparseGaussian(sigma, 5, r, "add_remove")
    loss, law = moved(r, sigma)
    for e in (-1.0, -0.1, 0.0, 0.1, 1.0, 4.0):
        exact = float((law[loss > e] * -np.expm1(e - loss[loss > e])).sum())
        found = float(curve._moved(r, np.array([e]))[0])
        assert exact * (1 - 1e-10) <= found <= exact * (1 + 1e-6) + 1e-14


@pytest.mark.parametrize("sigma", [0.1, 0.25, 1.0, 3.0])
def test_at_the_edge_of_a_lattice_nothing_is_lost(sigma):
    """An epsilon that is a loss of the lattice but for its last digit: whether that counts must not be guessed."""
    curve, square = SparseGaussian(sigma, 5, 1, "add_remove"), Fraction(sigma) ** 2
    weights = {s: (-ball(s * s / (2 * square))).exp() for s in range(-40, 41)}
    total = sum(weights.values(), arb(0))
    for s in (0, -1, -3):
        corner = float((1 - 2 * s) / (2 * square))
        for e in (corner * (1 + n * 2.0**-52) for n in (-40, -3, -1, 0, 1, 3, 40)):
            terms = [
                weights[t] / total * -(ball(Fraction(e) - (1 - 2 * t) / (2 * square))).expm1()
                for t in weights
                if (1 - 2 * t) / (2 * square) > Fraction(e)
            ]
            assert float(curve._moved(1, np.array([e]))[0]) >= float(sum(terms, arb(0)).mid())


# --- as a loss -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_it_composes(relation):
    made = StabilityHistogram(epsilon=1, delta=1e-6, relation=relation, bins=2, noise="gaussian")
    both, twice = made.loss + PrivacyLoss.laplace(0.5), 2 * made.loss
    assert 1.0 < both.epsilon(2e-6) <= 1.5
    assert 1.0 < twice.epsilon(4e-6) <= 2
    assert PrivacyLoss.from_json(made.loss.to_json()) == made.loss


def two_laws(loss):
    """Return both laws of a loss, from what is written of it."""
    (term,) = json.loads(loss.to_json())["terms"]
    return tuple(np.array([float(Fraction(x)) for x in term[name]]) for name in ("p", "q"))


def together(*pairs):
    """Return both laws of several outputs, one after the other."""
    p = q = np.ones(1)
    for one, other in pairs:
        p, q = np.multiply.outer(p, one).ravel(), np.multiply.outer(q, other).ravel()
    return p, q


def divergence(p, q, epsilon):
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in ((p, q), (q, p)))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (2.0, 1e-3), (0.3, 0.3)])
def test_composing_is_that_of_all_outputs_together(epsilon, delta, relation):
    """Output by output, of the two laws that are written down, with themselves and with randomized response."""
    loss = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, bins=2, noise="gaussian").loss
    answers = np.array([0.7, 0.3]), np.array([0.3, 0.7])
    pairs = {
        2 * loss: together(two_laws(loss), two_laws(loss)),
        loss + PrivacyLoss.from_pair(*answers): together(two_laws(loss), answers),
    }
    for composed, (p, q) in pairs.items():
        for e in (0.0, epsilon / 2, epsilon, 1.4 * epsilon, 2 * epsilon):
            exact = divergence(p, q, e)
            assert exact * (1 - 1e-9) - 1e-15 <= composed.delta(e) <= exact * (1 + 1e-3) + 1e-12


@pytest.mark.parametrize("relation", RELATIONS)
def test_composing_covers_every_mix_repeated(relation):
    """Two releases are one of twice as many bins, of which each mix is convolved number by number."""
    made = StabilityHistogram(epsilon=1, delta=1e-4, relation=relation, bins=1, noise="gaussian")
    sigma, twice = float(made.unit.sigma), 2 * made.loss
    for e in (0.0, 0.5, 1.0, 1.5, 2.0):
        assert brute_force(sigma, made.threshold, 2, relation, e) <= twice.delta(e) * (1 + 1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-3, 1e-6), (1e-5, 0.5), (300, 1e-9), (1, 1e-12), (50, 0.9)])
def test_extremes(epsilon, delta):
    for relation in RELATIONS:
        made = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, noise="gaussian")
        assert made.loss.delta(epsilon) <= delta


def test_beyond_all_extremes():
    with pytest.raises(InvalidParameter, match="600"):
        StabilityHistogram(epsilon=601, delta=1e-6, relation="add_remove", noise="gaussian")


STUCK = [
    (3, 0.00051, 1, "replace_one"),
    (3, 0.00052, 1, "replace_one"),
    (1, 5.1e-6, 2, "replace_one"),
    (3, 6.5000000000000004e-06, 3, "add_remove"),
    (1, 0.999999, 1, "add_remove"),
]
"""Where rounding noise alone less than noise and a threshold left no threshold that fits."""


def test_a_threshold_is_always_found():
    code = f"""
from discreet.mechanisms import StabilityHistogram
for epsilon, delta, bins, relation in {STUCK}:
    made = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, bins=bins, noise="gaussian")
    assert made.loss.delta(epsilon) <= delta
    print(made.threshold)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.split() == ["6", "6", "36", "12", "1"]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bins", [1, 2, 3, 30])
@pytest.mark.parametrize("sigma", [0.4, 1.9, 2.0, 7.3])
def test_a_high_threshold_costs_nothing_beyond_the_noise(sigma, bins, relation):
    curve = SparseGaussian(sigma, 2 + math.ceil(64 * sigma), bins, relation)
    for epsilon in (0.0, 0.01, 1 / 3, 1.0, 3.0, 7.7):
        assert curve.delta(epsilon) == curve.noise(epsilon)


def test_where_no_noise_is_known_to_fit():
    with pytest.raises(InvalidParameter, match="larger delta"):
        StabilityHistogram(epsilon=600, delta=1e-300, relation="replace_one", noise="gaussian")
