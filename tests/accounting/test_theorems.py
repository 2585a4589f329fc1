"""Theorems against worked values, enumeration and quadrature: never below the truth, and in their proven order."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from accounting_reference import divergence, responses
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.accounting import theorems as th

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "accounting_vectors.json").read_text())
ANSWERS = {}

epsilons = st.floats(1e-3, 3)
deltas = st.floats(1e-12, 0.4)
rates = st.floats(1e-4, 1)


def answers(topic):
    def register(function):
        assert topic not in ANSWERS
        ANSWERS[topic] = function
        return function

    return register


def exact(number):
    return Fraction(str(number))


# --- Worked values -----------------------------------------------------------------------------------------------


@answers("composition.basic")
def _(epsilons, deltas):
    return th.basic_composition([exact(e) for e in epsilons], [exact(d) for d in deltas])._asdict()


@answers("composition.advanced")
def _(k, epsilon, delta, delta_prime):
    options = {"count": k, "slack": exact(delta_prime)}
    rho = k * Fraction(th.pure_to_zcdp_classical(exact(epsilon)))
    return {
        "drv10": th.advanced_composition(exact(epsilon), delta, **options).epsilon,
        "drv10_tanh": th.sharper_composition(exact(epsilon), delta, **options).epsilon,
        "via_zcdp": th.zcdp_epsilon_classical(rho, exact(delta_prime)),
        "basic": th.basic_composition(exact(epsilon), delta, count=k).epsilon,
    }


@answers("composition.kov_homogeneous")
def _(k, epsilon, delta, i):
    entry = th.optimal_composition(exact(epsilon), delta, count=k)[i]
    return {"eps_out": entry.epsilon, "delta_out": entry.delta}


@answers("group_privacy")
def _(t, epsilon, delta):
    found = {form: th.group_privacy(epsilon, delta, size=t, form=form) for form in ("tight", "common", "loose")}
    return {"epsilon": found["tight"].epsilon} | {f"delta_{form}": pair.delta for form, pair in found.items()}


@answers("rdp.laplace")
def _(alpha, scale, sensitivity):
    return PrivacyLoss.laplace(Fraction(sensitivity) / exact(scale)).renyi(alpha)


@answers("rdp.gaussian_to_dp")
def _(sigma, delta, alpha_grid):
    assert alpha_grid == "1.1..39.9 step 0.1"
    orders = [Fraction(i, 10) for i in range(11, 400)]

    def curve(order):
        return order / (2 * sigma**2)

    return {
        "mironov": th.renyi_epsilon(curve, delta, orders=orders, conversion="mironov").epsilon,
        "cks": th.renyi_epsilon(curve, delta, orders=orders).epsilon,
        "exact_analytic": th.gdp_epsilon(Fraction(1, sigma), delta),
    }


@answers("zcdp.to_dp")
def _(rho, delta):
    return {"bun_steinke": th.zcdp_epsilon_classical(rho, delta), "cks_optimised": th.zcdp_epsilon(rho, delta)}


@answers("pure_to_zcdp.check")
def _(epsilon, alphas):
    found = [PrivacyLoss.pure(epsilon).renyi(alpha) / alpha for alpha in alphas]
    assert max(found) <= th.pure_to_zcdp(epsilon) <= th.pure_to_zcdp_classical(epsilon)
    return found


@answers("gdp.composition")
def _(mus):
    return th.gdp_composition(mus)


@answers("subsampling.amplification")
def _(epsilon, q, delta):
    size, population = exact(q).numerator, exact(q).denominator
    found = th.poisson_sampling(epsilon, exact(delta), rate=exact(q), relation="add_remove")
    other = th.sampling_without_replacement(
        epsilon, exact(delta), size=size, population=population, relation="replace_one"
    )
    assert found == other
    return found._asdict()


@answers("subsampling.with_replacement")
def _(n, m, epsilon, relation):
    found = th.sampling_with_replacement(epsilon, size=m, population=n, relation=relation)
    q = math.expm1(found.epsilon) / math.expm1(epsilon)
    return {"q": q, "epsilon_at_base_eps_note": found.epsilon}


@answers("rdp.poisson_subsampled_gaussian")
def _(alpha, q, noise_multiplier):
    return th.sampled_gaussian_renyi(alpha, rate=q, noise_multiplier=noise_multiplier, relation="add_remove")


@answers("rdp.wor_subsampled_gaussian_wang2019")
def _(alpha, q, base, s):
    assert base == "gaussian eps(j)=j/(2 s^2)"
    rate = exact(q)
    return th.without_replacement_renyi(
        alpha,
        lambda order: order / (2 * exact(s) ** 2),
        size=rate.numerator,
        population=rate.denominator,
        relation="replace_one",
    )


@answers("rdp.wor_subsampled_laplace_wang2019")
def _(alpha, q, scale, sensitivity):
    base, rate = PrivacyLoss.laplace(Fraction(sensitivity, scale)), exact(q)
    return th.without_replacement_renyi(
        alpha,
        base.renyi,
        size=rate.numerator,
        population=rate.denominator,
        relation="replace_one",
        most=Fraction(sensitivity, scale),
    )


@answers("pld.poisson_subsampled_gaussian_one_step")
def _(q, noise_multiplier, epsilon):
    """Amplification is attained in one direction, and covers the other."""
    mu, grown = 1 / noise_multiplier, math.exp(epsilon)
    inside = math.log1p(math.expm1(epsilon) / q)
    left = 1 - grown * (1 - q)
    return {
        "delta_mixture_vs_base": q * th.gdp_delta(mu, inside),
        "delta_base_vs_mixture": left * th.gdp_delta(mu, math.log(grown * q / left)) if left > 0 else 0.0,
    }


@answers("dpsgd.rdp_epsilon")
def _(q, noise_multiplier, steps, delta, orders):
    assert orders == "2..128"
    whole = range(2, 129)
    curve = th.sampled_gaussian_renyi(whole, rate=q, noise_multiplier=noise_multiplier, relation="add_remove")
    found = {
        name: th.renyi_epsilon(lambda order: steps * curve[int(order) - 2], delta, orders=whole, conversion=conversion)
        for name, conversion in (("mironov", "mironov"), ("cks", "improved"))
    }
    return {name: bound.epsilon for name, bound in found.items()} | {
        f"{name}_order": int(bound.order) for name, bound in found.items()
    }


@answers("dpsgd.gdp_clt")
def _(q, noise_multiplier, steps):
    found = th.sampled_gaussian_limit(rate=q, noise_multiplier=noise_multiplier, steps=steps)
    assert found.direction is None
    return found.mu


@answers("dualquery.privacy")
def _(eta, s, n, delta, **inputs):
    last = inputs["T"]
    rounds = [2 * exact(eta) * (t - 1) / n for t in range(2, last + 1)]
    rho = s * sum(Fraction(th.bounded_range_to_zcdp(e)) for e in rounds)
    return {
        "eps_pure": th.basic_composition(rounds, count=s).epsilon,
        "eps_paper_advanced": th.advanced_composition(rounds[-1], slack=delta, count=s * (last - 1)).epsilon,
        "eps_heterogeneous": th.advanced_composition(rounds, slack=delta, count=s).epsilon,
        "rho_zcdp": float(rho),
        "eps_from_zcdp": th.zcdp_epsilon_classical(rho, delta),
    }


@answers("queries_vs_accuracy")
def _(k, epsilon, delta):
    rho = th.largest_rho(epsilon, delta)
    low, high = 1.0, 1e4
    while high - low > 1e-9:
        middle = (low + high) / 2
        mu = th.gdp_composition(1 / middle, count=k)
        low, high = (low, middle) if th.gdp_delta(mu, epsilon) <= delta else (middle, high)
    return {
        "basic_scale": th.basic_composition(Fraction(1, epsilon), count=k).epsilon,
        "zcdp_laplace_scale": 1 / math.sqrt(2 * rho / k),
        "gaussian_analytic_std": high,
    }


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['id']}-{vector['topic']}")
def test_worked_value(vector):
    found = ANSWERS[vector["topic"]](**vector["inputs"])
    expected, tolerance = vector["expected"], vector["tolerance"]
    if isinstance(expected, dict):
        assert set(found) == set(expected)
    assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


def test_every_answer_is_asked_for():
    assert {vector["topic"] for vector in VECTORS} == set(ANSWERS)


# --- Composition -------------------------------------------------------------------------------------------------


@given(st.lists(epsilons, min_size=1, max_size=9), deltas)
def test_forms_of_composition_are_ordered(several, slack):
    basic = th.basic_composition(several).epsilon
    advanced = th.advanced_composition(several, slack=slack).epsilon
    sharper = th.sharper_composition(several, slack=slack).epsilon
    closed = th.heterogeneous_composition(several, slack=slack)
    assert sharper <= advanced
    assert closed.epsilon <= min(basic, sharper)
    assert closed.delta == slack


@pytest.mark.parametrize("several", [(1, 0.5), (0.1,) * 8, (0.05, 0.1, 0.2, 0.4, 0.8), (0.02,) * 10, (3, 0.01, 0.01)])
@pytest.mark.parametrize("slack", [0.3, 0.1, 1e-2, 1e-3, 1e-5])
def test_composition_of_different_guarantees_covers_enumeration(several, slack):
    p, q = responses(*several)
    for theorem in (th.advanced_composition, th.sharper_composition, th.heterogeneous_composition):
        assert divergence(p, q, theorem(several, slack=slack).epsilon) <= slack


@pytest.mark.parametrize("s", [0.01, 0.1, 1, 5])
def test_the_closed_form_covers_long_compositions(s):
    for count, slack in product((10, 1000, 20000), (0.1, 1e-3, 1e-9)):
        found = th.heterogeneous_composition(s / math.sqrt(count), slack=slack, count=count).epsilon
        assert th.optimal_epsilon(s / math.sqrt(count), count=count, total_delta=slack) <= found


@pytest.mark.parametrize(("count", "epsilon"), [(1, 1), (2, 0.7), (3, 2), (8, 0.25), (11, 0.1)])
@pytest.mark.parametrize("failure", [0, 0.001])
def test_optimal_composition_is_exact(count, epsilon, failure):
    p, q = responses(*[epsilon] * count)
    lost = 1 - (1 - failure) ** count
    entries = th.optimal_composition(epsilon, failure, count=count)
    assert len(entries) == count // 2 + 1
    for entry in entries:
        true = lost + (1 - lost) * divergence(p, q, entry.epsilon)
        assert entry.delta == pytest.approx(true, rel=1e-11, abs=1e-15)
        if entry.epsilon > 0:
            total = entry.delta * (1 + 1e-12)
            found = th.optimal_epsilon(epsilon, failure, count=count, total_delta=total)
            assert found == pytest.approx(entry.epsilon, rel=1e-6)
    for total in (lost + 1e-3, lost + 0.05, lost + 0.3):
        found = th.optimal_epsilon(epsilon, failure, count=count, total_delta=total)
        assert lost + (1 - lost) * divergence(p, q, found) <= total * (1 + 1e-12)
        assert found == 0 or lost + (1 - lost) * divergence(p, q, found * (1 - 1e-6)) > total


@given(epsilons, st.integers(1, 60), deltas)
@settings(deadline=None)
def test_optimal_composition_is_below_every_other(epsilon, count, delta):
    found = th.optimal_epsilon(epsilon, count=count, total_delta=delta)
    assert found <= th.heterogeneous_composition(epsilon, slack=delta, count=count).epsilon
    rho = count * Fraction(th.pure_to_zcdp(epsilon))
    assert found <= th.zcdp_epsilon(rho, delta) <= th.zcdp_epsilon_classical(rho, delta)
    assert found <= (count * PrivacyLoss.pure(epsilon)).epsilon(delta) * (1 + 1e-12)


def test_worse_than_adding_up_is_possible():
    assert th.sharper_composition(1, slack=1e-6, count=10).epsilon > th.basic_composition(1, count=10).epsilon


def test_too_many_failures_have_no_epsilon():
    assert th.optimal_epsilon(0.1, 1e-3, count=10, total_delta=1e-3) == math.inf
    assert th.optimal_epsilon(0.1, 1, count=1, total_delta=0.5) == math.inf


@given(epsilons, st.integers(1, 40), deltas)
def test_more_releases_cost_more(epsilon, count, slack):
    for theorem in (th.advanced_composition, th.sharper_composition, th.heterogeneous_composition):
        few, more = (theorem(epsilon, slack=slack, count=k).epsilon for k in (count, count + 1))
        assert few < more
    assert th.optimal_epsilon(epsilon, count=count, total_delta=slack) <= th.optimal_epsilon(
        epsilon, count=count + 1, total_delta=slack
    ) * (1 + 1e-12)


# --- zCDP, Renyi, Gaussian DP, closed forms ----------------------------------------------------------------------


@given(epsilons)
def test_pure_conversions_are_ordered(epsilon):
    assert th.bounded_range_to_zcdp(epsilon) < th.pure_to_zcdp(epsilon) <= th.pure_to_zcdp_classical(epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_laws_of_bounded_range_have_an_eighth(epsilon):
    """Two outcomes whose losses differ by epsilon, at every position of that interval."""
    for share in np.linspace(0.02, 0.98, 25):
        low, high = -share * epsilon, (1 - share) * epsilon
        q = (1 - math.exp(low)) / (math.exp(high) - math.exp(low))
        p = q * math.exp(high)
        for alpha in (1.01, 1.5, 2, 5, 40):
            moment = p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)
            assert math.log(moment) / (alpha - 1) / alpha <= th.bounded_range_to_zcdp(epsilon) * (1 + 1e-9)


@given(st.floats(1e-4, 10), deltas)
@settings(deadline=None, max_examples=40)
def test_conversions_are_ordered_and_hold_for_gaussian_noise(rho, delta):
    classical, improved = th.zcdp_epsilon_classical(rho, delta), th.zcdp_epsilon(rho, delta)
    mironov = th.renyi_epsilon(lambda order: order * Fraction(rho), delta, conversion="mironov").epsilon
    assert th.gdp_epsilon(math.sqrt(2 * rho) * (1 - 1e-12), delta) <= improved <= min(classical, mironov)
    assert classical == pytest.approx(mironov, rel=1e-7)


@given(st.floats(1.01, 100), st.floats(0, 10), deltas)
def test_the_improved_conversion_improves(order, renyi, delta):
    assert th.improved_conversion(order, renyi, delta) <= th.mironov_conversion(order, renyi, delta)
    assert th.improved_conversion(order, renyi, delta) >= 0


def test_infinite_divergences_prove_nothing():
    assert th.mironov_conversion(2, math.inf, 0.1) == th.improved_conversion(2, math.inf, 0.1) == math.inf
    assert th.renyi_epsilon(lambda _: math.inf, 1e-6) == (math.inf, None)
    some = th.renyi_epsilon(lambda order: order if order < 3 else math.inf, 1e-6)
    assert some.order < 3


@given(st.floats(1e-3, 8), deltas)
@settings(deadline=None, max_examples=40)
def test_gaussian_conversion_inverts(mu, delta):
    epsilon = th.gdp_epsilon(mu, delta)
    assert th.gdp_delta(mu, epsilon) <= delta
    assert epsilon == 0 or th.gdp_delta(mu, epsilon * (1 - 1e-9)) > delta * (1 - 1e-7)


@given(st.floats(1e-3, 8), deltas, st.integers(2, 9))
def test_closed_forms_agree_with_the_terms(epsilon, delta, categories):
    assert th.laplace_epsilon(epsilon, delta) == pytest.approx(PrivacyLoss.laplace(epsilon).epsilon(delta), abs=1e-11)
    assert th.response_epsilon(epsilon, delta, categories=categories) == pytest.approx(
        PrivacyLoss.randomized_response(epsilon, categories).epsilon(delta), abs=1e-11
    )


def test_largest_rho_is_on_the_safe_side():
    for epsilon, delta in product((0.01, 1, 10), (1e-12, 1e-6, 0.1)):
        rho = th.largest_rho(epsilon, delta)
        assert th.zcdp_epsilon_classical(rho, delta) == pytest.approx(epsilon, rel=1e-12)


# --- Groups ------------------------------------------------------------------------------------------------------


@given(epsilons, deltas, st.integers(1, 6))
def test_forms_of_group_privacy_are_ordered(epsilon, delta, size):
    tight, common, loose = (
        th.group_privacy(epsilon, delta, size=size, form=form) for form in ("tight", "common", "loose")
    )
    assert tight.epsilon == common.epsilon == loose.epsilon
    assert tight.delta <= common.delta * (1 + 1e-15) <= loose.delta * (1 + 2e-15)
    approximate = PrivacyLoss.approximate(epsilon, delta).group(size)
    assert approximate.delta(size * Fraction(epsilon)) <= tight.delta * (1 + 1e-15)


def test_a_group_of_one_is_no_group():
    assert th.group_privacy(0.5, 0.25, size=1) == (0.5, 0.25)
    assert th.group_privacy(0, 0.125, size=3) == pytest.approx((0, 0.375), rel=1e-15)
    assert th.group_zcdp(0.5, size=1) == 0.5


def test_the_group_sum_is_attained():
    """A chain of laws each of which moves as much as (epsilon, delta) lets it."""
    grown, delta, p = math.exp(0.5), 1e-3, 0.0
    for _ in range(3):
        p = grown * p + delta
    assert th.group_privacy(0.5, delta, size=3).delta == pytest.approx(p, rel=1e-12)
