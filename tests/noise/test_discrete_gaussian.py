import importlib
from fractions import Fraction

import numpy as np
import pytest
from noise_reference import (
    ALARM,
    MORE,
    Scripted,
    around,
    ball,
    drawing_from,
    fit,
    gaussian_cdf,
    integer_edges,
    laplace_of,
    precisely,
    residues_are_even,
    signs_ignore_sizes,
    sure,
    tail,
    uniform,
)
from scipy import stats

from discreet.noise import coins, discrete_gaussian, discrete_laplace

SIGMAS = [1e-6, 0.05, 0.3, 0.5, 1, Fraction(1, 3), Fraction(22, 7), 10, 1e4, 2**24 - 1, 2**24, 1e9, 1e15, 2**57]
BIG = [2**57 + 32, Fraction(10**30, 3)]


def check_gaussian(z, sigma):
    assert fit(z, gaussian_cdf(sigma), integer_edges(sigma, stats.norm.ppf)) > ALARM
    assert signs_ignore_sizes(z) > ALARM
    k = max(1, int(sigma * 3.5))
    assert tail(z, k, 2 * float(gaussian_cdf(sigma)(np.array(-float(k))))) > ALARM
    if sigma >= 1e4:
        assert residues_are_even(z) > ALARM


@pytest.mark.usefixtures("deterministic")
class TestLaw:
    @pytest.mark.parametrize("sigma", SIGMAS + BIG, ids=str)
    def test_gaussian(self, sigma):
        check_gaussian(discrete_gaussian(sigma, size=500 if sigma > 2**57 else 100_000), sigma)

    @pytest.mark.slow
    @pytest.mark.parametrize("sigma", SIGMAS, ids=str)
    def test_ten_million_draws(self, sigma):
        if sigma == 1e4:
            sigma = 9999.5  # summed, not approximated
        check_gaussian(discrete_gaussian(sigma, size=10_000_000), sigma)

    def test_each_element_has_its_own_sigma(self):
        z = discrete_gaussian(np.array([Fraction(s) for s in SIGMAS]), size=(4000, len(SIGMAS)))
        for column, sigma in zip(z.T, SIGMAS, strict=True):
            check_gaussian(column, sigma)

    def test_elements_of_every_size(self):
        z = discrete_gaussian([1e-200, 1e-155, 0.5, 2**60], size=(500, 4))
        assert not z[:, :2].any()
        check_gaussian(z[:, 2], 0.5)
        check_gaussian(z[:, 3], 2**60)

    def test_many_small_requests(self):
        """The few draws too many of each request must not favour any of them."""
        check_gaussian(np.concatenate([discrete_gaussian(2, size=n) for n in (1, 2, 3) * 3000]), 2)


def word_for(y, t):
    """Return a word in the middle of those that give y."""
    with precisely(200):
        a = (-1 / ball(t)).exp()
        high = 2 * a ** abs(y) / (1 + a) if y else 1
        low = 2 * a ** (abs(y) + 1) / (1 + a)
        word = around((high + low) / 2, 63)[2] << 1 | (y < 0)
        assert laplace_of(word, t) == y
    return word


def wrong_coins(sigma, same):
    """Count wrong decisions to keep a draw, for coins that touch the boundary; a draw not kept becomes another."""
    exact = Fraction(sigma)
    t = int(np.floor(float(sigma)) + 1)  # the proposal's scale; any will do, as long as draw and coin share it
    with precisely():
        other, wrong = laplace_of(MORE, t), 0
        for y in {0, 1, -2, t // 3 + 1, 2 * t, -5 * t, 9 * t}:
            p = (-ball((abs(y) - exact**2 / t) ** 2 / (2 * exact**2))).exp()
            for coin in around(p, 64):
                truth = y if sure(uniform(coin, 64), p) else other
                script = [word_for(y, t), MORE, MORE, MORE, MORE, coin] if same else [word_for(y, t), coin]
                with drawing_from(Scripted(script)):
                    answer = discrete_gaussian(sigma) if same else discrete_gaussian([exact])[0]
                wrong += answer != truth
    return wrong


HARD = [0.3, 1, Fraction(22, 7), 3 - Fraction(1, 10**30), 1000.5, 2**24 - 1]


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("sigma", HARD, ids=str)
def test_hard_coins_are_decided_right(sigma, same):
    assert wrong_coins(sigma, same) == 0


@pytest.mark.parametrize("same", [True, False])
def test_without_slack_the_comparison_would_notice(same, monkeypatch):
    monkeypatch.setattr(coins, "SLACK", -1.0)
    assert sum(wrong_coins(sigma, same) for sigma in HARD) > 5


@pytest.mark.parametrize("sigma", [2**53, 2**55, 2**57, Fraction(10**17, 3)], ids=str)
def test_draw_and_coin_share_the_scale_of_the_proposal(sigma, monkeypatch):
    """From 2^53 on, floor(sigma) + 1 is not what float64 says; an exact coin for another proposal would be biased."""
    seen, exact = [], importlib.import_module("discreet.noise.discrete_gaussian")
    honest = exact._exact_exponent
    monkeypatch.setattr(exact, "_exact_exponent", lambda y, s, t: seen.append(t) or honest(y, s, t))
    monkeypatch.setattr(exact, "discrete_laplace", lambda t, size: seen.append(t) or discrete_laplace(t, size))
    monkeypatch.setattr(coins, "SLACK", np.inf)
    discrete_gaussian(sigma, size=3)
    assert len(seen) > 1
    assert len(set(seen)) == 1


@pytest.mark.parametrize("sigma", [1e-300, 1e-200, 1e-155, 1e-6, 0.05])
def test_a_tiny_sigma_gives_zero(sigma):
    assert not discrete_gaussian(sigma, size=1000).any()


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("sigma", [2**57, 2**57 + 32, 10**300], ids=str)
def test_samples_never_wrap(sigma):
    z = discrete_gaussian(sigma, size=200)
    assert z.dtype == (np.int64 if sigma <= 2**57 else object)
    assert np.std(z.astype(float) / float(sigma)) == pytest.approx(1, rel=0.4)
    assert type(discrete_gaussian(sigma)) is int
