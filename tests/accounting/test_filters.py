"""The filters against closed forms, and against analysts who choose what to spend by what they have seen."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.accounting import PrivacyLoss
from discreet.accounting.budget import Account, Budget
from discreet.accounting.filters import Basic, Gdp, Renyi, Zcdp, without_failure
from discreet.accounting.terms import Approximate, Gaussian, Laplace, Pure
from discreet.accounting.terms.concentrated import renyi_delta
from discreet.accounting.terms.gaussian import gaussian_delta
from discreet.errors import BudgetExceeded, InvalidParameter, NoTheorem

TARGETS = [(1, 1e-6), (0.1, 1e-9), (10, 1e-5), (1e-5, 1e-9), (50, 0.1), (1, 0.5)]
KINDS = [Zcdp, Renyi, Gdp]


def exact(target):
    return tuple(Fraction(x) for x in target)


# Limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("share", [0, 0.1, 0.9])
def test_what_a_filter_admits_is_as_private_as_was_asked(kind, target, share):
    epsilon, delta = exact(target)
    rule = kind.reaching(epsilon, delta, delta * Fraction(share))
    assert rule.delta(epsilon) <= delta
    assert rule.delta(epsilon) >= delta * Fraction(999, 1000)


@pytest.mark.parametrize("target", TARGETS)
def test_rho_is_the_most_that_converts(target):
    epsilon, delta = exact(target)
    rho = Zcdp.reaching(epsilon, delta).limit
    assert renyi_delta(lambda a: float(a * rho), epsilon) <= delta * (1 + Fraction(1, 10**9))
    assert renyi_delta(lambda a: float(a * rho) * (1 + 1e-5), epsilon) > delta


@pytest.mark.parametrize("target", TARGETS)
def test_gaussian_noise_gets_most_from_its_own_filter(target):
    epsilon, delta = exact(target)
    rho, mu_squared = Zcdp.reaching(epsilon, delta).limit, Gdp.reaching(epsilon, delta).limit
    assert rho < mu_squared / 2 < 3 * rho
    assert gaussian_delta(mu_squared * (1 + Fraction(1, 10**9)), epsilon) > delta


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("term", [Laplace(Fraction(1, 4)), Pure(Fraction(2)), Gaussian(Fraction(1, 9))], ids=repr)
def test_one_order_never_charges_more_than_rho(target, term):
    rho, renyi = Zcdp.reaching(*exact(target)), Renyi.reaching(*exact(target))
    assert renyi.limit == rho.limit * renyi.order
    assert renyi.amount(term) / renyi.limit <= rho.amount(term) / rho.limit * (1 + Fraction(1, 10**14))


def test_closed_forms():
    assert Basic(Fraction(1)).delta(Fraction(1)) == 0
    assert Basic(Fraction(1)).delta(Fraction(0)) == pytest.approx(math.tanh(0.5))
    rule = Renyi(limit=Fraction(1), order=Fraction(2))
    assert rule.delta(Fraction(3)) == pytest.approx(math.exp(-2) / 4)
    assert rule.bound(Fraction(1, 2), Fraction(1, 100)) == pytest.approx(0.5 + math.log(100))
    assert rule.amount(Gaussian(Fraction(1, 3))) == pytest.approx(1 / 3)
    assert Gdp(Fraction(1)).delta(Fraction(1)) == pytest.approx(0.12693673750664397)
    assert without_failure(Laplace(Fraction(1))) == (Laplace(Fraction(1)), 0)


def test_the_filter_for_gaussian_noise_takes_no_other():
    rule = Gdp(Fraction(1))
    assert rule.amount(Laplace(Fraction(0))) == 0
    for term in (Laplace(Fraction(1)), Pure(Fraction(1)), Approximate(Fraction(1), Fraction(0))):
        with pytest.raises(NoTheorem, match="Gaussian noise alone"):
            rule.amount(term)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failures", [1e-6, 1e-3])
def test_failures_leave_a_part_of_delta(kind, failures):
    with pytest.raises(InvalidParameter, match="leave a part"):
        kind.reaching(Fraction(1), Fraction(1e-6), Fraction(failures))


@pytest.mark.parametrize("kind", KINDS)
def test_targets_beyond_reach_are_refused(kind):
    with pytest.raises(InvalidParameter):
        kind.reaching(Fraction(1, 2**400), Fraction(1, 2**400))


# Adaptive analysts -------------------------------------------------------------------------------------------


def outcomes(epsilon, failure):
    """Return the worst (epsilon, failure) release as pairs of probabilities on two neighbours."""
    p = (1 - failure) / (1 + math.exp(-epsilon))
    q = 1 - failure - p
    return [(p, q), (q, p)] + [(failure, 0.0), (0.0, failure)] * (failure > 0)


def delta_of_game(choose, admits, epsilon, rounds):
    """Return the true delta of a transcript: ``choose`` sees the likelihoods and what was spent, until refused."""

    def play(p, q, spent):
        move = choose(p, q, spent) if len(spent) < rounds else None
        if move is None or not admits([*spent, move]):
            return max(0.0, p - math.exp(epsilon) * q)
        return sum(play(p * a, q * b, [*spent, move]) for a, b in outcomes(*map(float, move)))

    return play(1.0, 1.0, [])


def by(budget):
    def admits(moves):
        account = budget.open()
        try:
            for epsilon, failure in moves:
                account.spend(PrivacyLoss.approximate(epsilon, failure))
        except BudgetExceeded:
            return False
        return True

    return admits


@pytest.mark.parametrize("name", ["basic", "zcdp", "renyi"])
@pytest.mark.parametrize("seed", range(12))
def test_no_analyst_gets_more_than_the_budget(name, seed):
    """Analysts go on as the answers tell them: a large release after a telling answer, a failure after a dull one."""
    dice = random.Random(seed)
    budget = Budget(dice.choice([0.5, 1, 2]), dice.choice([0.01, 0.1, 0.3]), filter=name)
    unit = budget.open().largest_epsilon()
    habits = {
        told: [(unit * dice.randint(0, 4) / 4, Fraction(budget.failures) * dice.randint(0, 4) / 4) for _ in range(4)]
        for told in (-1, 0, 1)
    }

    def choose(p, q, spent):
        told = 1 if p > 1.01 * q else -1 if q > 1.01 * p else 0
        return habits[told][len(spent) % 4]

    true = delta_of_game(choose, by(budget), float(budget.epsilon), 4)
    assert true <= budget.delta * (1 + 1e-12)


def test_basic_budgets_can_be_used_up():
    budget = Budget(1, Fraction(1, 10), filter="basic")
    full = delta_of_game(lambda p, q, spent: (Fraction(1, 2), Fraction(1, 20)), by(budget), 1.0, 4)
    assert full == pytest.approx(1 - 0.95**2)


def test_the_composed_curve_is_not_a_filter():
    """Each path composes to delta, as a plan; who chooses between paths by an answer gets more. A filter stops it."""
    epsilon = Fraction(1)
    first, large = Fraction(1, 2), Fraction(5, 4)
    plan = sum(max(0.0, a * c - math.e * b * d) for a, b in outcomes(0.5, 0) for c, d in outcomes(1.25, 0))
    failure = Fraction(plan)

    def choose(p, q, spent):
        if not spent:
            return first, Fraction(0)
        return (large, Fraction(0)) if p > q else (Fraction(0), failure)

    def composed(moves):
        loss = sum((PrivacyLoss.approximate(e, f) for e, f in moves), PrivacyLoss())
        p_q = [(1.0, 1.0)]
        for e, f in moves:
            p_q = [(p * a, q * b) for p, q in p_q for a, b in outcomes(float(e), float(f))]
        true = sum(max(0.0, p - math.e * q) for p, q in p_q)
        assert true <= loss.delta(epsilon) * (1 + 1e-9)
        return true <= plan * (1 + 1e-9)

    assert delta_of_game(choose, composed, 1.0, 2) > 1.3 * plan
    for name in ("basic", "zcdp", "renyi"):
        assert delta_of_game(choose, by(Budget(epsilon, failure, filter=name)), 1.0, 2) <= plan


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("rule", ["all", "telling", "dull"])
def test_adaptive_gaussian_noise_is_one_gaussian_release(epsilon, rule):
    """Two releases, the second one's mu decided by the first answer, within a sum of squares of 1."""
    first = 0.6
    rest = math.sqrt(1 - first**2)

    def second(loss):
        return rest if rule == "all" or (loss > epsilon / 2) == (rule == "telling") else rest / 3

    def hockey(mu, e):
        return stats.norm.cdf(mu / 2 - e / mu) - math.exp(e) * stats.norm.cdf(-mu / 2 - e / mu)

    def integrand(loss):
        return stats.norm.pdf(loss, first**2 / 2, first) * hockey(second(loss), epsilon - loss)

    true, _ = integrate.quad(integrand, -5, 6, points=[epsilon / 2], limit=200)
    whole = Gdp(Fraction(1)).delta(Fraction(epsilon))
    assert true <= whole * (1 + 1e-8)
    assert (true == pytest.approx(whole, rel=1e-8)) == (rule == "all")


