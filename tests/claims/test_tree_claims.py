"""Trees of noisy weights: how far a unit moves them, by brute force, and what the noise then costs."""

import math
from fractions import Fraction
from itertools import pairwise
from itertools import product as every

import numpy as np
import pytest
from claims_reference import DUST, SLACK, discrete_gaussian, geometric, product, steps, worse
from scipy import stats

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import QuantileTree
from discreet.mechanisms.noisy_tree import NoisyTree, consistent_weights
from discreet.mechanisms.quantile_tree import level_weights

ALARM = 1e-9
SHAPES = [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)]


def spreads(leaves, unit):
    """Return all ways to lay a weight of at most ``unit`` on the leaves."""
    return [np.array(x) for x in every(range(unit + 1), repeat=leaves) if sum(x) <= unit]


def moves(branching, levels, unit, relation):
    """Return all that a unit can change in the nodes of a tree, as vectors."""
    units = [np.concatenate(level_weights(x, branching, levels)) for x in spreads(branching**levels, unit)]
    return units if relation == "add_remove" else [a - b for a in units for b in units]


@pytest.mark.parametrize(("branching", "levels", "unit"), [*((b, n, 1) for b, n in SHAPES), (2, 2, 2), (4, 1, 3)])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_sensitivities_by_brute_force(branching, levels, unit, relation):
    tree = QuantileTree(branching=branching, levels=levels, relation=relation, epsilon=1, unit=unit)
    changed = moves(branching, levels, unit, relation)
    assert max(int(np.abs(move).sum()) for move in changed) == tree.sensitivity
    assert max(int((move**2).sum()) for move in changed) == tree.squared_sensitivity


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_noise_is_what_the_sensitivity_asks_for(relation):
    touched = 2 if relation == "replace_one" else 1
    options = {"branching": 4, "levels": 3, "relation": relation, "unit": 5}
    pure = QuantileTree(**options, epsilon=0.5)
    assert pure.noise == ("laplace", Fraction(15 * touched) / Fraction(0.5))
    assert pure.loss.epsilon() == 0.5
    assert pure.loss.relation == relation
    law, sigma = QuantileTree(**options, rho=0.25).noise
    assert law == "gaussian"
    assert sigma == pytest.approx(math.sqrt(3 * 25 * touched / 0.5), rel=1e-12)
    assert QuantileTree(**options, rho=0.25).loss.rho <= 0.25
    assert QuantileTree(**options, sigma=7).loss == PrivacyLoss.discrete_gaussian(
        squared_sensitivity=75 * touched, sigma_squared=49
    ).under(relation)


LAWS = {"laplace": geometric, "gaussian": discrete_gaussian}


def all_kept(tree, loss, epsilon, shrunk=1.0):
    """Compare the joint laws of all nodes that move, for everything that a unit can change."""
    name, size = tree.noise
    allowed = {e: loss.delta(e) * (1 + SLACK) + DUST for e in steps(epsilon)}
    reach = 24
    known = {shift: LAWS[name](float(size) * shrunk, shift, reach) for shift in range(-tree.unit, tree.unit + 1)}
    for move in {
        tuple(sorted(x for x in m if x)) for m in moves(tree.branching, tree.levels, tree.unit, tree.relation)
    }:
        p, q = (product(*(known[int(x) * side] for x in move)) for side in (0, 1))
        if any(worse(p, q, e) > most for e, most in allowed.items()):
            return False
    return True


TREES = [
    QuantileTree(branching=2, levels=1, relation="add_remove", epsilon=4),
    QuantileTree(branching=2, levels=2, relation="add_remove", epsilon=4),
    QuantileTree(branching=2, levels=1, relation="replace_one", epsilon=4),
    QuantileTree(branching=3, levels=1, relation="add_remove", epsilon=6, unit=2),
    QuantileTree(branching=2, levels=2, relation="add_remove", sigma=1),
    QuantileTree(branching=2, levels=1, relation="replace_one", rho=1),
    QuantileTree(branching=3, levels=1, relation="add_remove", rho=1, unit=2),
]


@pytest.mark.parametrize("tree", TREES)
def test_every_unit_of_small_trees_keeps_the_claim(tree):
    epsilon = float(tree.epsilon or tree.loss.epsilon(1e-3))
    assert all_kept(tree, tree.loss, epsilon)
    assert not all_kept(tree, tree.loss, epsilon, shrunk=0.5)
    assert not all_kept(tree, tree.loss, epsilon, shrunk=0.9)


def test_one_level_too_few_would_be_caught():
    tree = QuantileTree(branching=2, levels=2, relation="add_remove", epsilon=4)
    assert not all_kept(tree, PrivacyLoss.pure(2), 2)
    wide = QuantileTree(branching=2, levels=1, relation="replace_one", sigma=1)
    assert not all_kept(wide, PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=1), 1)


