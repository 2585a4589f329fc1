"""Levels that are told one by one."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.sensitivity.graphs import Triangles
from discreet.sensitivity.smooth import ROUNDING, Levels, Median, PopulationVariance, Sum, WeightedQuantile
from discreet.sensitivity.smooth.levels import LEAST

NUMBERS = Median(bounds=(0, 9)).at([1, 2, 3])
SEEN = [
    Levels(value=1.0, levels=np.array([0.1, 1.0])),
    NUMBERS,
    PopulationVariance(bounds=(0, 9)).at([1, 2, 3]),
    Sum((Median(bounds=(0, 9)),)).at([1, 2, 3]),
    WeightedQuantile(bounds=(0, 9), relation="add_remove").at(([1, 2], [1, 1])),
    Triangles(vertices=5).at([(0, 1)]),
]


def test_bounds_are_compared_exactly():
    tenth = Levels(value=1.0, levels=np.array([0.1, 1.0]))
    tiny = Fraction(1, 10**30)
    assert [tenth.distance(Fraction(0.1) + by) for by in (-tiny, 0, tiny)] == [0, 1, 1]
    assert [tenth.distance(1 + by) for by in (-tiny, 0, tiny)] == [1, None, None]
    assert Triangles(vertices=3).at([(0, 1), (1, 2)]).distance(1 - tiny) == 0


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: type(seen).__name__)
def test_what_is_no_bound_or_no_distance_is_refused(seen):
    for bound in (math.nan, math.inf, True, None, "1"):
        with pytest.raises(InvalidParameter, match="bound"):
            seen.distance(bound)
    for distance in (-1, 1.5, True, None):
        with pytest.raises(InvalidParameter, match="distance"):
            seen.local(distance)
    assert seen.local(np.int8(3)) == seen.local(3) <= seen.local(2**70) == seen.local(2**200)


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: type(seen).__name__)
def test_the_slowest_and_the_fastest_decay(seen):
    """Without any, it is the largest level of all: the global sensitivity."""
    most = max(seen.local(k) for k in range(2000))
    assert most <= seen.smooth(0) <= most * (1 + 2 * ROUNDING)
    assert seen.smooth(0) >= seen.smooth(2.0**-900) >= most
    assert max(seen.local(), LEAST) <= seen.smooth(2**900) <= max(seen.local() * (1 + 2 * ROUNDING), LEAST)
    for beta in (-1, Fraction(-1, 10**400), math.nan, math.inf, None, True, "1"):
        with pytest.raises(InvalidParameter, match="beta"):
            seen.smooth(beta)


def test_nobody_can_change_them():
    given = np.array([1.0, 2.0])
    seen = Levels(value=np.array([7.0]), levels=given)
    given[0] = 5
    assert seen.local() == 1
    for array in (seen.levels, seen.value):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
