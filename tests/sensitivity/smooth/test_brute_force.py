"""Trying everything, tried against a listing of all data sets."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from definitions import added, replaced

from discreet.errors import InvalidInput, InvalidParameter, RelationMismatch
from discreet.sensitivity import brute_force
from discreet.sensitivity.smooth.brute_force import levels, local_sensitivity, smooth_sensitivity

DOMAIN = (0, 1, 5)


@pytest.mark.parametrize("query", [max, sum, statistics.median_low, lambda rows: len(set(rows))])
def test_it_is_the_definition(query):
    world = replaced(DOMAIN, 4)
    truth = world.levels(np.array([float(query(data)) for data in world.data_sets]), 6)
    for data, row in zip(world.data_sets, truth, strict=True):
        assert levels(query, DOMAIN, list(data)[::-1], "replace_one", 5) == row.tolist()
        for beta in (0.1, 1.5):
            smooth = (row * np.exp(-beta * np.arange(6))).max()
            assert smooth_sensitivity(query, DOMAIN, data, "replace_one", beta) == pytest.approx(smooth, rel=1e-14)


def test_it_is_the_definition_where_the_number_is_private():
    world = added(DOMAIN, 6)
    truth = world.levels(np.array([float(sum(data) ** 2 % 7) for data in world.data_sets]), 3)
    for data, row in zip(world.data_sets, truth, strict=True):
        if len(data) < 4:
            assert levels(lambda rows: sum(rows) ** 2 % 7, DOMAIN, data, "add_remove", 2) == row.tolist()
    found = smooth_sensitivity(sum, DOMAIN, [1], "add_remove", 0.1, reach=2)
    assert found == 5


def test_the_largest_is_the_global_sensitivity():
    world = replaced(DOMAIN, 3)
    local = [local_sensitivity(statistics.median_low, DOMAIN, data, "replace_one") for data in world.data_sets]
    assert max(local) == brute_force(statistics.median_low, DOMAIN, 3, "replace_one")
    far = local_sensitivity(statistics.median_low, DOMAIN, [1, 1, 1], "replace_one", 3)
    assert far == max(local)


def test_vectors_are_measured_in_the_one_norm():
    found = local_sensitivity(lambda rows: (sum(rows), Fraction(len(rows), 3)), DOMAIN, [0], "add_remove")
    assert found == 5 + Fraction(1, 3)


def test_wrong_questions_are_refused():
    with pytest.raises(InvalidInput, match="one of the values"):
        local_sensitivity(sum, DOMAIN, [2], "replace_one")
    with pytest.raises(InvalidParameter, match="distance"):
        local_sensitivity(sum, DOMAIN, [1], "replace_one", -1)
    with pytest.raises(InvalidParameter, match="reach"):
        smooth_sensitivity(sum, DOMAIN, [1], "add_remove", 0.1)
    with pytest.raises(RelationMismatch):
        local_sensitivity(sum, DOMAIN, [1], "other")
    with pytest.raises(InvalidInput, match="finite"):
        local_sensitivity(lambda rows: math.inf, DOMAIN, [1], "replace_one")
