"""Pictures of a loss: they show what the library computes, and say what they cannot show."""

import math

import numpy as np
import pytest

from discreet import PrivacyLoss, plots
from discreet.accounting.growth import ORDERS, OURS, growth, repetitions
from discreet.accounting.histogram import loss_histogram
from discreet.accounting.pictures import profile_of
from discreet.accounting.queries import noise_per_query, sampling_error
from discreet.errors import InvalidParameter, NoTheorem

LOSSES = [
    PrivacyLoss.gaussian(mu=1),
    20 * PrivacyLoss.laplace(0.2),
    PrivacyLoss.laplace(1),
    9 * PrivacyLoss.randomized_response(0.5),
    3 * PrivacyLoss.approximate(0.5, 1e-9),
    PrivacyLoss.zcdp(0.1) + 5 * PrivacyLoss.pure(0.1),
    50 * PrivacyLoss.gaussian(mu=1).sampled(0.05),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_law_of_the_loss_is_a_law_with_the_moments_it_has(loss):
    found = loss_histogram(loss)
    assert np.all(np.diff(found.edges) > 0)
    assert np.all(found.probabilities >= 0)
    assert 0.998 <= found.probabilities.sum() <= 1 + 1e-9
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    assert np.dot(middle, found.probabilities) == pytest.approx(found.mean, abs=0.05 * found.deviation + 0.02)


def test_known_moments():
    bell = loss_histogram(100 * PrivacyLoss.gaussian(mu=0.1) + PrivacyLoss.gaussian(mu=1))
    assert (bell.mean, bell.deviation) == (pytest.approx(1, rel=1e-4), pytest.approx(math.sqrt(2), rel=1e-4))
    response = loss_histogram(40 * PrivacyLoss.randomized_response(1))
    assert response.mean == pytest.approx(40 * math.tanh(0.5), rel=1e-6)
    assert response.deviation == pytest.approx(math.sqrt(40) / math.cosh(0.5), rel=1e-6)
    laplace = loss_histogram(PrivacyLoss.laplace(1))
    assert laplace.mean == pytest.approx(math.exp(-1), rel=1e-3)
    assert laplace.probabilities[-1] > 0.5  # the atom at epsilon


def test_the_bell_is_smooth_and_centred():
    found = loss_histogram(2000 * PrivacyLoss.gaussian(mu=1).sampled(0.01))
    rises = np.diff(found.probabilities) > 0
    assert np.sum(rises[1:] != rises[:-1]) == 1
    top = found.edges[np.argmax(found.probabilities)]
    assert abs(top - found.mean) < found.deviation / 2


def test_failures_are_set_apart():
    assert loss_histogram(10 * PrivacyLoss.approximate(1, 0.01)).infinite == pytest.approx(1 - 0.99**10)


def test_what_has_no_law_is_refused():
    with pytest.raises(NoTheorem, match="always 0"):
        loss_histogram(PrivacyLoss())
    with pytest.raises(NoTheorem, match="100,000,000"):
        loss_histogram(10**9 * PrivacyLoss.laplace(0.1))


def test_a_test_misses_at_least_what_the_profile_says():
    """For Gaussian noise the trade-off is ``Phi(Phi^-1(1 - a) - mu)``; lines below it touch it."""
    special = pytest.importorskip("scipy.special")
    alarms = np.array([0.001, 0.05, 0.3, 0.9])
    exact = special.ndtr(special.ndtri(1 - alarms) - 1)
    shown = profile_of(PrivacyLoss.gaussian(mu=1), 1e-6).missed(alarms)
    assert np.all(shown <= exact + 1e-12)
    assert np.all(shown >= exact - 0.002)


@pytest.mark.parametrize("kind", ["profile", "tradeoff", "density"])
@pytest.mark.parametrize("loss", LOSSES[1:4])
def test_every_kind_draws(kind, loss):
    text = plots.svg(loss.plot(kind, delta=1e-5))
    assert text.startswith('<svg role="img"')
    words = f"epsilon {loss.epsilon(1e-5):.4g} at delta 1e-05"
    assert (words in text) == (kind != "tradeoff")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LOSSES[0].plot("pie"), "kind must be one of profile, tradeoff, density"),
        (lambda: LOSSES[0].plot(delta=0), "delta must lie"),
        (lambda: PrivacyLoss().plot(), "nothing to draw"),
        (lambda: PrivacyLoss.approximate(1, 0.5).plot(delta=1e-6), "no curve to draw"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, words):
    with pytest.raises(InvalidParameter, match=words):
        call()


def test_growth_agrees_with_the_routes():
    step = PrivacyLoss.laplace(0.1)
    lines = {line.name: line for line in growth(step, [1, 50], 1e-5)}
    routes = {route.name: route.epsilon for route in (50 * step).routes(1e-5)}
    for name in ("basic composition", "advanced composition", "optimal composition", "central limit", OURS):
        assert lines[name].epsilons[-1] == pytest.approx(routes[name], rel=1e-9)
    assert lines["zCDP"].epsilons[-1] == pytest.approx(routes["zCDP, best order"], rel=1e-9)
    assert lines["Renyi"].epsilons[-1] == pytest.approx(routes["Renyi, improved"], rel=1e-4)
    assert [name for name, line in lines.items() if not line.valid] == ["central limit"]


def test_growth_shares_delta_where_one_release_has_no_epsilon():
    step, ticks = PrivacyLoss.gaussian(mu=1).sampled(0.1), []
    lines = {line.name: line.epsilons for line in growth(step, [1, 8], 1e-5, tick=lambda: ticks.append(1))}
    assert lines["basic composition"][0] == lines[OURS][0] == step.epsilon(1e-5)
    assert lines["basic composition"][1] == pytest.approx(8 * step.epsilon(1e-5 / 8))
    for name, values in lines.items():
        assert values[1] > values[0]
        assert name == "central limit" or values[1] >= lines[OURS][1]
    assert len(ticks) == len(ORDERS) + 2 * len(lines)


def test_repetitions_start_at_one_and_end_at_the_most():
    assert repetitions(1) == (1,)
    assert repetitions(14062)[0] == 1
    assert repetitions(14062)[-1] == 14062


def test_queries_against_accuracy():
    found = noise_per_query(1000, epsilon=1, delta=1e-6)
    assert found.basic == 1000
    assert found.concentrated == pytest.approx(169.18, abs=0.005)
    assert found.gaussian == pytest.approx(133.596, abs=0.001)
    assert found.deviations[0] == pytest.approx(1000 * math.sqrt(2))
    whole = PrivacyLoss.gaussian(mu_squared=1000 / found.gaussian**2)
    assert whole.epsilon(1e-6) <= 1
    assert (1000 * PrivacyLoss.laplace(1 / found.concentrated)).epsilon(1e-6) <= 1
    assert sampling_error(10_000) == 50
    for bad in ({"queries": 0}, {"epsilon": 0}, {"delta": 0}):
        with pytest.raises(InvalidParameter):
            noise_per_query(**{"queries": 1, "epsilon": 1, "delta": 1e-6} | bad)
