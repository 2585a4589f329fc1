"""Theorems against worked values, enumeration and quadrature: never below the truth, and in their proven order."""

import json
import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
import pytest
from accounting_reference import ball, divergence, in_balls, responses
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from discreet.accounting import PrivacyLoss
from discreet.accounting import theorems as th
from discreet.accounting.theorems.sampled_gaussian import MOST_INTEGRATED, MOST_TERMS
from discreet.errors import InvalidParameter, NoTheorem, RelationMismatch

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


# --- Sampling ----------------------------------------------------------------------------------------------------

REACH = 60


def geometric(center):
    z = np.arange(-REACH, REACH + 1) - center
    a = math.exp(-1)
    return (1 - a) / (1 + a) * a ** np.abs(z)


def law_of(samples):
    """Return the law of a noisy sum over weighted samples."""
    return sum(weight * geometric(sum(sample)) for sample, weight in samples)


def poisson(data, rate):
    for size in range(len(data) + 1):
        for chosen in combinations(data, size):
            yield chosen, rate**size * (1 - rate) ** (len(data) - size)


def without(data, size):
    subsets = list(combinations(data, size))
    return [(chosen, 1 / len(subsets)) for chosen in subsets]


def replaced(data, size):
    draws = list(product(data, repeat=size))
    return [(chosen, 1 / len(draws)) for chosen in draws]


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("at", [0, 0.3, 0.7])
def test_poisson_sampling_covers_enumeration(rate, at):
    """Noise of parameter 1; at each base epsilon its delta, amplified, lies above the enumerated one."""
    base = PrivacyLoss.discrete_laplace(sensitivity=1, scale=1)
    found = th.poisson_sampling(at, base.delta(at), rate=rate, relation="add_remove")
    with_, without_ = (law_of(poisson(data, rate)) for data in ((0, 1, 1), (0, 1)))
    assert divergence(with_, without_, found.epsilon) <= found.delta * (1 + 1e-12)
    alone, nobody = law_of(poisson((1,), rate)), law_of(poisson((), rate))
    assert divergence(alone, nobody, found.epsilon) == pytest.approx(found.delta, rel=1e-9)


@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.parametrize("at", [0, 0.3, 0.7])
def test_poisson_sampling_of_replaced_records_covers_enumeration(rate, at):
    added = PrivacyLoss.discrete_laplace(sensitivity=1, scale=1).delta(at)
    exchanged = PrivacyLoss.discrete_laplace(sensitivity=2, scale=1).delta(at)
    found = th.poisson_sampling_replace_one(add_remove=(at, added), replace_one=(at, exchanged), rate=rate)
    one, other = (law_of(poisson(data, rate)) for data in ((0, 1, 1), (0, 1, -1)))
    assert divergence(one, other, found.epsilon) <= found.delta * (1 + 1e-12)


def test_both_guarantees_are_needed():
    """A base that answers by randomised response, and with a blank if its sample is empty, is 1-DP under replace_one.

    Emptiness is not hidden from add_remove, and the amplified epsilon does not cover what Poisson sampling makes of it.
    """
    rate, lie = 0.1, 1 / (1 + math.e)

    def law(record):
        truth = np.array([lie, 1 - lie] if record else [1 - lie, lie])
        return np.concatenate([[1 - rate], rate * truth])

    alone = th.poisson_sampling(1, rate=rate, relation="add_remove")
    true = divergence(law(1), law(0), alone.epsilon)
    assert true > 0.04
    with pytest.raises(RelationMismatch, match="both relations"):
        th.poisson_sampling(1, rate=rate, relation="replace_one")


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("at", [0, 0.3, 0.7])
def test_sampling_without_replacement_covers_enumeration(size, at):
    base = PrivacyLoss.discrete_laplace(sensitivity=1, scale=1)
    found = th.sampling_without_replacement(at, base.delta(at), size=size, population=4, relation="replace_one")
    one, other = (law_of(without(data, size)) for data in ((0, 0, 0, 1), (0, 0, 0, 0)))
    assert divergence(one, other, found.epsilon) == pytest.approx(found.delta, rel=1e-9)
    one, other = (law_of(without(data, size)) for data in ((1, 0, 1, 1), (1, 0, 1, 0)))
    assert divergence(one, other, found.epsilon) <= found.delta * (1 + 1e-12)


