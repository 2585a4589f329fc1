"""The variance against the definition, and against a domain fine enough to hold every mean."""

import statistics
from fractions import Fraction

import numpy as np
import pytest
from definitions import flaws, replaced

from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.sensitivity.smooth.variance import PopulationVariance
from discreet.sensitivity.variance import Variance


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("domain", [(0, 1, 3, 4), (0, 2, 3, 8)])
def test_levels_bound_the_definition(n, domain):
    world = replaced(domain, n)
    seen = [PopulationVariance(bounds=(0, domain[-1])).at(data) for data in world.data_sets]
    assert [one.value for one in seen] == [statistics.pvariance(map(Fraction, data)) for data in world.data_sets]
    assert flaws(world, seen, exact=False) == []


@pytest.mark.parametrize(("n", "fine"), [(2, 24), (3, 12), (4, 6)])
def test_levels_are_attained_where_the_domain_is_fine(n, fine):
    world = replaced(tuple(range(fine + 1)), n)
    seen = [PopulationVariance(bounds=(0, fine)).at(data) for data in world.data_sets]
    values = np.array([float(one.value) for one in seen])
    moved = np.where(world.distances == 1, np.abs(np.subtract.outer(values, values)), 0.0).max(axis=1)
    rest = 0.25 * (n - 1) / n**2  # half a point from a mean, squared
    for row, one in list(zip(world.distances, seen, strict=True))[::7]:
        for k in range(n + 1):
            truth = moved[row <= k].max()
            assert truth - 1e-9 <= one.local(k) <= truth + rest + 2e-9 + 0.02 * truth


def test_a_wrong_constant_would_be_noticed():
    world = replaced((0, 1, 3, 4), 4)
    seen = [PopulationVariance(bounds=(0, 4)).at(data) for data in world.data_sets]
    shrunk = [type(one)(one.value, one.sides, one.width, one.step * 0.9**0.5) for one in seen]
    assert "a level is below the local sensitivity" in flaws(world, shrunk, exact=False)


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_far_away_it_is_the_global_sensitivity(n):
    data = np.full(n, 3.3)
    seen = PopulationVariance(bounds=(0, 10)).at(data)
    most = float(Variance(bounds=(0, 10), size=n).sensitivity(relation="replace_one"))
    assert seen.local(n) == seen.local(10**9) == pytest.approx(most, rel=1e-12)
    assert seen.smooth(1e-12) == pytest.approx(most, rel=1e-8)


def test_smooth_bounds_of_many_records_are_the_best_level():
    data = np.random.default_rng(6).normal(50, 1, 3000)
    seen = PopulationVariance(bounds=(0, 100)).at(data)
    levels = np.array([seen.local(k) for k in range(3001)])
    for beta in (1e-4, 0.003, 0.05, 1):
        truth = (levels * np.exp(-beta * np.arange(levels.size))).max()
        assert truth <= seen.smooth(beta) <= truth * (1 + 2.0**-30)
    assert seen.smooth(1) < seen.local(3000) / 2


def test_many_and_wide_numbers_are_exact():
    generator = np.random.default_rng(5)
    data = generator.integers(0, 2**39, 40_000)
    seen = PopulationVariance(bounds=(0, 2**39 - 1)).at(data)
    assert seen.value == statistics.pvariance(map(Fraction, data.tolist()))
    with pytest.raises(InvalidParameter, match="coarser grid"):
        PopulationVariance(bounds=(0, 2**45), grid=1).at([0])


def test_wrong_numbers_of_records_are_harmless():
    function = PopulationVariance(bounds=(0, 10))
    assert (function.at([]).value, function.at([3]).value) == (0, 0)
    assert function.at([3]).local(5) == 0
    assert function.at([]).smooth(0.1) > 0
    assert PopulationVariance(bounds=(0, 10), size=2).at([10]).value == 25
    assert function.range == (0, 25)
    with pytest.raises(UnboundedSensitivity):
        PopulationVariance()
    with pytest.raises(InvalidParameter, match="at least 1"):
        PopulationVariance(bounds=(0, 1), size=0)


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("n", [2, 4, 5, 6, 7])
def test_levels_bound_the_definition_on_coarse_grids_with_repeated_values(n, width):
    world = replaced(tuple(range(width + 1)), n)
    function = PopulationVariance(bounds=(0, width), grid=1)
    assert flaws(world, [function.at(data) for data in world.data_sets], exact=False) == []


def test_the_next_larger_value_is_tried_where_values_repeat():
    seen = PopulationVariance(bounds=(0, 4), grid=1).at([0, 1, 1, 2])
    assert seen.local() == 1.75
    assert (seen.distance(1.7), seen.distance(1.75)) == (0, 1)


@pytest.mark.parametrize(
    "settings",
    [{"bounds": (0, 2**45), "grid": 1}, {"bounds": (0, 2.0**999), "grid": 2**980}, {"bounds": (0, 2.0**-990)}],
)
def test_squares_that_are_no_floats_are_refused_before_any_data(settings):
    with pytest.raises(InvalidParameter):
        PopulationVariance(**settings)
