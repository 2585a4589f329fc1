"""Quantiles: all small data sets, all neighbours, both relations, with the density of the ideal mechanism."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import pytest
from claims_reference import kept, largest_loss, quantile_cells

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import Quantile

EDGES = (0, 0.25, 0.375, 1)
SIZES = range(4)
PROBABILITIES = [Fraction(1, 2), 0.25, 0.9]


def data_sets(size):
    """All data sets on the edges: empty, all-equal and tied ones, and those at the bounds among them."""
    return list(combinations_with_replacement(EDGES, size))


def neighbours(relation):
    for size in SIZES:
        for rest in data_sets(size):
            if relation == "add_remove":
                yield from ((rest, (*rest, new)) for new in EDGES)
            else:
                yield from (((*rest, old), (*rest, new)) for old in EDGES for new in EDGES)


def all_kept(loss, rate, probability, relation, epsilon):
    return all(
        kept(loss, *(quantile_cells(data, EDGES, rate, float(probability)) for data in pair), (0, epsilon / 2, epsilon))
        for pair in neighbours(relation)
    )


def sensitivity(relation, probability):
    """How far the score ``-|#{x < y} - p n|`` moves, from the definition, over all these data sets."""
    middles = [(a + b) / 2 for a, b in pairwise(EDGES)]

    def score(data, y):
        return -abs(sum(x < y for x in data) - Fraction(probability) * len(data))

    return max(abs(score(a, y) - score(b, y)) for a, b in neighbours(relation) for y in middles)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_every_small_neighbour_keeps_the_claim(relation, probability, epsilon):
    mechanism = Quantile(bounds=(0, 1), epsilon=epsilon, relation=relation, probability=probability)
    rate = Fraction(epsilon) / (2 * sensitivity(relation, probability))
    assert mechanism.rate == rate
    assert mechanism.loss == PrivacyLoss.bounded_range(epsilon).under(relation)
    assert all_kept(mechanism.loss, float(rate), probability, relation, epsilon)


@pytest.mark.parametrize("probability", [Fraction(1, 2), 0.25])
def test_the_check_catches_the_wrong_relation(probability):
    wrong = Quantile(bounds=(0, 1), epsilon=3, relation="add_remove", probability=probability)
    assert not all_kept(PrivacyLoss.pure(3), float(wrong.rate), probability, "replace_one", 3)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_check_catches_the_missing_two(relation):
    rate = Quantile(bounds=(0, 1), epsilon=3, relation=relation).rate
    assert not all_kept(PrivacyLoss.pure(3), 2 * float(rate), 0.5, relation, 3)


SLIVER = 1e-9
WORST = {
    "replace_one": ((0, SLIVER, SLIVER, 1), (SLIVER, SLIVER, 1, 1)),
    "add_remove": ((0, SLIVER, SLIVER, 1), (SLIVER, SLIVER, 1)),
}


@pytest.mark.parametrize("relation", WORST)
def test_the_claim_is_attained_in_the_limit(relation):
    """The score of a sliver left of the median falls as that of all the rest rises."""
    mechanism = Quantile(bounds=(0, 1), epsilon=2, relation=relation)

    def loss(shrunk):
        rate = float(mechanism.rate) / shrunk
        return largest_loss(*(quantile_cells(data, (0, SLIVER, 1), rate, 0.5) for data in WORST[relation]))

    assert 2 - 1e-7 < loss(1) <= 2 + 1e-12
    assert loss(0.99) > 2.01


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_ties_and_equal_data_leave_a_proper_law(relation):
    for data in [(), (0,), (1,), (0.25,) * 3, (0.25, 0.25, 1)]:
        law = quantile_cells(data, EDGES, 1, 0.5)
        assert law.max() < 0