@pytest.mark.parametrize(
    ("population", "size", "true", "bound"), [(3, 4, 0.2079, 0.2093), (4, 3, None, None), (1, 2, None, None)]
)
def test_sampling_with_replacement_covers_enumeration(population, size, true, bound):
    def group(k):
        return PrivacyLoss.discrete_laplace(sensitivity=k, scale=1).delta(1)

    options = {"size": size, "population": population, "relation": "replace_one"}
    found = th.sampling_with_replacement(1, **options, group_delta=group)
    opaque = th.sampling_with_replacement(1, **options)
    worst = 0.0
    for rest in product((0, 1), repeat=population - 1):
        one, other = (law_of(replaced((*rest, record), size)) for record in (1, 0))
        worst = max(worst, divergence(one, other, found.epsilon))
    assert 0 < worst <= found.delta <= opaque.delta
    if true:
        assert worst == pytest.approx(true, abs=5e-5)
        assert found.delta == pytest.approx(bound, abs=5e-5)


def test_many_draws_are_cut_safely():
    """The sum is cut where nothing is left; all terms together give the same."""
    m, n = 300, 200
    found = th.sampling_with_replacement(0.5, 1e-4, size=m, population=n, relation="replace_one")
    group = [PrivacyLoss.approximate(0.5, 1e-4).group(k).delta(0.5) for k in range(1, m + 1)]
    whole = math.fsum(stats.binom.pmf(k, m, 1 / n) * d for k, d in enumerate(group, start=1))
    assert found.delta == pytest.approx(whole, rel=1e-9)
    flat = th.sampling_with_replacement(0.5, size=m, population=n, relation="replace_one", group_delta=lambda _: 1)
    assert flat.delta == pytest.approx(1 - (1 - 1 / n) ** m, rel=1e-12)


@given(epsilons, deltas, rates)
def test_sampling_amplifies(epsilon, delta, rate):
    found = th.poisson_sampling(epsilon, delta, rate=rate, relation="add_remove")
    assert found.epsilon <= epsilon * (1 + 1e-15)
    assert found.delta <= delta
    assert found.epsilon >= rate * epsilon * (1 - 1e-12)
    twice = th.poisson_sampling(epsilon, delta, rate=rate / 2, relation="add_remove")
    assert twice.epsilon <= found.epsilon


# --- Renyi divergences on samples --------------------------------------------------------------------------------


def quadrature(order, q, z, *, forwards=True):
    def integrand(t):
        log_ratio = np.logaddexp(math.log1p(-q), math.log(q) + t / z - 1 / (2 * z * z))
        return math.exp((order if forwards else 1 - order) * log_ratio - t * t / 2) / math.sqrt(2 * math.pi)

    edges = np.linspace(-12, order / z + 12, 24)
    whole = math.fsum(integrate.quad(integrand, a, b, epsabs=1e-15, epsrel=1e-12)[0] for a, b in pairwise(edges))
    return math.log(whole) / (order - 1)


@pytest.mark.parametrize("order", [1.25, 2, 2.5, 5, 7.75])
@pytest.mark.parametrize(("q", "z"), [(0.1, 1), (0.01, 1.1), (0.5, 2), (0.9, 0.7), (0.3, 5)])
def test_sampled_gaussian_agrees_with_quadrature(order, q, z):
    found = th.sampled_gaussian_renyi(order, rate=q, noise_multiplier=z, relation="add_remove")
    assert found == pytest.approx(quadrature(order, q, z), rel=1e-8, abs=1e-12)
    assert quadrature(order, q, z, forwards=False) <= found * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(("q", "z"), [(0.01, 1.1), (1e-6, 0.5), (0.999, 3), (1e-9, 20), (0.3, 0.05)])
