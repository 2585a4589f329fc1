"""Theorems about samples, shuffling and DP-SGD against enumeration and quadrature: never below the truth."""

import json
import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
import pytest
from accounting_reference import ball, divergence, in_balls
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from discreet.accounting import PrivacyLoss
from discreet.accounting import theorems as th
from discreet.accounting.theorems.sampled_gaussian import MOST_INTEGRATED, MOST_TERMS
from discreet.errors import NoTheorem, RelationMismatch

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
