"""Cells, edit rules and tables over the cells that are left."""

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidParameter
from discreet.synthetic.hierarchy import Cells

PERSON = Cells(
    attributes={"age": (10, 20, 70), "role": ("householder", "spouse", "child"), "white": (0, 1), "black": (0, 1)},
    rules={
        "a spouse or householder is at least 15": lambda c: c["age"] >= 15 or c["role"] == "child",
        "at least one race": lambda c: c["white"] + c["black"] > 0,
    },
)


def test_rules_leave_the_possible_cells():
    assert PERSON.count == (1 + 3 + 3) * 3
    assert not PERSON.whole
    for cell in zip(*map(PERSON.values, PERSON.names), strict=True):
        age, role, white, black = cell
        assert age >= 15 or role == "child"
        assert white or black


def test_tables_have_no_impossible_entries():
    assert PERSON.labels(()).tolist() == [0] * PERSON.count
    assert PERSON.labels(("age", "role")).max() + 1 == 7
    assert PERSON.labels(("white", "black")).max() + 1 == 3
    assert np.array_equal(PERSON.labels(("role", "age")), PERSON.labels(("age", "role")))


def test_a_mask_says_the_same_as_a_rule():
    mask = np.zeros((2, 2), dtype=bool)
    mask[0, 1] = True
    by_mask = Cells(attributes={"a": (0, 1), "b": (0, 1)}, zeros=mask)
    by_rule = Cells(attributes={"a": (0, 1), "b": (0, 1)}, rules={"r": lambda c: c["a"] >= c["b"]})
    assert np.array_equal(by_mask.codes, by_rule.codes)
    assert Cells(attributes={"a": (0, 1)}).whole


def test_a_coarser_grouping_adds_no_cell():
    grouped = Cells(
        attributes={"age": tuple(range(30)), "adult": (False, True)},
        rules={"adults are 18": lambda c: c["adult"] == (c["age"] >= 18)},
    )
    assert grouped.count == 30
    assert np.bincount(grouped.labels(("adult",))).tolist() == [18, 12]


def test_rows_find_their_cell_or_none():
    rows = {
        "age": [10, 10, 20, "x"],
        "role": ["child", "spouse", "spouse", "child"],
        "white": [1] * 4,
        "black": [0] * 4,
    }
    places = PERSON.places(rows)
    assert places[1] == places[3] == -1
    for row in (0, 2):
        assert all(PERSON.values(name)[places[row]] == rows[name][row] for name in PERSON.names)
    with pytest.raises(InvalidInput, match="'black'"):
        PERSON.places({"age": [], "role": [], "white": []})
    with pytest.raises(InvalidInput, match="length"):
        PERSON.places({**rows, "age": [1]})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cells(attributes={}),
        lambda: Cells(attributes={"a": ()}),
        lambda: Cells(attributes={"a": (1, 1)}),
        lambda: Cells(attributes={"a": (1, 2)}, zeros=np.array([True])),
        lambda: Cells(attributes={"a": (1, 2)}, rules={"never": lambda _: False}),
        lambda: Cells(attributes={"a": tuple(range(3000)), "b": tuple(range(3000))}),
        lambda: PERSON.labels(("age", "age")),
        lambda: PERSON.labels(("height",)),
    ],
)
def test_what_are_no_cells_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()