def test_whole_orders_lie_just_above_the_sum(q, z):
    orders = [2, 3, 5, 17, 64, 300]
    found = th.sampled_gaussian_renyi(orders, rate=q, noise_multiplier=z, relation="add_remove")

    def moment(a):
        p, r, w = 1 - ball(q), ball(q), 1 / (2 * ball(z) ** 2)
        terms = (math.comb(a, k) * p ** (a - k) * r**k * (k * (k - 1) * w).exp() for k in range(a + 1))
        return sum(terms).log() / (a - 1)

    for order, value in zip(orders, found, strict=True):
        true = in_balls(lambda order=order: moment(order))
        assert true.lower() <= value
        assert value <= float(true) * (1 + 1e-10)
        alone = th.sampled_gaussian_renyi(order, rate=q, noise_multiplier=z, relation="add_remove")
        assert alone == pytest.approx(value, rel=1e-12)


def test_orders_of_every_size_join():
    """Sums, integrals, stand-ins and the unsampled curve give one rising curve."""
    orders = [1.001, 1.5, 2, 2.001, 3.5, 199.5, 200, MOST_INTEGRATED + 0.5, 201, MOST_TERMS, MOST_TERMS + 0.5, 10**9]
    found = th.sampled_gaussian_renyi(orders, rate=0.01, noise_multiplier=2, relation="add_remove")
    assert all(a <= b for a, b in pairwise(found))
    assert found[3] == pytest.approx(found[2], rel=1e-2)
    assert found[-1] == pytest.approx(10**9 / 8)


def test_the_ends_of_the_rate():
    options = {"noise_multiplier": 2, "relation": "add_remove"}
    assert th.sampled_gaussian_renyi([1.5, 3], rate=1, **options).tolist() == [1.5 / 8, 3 / 8]
    assert th.sampled_gaussian_renyi([1.5, 3], rate=0, **options).tolist() == [0, 0]
    assert th.sampled_gaussian_renyi([], rate=0.5, **options).tolist() == []


@given(st.floats(1e-4, 0.9), st.floats(0.3, 20), st.integers(2, 60))
def test_sampled_gaussian_is_monotone(q, z, order):
    def curve(order, q=q, z=z):
        return th.sampled_gaussian_renyi(order, rate=q, noise_multiplier=z, relation="add_remove")

    here = curve(order)
    assert here <= min(curve(order + 1), curve(order, q=q * 1.1), curve(order, z=z / 1.1)) * (1 + 1e-10)
    assert here <= order / (2 * z * z) * (1 + 1e-12)


@given(st.integers(2, 30), st.sampled_from([1e-3, 0.05, 0.5]), st.sampled_from([0.7, 1, 4]))
def test_the_generic_bound_is_the_gaussian_one_without_its_factor(order, q, z):
    def base(alpha):
        return alpha / (2 * Fraction(z) ** 2)

    options = {"rate": q, "relation": "add_remove"}
    tight = th.sampled_gaussian_renyi(order, noise_multiplier=z, **options)
    assert th.poisson_renyi(order, base, **options, nonnegative_moments=True) == pytest.approx(tight, rel=1e-9)
    assert th.poisson_renyi(order, base, **options) >= tight * (1 - 1e-10)


def renyi(p, q, alpha):
    return math.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1)


def random_laws(seed, count):
    rng = np.random.default_rng(seed)
    laws = np.exp(rng.choice([0.1, 0.5, 1, 2]) * rng.normal(size=(count, rng.integers(2, 5))))
    return laws / laws.sum(axis=1, keepdims=True), rng.choice([0.01, 0.1, 0.25, 0.5, 0.75])


@pytest.mark.parametrize("seed", range(60))
def test_generic_sampling_bounds_cover_random_mechanisms(seed):
    (p, q, r), rate = random_laws(seed, 3)
    size, population = Fraction(str(rate)).numerator, Fraction(str(rate)).denominator

    def curve(*laws):
        return lambda j: max(renyi(a, b, float(j)) for a in laws for b in laws if a is not b)

    most = max(np.log(a / b).max() for a in (p, q, r) for b in (p, q, r))
    seen, others = (1 - rate) * r + rate * p, (1 - rate) * r + rate * q
    for order in (2, 3, 5, 8):
        poisson = th.poisson_renyi(order, curve(p, r), rate=rate, relation="add_remove")
        assert max(renyi(seen, r, order), renyi(r, seen, order)) <= poisson * (1 + 1e-12)
        options = {"size": size, "population": population, "relation": "replace_one"}
        bounded = th.without_replacement_renyi(order, curve(p, q, r), **options, most=most)
        loose = th.without_replacement_renyi(order, curve(p, q, r), **options)
        assert max(renyi(seen, others, order), renyi(others, seen, order)) <= bounded * (1 + 1e-12)
        assert bounded <= loose


