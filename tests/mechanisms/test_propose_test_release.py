import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter, NoTheorem
from discreet.mechanisms.margin import Outcome
from discreet.mechanisms.propose_test_release import ProposeTestRelease
from discreet.sensitivity import smooth
from discreet.sensitivity.smooth import Levels
from discreet.testing import check_mechanism


@dataclass(frozen=True)
class Median:
    """The median of an odd number of values (Nissim, Raskhodnikova and Smith, STOC 2007)."""

    bounds: tuple[float, float] = (0, 6)
    relation: str = "replace_one"
    size: int | None = None
    dimension: int = 1
    norm: float = 1.0

    @property
    def range(self):
        return self.bounds

    def __repr__(self):
        return "<median>"

    def at(self, records):
        low, high = self.bounds
        x = np.sort(np.clip(np.asarray(records, dtype=float), low, high))
        n, m = x.size, (x.size + 1) // 2

        def nth(i):
            return low if i < 1 else high if i > n else x[i - 1]

        levels = [max(nth(m + t) - nth(m + t - k - 1) for t in range(k + 2)) for k in range(n + 1)]
        return Levels(float(nth(m)), np.array(levels, dtype=float))


DATA = [1, 2, 3, 5, 6]


def release(**given):
    return ProposeTestRelease(**({"function": Median(), "bound": 2, "epsilon": 2, "delta": 1e-3} | given))


def test_distances_of_a_median():
    """Worked by hand: the least k with A(x, k) above the bound."""
    assert [Median().at(DATA).distance(bound) for bound in (1, 2, 3, 5)] == [0, 1, 2, 4]


def test_refused_without_margin_and_passed_with_plenty():
    made = release(bound=1, delta=1e-12)
    assert all(made.release(DATA) == Outcome(None, False) for _ in range(200))
    plenty = release(bound=0.5)
    found = [plenty.release([3.0] * 101) for _ in range(50)]
    assert all(outcome.passed for outcome in found)
    assert all(isinstance(outcome.value, float) and abs(outcome.value - 3) < 15 for outcome in found)


def test_a_bound_that_nothing_exceeds_always_passes():
    made = release(bound=6)
    assert made.chance(DATA) == 1
    assert all(made.release(DATA).passed for _ in range(100))


def test_the_chance_of_passing_rises_with_the_margin():
    made = release(bound=0.5)
    chances = [made.chance([3.0] * n) for n in (1, 5, 9, 21, 51)]
    assert chances == sorted(chances)
    assert chances[0] == pytest.approx(float(made._margin.failure))
    assert chances[-1] > 0.999


def test_the_noise_is_for_the_bound_and_the_rest_of_epsilon():
    made = release(bound=2, epsilon=3, test=Fraction(1, 3))
    assert made.test_epsilon == 1
    assert made.noise.epsilon == 2
    assert made.noise.scale == pytest.approx(1, rel=1e-8)
    assert made.noise.scale >= 1
    assert made.refused.epsilon(made.delta) <= 1
    assert made.loss.epsilon(made.delta) <= 3


@pytest.mark.parametrize(
    ("made", "neighbours"),
    [
        (release(bound=2, grid=1, delta=0.05), ([3, 3, 3, 3, 3], [3, 3, 3, 3, 5])),
        (release(bound=1, grid=1, delta=0.2), ([1, 1, 6], [1, 6, 6])),
        (release(bound=6, grid=1), ([0, 0, 6], [0, 6, 6])),
    ],
)
def test_keeps_the_contract(made, neighbours):
    outputs = [Outcome(None, False), *(Outcome(float(y), True) for y in range(-180, 190))]
    done = check_mechanism(made, outputs=outputs, neighbours=neighbours)
    assert {"interface", "frozen", "keyword-only", "loss", "claim", "law"} <= set(done.passed)


def test_vectors_are_measured_in_norm_one():
    @dataclass(frozen=True)
    class Pair(Median):
        dimension: int = 2

        def at(self, records):
            return Levels(np.array([1.0, 2.0]), np.array([0.0]))

    made = release(function=Pair())
    assert made.release([]).value.shape == (2,)
    with pytest.raises(NoTheorem, match="norm 1"):
        release(function=Pair(norm=2.0))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"function": max}, "local sensitivity"),
        ({"bound": 0}, "bound"),
        ({"bound": math.inf}, "bound"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 0.5}, "below 1/2"),
        ({"test": 1}, "test"),
        ({"grid": 0.3}, "power of two"),
        ({"epsilon": 1e-40}, "noise"),
    ],
)
def test_what_cannot_be(given, match):
    with pytest.raises(InvalidParameter, match=match):
        release(**given)


def test_reprs():
    made = release(test=0.25, grid=0.5)
    assert repr(made) == "ProposeTestRelease(function=<median>, bound=2, epsilon=2, delta=0.001, test=0.25, grid=0.5)"
    assert "no error is promised" in made._repr_html_()


@dataclass(frozen=True)
class Large:
    """A vector of large numbers that move by very little, each of which float64 rounds to its neighbour."""

    dimension: int
    relation: str = "replace_one"
    size: int | None = 1
    range: tuple[float, float] = (0, 2.0**53)
    norm: float = 1.0

    def at(self, records):
        exact = 2**53 - 2 + Fraction(1, 2) + Fraction(int(records[0]), 2**40) - Fraction(1, 2**41)
        return Levels(np.full(self.dimension, float(exact)), np.array([self.dimension * 2.0**-40]))


@pytest.mark.parametrize("dimension", [1, 3, 100])
def test_there_is_room_for_the_rounding_of_every_entry(dimension):
    made = release(function=Large(dimension), bound=dimension * 2.0**-40)
    one, other = (made.function.at([x]).value for x in (0, 1))
    assert np.abs(one - other).sum() == dimension
    assert made.noise.sensitivity >= dimension


@pytest.mark.parametrize("size", [1e-300, 2.0**-996])
def test_a_bound_without_noise_is_refused_before_there_are_data(size):
    with pytest.raises(InvalidParameter, match="too large or too small"):
        ProposeTestRelease(function=smooth.Median(bounds=(-size, size)), bound=size, epsilon=1, delta=0.3)
