"""Trimmed and winsorized means against the definition."""

import statistics
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from definitions import flaws, replaced

from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.sensitivity.smooth.trimmed import TrimmedMean
from discreet.sensitivity.smooth.winsorized import WinsorizedMean

TRIMS = [(n, trim) for n in range(1, 6) for trim in range((n + 1) // 2)]


@pytest.mark.parametrize(("n", "trim"), TRIMS)
def test_trimmed_means_are_exact(n, trim):
    world = replaced((0, 1, 3, 4), n)
    seen = [TrimmedMean(trim=trim, bounds=(0, 4)).at(data) for data in world.data_sets]
    assert [one.value for one in seen] == [
        statistics.mean(map(Fraction, sorted(data)[trim : n - trim])) for data in world.data_sets
    ]
    assert flaws(world, seen, exact=True) == []


@pytest.mark.parametrize(("n", "trim"), [*TRIMS, (6, 1), (6, 2)])
def test_winsorized_means_are_bounded(n, trim):
    world = replaced((0, 1, 4) if n > 5 else (0, 1, 3, 4), n)
    seen = [WinsorizedMean(trim=trim, bounds=(0, 4)).at(data) for data in world.data_sets]
    ends = [(sorted(data)[trim], sorted(data)[n - 1 - trim]) for data in world.data_sets]
    pulled = [[min(max(x, low), high) for x in data] for data, (low, high) in zip(world.data_sets, ends, strict=True)]
    assert [one.value for one in seen] == [statistics.mean(map(Fraction, data)) for data in pulled]
    assert flaws(world, seen, exact=False) == []
    most = world.levels(np.array([float(one.value) for one in seen]), 1).max()
    assert max(one.local(n) for one in seen) == pytest.approx(most)  # the global sensitivity is attained


def test_nothing_trimmed_is_the_mean():
    data = [1, 2, 6]
    for seen in (TrimmedMean(trim=0, bounds=(0, 8)).at(data), WinsorizedMean(trim=0, bounds=(0, 8)).at(data)):
        assert seen.value == 3
        assert seen.local() == pytest.approx(7 / 3)
        assert seen.smooth(0.2) == pytest.approx(max(7 / 3, np.exp(-0.2) * 8 / 3), rel=2e-9)


def test_worked_value():
    seen = TrimmedMean(trim=1, bounds=(0, 3)).at([1, 1, 1, 2, 3])
    assert [seen.local(k) for k in range(6)] == pytest.approx([2 / 3, 2 / 3, 1, 1, 1, 1], rel=1e-12)
    assert seen.smooth(0.2) == pytest.approx(0.6703200460356393, rel=2e-9)


@dataclass
class Shrunk:
    seen: object
    factor: float

    @property
    def value(self):
        return self.seen.value

    def local(self, k):
        return self.seen.local(k) * self.factor

    def smooth(self, beta):
        return self.seen.smooth(beta) * self.factor

    def distance(self, bound):
        return self.seen.distance(bound / self.factor)


@pytest.mark.parametrize("trim", [0, 1])
def test_a_wrong_constant_would_be_noticed(trim):
    world = replaced((0, 1, 3, 4), 4)
    for function in (TrimmedMean, WinsorizedMean):
        seen = [Shrunk(function(trim=trim, bounds=(0, 4)).at(data), 0.9) for data in world.data_sets]
        assert "a level is below the local sensitivity" in flaws(world, seen, exact=False)


def test_another_trim_would_be_noticed():
    world = replaced((0, 1, 3, 4), 5)
    seen = [TrimmedMean(trim=1, bounds=(0, 4)).at(data) for data in world.data_sets]
    other = [TrimmedMean(trim=2, bounds=(0, 4)).at(data) for data in world.data_sets]
    mixed = [Shrunk(b, 1.0) for b in other]
    for one, right in zip(mixed, seen, strict=True):
        one.seen = type(right)(right.value, right.points, 3, 3)
    assert flaws(world, mixed, exact=True) != []


def test_values_have_no_rounding_and_no_order():
    data = np.random.default_rng(0).random(10_000)
    seen = TrimmedMean(trim=100, bounds=(0, 1)).at(data)
    assert seen.value == TrimmedMean(trim=100, bounds=(0, 1)).at(data[::-1].tolist()).value
    kept = np.sort(data)[100:-100]
    assert abs(seen.value - sum(map(Fraction, kept.tolist())) / 9800) < Fraction(1, 2**51)


def test_wrong_numbers_of_records_are_harmless():
    assert TrimmedMean(trim=1, bounds=(2, 5)).at([]).value == 2
    assert TrimmedMean(trim=1, bounds=(2, 5)).at([5, 5]).value == 5
    assert TrimmedMean(trim=0, bounds=(2, 5), size=4).at([4]).value == Fraction(5, 2)
    assert TrimmedMean(trim=0, bounds=(2, 5), size=1).at([4, 5, 5]).value == 4
    assert WinsorizedMean(trim=1, bounds=(2, 5)).at([]).smooth(0.1) > 0
    assert TrimmedMean(trim=1, bounds=(2, 5)).range == WinsorizedMean(trim=1, bounds=(2, 5)).range == (2, 5)


@pytest.mark.parametrize("function", [TrimmedMean, WinsorizedMean])
def test_wrong_questions_are_refused(function):
    with pytest.raises(UnboundedSensitivity, match="mean has no bounds"):
        function(trim=1)
    with pytest.raises(InvalidParameter, match="at least 0"):
        function(trim=-1, bounds=(0, 1))
    with pytest.raises(InvalidParameter, match="integer"):
        function(trim=0.5, bounds=(0, 1))
    with pytest.raises(InvalidParameter, match="must leave a record"):
        function(trim=2, bounds=(0, 1), size=4)