# --- what is drawn and read ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"epsilon": 1}, {"sigma": 2}])
def test_every_node_has_the_noise_that_is_said(options, repeatable):
    tree = QuantileTree(branching=2, levels=2, relation="add_remove", **options)
    leaves = np.array([5, 0, 2, 1])
    drawn = tree.release(np.tile(leaves, (50_000, 1)))
    name, size = tree.noise
    for level, exact in zip(drawn.nodes, level_weights(leaves, 2, 2), strict=True):
        law = np.exp(LAWS[name](float(size), 0, 12))
        for node, value in enumerate(exact.tolist()):
            noise = np.clip(level[:, node] - value, -12, 12)
            expected = law * noise.size
            expected[[0, -1]] += (noise.size - expected.sum()) / 2
            counted = np.bincount(noise + 12, minlength=25)
            common = expected >= 10
            counted = np.append(counted[common], counted[~common].sum())
            expected = np.append(expected[common], max(expected[~common].sum(), 1e-9))
            counted, expected = (counted, expected) if expected[-1] >= 10 else (counted[:-1], expected[:-1])
            assert stats.chisquare(counted, expected * counted.sum() / expected.sum()).pvalue > ALARM


def test_nodes_have_noise_of_their_own(repeatable):
    drawn = QuantileTree(branching=2, levels=2, relation="add_remove", sigma=3).release(np.zeros((20_000, 4), int))
    noise = np.concatenate(drawn.nodes, axis=1).astype(float)
    together = np.corrcoef(noise.T) - np.eye(6)
    assert np.abs(together).max() < 7 / math.sqrt(20_000)


def least_squares(levels, branching):
    """Return the least-squares leaves of a tree of weights, by a general solver."""
    leaves = levels[-1].size
    rows = np.concatenate([np.kron(np.eye(level.size), np.ones(leaves // level.size)) for level in levels])
    return np.linalg.lstsq(rows, np.concatenate(levels), rcond=None)[0]


@pytest.mark.parametrize(("branching", "levels"), [*SHAPES, (4, 3), (5, 2)])
def test_consistency_is_least_squares(branching, levels):
    generator = np.random.default_rng(branching * 10 + levels)
    noisy = tuple(generator.normal(10, 5, branching**level) for level in range(1, levels + 1))
    made = consistent_weights(noisy)
    assert np.allclose(made[-1], least_squares(noisy, branching), atol=1e-9)
    for above, below in pairwise(made):
        assert np.allclose(above, below.reshape(-1, branching).sum(axis=1), atol=1e-9)


def test_consistency_lowers_the_error(repeatable):
    options = {"branching": 4, "levels": 3, "relation": "add_remove", "sigma": 5}
    errors = []
    for consistent in (False, True):
        tree = QuantileTree(**options, consistent=consistent).release(np.zeros((400, 64), int))
        errors.append(np.mean([np.square(tree.rank(y)).mean() for y in range(1, 64)]))
    assert errors[1] < 0.8 * errors[0]


def true_leaves(weights, p):
    """Return the leaves with at most a share p of the weight below and at most 1 - p beyond."""
    total, below = int(weights.sum()), np.concatenate([[0], np.cumsum(weights)])
    return [i for i in range(weights.size) if below[i] <= Fraction(p) * total <= below[i + 1]]


@pytest.mark.parametrize("options", [{"epsilon": 1}, {"rho": 0.1}])
@pytest.mark.parametrize("p", [0, 0.1, 0.5, 0.95, 1])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_hold_the_true_quantile(options, p, level, repeatable):
    """Misses among 2000 trees are no more than the stated share allows, for every true leaf by itself."""
    tree, many = QuantileTree(branching=4, levels=3, relation="add_remove", **options), 2000
    generator = np.random.default_rng(5)
    for weights in (generator.integers(0, 9, 64), np.bincount([20], [300], 64).astype(int), np.zeros(64, int)):
        low, high = tree.release(np.tile(weights, (many, 1))).interval(p, level)
        for leaf in true_leaves(weights, p):
            misses = int(((leaf < low) | (leaf + 1 > high)).sum())
            assert stats.binom.sf(misses - 1, many, 1 - level) > ALARM


def test_intervals_are_not_the_whole_grid(repeatable):
    tree = QuantileTree(branching=16, levels=2, relation="add_remove", epsilon=1)
    low, high = tree.release(np.full(256, 100)).interval(0.5, 0.95)
    assert high - low < 16


def test_too_small_a_bound_would_be_caught(repeatable):
    """The coverage test has power: with a quarter of the noise assumed, intervals miss too often."""
    tree, many = QuantileTree(branching=4, levels=3, relation="add_remove", epsilon=1), 2000
    weights = np.full(64, 40)
    drawn = tree.release(np.tile(weights, (many, 1)))
    wrong = NoisyTree(nodes=drawn.nodes, law=drawn.law, size=drawn.size / 4)
    low, high = wrong.interval(0.5, 0.9)
    misses = max(int(((leaf < low) | (leaf + 1 > high)).sum()) for leaf in true_leaves(weights, 0.5))
    assert stats.binom.sf(misses - 1, many, 0.1) < ALARM