@pytest.mark.parametrize("most", [0.3, 0.9, 2, math.inf])
def test_generic_sampling_bounds_are_the_printed_sums(most):
    base, q, order = PrivacyLoss.laplace(2), 0.25, 7
    c = math.expm1(most)
    d = {j: base.renyi(j) for j in range(2, order + 1)}
    tail = {j: math.comb(order, j) * q**j * math.exp((j - 1) * d[j]) for j in d}
    first = math.comb(order, 2) * q**2 * min(4 * math.expm1(d[2]), math.exp(d[2]) * min(2, c**2))
    whole = 1 + first + sum(tail[j] * min(2, c**j) for j in d if j > 2)
    options = {"size": 1, "population": 4, "relation": "replace_one"}
    found = th.without_replacement_renyi(order, base.renyi, **options, most=most)
    assert found == pytest.approx(math.log(whole) / (order - 1), rel=1e-12)
    for factor in (1, 3):
        moment = (1 - q) ** (order - 1) * (order * q - q + 1) + tail[2] * (1 - q) ** (order - 2)
        moment += factor * sum(tail[j] * (1 - q) ** (order - j) for j in d if j > 2)
        found = th.poisson_renyi(order, base.renyi, rate=q, relation="add_remove", nonnegative_moments=factor == 1)
        assert found >= math.log(moment) / (order - 1) * (1 - 1e-12)
        assert found == pytest.approx(math.log(moment) / (order - 1), rel=1e-12)


# --- Shuffling ---------------------------------------------------------------------------------------------------


def clones(epsilon0, n, epsilon):
    """Return delta of the pair that the proof reduces to: (A + D, C - A + 1 - D) against the same with 1 - D."""
    truth, total = 1 / (1 + math.exp(-epsilon0)), 0.0
    for c, weight in enumerate(stats.binom.pmf(np.arange(n), n - 1, math.exp(-epsilon0))):
        heads = stats.binom.pmf(np.arange(c + 1), c, 0.5)
        p = truth * np.append(0, heads) + (1 - truth) * np.append(heads, 0)
        total += weight * divergence(p, p[::-1], epsilon)
    return total


def shuffled_responses(epsilon0, n, epsilon, ones):
    """Return delta of the number of yes among n shuffled randomised responses, ``ones`` others being yes."""
    truth = 1 / (1 + math.exp(-epsilon0))
    rest = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, truth),
        stats.binom.pmf(np.arange(n - ones), n - 1 - ones, 1 - truth),
    )
    yes = (1 - truth) * np.append(rest, 0) + truth * np.append(0, rest)
    no = truth * np.append(rest, 0) + (1 - truth) * np.append(0, rest)
    return divergence(yes, no, epsilon)


