"""The numerical accountant against closed forms, enumeration and quadrature: its bounds hold on both sides."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from accounting_reference import ball, divergence, in_balls
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from discreet.accounting import PrivacyLoss
from discreet.accounting.numerical import Atoms, Composition, GaussianPair, LaplacePair, Sampled
from discreet.accounting.numerical.lattice import Grid, lower, upper
from discreet.accounting.numerical.merged import Merged
from discreet.accounting.terms.gaussian import gaussian_delta
from discreet.accounting.terms.pure import response_pair

few = settings(max_examples=15, deadline=None, derandomize=True)
ROUNDING = 1e-11
"""Relative rounding of the references."""


def assert_holds(composition, epsilon, delta, gap=math.inf):
    """Both bounds on both curves enclose a known point of the curve."""
    low, high = composition.delta(epsilon, "lower"), composition.delta(epsilon)
    assert low * (1 - ROUNDING) <= delta <= high * (1 + ROUNDING) + 1e-300
    low, high = composition.epsilon(delta, "lower"), composition.epsilon(delta)
    assert low * (1 - ROUNDING) <= epsilon <= high * (1 + ROUNDING)
    assert high - low <= gap * high


def atoms(p, q):
    order = np.argsort(np.log(p / q))
    return Atoms(np.log(p / q)[order], p[order], q[order])


def enumerated(*pairs):
    """Return the laws of all combinations of outcomes."""
    p = q = np.ones(1)
    for pair in pairs:
        p, q = np.multiply.outer(p, pair.p).ravel(), np.multiply.outer(q, pair.q).ravel()
    return p, q


def sampled_delta(stick, rate, removed, epsilon):
    """Return delta of a sampled pair from ``stick``, the hockey-stick divergence of its symmetric base at x."""
    x = math.exp(epsilon)
    if removed:
        return rate * stick((x - 1 + rate) / rate)
    rest = 1 - x * (1 - rate)
    return rest * stick(rate * x / rest) if rest > 0 else 0.0


def gaussian_stick(mu):
    return lambda x: 1 - x if x <= 0 else ndtr(mu / 2 - math.log(x) / mu) - x * ndtr(-mu / 2 - math.log(x) / mu)


def laplace_stick(e):
    def stick(x):
        loss = math.log(x) if x > 0 else -math.inf
        return 1 - x if loss <= -e else 0.0 if loss >= e else -math.expm1((loss - e) / 2)

    return stick


def laplace_delta(e, copies, epsilon):
    """Return delta of equal Laplace mechanisms: all integrands are smooth between multiples of e."""
    if copies == 1:
        return laplace_stick(e)(math.exp(epsilon))
    rest = {s: laplace_delta(e, copies - 1, epsilon - s) for s in (-e, e)}
    nodes, weights = np.polynomial.legendre.leggauss(16)
    kinks = [k for j in range(-copies, copies + 1) if -e < (k := epsilon - j * e) < e]
    total = (rest[e] + math.exp(-e) * rest[-e]) / 2
    for a, b in pairwise(sorted({-e, *kinks, e})):
        for node, weight in zip(nodes, weights, strict=True):
            loss = (a + b + (b - a) * node) / 2
            density = math.exp((loss - e) / 2) / 4
            total += (b - a) / 2 * weight * density * laplace_delta(e, copies - 1, epsilon - loss)
    return total


def lattice_delta(lattice, epsilon):
    losses = lattice.anchor + lattice.places * lattice.step
    return float(np.dot(lattice.mass, -np.expm1(np.minimum(epsilon - losses, 0))))


# --- closed forms ------------------------------------------------------------------------------------------------

GAUSSIANS = [
    (1.0, 1, 1, 1e-3),
    (1.0, 1, 0.001, 1e-1),
    (1.0, 1, 34, 1e-3),  # delta near 1e-247
    (0.1, 100, 3, 1e-3),
    (1e-3, 10**6, 10, 1e-3),
    (1e-3, 1, 0.003, 1e-3),
    (1e-6, 1, 5e-6, 1e-2),
    (5.0, 10, 200, 1e-3),
    (10.0, 4, 500, 1e-3),
]


@pytest.mark.parametrize(("mu", "copies", "epsilon", "gap"), GAUSSIANS)
def test_gaussians(mu, copies, epsilon, gap):
    delta = gaussian_delta(copies * Fraction(mu) ** 2, Fraction(epsilon))
    composition = Composition(((GaussianPair(mu), copies),))
    low, high = composition.epsilon(delta, "lower"), composition.epsilon(delta)
    assert low <= epsilon * (1 + ROUNDING)
    assert epsilon <= high * (1 + ROUNDING)
    assert high - low <= gap * high
    assert composition.delta(epsilon, "lower") <= delta * (1 + ROUNDING)
    assert delta <= composition.delta(epsilon) * (1 + ROUNDING)


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-12, 1e-30, 1e-100, 1e-250])
def test_unequal_gaussians_at_every_delta(delta):
    mus = (0.5, 0.25, 0.125)
    composition = Composition(tuple((GaussianPair(mu), 4**i) for i, mu in enumerate(mus)))
    total = sum(4**i * Fraction(mu) ** 2 for i, mu in enumerate(mus))
    low, high = composition.epsilon(delta, "lower"), composition.epsilon(delta)
    assert gaussian_delta(total, Fraction(high)) <= delta <= gaussian_delta(total, Fraction(low))
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize(("e", "copies"), [(0.5, 20), (2.0, 7), (0.01, 300), (8.0, 4)])
@pytest.mark.parametrize("part", [0.05, 0.5, 0.9])
def test_repeated_randomised_response(e, copies, part):
    epsilon = part * e * copies

    def formula():
        a, x = ball(e).exp(), ball(epsilon).exp()
        total = sum(
            math.comb(copies, i) * (a ** (copies - i) - x * a**i)
            for i in range(copies + 1)
            if (copies - 2 * i) * Fraction(e) > Fraction(epsilon)
        )
        return float(total / (1 + a) ** copies)

    assert_holds(Composition(((response_pair(Fraction(e), 2), copies),)), epsilon, in_balls(formula))


@pytest.mark.parametrize("e", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("copies", [2, 3])
@pytest.mark.parametrize("part", [0.1, 0.45, 0.95])
def test_laplace_by_quadrature(e, copies, part):
    epsilon = part * e * copies
    assert_holds(Composition(((LaplacePair(e), copies),)), epsilon, laplace_delta(e, copies, epsilon), gap=1e-3)


@pytest.mark.parametrize(("sensitivity", "scale"), [(1, 3), (3, 2), (7, 10)])
def test_discrete_laplace_by_enumeration(sensitivity, scale):
    loss = PrivacyLoss.discrete_laplace(sensitivity=sensitivity, scale=scale)
    pair = loss.terms[0][0].pair()
    for epsilon in (0.0, sensitivity / scale, 2.6 * sensitivity / scale):
        assert_holds(Composition(((pair, 3),)), epsilon, divergence(*enumerated(pair, pair, pair), epsilon))


@pytest.mark.parametrize(
    ("rate", "z", "epsilon", "deltas"),
    [
        (0.01, 1.1, 0.05, (0.00017904789807380127, 0.0)),
        (0.5, 2.0, 0.2, (0.03982688331494281, 0.02399754035864648)),
    ],
)
def test_one_step_of_a_sampled_gaussian(rate, z, epsilon, deltas):
    pair = Sampled(GaussianPair(1 / z), rate)
    assert_holds(Composition(((pair, 1),)), epsilon, max(deltas), gap=1e-3)
    for removed, delta in zip((True, False), deltas, strict=True):
        one = Sampled(GaussianPair(1 / z), rate, removed)
        assert sampled_delta(gaussian_stick(1 / z), rate, removed, epsilon) == pytest.approx(delta, rel=1e-9)
        low, high = lower(one, Grid(1e-3), 1e-20), upper(one, Grid(1e-3), 1e-20)
        assert lattice_delta(low, epsilon) - low.excess <= delta * (1 + ROUNDING)
        assert delta <= (lattice_delta(high, epsilon) + high.infinite) * (1 + ROUNDING)


@pytest.mark.parametrize(
    ("pair", "copies", "delta", "least", "most"),
    [
        (Sampled(GaussianPair(1 / 1.1), 256 / 60000), 14062, 1e-5, 2.38156, 2.38166),
        (Sampled(GaussianPair(1 / 0.8), 0.001), 10**5, 1e-7, 3.22616, 3.22632),
        (response_pair(Fraction(1, 2), 2), 20, 1e-6, 9.98680, 9.98680),
    ],
    ids=["mnist", "rare", "response"],
)
def test_values_from_the_literature(pair, copies, delta, least, most):
    composition = Composition(((pair, copies),))
    low, high = composition.epsilon(delta, "lower"), composition.epsilon(delta)
    assert low <= most + 1e-5
    assert least - 1e-5 <= high
    assert high - low <= 3e-4 * high


# --- anything on a lattice ---------------------------------------------------------------------------------------

weights = st.lists(st.integers(1, 1000), min_size=4, max_size=4).map(lambda ws: np.array(ws) / sum(ws))


@few
@given(weights, weights, st.floats(0, 4))
@example(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1]), 1.0)
def test_asymmetric_products_by_enumeration(p, q, epsilon):
    pair = atoms(p, q)
    delta = divergence(*enumerated(pair, pair, pair), epsilon)
    composition = Composition(((pair, 3),))
    assert composition.delta(epsilon, "lower") <= delta * (1 + ROUNDING) + 1e-15
    assert delta <= composition.delta(epsilon) * (1 + ROUNDING) + 1e-15
    assert composition.delta(epsilon) == pytest.approx(Composition(((pair.reversed(), 3),)).delta(epsilon), rel=1e-9)


@few
@given(weights, weights, st.floats(0.5, 12), st.floats(0, 1))
def test_small_losses_on_a_coarse_lattice(p, q, mu, part):
    epsilon, stick = part * mu**2, gaussian_stick(mu)
    delta = max(
        sum(a * stick(math.exp(epsilon) * b / a) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p))
    )
    composition = Composition(((atoms(p, q), 1), (GaussianPair(mu), 1)))
    assert composition.delta(epsilon, "lower") * (1 - 1e-9) <= delta <= composition.delta(epsilon) * (1 + 1e-9)


PAIRS = {
    "laplace": (LaplacePair(1.0), lambda e: laplace_stick(1.0)(math.exp(e))),
    **{
        f"sampled {base} {rate:.2f} {removed}": (
            Sampled(base, rate, removed),
            lambda e, stick=stick, rate=rate, removed=removed: sampled_delta(stick, rate, removed, e),
        )
        for base, stick, rate in (
            (LaplacePair(3.0), laplace_stick(3.0), 0.1),
            (LaplacePair(0.1), laplace_stick(0.1), 0.01),
            (GaussianPair(1.0), gaussian_stick(1.0), 0.01),
            (GaussianPair(5.0), gaussian_stick(5.0), 0.01),
            (GaussianPair(8.0), gaussian_stick(8.0), 0.23936944299295215),
        )
        for removed in (True, False)
    },
}


@pytest.mark.parametrize(("pair", "delta"), PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize(
    "grid", [Grid(0.25), Grid(0.05), Grid(0.018), Grid(0.01, 0.3, 20), Grid(0.003, -0.1, 16, 7)], ids=repr
)
def test_lattices_bound_the_whole_curve(pair, delta, grid):
    low, high = lower(pair, grid, 1e-20), upper(pair, grid, 1e-20)
    for epsilon in np.linspace(max(pair.support[0], -2) - 0.1, min(pair.support[1], 4) + 0.1, 101).tolist():
        assert lattice_delta(low, epsilon) - low.excess <= delta(epsilon) + 1e-13
        assert delta(epsilon) <= lattice_delta(high, epsilon) + high.infinite + 1e-13


def test_bounds_are_nested_under_refinement():
    for pairs in (((GaussianPair(0.3), 12),), ((LaplacePair(0.2), 30), (GaussianPair(1.0), 1))):
        lows, highs = zip(
            *((c.epsilon(1e-6, "lower"), c.epsilon(1e-6)) for f in (0.3, 1.0, 3.0) if (c := Composition(pairs, f))),
            strict=True,
        )
        assert max(lows) <= min(highs)
        assert lows[0] <= lows[2] * (1 + 1e-7)
        assert highs[2] <= highs[0] * (1 + 1e-7)
        assert highs[2] - lows[2] <= 1e-4 * highs[2]


# --- what it must not get wrong ----------------------------------------------------------------------------------


CROSSED = [
    ((Sampled(GaussianPair(5.0), 0.01), 10),),
    ((Sampled(LaplacePair(0.1), 0.01), 1), (GaussianPair(0.5), 1)),
    ((response_pair(Fraction(1, 5), 100), 1), (GaussianPair(5.0), 1)),
]
"""Compositions whose bounds once crossed."""


@pytest.mark.parametrize("pairs", CROSSED, ids=["sampled gaussian", "sampled laplace", "response"])
def test_lower_is_below_upper(pairs):
    assert Composition(pairs).epsilon(1e-5, "lower") <= Composition(pairs).epsilon(1e-5)
    assert Composition(pairs).delta(0.5, "lower") <= Composition(pairs).delta(0.5)
    assert Composition(pairs).delta(0.0, "lower") <= Composition(pairs).delta(0.0)


def test_a_sampled_law_keeps_its_mass():
    """At this rate ``expm1(log1p(-rate)) / rate`` rounds to just above -1, beyond which a fifth of the mass lies."""
    rate = 0.23936944299295215
    hit = 1 - (1 - rate) ** 3  # a distant answer gives the record away, mu = 8 being nearly distinguishable
    assert Composition(((Sampled(GaussianPair(8.0), rate), 3),)).delta(1.0) >= hit * 0.99


def test_many_failures_are_not_overstated_from_below():
    low, _ = (1000 * PrivacyLoss.approximate(Fraction(1, 10), Fraction(4, 10**4))).bounds(0.35)
    assert low < 1000 * 0.1  # with probability 0.33 everything is given away, not with 0.4


@pytest.mark.parametrize(
    "loss", [100 * PrivacyLoss.laplace(1e-12), 2 * PrivacyLoss.discrete_laplace(sensitivity=1, scale=1e-3)]
)
def test_losses_of_infeasible_size_are_still_bounded(loss):
    low, high = loss.bounds(1e-9)
    assert 0 <= low <= high <= loss.epsilon(0)


def test_merged_outcomes_are_post_processing_and_can_be_turned_round():
    pair = Sampled(GaussianPair(2.0), 0.01)
    merged = Merged.of(pair, 0.05)
    edges = np.linspace(-0.2, 6, 200)
    for a, b in ((merged, merged.reversed()), (merged.reversed(), merged)):
        (p, q), (p_at, q_at) = a.cells(edges), a.atoms(edges)
        (r, s), (r_at, s_at) = b.cells(-edges[::-1]), b.atoms(-edges[::-1])
        assert p == pytest.approx(s[::-1], abs=1e-15)
        assert q == pytest.approx(r[::-1], abs=1e-15)
        assert (p_at.sum(), q_at.sum()) == pytest.approx((s_at.sum(), r_at.sum()))
    for epsilon in (0.0, 0.01, 0.3, 2.0):  # telling less never raises delta
        x = math.exp(epsilon)
        whole = 0.01 * gaussian_stick(2.0)((x - 1 + 0.01) / 0.01)
        cells = merged.cells(np.linspace(merged.cut, 30, 200_001))
        told = np.maximum(cells[0] - x * cells[1], 0).sum() + max(merged.p - x * merged.q, 0)
        assert told <= whole * (1 + 1e-9)
        assert told >= whole * 0.9 or epsilon < 0.05
