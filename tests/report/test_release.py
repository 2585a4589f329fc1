"""A release checks what it claims, and never holds the true answer."""

from dataclasses import FrozenInstanceError, fields

import pytest

from discreet.errors import DiscreetError, InvalidParameter
from discreet.report import Release

PARTS = {
    "title": "t",
    "question": "q",
    "value": 1,
    "error": "e",
    "mechanism": "m",
    "relation": "add_remove",
    "epsilon": 1.0,
    "private": True,
}


def test_is_frozen():
    with pytest.raises(FrozenInstanceError):
        Release(**PARTS).value = 2


def test_counts_its_numbers():
    assert Release(**PARTS).numbers == 1
    assert Release(**PARTS | {"value": {"a": 1, "b": 2}}).numbers == 2


def test_has_no_room_for_the_truth():
    assert not {"exact", "true", "truth"} & {field.name for field in fields(Release)}


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"delta": 1},
        {"delta": -1e-9},
        {"relation": "neighbours"},
        {"private": "yes"},
    ],
)
def test_refuses_what_cannot_be(wrong):
    with pytest.raises(DiscreetError):
        Release(**PARTS | wrong)


def test_private_must_be_said():
    with pytest.raises(TypeError):
        Release(**{name: part for name, part in PARTS.items() if name != "private"})
    with pytest.raises(InvalidParameter, match="private must be True or False"):
        Release(**PARTS | {"private": None})
