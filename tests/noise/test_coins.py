from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb
from noise_reference import ALARM, Scripted, around, ball, drawing_from, precisely, sure, uniform
from scipy import stats

from discreet.errors import InvalidParameter
from discreet.noise import bernoulli, bernoulli_exp, coins, uniform_below
from discreet.noise.coins import coins_of, exp_coins, random_bits

PROBABILITIES = [0, 1, 0.5, Fraction(1, 3), 0.1, Fraction(1, 2**64), 1 - Fraction(1, 2**64), Fraction(1, 2**70)]
EXPONENTS = [0, 1e-300, 1e-20, 2.0**-44, 0.001, Fraction(1, 3), 1, Fraction(22, 7), 10, 30.5, 40, 100, 2**1000]


@pytest.mark.usefixtures("deterministic")
class TestLaw:
    @pytest.mark.parametrize("p", PROBABILITIES, ids=str)
    def test_bernoulli(self, p):
        assert stats.binomtest(int(bernoulli(p, size=100_000).sum()), 100_000, float(p)).pvalue > ALARM

    @pytest.mark.parametrize("x", [0, 1e-6, 0.1, Fraction(1, 3), 1, 5, 12], ids=str)
    def test_bernoulli_exp(self, x):
        assert stats.binomtest(int(bernoulli_exp(x, size=100_000).sum()), 100_000, np.exp(-float(x))).pvalue > ALARM

    @pytest.mark.parametrize("p", [0, 1e-3, 0.25, 0.5, 0.999, 1])
    def test_coins_of(self, p):
        tosses = coins_of(lambda: ball(p), 100_000)
        assert stats.binomtest(int(tosses.sum()), 100_000, p).pvalue > ALARM

    @pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 8, 100, 127, 128, 129])
    def test_uniform_below(self, n):
        counts = np.bincount(uniform_below(n, size=100_000), minlength=n)
        assert counts.size == n
        assert n == 1 or stats.chisquare(counts).pvalue > ALARM

    @pytest.mark.parametrize("n", [2**62 + 1, 2**63 - 1, 2**63, 2**63 + 1, 10**30, 3 * 2**198])
    def test_uniform_below_a_large_number(self, n):
        draws = uniform_below(n, size=3000)
        assert draws.dtype == (np.int64 if n <= 2**63 else object)
        assert 0 <= min(draws) <= max(draws) < n
        assert stats.chisquare(np.bincount([int(x) * 10 // n for x in draws])).pvalue > ALARM
        assert stats.chisquare(np.bincount([int(x) % 8 for x in draws])).pvalue > ALARM

    def test_random_bits(self):
        for count in (1, 2, 63, 64, 65, 130):
            ones = sum(random_bits(count).bit_count() for _ in range(500))
            assert stats.binomtest(ones, 500 * count, 0.5).pvalue > ALARM
            assert max(random_bits(count).bit_length() for _ in range(100)) <= count
        assert random_bits(0) == 0


def tosses(toss, word):
    with drawing_from(Scripted([word])):
        return toss()


@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_hard_words_of_rational_coins(p):
    with precisely():
        for word in [*around(ball(p), 64), 0, 1, 2**63, 2**64 - 1]:
            truth = sure(uniform(word, 64), ball(p))
            assert tosses(lambda: bernoulli(p), word) is truth
            assert tosses(lambda: bool(coins_of(lambda: ball(p), 1)[0]), word) is truth


def wrong_tosses():
    wrong = 0
    with precisely(1200):
        for x in map(Fraction, EXPONENTS):
            p = (-ball(x)).exp()
            for word in [*around(p, 64), 0, 1, 2**63, 2**64 - 1]:
                truth = sure(uniform(word, 64), p)
                near = np.array([float(x) * (1 + 2.0**-51)])  # as far off as a caller may be
                wrong += tosses(partial(bernoulli_exp, x), word) is not truth
                wrong += bool(tosses(partial(exp_coins, near, {0: x}.get), word)) is not truth
    return wrong


def test_hard_words_of_exponential_coins():
    assert wrong_tosses() == 0


def test_without_slack_the_comparison_would_notice(monkeypatch):
    monkeypatch.setattr(coins, "SLACK", -1.0)
    assert wrong_tosses() > 5


def test_a_wrong_exponential_would_be_noticed(monkeypatch):
    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda x: exp(x) * (1 + 1e-12))
    assert wrong_tosses() > 5


def test_with_infinite_slack_balls_decide_everything(monkeypatch):
    monkeypatch.setattr(coins, "SLACK", np.inf)
    assert wrong_tosses() == 0


def test_a_coin_known_as_a_formula():
    with precisely():
        p = arb(3).sqrt() / 100
        for word in around(p, 64):
            assert tosses(lambda: bool(coins_of(lambda: arb(3).sqrt() / 100, 1)[0]), word) is sure(uniform(word, 64), p)


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan, np.inf, "0.5", None, True, 1j])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(InvalidParameter, match=r"^p must"):
        bernoulli(p)


@pytest.mark.parametrize("x", [-1, -5e-324, np.nan, np.inf, "1", None, True, 10**400])
def test_what_is_no_exponent_is_refused(x):
    with pytest.raises(InvalidParameter, match=r"^x must"):
        bernoulli_exp(x)


@pytest.mark.parametrize("n", [0, -1, 2.5, Fraction(1, 3), np.nan, np.inf, "6", None, True, 10**400])
def test_what_is_no_count_is_refused(n):
    with pytest.raises(InvalidParameter, match=r"^n must"):
        uniform_below(n)


@pytest.mark.parametrize("draw", [bernoulli, bernoulli_exp, uniform_below])
def test_sizes(draw):
    assert isinstance(draw(1), bool | int)
    assert draw(1, size=0).shape == (0,)
    assert draw(1, size=(2, 0, 3)).shape == (2, 0, 3)
    assert draw(1, size=()).shape == ()
    assert draw(1, size=np.int64(4)).shape == (4,)
    for size in (-1, (2, -1), 1.5, "3", (1.0,)):
        with pytest.raises(InvalidParameter, match="size must"):
            draw(1, size=size)


def test_sizes_of_large_dice():
    assert type(uniform_below(10**30)) is int
    assert uniform_below(10**30, size=0).shape == (0,)
    assert uniform_below(10**30, size=(2, 3)).shape == (2, 3)
