"""Objective perturbation by its Renyi divergences: the exact law of the minimum, and what an account charges.

For one feature the minimum and the tilt determine each other: ``b = -(lambda w + sum l'(w))``, so the density of the
minimum w is that of b there times ``lambda + sum l''(w)``, and divergences of neighbours are integrals over a line.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.learn import LogisticRegression
from discreet.learn.convex import HuberHinge, Logistic, Rows
from discreet.learn.convex.objective_perturbation import ObjectivePerturbation
from discreet.learn.convex.theorems import jacobian, objective_renyi, objective_rho

ORDERS = (1.25, 2, 4, 8, 16, 32)
TABLES = [((), 1), ((1,), 1), ((1, -1), -1), ((1, 1, 1), -1), ((0.5, -1, -1), 1)]
"""Records that both data sets have, as products of a row and its sign, and the one that comes."""


def logistic(w, x):
    """First and second derivatives of ``log(1 + e^(-x w))``."""
    s = expit(-x * w)
    return -x * s, x * x * s * (1 - s)


def log_density(w, records, sigma, strength):
    slopes = [logistic(w, x) for x in records]
    tilt = strength * w + sum((first for first, _ in slopes), np.zeros_like(w))
    bend = strength + sum((second for _, second in slopes), np.zeros_like(w))
    return -(tilt**2) / (2 * sigma**2) - math.log(sigma * math.sqrt(2 * math.pi)) + np.log(bend)


def divergence(order, rest, one, sigma, strength):
    """The larger of both directions."""
    reach = (40 * sigma + 2 * order + len(rest) + 1) / strength
    w = np.linspace(-reach, reach, 400_001)
    p, q = (log_density(w, records, sigma, strength) for records in (rest, (*rest, one)))
    found = []
    for here, there in ((p, q), (q, p)):
        logs = order * here + (1 - order) * there
        top = logs.max()
        found.append((top + math.log(np.exp(logs - top).sum() * (w[1] - w[0]))) / (order - 1))
    return max(found)


def plan(**given):
    shared = {
        "rows": Rows(features=1, norm=1, intercept=0),
        "loss_function": Logistic(),
        "relation": "add_remove",
        "epsilon": 1,
        "delta": 1e-6,
        "strength": 2,
    }
    return ObjectivePerturbation(**(shared | given))


def numbers(fit):
    return {"mu": fit.lipschitz / Fraction(fit.tilt.sigma), "jacobian": jacobian(fit.smoothness, fit.raised)}


@pytest.mark.parametrize("given", [{}, {"epsilon": 4}, {"strength": 50}, {"epsilon": 8, "strength": 0.3}])
def test_the_exact_minimum_stays_within_the_divergences_that_are_charged(given):
    fit = plan(**given)
    sigma, strength = float(fit.tilt.sigma), float(fit.raised)
    curve, rho = fit.losses[1:]
    for order in ORDERS:
        truth = max(divergence(order, rest, one, sigma, strength) for rest, one in TABLES)
        assert 0 < truth <= objective_renyi(Fraction(order), **numbers(fit)) * (1 + 1e-9)
        assert truth <= curve.renyi(order)
        assert truth <= rho.renyi(order)


def test_what_is_listed_is_hardly_more_than_the_theorem():
    fit = plan()
    noise = fit.blur.loss
    for order in (1.1, 1.9, 5.3, 20.77, 300):
        exact = objective_renyi(Fraction(order), **numbers(fit)) + noise.renyi(order)
        assert exact <= fit.losses[1].renyi(order) * (1 + 1e-12) <= 1.01 * exact
        assert objective_renyi(Fraction(order), **numbers(fit)) <= order * objective_rho(**numbers(fit))


def test_the_check_catches_too_little_noise_and_a_change_of_variables_that_is_left_out():
    fit = plan(epsilon=8, strength=0.3)
    sigma, strength = float(fit.tilt.sigma), float(fit.raised)
    claim = objective_renyi(32, **numbers(fit))
    assert max(divergence(32, rest, one, 0.95 * sigma, strength) for rest, one in TABLES) > claim
    bent = {"mu": Fraction(1, 10), "jacobian": jacobian(Fraction(1, 4), Fraction(1, 20))}
    truth = divergence(32, (), 1, 10, 0.05)
    assert objective_renyi(32, **(bent | {"jacobian": 0})) < truth <= objective_renyi(32, **bent)


def test_only_what_is_proven_is_offered():
    assert len(plan(relation="replace_one").losses) == 1
    assert len(plan(delta=0).losses) == 1
    assert len(plan(loss_function=HuberHinge(Fraction(1, 2))).losses) == 3
    for loss in plan().losses:
        assert loss.relation == "add_remove"
    assert plan().losses[0] == plan().loss
    assert plan().loss.epsilon(1e-6) <= 1


X, Y = [[0.9], [-0.8], [0.7], [-1.0]], [1, 0, 1, 0]


@pytest.mark.parametrize("name", ["renyi", "zcdp"])
def test_an_account_is_charged_the_least_that_is_proven(name):
    model = LogisticRegression(epsilon=0.5, delta=1e-7, norm=1, classes=[0, 1], strength=10, size=1000)
    losses = model.plan(1).losses
    account = Budget(3, 1e-5, filter=name).open()
    assert isinstance(account, Account)
    opaque = account.cost(losses[0])
    model.set_params(budget=account).fit(X, Y)
    assert account.spent.failure == 0 < opaque.failure
    assert account.spent.amount < opaque.amount
    assert account.spent == account.cost(losses[1 if name == "renyi" else 2])
    if name == "renyi":
        assert account.spent.amount < 0.4 * opaque.amount


def test_other_estimators_are_charged_as_before():
    model = LogisticRegression(epsilon=0.5, norm=1, classes=[0, 1], size=1000)
    account = Budget(1).open()
    model.set_params(budget=account).fit(X, Y)
    assert account.spent.amount == Fraction(1, 2)
    assert model.loss_ == PrivacyLoss.total(model.plan(1).losses)
