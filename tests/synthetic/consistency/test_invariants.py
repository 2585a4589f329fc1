"""The label says what lies outside the guarantee."""

import pytest

from discreet.errors import NoTheorem, RelationMismatch
from discreet.mechanisms import DiscreteGaussian
from discreet.synthetic.consistency import Invariants


def test_exact_totals_are_named_and_explained():
    said = str(Invariants(exact=("the total of every county", "the sexes of the state"), relation="add_remove"))
    for words in ("the total of every county", "the sexes of the state", "outside the guarantee", "agree on them"):
        assert words in said
    assert "exchanged for another one is one removed and one added, which may cost more than is stated" in said
    said = str(Invariants(exact=("x",), relation="replace_one"))
    assert "a change of one person that keeps them all costs at most what is stated" in said
    assert "these are two changes, which may cost more than is stated" in said


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_loss_is_ordinary_only_if_nothing_is_exact(relation):
    loss = DiscreteGaussian(sensitivity=1, sigma=1).loss
    assert Invariants(relation=relation).ordinary(loss) is loss
    with pytest.raises(NoTheorem, match="agree on them"):
        Invariants(exact=("the total",), relation=relation).ordinary(loss)


def test_without_any_nothing_is_outside():
    none = Invariants(relation="replace_one")
    assert not none
    assert "Nothing was published outside" in str(none)


def test_a_relation_must_be_said():
    with pytest.raises(RelationMismatch):
        Invariants(relation=None)
