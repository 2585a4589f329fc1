"""Noise for one measure: how far a unit reaches, what the noise costs, and how far it strays."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from discreet.session.noise import BLOCK, Noise, Reach

ENDS = [(0, 0), (0, 1), (0, 3), (-2, 0), (-2, 3), (-3, 2), (-1, 1)]


def moved(reach, cells):
    """Return every difference that a unit can make, by trying all: parts of at most ``groups`` of some cells."""
    parts = [
        part
        for part in product(range(reach.low, reach.high + 1), repeat=cells)
        if sum(x != 0 for x in part) <= reach.groups
    ]
    if reach.relation == "add_remove":
        return parts
    return [tuple(a - b for a, b in zip(x, y, strict=True)) for x, y in product(parts, parts)]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("ends", ENDS)
def test_the_reach_is_the_largest_distance_that_there_is(ends, groups, relation):
    reach = Reach(groups, *ends, relation)
    all_moves = moved(reach, 2 * groups if relation == "replace_one" else groups + 1)
    assert reach.first == max(1, *(sum(map(abs, move)) for move in all_moves))
    assert reach.squared == max(1, *(sum(x * x for x in move) for move in all_moves))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("ends", ENDS)
def test_a_single_group_is_reached_less(ends, relation):
    reach = Reach(1, *ends, relation, single=True)
    all_moves = moved(reach, 1)
    assert reach.first == max(1, *(abs(move[0]) for move in all_moves))
    assert reach.squared == max(1, *(move[0] ** 2 for move in all_moves))


def test_noise_costs_what_it_says():
    reach = Reach(3, -5, 7, "add_remove")
    assert Noise.laplace(reach, Fraction(1, 2)).loss.epsilon() == 0.5
    gaussian = Noise.gaussian(reach, Fraction(1, 8))
    assert gaussian.spread == Fraction(reach.squared * 4)
    assert float(gaussian.loss.rho) <= 0.125 * (1 + 1e-12)
    assert Fraction(gaussian.sigma) ** 2 >= gaussian.spread


@pytest.mark.parametrize(
    "noise",
    [
        Noise.laplace(Reach(1, 0, 5, "add_remove"), Fraction(1)),
        Noise.gaussian(Reach(2, 0, 9, "add_remove"), Fraction(1, 4)),
        Noise.gaussian(Reach(1, 0, 2**26, "add_remove"), Fraction(1, 4)),
    ],
)
@pytest.mark.parametrize("beta", [0.5, 0.05, 0.001])
def test_noise_strays_as_far_as_is_promised(noise, beta):
    """100,000 draws, at a false-alarm rate of 1e-10; a bound that is a fifth smaller is caught."""
    drawn = np.abs(noise.draw(100_000).astype(np.float64))
    bound = noise.error(beta)
    assert (drawn > bound).sum() <= binom.isf(1e-10, 100_000, beta)
    if beta > 0.01:
        assert (drawn > 0.8 * bound - 1).sum() > binom.isf(1e-10, 100_000, beta) or bound < 8


def test_private_numbers_of_groups_are_drawn_in_blocks(monkeypatch):
    import discreet.session.noise as module

    drawn = []
    honest = module.discrete_laplace
    monkeypatch.setattr(module, "discrete_laplace", lambda scale, size: drawn.append(size) or honest(scale, size=size))
    noise = Noise.laplace(Reach(1, 0, 1, "add_remove"), Fraction(1))
    for size in (1, 17, BLOCK):
        assert len(noise.draw(size, private=True)) == size
    assert set(drawn) == {BLOCK}
    assert len(noise.draw(BLOCK + 1, private=True)) == BLOCK + 1
    assert drawn[-1] == 2 * BLOCK


def test_sums_with_noise_never_overflow():
    noise = Noise.laplace(Reach(1, 0, 2**40, "add_remove"), Fraction(1, 10**9))
    drawn = noise.draw(10)
    assert all(type(x) is int for x in drawn.tolist())
    assert ((drawn + 2**200) - 2**200 == drawn).all()


def test_public_measures_have_none():
    nothing = Noise("none", Reach(1, 0, 1, "replace_one"))
    assert nothing.draw(3).tolist() == [0, 0, 0]
    assert nothing.error(0.05) == 0
    assert nothing.loss.epsilon() == 0
