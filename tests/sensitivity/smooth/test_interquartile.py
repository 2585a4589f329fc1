"""The interquartile range against the definition."""

from fractions import Fraction

import numpy as np
import pytest
from definitions import added, flaws, replaced

from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.sensitivity.smooth.brute_force import local_sensitivity
from discreet.sensitivity.smooth.interquartile import InterquartileRange


@pytest.mark.parametrize("probabilities", [(0.25, 0.75), (Fraction(1, 10), 1), (0.5, 0.75)])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_it_is_exact_where_the_ranks_differ(n, probabilities):
    world = replaced((0, 1, 3, 4), n)
    seen = [InterquartileRange(bounds=(0, 4), probabilities=probabilities).at(data) for data in world.data_sets]
    differ = len({part.left for part in seen[0].parts}) == 2
    assert flaws(world, seen, exact=differ) == []


def test_it_bounds_from_above_where_the_number_is_private():
    world = added((0, 1, 4), 7)
    inside = np.array([len(data) < 4 for data in world.data_sets])
    seen = [InterquartileRange(bounds=(0, 4), relation="add_remove").at(data) for data in world.data_sets]
    assert flaws(world, seen, exact=False, most=4, inside=inside) == []


def test_the_larger_of_both_would_not_do_where_the_number_is_private():
    data, shares = [0, 0, 0, 0, 2, 4, 4, 4], (Fraction(1, 2), Fraction(2, 3))
    seen = InterquartileRange(bounds=(0, 4), probabilities=shares, relation="add_remove").at(data)
    truth = local_sensitivity(
        lambda rows: InterquartileRange(bounds=(0, 4), probabilities=shares).at(rows).value,
        [0, 2, 4],
        data,
        "add_remove",
    )
    assert truth == seen.local() == 4  # one record in the middle moves both inwards
    assert max(part.local() for part in seen.parts) == 2


def test_values():
    function = InterquartileRange(bounds=(0, 100))
    assert function.at(range(1, 101)).value == 50
    assert function.at([]).value == 0
    assert function.at([7]).value == 0
    assert function.range == (0, 100)
    assert InterquartileRange(bounds=(0, 1), size=2).at([1, 1, 0.5]).value == 0.5


def test_wrong_questions_are_refused():
    with pytest.raises(UnboundedSensitivity, match="interquartile range has no bounds"):
        InterquartileRange()
    with pytest.raises(InvalidParameter, match="rising"):
        InterquartileRange(bounds=(0, 1), probabilities=(0.5, 0.5))
    with pytest.raises(InvalidParameter, match="size"):
        InterquartileRange(bounds=(0, 1), relation="add_remove", size=3)
