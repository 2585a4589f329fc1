"""The label says what lies outside the guarantee."""

import pytest

from discreet.errors import RelationMismatch
from discreet.synthetic.consistency import Invariants


def test_exact_totals_are_named_and_explained():
    said = str(Invariants(exact=("the total of every county", "the sexes of the state"), relation="add_remove"))
    for words in ("the total of every county", "the sexes of the state", "outside the guarantee", "agree on them"):
        assert words in said
    assert "group of these two" in said
    assert "group of these two" not in str(Invariants(exact=("x",), relation="replace_one"))


def test_without_any_nothing_is_outside():
    none = Invariants(relation="replace_one")
    assert not none
    assert "Nothing was published outside" in str(none)


def test_a_relation_must_be_said():
    with pytest.raises(RelationMismatch):
        Invariants(relation=None)
