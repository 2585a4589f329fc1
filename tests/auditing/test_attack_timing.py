"""Coins tossed one by one tell the noise by their number; discreet's draws do not. No test looks at a real clock."""

import math

import numpy as np
import pytest

from discreet.auditing.attacks.timing import naive_geometric, time_the_sampler
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric
from discreet.noise.bits import override
from discreet.testing.seeded import SeededSource

DRAWS = 4000


class Counting:
    """A clock that counts coins and random words instead of time."""

    private = False

    def __init__(self, jitter=0.0):
        self.chance, self.inner, self.now = np.random.default_rng(1), SeededSource("timing"), 0.0
        self.jitter = jitter

    def __call__(self):
        return self.now + abs(self.jitter * self.chance.normal())

    def toss(self):
        self.now += 1
        return self.chance.random()

    def words(self, count):
        self.now += count
        return self.inner.words(count)


def attacked(clock, naive=None):
    mechanism = Geometric(sensitivity=20, epsilon=0.2)
    token = override.set(clock)
    try:
        return time_the_sampler(
            draws=DRAWS,
            clock=clock,
            naive=naive or (lambda: naive_geometric(100.0, clock.toss)),
            protected=lambda: mechanism.release(0),
        )
    finally:
        override.reset(token)


@pytest.fixture(scope="module")
def found():
    return attacked(Counting())


def test_the_naive_sampler_draws_the_right_law():
    clock = Counting()
    noise = np.array([naive_geometric(10.0, clock.toss) for _ in range(20_000)])
    a = math.exp(-0.1)
    assert abs((noise == 0).mean() - (1 - a) / (1 + a)) < 0.007
    assert noise.std() == pytest.approx(math.sqrt(2 * a) / (1 - a), rel=0.04)
    assert abs(noise.mean()) < 0.5


def test_the_number_of_coins_is_the_noise(found):
    assert found.correlation > 0.999
    assert found.right.low > 0.95


def test_the_number_of_words_is_not(found):
    assert abs(found.correlation_protected) < 4.5 / math.sqrt(DRAWS)
    assert abs(found.right_protected.value - found.allowed) < 4.5 * 0.5 / math.sqrt(DRAWS / 2)
    assert found.allowed == pytest.approx(0.5478, abs=1e-3)


def test_a_noisy_clock_blurs_and_does_not_save():
    blurred = attacked(Counting(jitter=5))
    assert blurred.correlation > 0.9
    assert blurred.right.low > 0.8 > 0.6 > blurred.right_protected.value


def test_what_is_said(found):
    assert "Tossing coins" in str(found)
    assert found.plot().to_dict()
    with pytest.raises(InvalidParameter):
        time_the_sampler(draws=3)
