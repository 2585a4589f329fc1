"""What a loss means: for a test, for the law of the loss, for somebody with a prior."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from accounting_reference import responses, singles
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from discreet.accounting import PrivacyLoss
from discreet.accounting.composition import delta_of
from discreet.accounting.lower import both_epsilons, lower_delta_of
from discreet.accounting.tails import worst_tail_of
from discreet.accounting.tradeoff import _Polygon, tradeoff_curve
from discreet.errors import InvalidParameter, NoTheorem

few = settings(max_examples=15, deadline=None)
RATES = [1e-6, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.99]


def least_missed(p, q, rate):
    """Return the false negative rate of the best test of finite laws (Neyman and Pearson)."""
    order = np.argsort(-np.divide(q, p, out=np.full(len(p), np.inf), where=p > 0))
    alarms, missed = np.cumsum(p[order]), 1 - np.cumsum(q[order])
    return float(np.interp(rate, np.append(0, alarms), np.append(1, missed)))


def outcomes(p, q, count):
    """Return the laws of several independent draws from a pair."""
    whole = [np.array([math.prod(parts) for parts in itertools.product(law, repeat=count)]) for law in (p, q)]
    return whole[0], whole[1]


# mu ----------------------------------------------------------------------------------------------------------


def test_mu_is_that_of_gaussian_noise_and_of_nothing_else():
    assert PrivacyLoss().mu == 0
    assert PrivacyLoss.gaussian(mu=0.1).mu == 0.1
    assert (4 * PrivacyLoss.gaussian(mu=0.75)).mu == 1.5
    for other in (PrivacyLoss.zcdp(0.5), PrivacyLoss.laplace(1), PrivacyLoss.gaussian(mu=1).sampled(0.5)):
        with pytest.raises(NoTheorem, match="tradeoff"):
            _ = (PrivacyLoss.gaussian(mu=1) + other).mu


# Trade-offs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.01, 0.5, 1, 3, 10])
def test_the_tradeoff_of_gaussian_noise(mu):
    for rate in RATES:
        true = stats.norm.cdf(stats.norm.isf(rate) - mu)
        assert PrivacyLoss.gaussian(mu=mu).tradeoff(rate) == pytest.approx(true, rel=1e-9)
        found = _Polygon(PrivacyLoss.gaussian(mu=mu).terms, Fraction(rate), 1e-6).least(Fraction(rate))
        assert true - 2e-6 < found <= true * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_tradeoff_of_laplace_noise(epsilon):
    for rate in RATES:
        true = 1 - math.exp(epsilon) * rate
        if rate >= math.exp(-epsilon) / 2:
            true = math.exp(-epsilon) / (4 * rate) if rate <= 0.5 else math.exp(-epsilon) * (1 - rate)
        assert true - 2e-6 < PrivacyLoss.laplace(epsilon).tradeoff(rate) <= true * (1 + 1e-12)


def test_the_tradeoff_of_a_guarantee_is_two_lines():
    loss = PrivacyLoss.approximate(1, 1e-5)
    assert loss.tradeoff(0.01) == pytest.approx(1 - 0.027192818284590452, abs=1e-12)
    assert loss.tradeoff(0.9) == pytest.approx(math.exp(-1) * (1 - 1e-5 - 0.9), abs=1e-12)
    assert loss.tradeoff(0) == pytest.approx(1 - 1e-5, abs=1e-15)
    assert loss.tradeoff(1) == 0
    assert PrivacyLoss().tradeoff(0.3) == pytest.approx(0.7)


@pytest.mark.parametrize("epsilons", [(0.5, 0.5, 0.5), (0.3, 0.7, 1.1)])
def test_the_tradeoff_of_several_responses_is_that_of_the_best_test(epsilons):
    loss = sum(map(PrivacyLoss.randomized_response, epsilons))
    p, q = responses(*epsilons)
    for rate, found in zip(RATES, tradeoff_curve(loss, RATES), strict=True):
        true = least_missed(p, q, rate)
        assert true - (1e-6 if len(set(epsilons)) == 1 else 2e-4) < found <= true + 1e-12


def test_the_tradeoff_of_a_sampled_release_holds_both_ways():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    loss = 3 * PrivacyLoss.from_pair(p, q)
    for rate in RATES:
        found = loss.tradeoff(rate)
        either = [least_missed(*outcomes(a, b, 3), rate) for a, b in ((p, q), (q, p))]
        assert min(either) - 0.02 < found <= min(either) + 1e-12


@few
@given(singles, st.lists(st.floats(1e-6, 1), min_size=2, max_size=3))
def test_tradeoffs_fall_and_stay_below_blind_guessing(loss, rates):
    found = tradeoff_curve(loss, sorted(rates), tolerance=1e-3)
    assert all(0 <= f <= 1 - rate + 1e-15 for f, rate in zip(found, sorted(rates), strict=True))
    assert all(a >= b - 2e-3 for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, "1", None])
def test_rates_are_probabilities(bad):
    with pytest.raises(InvalidParameter):
        PrivacyLoss.laplace(1).tradeoff(bad)


# Tails -------------------------------------------------------------------------------------------------------


def test_the_tail_is_not_delta():
    response, gaussian = PrivacyLoss.randomized_response(1.1), PrivacyLoss.gaussian(mu=1)
    assert response.tail(1) == pytest.approx(0.7502601055951176, rel=1e-12)
    assert response.delta(1) == pytest.approx(0.071396688793045, rel=1e-12)
    assert gaussian.tail(1) == pytest.approx(stats.norm.sf(0.5), rel=1e-12)
    assert gaussian.delta(1) == pytest.approx(0.12693673750664394, rel=1e-12)


def test_the_tails_of_single_releases():
    assert PrivacyLoss.laplace(1).tail(0.4) == pytest.approx(1 - math.exp(-0.3) / 2, rel=1e-12)
    assert PrivacyLoss.laplace(1).tail(1) == 0
    assert PrivacyLoss.randomized_response(1, 5).tail(0.9) == pytest.approx(math.e / (math.e + 4), rel=1e-12)
    a = math.exp(-1 / 2)
    weights = {z: (1 - a) / (1 + a) * a ** abs(z) for z in range(-200, 200)}
    true = sum(w for z, w in weights.items() if (abs(z - 3) - abs(z)) / 2 > 0.6)
    assert PrivacyLoss.discrete_laplace(sensitivity=3, scale=2).tail(0.6) == pytest.approx(true, rel=1e-12)
    losses = {z: (1 - 2 * z) / 8 for z in range(-60, 60)}
    total = sum(math.exp(-z * z / 8) for z in losses)
    true = sum(math.exp(-z * z / 8) for z, loss in losses.items() if loss > 0.3) / total
    discrete = PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4)
    assert true <= discrete.tail(0.3) <= true * (1 + 1e-9)


def test_the_tail_of_a_sampled_release():
    """With the record, ``1 - q + q e^l > e^t`` under the mixture; without it, below ``e^-t`` under the plain law."""
    q, mu, t = 0.3, 1.0, 0.2
    place = math.log1p(math.expm1(t) / q) / mu  # plus or minus mu / 2 under the two laws
    with_it = q * stats.norm.sf(place - mu / 2) + (1 - q) * stats.norm.sf(place + mu / 2)
    back = math.log1p(math.expm1(-t) / q) / mu
    without = stats.norm.cdf(back + mu / 2)
    assert PrivacyLoss.gaussian(mu=mu).sampled(q).tail(t) == pytest.approx(max(with_it, without), rel=1e-9)


def test_opaque_losses_have_the_tail_of_their_worst_mechanism():
    """Two outcomes, of losses just above 1 and at -1.1, are 1.1-DP and exceed 1 more often than a response of 1.1."""
    e, x = math.exp(-1.1), math.exp(1.0)
    worst = (1 - e) / (1 - e / x)
    p, q = worst, worst / x
    assert max(p / q, (1 - q) / (1 - p)) <= math.exp(1.1) * (1 + 1e-12)
    assert worst <= PrivacyLoss.pure(1.1).tail(1) <= worst * (1 + 1e-9)
    assert PrivacyLoss.pure(1.1).tail(1) > 1.01 * PrivacyLoss.randomized_response(1.1).tail(1)
    failing = 0.01 + 0.99 * worst
    assert failing <= PrivacyLoss.approximate(1.1, 0.01).tail(1) <= failing * (1 + 1e-9)


def test_the_tail_of_two_laplace_releases():
    a, b, t = 0.6, 1.0, 0.7

    def beyond(rest):
        return 0.0 if rest >= b else 1.0 if rest < -b else 1 - math.exp((rest - b) / 2) / 2

    inner = integrate.quad(lambda x: math.exp((x - a) / 2) / 4 * beyond(t - x), -a, a, limit=200)[0]
    true = inner + beyond(t - a) / 2 + math.exp(-a) / 2 * beyond(t + a)
    assert true <= (PrivacyLoss.laplace(a) + PrivacyLoss.laplace(b)).tail(t) <= true * 1.01


@pytest.mark.parametrize("epsilon", [0, 0.3, 1, 2])
def test_the_tail_of_a_composition_holds_in_both_directions(epsilon):
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    laws = [outcomes(a, b, 3) for a, b in ((p, q), (q, p))]
    true = max(float(a[np.log(a / b) > epsilon].sum()) for a, b in laws)
    assert true <= (3 * PrivacyLoss.from_pair(p, q)).tail(epsilon) <= true * 1.02 + 1e-9


def test_who_stops_at_a_large_loss_has_one_more_often():
    """Of two Gaussian releases the second is left out once the loss exceeds t: the same D bounds both, one tail not."""
    mu, t = 0.7, 1.0
    first = stats.norm(mu**2 / 2, mu)
    later = integrate.quad(lambda x: first.pdf(x) * first.sf(t - x), -6, t)[0]
    stopped, loss = first.sf(t) + later, 2 * PrivacyLoss.gaussian(mu=mu)
    assert loss.tail(t) < 0.97 * stopped
    assert stopped <= worst_tail_of(loss.terms, Fraction(t)) < 3 * stopped


@few
@given(singles, st.floats(0.001, 5), st.floats(0.01, 3))
def test_tails_lie_between_delta_and_what_delta_implies(loss, epsilon, gap):
    tail = worst_tail_of(loss.terms, Fraction(epsilon + gap))
    assert loss.delta(epsilon + gap) * (1 - 1e-6) - 1e-12 <= tail
    assert 0 <= loss.tail(epsilon + gap) <= 1
    implied = loss.delta(epsilon) / -math.expm1(epsilon - (epsilon + gap))
    assert tail <= implied * 1.1 + 1e-9


def test_tails_take_no_negative_epsilon():
    with pytest.raises(InvalidParameter, match="negative"):
        PrivacyLoss.laplace(1).tail(-1)


# Posteriors --------------------------------------------------------------------------------------------------


def test_the_posterior_of_a_pure_loss():
    found = PrivacyLoss.laplace(1).posterior(0.1)
    assert found.low == pytest.approx(0.03927030055005057, rel=1e-12)
    assert found.high == pytest.approx(0.23196931668407395, rel=1e-12)
    assert (found.epsilon, found.failure) == (1, 0)
    assert "0.1" in str(found)
    assert "fails" not in str(found)
    assert PrivacyLoss().posterior(0.3).high == pytest.approx(0.3)
    assert (PrivacyLoss.pure(1).posterior(0).high, PrivacyLoss.pure(1).posterior(1).low) == (0, 1)


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_no_belief_moves_further_than_tanh(epsilon):
    """The largest change of a belief is ``tanh(epsilon / 4)``, at the prior ``1 / (1 + e^(epsilon / 2))``."""
    loss, worst = PrivacyLoss.pure(epsilon), 1 / (1 + math.exp(epsilon / 2))
    assert loss.posterior(worst).high - worst == pytest.approx(math.tanh(epsilon / 4), rel=1e-9)
    assert all(loss.posterior(p).high - p <= math.tanh(epsilon / 4) + 1e-12 for p in (0.01, 0.3, 0.5, 0.9))


@pytest.mark.parametrize(("mu", "failure"), [(1, 1e-6), (0.3, 1e-3), (2, 1e-9)])
def test_the_posterior_of_gaussian_noise_fails_no_more_often_than_said(mu, failure):
    t = PrivacyLoss.gaussian(mu=mu).posterior(0.5, failure).epsilon
    law = stats.norm(mu**2 / 2, mu)
    assert law.sf(t) + law.cdf(-t) <= failure
    assert t < 1.15 * law.isf(failure)
    assert law.sf(0.9 * law.isf(failure)) > failure


def test_a_posterior_covers_those_who_stop():
    mu, failure = 0.7, 1e-3
    first = stats.norm(mu**2 / 2, mu)
    t = (2 * PrivacyLoss.gaussian(mu=mu)).posterior(0.5, failure).epsilon
    assert first.sf(t) + integrate.quad(lambda x: first.pdf(x) * first.sf(t - x), -6, t)[0] <= failure


def test_a_posterior_that_may_fail_is_never_worse_than_one_that_may_not():
    loss = 50 * PrivacyLoss.laplace(0.1)
    certain, likely = loss.posterior(0.1), loss.posterior(0.1, failure=1e-6)
    assert certain.epsilon == pytest.approx(5)
    assert 3.12 < likely.epsilon < 3.6
    assert certain.low < likely.low < 0.1 < likely.high < certain.high
    assert "at most 1e-06" in str(likely)


def test_unbounded_losses_need_a_failure():
    with pytest.raises(NoTheorem, match="failure=1e-6"):
        PrivacyLoss.gaussian(mu=1).posterior(0.1)
    with pytest.raises(NoTheorem, match="failure"):
        PrivacyLoss.approximate(1, 1e-3).posterior(0.1, failure=1e-3)
    found = PrivacyLoss.approximate(1, 1e-6).posterior(0.1, failure=1e-3)
    assert 1 <= found.epsilon < 1.01
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidParameter):
            PrivacyLoss.pure(1).posterior(bad)


# Both sides --------------------------------------------------------------------------------------------------

SIDES = {
    "laplace": 50 * PrivacyLoss.laplace(0.1),
    "mixed": 10 * PrivacyLoss.laplace(0.3) + PrivacyLoss.gaussian(mu=0.5) + PrivacyLoss.pure(0.2),
    "sampled": 200 * PrivacyLoss.gaussian(mu=0.8).sampled(0.02),
    "failing": 3 * PrivacyLoss.approximate(0.4, 1e-4) + PrivacyLoss.laplace(1),
    "zcdp": PrivacyLoss.zcdp(0.1) + PrivacyLoss.laplace(0.5),
    "one": PrivacyLoss.gaussian(mu=1),
    "cut": PrivacyLoss.laplace(1) + PrivacyLoss.overflow(1e-9),
}


@pytest.mark.parametrize("loss", SIDES.values(), ids=SIDES)
def test_lower_bounds_do_not_cross_upper_ones(loss):
    low, high = both_epsilons(loss.terms, Fraction(1, 1000))
    assert low <= high
    assert loss.bounds(Fraction(1, 1000)) == (low, high)
    for epsilon in (0, Fraction(1, 2), 1, 2):
        assert 0 <= lower_delta_of(loss.terms, Fraction(epsilon)) <= delta_of(loss.terms, Fraction(epsilon))


@pytest.mark.parametrize("name", ["laplace", "mixed", "sampled", "failing", "one", "cut"])
def test_lower_deltas_are_close(name):
    loss = SIDES[name]
    high = loss.delta(0.5)
    assert lower_delta_of(loss.terms, Fraction(1, 2)) > high * (1 - 1e-3)