@pytest.mark.parametrize("n", [60, 150, 400])
@pytest.mark.parametrize("epsilon0", [0.1, 0.5, 1, 2])
def test_shuffling_covers_the_clones_and_randomised_response(n, epsilon0):
    tried = 0
    for delta in (0.5, 0.3, 0.1, 1e-2, 1e-4):
        if epsilon0 > math.log(n / (16 * math.log(2 / delta))):
            with pytest.raises(NoTheorem, match="covered up to"):
                th.shuffling(epsilon0, delta, reports=n, relation="replace_one")
            continue
        tried += 1
        found = th.shuffling(epsilon0, delta, reports=n, relation="replace_one")
        true = clones(epsilon0, n, found.epsilon)
        assert true <= delta
        assert max(shuffled_responses(epsilon0, n, found.epsilon, ones) for ones in (0, n // 2, n - 1)) <= true + 1e-12
    assert tried or n < 300


def test_shuffling_is_the_printed_formula():
    for epsilon0, delta, n in ((1, 1e-6, 10**6), (3, 1e-9, 10**5), (0.1, 0.01, 1000)):
        grown = math.exp(epsilon0)
        hidden = 8 * math.sqrt(grown * math.log(4 / delta)) / math.sqrt(n) + 8 * grown / n
        found = th.shuffling(epsilon0, delta, reports=n, relation="replace_one").epsilon
        assert found == pytest.approx(math.log(1 + (grown - 1) / (grown + 1) * hidden), rel=1e-12)


@given(st.floats(0.01, 3), st.floats(1e-12, 0.1), st.integers(10**4, 10**9))
def test_shuffling_amplifies_and_more_reports_help(epsilon0, delta, reports):
    found = th.shuffling(epsilon0, delta, reports=reports, relation="replace_one")
    assert found.epsilon <= epsilon0
    assert th.shuffling(epsilon0, delta, reports=2 * reports, relation="replace_one").epsilon <= found.epsilon


# --- DP-SGD ------------------------------------------------------------------------------------------------------


def test_the_textbook_path_counts_its_slack_and_lies_above_renyi():
    setting = {"noise_multiplier": 2, "rate": 0.01, "relation": "add_remove"}
    path = th.sgd_training(steps=1000, delta=1e-7, slack=1e-6, **setting)
    step = th.sgd_step(delta=1e-7, **setting)
    inside = th.sgd_step_in_batch(noise_multiplier=2, delta=1e-7, relation="add_remove")
    assert step.epsilon < inside.epsilon
    assert step.delta == pytest.approx(1e-9)
    assert path.delta == pytest.approx(1000 * 1e-9 + 1e-6)
    renyi = th.renyi_epsilon(lambda a: 1000 * th.sampled_gaussian_renyi(a, **setting), path.delta, orders=range(2, 100))
    assert renyi.epsilon < path.epsilon


def test_the_central_limit_of_equal_responses():
    for epsilon, count in ((0.1, 50), (2, 3)):
        assert th.pure_limit(epsilon, count=count).mu == pytest.approx(2 * math.sqrt(count) * math.sinh(epsilon / 2))
    about = th.pure_limit(0.01, count=10**4)
    assert about.epsilon(1e-6) == pytest.approx(th.optimal_epsilon(0.01, count=10**4, total_delta=1e-6), rel=0.01)


def test_the_central_limit_can_lie_below_the_truth():
    """So it is never charged: here one step out of a hundred already has a larger delta."""
    sampled = th.sampled_gaussian_limit(rate=0.01, noise_multiplier=0.6, steps=100)
    step = Fraction(sampled.mu) ** 2
    true = 0.01 * th.gdp_delta(1 / 0.6, math.log1p(math.expm1(1.5) / 0.01))
    assert PrivacyLoss.gaussian(mu_squared=step).delta(1.5) < true


# --- What is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: th.basic_composition(-1),
        lambda: th.basic_composition([1, 2], [0, 0, 0]),
        lambda: th.basic_composition(1, count=-1),
        lambda: th.basic_composition("1"),
        lambda: th.basic_composition(1, 2),
        lambda: th.advanced_composition(1, slack=0),
        lambda: th.sharper_composition(math.nan, slack=0.1),
        lambda: th.heterogeneous_composition(1, slack=1),
        lambda: th.optimal_composition(1, count=0),
        lambda: th.optimal_epsilon(1, count=2.5, total_delta=0.1),
        lambda: th.zcdp_epsilon(-1, 0.1),
        lambda: th.zcdp_epsilon_classical(1, 0),
        lambda: th.mironov_conversion(1, 1, 0.1),
        lambda: th.renyi_epsilon(lambda order: order, 0.1, orders=[]),
        lambda: th.renyi_epsilon(lambda order: order, 0.1, conversion="best"),
        lambda: th.gdp_epsilon(1, 0),
        lambda: th.group_privacy(1, size=0),
        lambda: th.group_privacy(1, size=2, form="best"),
        lambda: th.response_epsilon(1, 0.1, categories=1),
        lambda: th.poisson_sampling(1, rate=1.5, relation="add_remove"),
        lambda: th.poisson_sampling_replace_one(add_remove=1, replace_one=(1, 0), rate=0.1),
        lambda: th.sampling_without_replacement(1, size=3, population=2, relation="replace_one"),
        lambda: th.without_replacement_renyi(2, lambda j: j, size=3, population=2, relation="replace_one"),
        lambda: th.without_replacement_renyi(2, lambda j: -j, size=1, population=2, relation="replace_one"),
        lambda: th.without_replacement_renyi(2, lambda j: j, size=1, population=2, relation="replace_one", most=-1),
        lambda: th.sampled_gaussian_renyi(1, rate=0.1, noise_multiplier=1, relation="add_remove"),
        lambda: th.sampled_gaussian_renyi(2, rate=0.1, noise_multiplier=0, relation="add_remove"),
        lambda: th.shuffling(1, 0, reports=100, relation="replace_one"),
        lambda: th.sampled_gaussian_limit(rate=0.1, noise_multiplier=1, steps=0),
    ],
)
def test_parameters_that_mean_nothing_are_refused(call):
    with pytest.raises(InvalidParameter):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda relation: th.poisson_sampling(1, rate=0.1, relation=relation),
        lambda relation: th.poisson_renyi(2, lambda j: j, rate=0.1, relation=relation),
        lambda relation: th.sampled_gaussian_renyi(2, rate=0.1, noise_multiplier=1, relation=relation),
        lambda relation: th.sgd_step_in_batch(noise_multiplier=1, delta=0.1, relation=relation),
        lambda relation: th.sgd_training(
            noise_multiplier=1, rate=0.1, steps=2, delta=0.1, slack=0.1, relation=relation
        ),
    ],
)
def test_theorems_about_adding_refuse_replacing(call):
    call("add_remove")
    for relation in ("replace_one", None, "both"):
        with pytest.raises(RelationMismatch):
            call(relation)


