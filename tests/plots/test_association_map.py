"""A map of pairs: its fields, its words, and what it refuses."""

import pytest

from discreet import InvalidParameter
from discreet.plots import svg
from discreet.plots.association_map import association_map

NAMES = ["age", "sex", "county"]
VALUES = [[1.0, 0.31, -0.5], [0.31, 1.0, 0.004], [-0.5, 0.004, 1.0]]


def test_every_pair_has_a_field_with_its_number():
    picture = svg(association_map(NAMES, VALUES, title="Lost and made up"))
    for words in ("+.31", "-.50", ">0<", "Lost and made up", "county"):
        assert words in picture


def test_many_attributes_have_no_room_for_numbers():
    count = 30
    values = [[0.25] * count for _ in range(count)]
    picture = svg(association_map([f"a{i}" for i in range(count)], values, title="Many"))
    assert ".25" not in picture.replace("0.25", "")


@pytest.mark.parametrize(
    ("names", "values"),
    [(["a"], [[1.0]]), (["a", "b"], [[1.0], [1.0]]), (["a", "a"], [[1, 0], [0, 1]]), (["a", "b"], [[1, 2], [2, 1]])],
)
def test_what_is_no_map_is_refused(names, values):
    with pytest.raises(InvalidParameter):
        association_map(names, values, title="No")