# Odometers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [Zcdp(Fraction(1, 2)), Gdp(Fraction(1)), Renyi(Fraction(2), Fraction(4))], ids=repr)
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_the_odometer_holds_at_all_times_at_once(rule, delta):
    steps, runs = 60, 20_000
    mu_squared = np.geomspace(1e-4, 1, steps)
    mu_squared /= mu_squared.sum() * 1.0001
    terms = [Gaussian(Fraction(m)) for m in mu_squared]
    amounts = np.cumsum([float(rule.amount(term)) for term in terms])
    bounds = np.array([rule.bound(Fraction(a), Fraction(delta)) for a in amounts])
    source = np.random.default_rng(7)
    losses = np.cumsum(source.normal(mu_squared / 2, np.sqrt(mu_squared), (runs, steps)), axis=1)
    exceeded = (losses > bounds).any(axis=1).mean()
    assert exceeded <= delta
    assert (losses > 0.5 * bounds).any(axis=1).mean() > exceeded


@pytest.mark.parametrize("used", [1, 0.25, 1e-2, 1e-5])
def test_the_odometer_is_near_the_bound_of_one_moment(used):
    rule, delta = Zcdp(Fraction(1, 100)), Fraction(1, 10**6)
    rho = 0.01 * used
    once = rho + 2 * math.sqrt(rho * math.log(10**6))
    assert once < rule.bound(Fraction(rho), delta) < 1.35 * once


def test_the_odometer_grows_with_what_is_spent():
    for rule in (Zcdp(Fraction(1)), Gdp(Fraction(1)), Renyi(Fraction(1), Fraction(8)), Basic(Fraction(1))):
        shown = [rule.bound(Fraction(i, 50), Fraction(1, 1000)) for i in range(51)]
        assert shown[0] == 0
        assert shown == sorted(shown)


def test_a_full_account_shows_more_than_its_budget_and_says_so():
    account = Budget(1, 1e-6).open()
    account.spend(PrivacyLoss.gaussian(mu=account.largest_mu()))
    epsilon, delta = account.odometer()
    assert 1 < epsilon < 1.3
    assert delta == 1e-6
    assert "shows more than the epsilon" in " ".join((Account.odometer.__doc__ or "").split())