@pytest.mark.parametrize(
    "call",
    [
        lambda relation: th.sampling_without_replacement(1, size=1, population=2, relation=relation),
        lambda relation: th.sampling_with_replacement(1, size=1, population=2, relation=relation),
        lambda relation: th.without_replacement_renyi(2, lambda j: j, size=1, population=2, relation=relation),
        lambda relation: th.shuffling(0.1, 0.1, reports=1000, relation=relation),
    ],
)
def test_theorems_about_replacing_refuse_adding(call):
    call("replace_one")
    for relation in ("add_remove", None, "both"):
        with pytest.raises(RelationMismatch):
            call(relation)


@pytest.mark.parametrize(
    "call",
    [
        lambda: th.poisson_renyi(2.5, lambda j: j, rate=0.1, relation="add_remove"),
        lambda: th.without_replacement_renyi(1, lambda j: j, size=1, population=2, relation="replace_one"),
        lambda: th.optimal_composition(0.1, count=10**6),
        lambda: th.shuffling(5, 1e-6, reports=100, relation="replace_one"),
    ],
)
def test_what_no_theorem_covers_is_refused(call):
    with pytest.raises(NoTheorem):
        call()


def test_infinite_curves_stay_infinite():
    options = {"size": 1, "population": 10, "relation": "replace_one"}
    assert th.without_replacement_renyi(3, lambda _: math.inf, **options) == math.inf
    assert th.poisson_renyi(3, lambda _: math.inf, rate=0.1, relation="add_remove") == math.inf
    assert th.poisson_renyi(3, lambda _: math.inf, rate=0, relation="add_remove") == 0
    assert th.without_replacement_renyi(3, lambda _: 0, **options) == 0


def test_nothing_composes_to_nothing():
    assert th.basic_composition([]) == (0, 0)
    assert th.advanced_composition([], slack=0.5) == (0, 0.5)
    assert th.gdp_composition([]) == 0
    assert th.pure_limit([]).mu == 0
