"""Spines: three ways to write one, and what is no spine."""

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidParameter
from discreet.synthetic.hierarchy import Spine
from discreet.synthetic.hierarchy.spine import codes_of

LEAVES = (("GA", "Fulton", 1), ("AL", "Lee", 1), ("GA", "Fulton", 2), ("GA", "Lee", 1))


def test_three_ways_to_write_the_same_spine():
    levels = ("state", "county", "tract")
    listed = Spine(levels=levels, leaves=LEAVES)
    columns = Spine.from_columns(dict(zip(levels, map(np.array, zip(*LEAVES, strict=True)), strict=True)))
    tree = Spine.from_tree(levels, {"GA": {"Fulton": [1, 2], "Lee": [1]}, "AL": {"Lee": [1]}})
    assert columns == listed
    assert set(tree.leaves) == set(listed.leaves)


def test_places_of_nodes_and_parents():
    spine = Spine(levels=("state", "county", "tract"), leaves=LEAVES)
    assert spine.nodes("state") == (("GA",), ("AL",))
    assert spine.nodes("county") == (("GA", "Fulton"), ("AL", "Lee"), ("GA", "Lee"))
    assert [p.tolist() for p in spine.parents] == [[0, 1, 0], [0, 1, 0, 2]]


def test_rows_find_their_leaf_or_none():
    spine = Spine(levels=("state", "county", "tract"), leaves=LEAVES)
    rows = {"state": ["AL", "GA", "GA", []], "county": ["Lee", "Lee", "Cobb", "x"], "tract": [1, 1, 1, None]}
    assert spine.codes(rows).tolist() == [1, 3, -1, -1]
    with pytest.raises(InvalidInput, match="tract"):
        spine.codes({"state": [], "county": []})
    with pytest.raises(InvalidInput, match="length"):
        spine.codes({"state": ["GA"], "county": [], "tract": []})
    assert codes_of([float("nan"), 1, True], [1]).tolist() == [-1, 0, 0]


class Hostile:
    """A value that looks like a known one and fails when it is hashed, compared, or its comparison is read."""

    def __init__(self, hashes, equals):
        self.hashes, self.equals = hashes, equals

    def __hash__(self):
        return self.hashes()

    def __eq__(self, other):
        return self.equals()


class Neither:
    def __bool__(self):
        raise ArithmeticError("secret")


def fail():
    raise ValueError("secret")


@pytest.mark.parametrize(
    "value", [Hostile(fail, fail), Hostile(lambda: hash("GA"), fail), Hostile(lambda: hash("GA"), Neither)]
)
def test_a_value_that_fails_when_looked_at_is_unknown(value):
    assert codes_of(["GA", value], ["GA"]).tolist() == [0, -1]
    spine = Spine(levels=("state", "county", "tract"), leaves=LEAVES)
    assert spine.codes({"state": ["GA", value], "county": ["Lee"] * 2, "tract": [1] * 2}).tolist() == [3, -1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Spine(levels=(), leaves=((),)),
        lambda: Spine(levels=("a", "a"), leaves=((1, 2),)),
        lambda: Spine(levels=("a",), leaves=()),
        lambda: Spine(levels=("a",), leaves=((1, 2),)),
        lambda: Spine(levels=("a",), leaves=((1,), (1,))),
        lambda: Spine.from_columns({"a": [1], "b": [1, 2]}),
        lambda: Spine.from_tree(["a", "b"], {"x": "leaf"}),
        lambda: Spine(levels=("a",), leaves=((1,),)).depth("b"),
    ],
)
def test_what_is_no_spine_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()
