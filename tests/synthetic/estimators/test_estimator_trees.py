"""Trees of blocks: energies, shares, unbiased estimates and their variances."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import NotPrivateWarning
from discreet.synthetic import operators, strategies
from discreet.synthetic.estimators import DAWA, GreedyH, Hb, Identity, Privelet
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.buckets import bucket_shares
from discreet.synthetic.estimators.energies import MOST_UNITS, all_ranges, energies, fitted_workload, level_energies
from discreet.synthetic.estimators.hilbert import hilbert_order
from discreet.synthetic.estimators.levels import exact_shares
from discreet.synthetic.estimators.rows import largest_entry, rows_of, spread_rows
from discreet.synthetic.estimators.selector import expected_error
from discreet.synthetic.estimators.shares import error_of_shares, fitted_shares
from discreet.synthetic.matrix_mechanism import noise_variance
from discreet.synthetic.operators import AllRanges, Explicit, Kronecker, Marginals, Operator, Prefix, Total, Union
from discreet.testing import seeded

UNBIASED = [GreedyH, Hb, Identity, Privelet]
DRAWS = 400
DEVIATIONS = 7.0
"""A mean of independent draws is further off with probability below 1e-11."""

WORKLOADS = [
    (AllRanges(size=12), (12,)),
    (Prefix(size=16), (16,)),
    (Explicit(matrix=[[1, 0, -2, 1], [0, 3, 3, 0], [1, 1, 1, 1]]), (4,)),
    (all_ranges((4, 3)), (4, 3)),
    (Kronecker(of=(Prefix(size=4), operators.Identity(size=2))), (4, 2)),
    (Marginals.of_order((2, 3), 1), (2, 3)),
    (Union(of=(all_ranges((4, 3)), operators.Identity(size=12)), weights=(Fraction(1, 3), 2)), (4, 3)),
    (Union(of=(Union(of=(Prefix(size=3), Total(size=3)), weights=(5, 1)), Explicit(matrix=[[-9, 0.5, 0]]))), (3,)),
]


class Odd(Operator):
    """An operator of a kind of its own: the same row for every query."""

    def __init__(self, rows, cells):
        self.shape_ = rows, cells

    shape = property(lambda self: self.shape_)
    reach = property(lambda self: self.shape_[1])

    def whole_matvec(self, x):
        return np.repeat(x.sum(axis=0, keepdims=True), self.shape_[0], axis=0)

    def whole_rmatvec(self, y):
        return np.repeat(y.sum(axis=0, keepdims=True), self.shape_[1], axis=0)


def sizes_of(tree):
    return np.array([float(np.prod(side)) for side in tree.sides])


def dense_tree(tree, shares):
    """The matrix of all blocks, each divided by its noise."""
    cells = int(np.prod(tree.shape))
    levels = [np.stack(each) for each in zip(*[tree.sums(row) for row in np.eye(cells)], strict=True)]
    return np.concatenate([share * level.T for share, level in zip(shares, levels, strict=True)])


@pytest.mark.parametrize(("workload", "shape"), WORKLOADS)
@pytest.mark.parametrize("in_turn", [False, True])
def test_energies_are_those_of_the_matrix(workload, shape, in_turn):
    tree = Blocks(shape=shape, in_turn=in_turn)
    dense = np.asarray(workload.dense(), dtype=np.float64)
    for level, energy in enumerate(energies(workload, tree)):
        blocks = np.stack([tree.sums(row)[level] for row in np.eye(dense.shape[1])])
        assert energy == pytest.approx(np.sum((dense @ blocks) ** 2) / np.prod(tree.sides[level]), rel=1e-9)


def test_energies_of_a_sample_are_near_those_of_all():
    tree = Blocks(shape=(64, 64), in_turn=True)
    factors = (Prefix(size=64), operators.Identity(size=64))
    sample = energies(Kronecker(of=factors), tree)
    rows = np.asarray(Kronecker(of=factors).dense(), dtype=np.float64)
    exact = []
    for side in tree.sides:
        blocks = rows.reshape(len(rows), 64 // side[0], side[0], 64 // side[1], side[1]).sum(axis=(2, 4))
        exact.append(np.sum(blocks**2) / np.prod(side))
    assert np.allclose(sample, exact, rtol=0.05)


@pytest.mark.parametrize("shape", [(16,), (4, 4), (8, 2)])
def test_the_error_of_shares_is_that_of_least_squares(shape):
    tree, workload = Blocks(shape=shape, in_turn=True), all_ranges(shape)
    levels = level_energies(energies(workload, tree))
    for shares in (np.full(tree.levels, 0.2), np.linspace(0.1, 0.4, tree.levels), np.eye(tree.levels)[-1]):
        matrix = dense_tree(tree, shares)
        inverse = np.linalg.inv(matrix.T @ matrix)
        dense = np.asarray(workload.dense(), dtype=np.float64)
        expected = np.trace(dense @ inverse @ dense.T)
        assert error_of_shares(shares, levels, sizes_of(tree)) == pytest.approx(expected)


@pytest.mark.parametrize("workload", [AllRanges(size=256), Prefix(size=256), operators.Identity(size=256)])
@pytest.mark.parametrize("public", [False, True])
def test_fitted_shares_are_better_than_any_regular_ones(workload, public):
    tree = Blocks(shape=(256,))
    levels, sizes = level_energies(energies(workload, tree)), sizes_of(tree)
    fitted = fitted_shares(levels, sizes, public_top=public)
    assert fitted.sum() == pytest.approx(1)
    assert not public or fitted[0] == 0
    if public:
        levels[0] = 0.0
    best = error_of_shares(fitted, levels, sizes)
    for step, root in itertools.product(range(1, 9), (False, True)):
        kept = np.array([(8 - level) % step == 0 and (level > 0 or root) for level in range(9)], dtype=float)
        assert best <= 1.01 * error_of_shares(kept / kept.sum(), levels, sizes)


def test_nothing_but_the_total_needs_one_level():
    tree = Blocks(shape=(8,))
    levels = level_energies(energies(Total(size=8), tree))
    assert fitted_shares(levels, sizes_of(tree)).tolist() == [1, 0, 0, 0]
    assert fitted_shares(levels, sizes_of(tree), public_top=True).tolist() == [0, 1, 0, 0]


def test_shares_are_exact():
    assert sum(exact_shares([0.1, 0.2, 0.7])) == 1
    assert sum(exact_shares(np.full(7, 1 / 7))) == 1


@pytest.mark.parametrize("workload", [AllRanges(size=20), Prefix(size=20)])
def test_shares_of_buckets_are_the_same_by_rows_and_by_ramps(workload):
    ends = np.array([0, 1, 2, 6, 7, 15, 16, 20])
    by_rows = bucket_shares(np.asarray(workload.dense(), dtype=np.float64), ends, False)
    assert np.allclose(
        np.array(by_rows, dtype=float), np.array(bucket_shares(workload, ends, False), dtype=float), atol=1e-3
    )


def test_blocks_of_any_shape_add_up():
    random = np.random.default_rng(3)
    for shape, branching, in_turn in [((7,), 3, False), ((5, 9), 2, True), ((5, 9), 4, False), ((2, 3, 4), 2, True)]:
        tree, cells = Blocks(shape=shape, branching=branching, in_turn=in_turn), random.integers(0, 99, shape)
        levels = tree.sums(cells)
        assert levels[0].tolist() == [cells.sum()]
        assert (levels[-1] == cells.reshape(-1)).all()
        for above, below, parents in zip(levels, levels[1:], tree.parents, strict=False):
            assert (np.bincount(parents, weights=below) == above).all()
        if in_turn:
            assert max(np.bincount(parents).max() for parents in tree.parents) == 2


@pytest.mark.parametrize(("relation", "touched"), [("add_remove", 1), ("replace_one", 2)])
@pytest.mark.parametrize("shape", [(5,), (3, 2)])
def test_a_record_moves_each_level_by_what_is_charged(relation, touched, shape):
    tree = Blocks(shape=shape, in_turn=True)
    cells = int(np.prod(shape))
    moved = np.zeros(tree.levels, dtype=np.int64)
    for i in range(cells):
        for j in [None] if relation == "add_remove" else range(cells):
            change = np.zeros(cells, dtype=np.int64)
            change[i] -= 1
            if j is not None:
                change[j] += 1
            moved = np.maximum(moved, [np.abs(level).sum() for level in tree.sums(change)])
    assert moved[1:].max() == touched
    assert moved[0] == (1 if relation == "add_remove" else 0)  # the total, which is public
    for kind in (GreedyH, Hb):
        assert {noise.sensitivity for noise in kind(shape=shape, epsilon=1, relation=relation).parts} == {touched}


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("kind", UNBIASED)
@pytest.mark.parametrize("shape", [(13,), (4, 5)])
def test_estimates_are_unbiased(kind, relation, shape):
    exact = np.arange(np.prod(shape)).reshape(shape) * 3
    estimator = kind(shape=shape, epsilon=Fraction(1, 2), relation=relation)
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(f"{kind} {relation} {shape}"):
        errors = np.stack([estimator.release(exact) - exact for _ in range(DRAWS)])
    limits = DEVIATIONS * errors.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(errors.mean(axis=0)) < limits).all()


@pytest.mark.parametrize("kind", [GreedyH, Hb, Identity])
@pytest.mark.parametrize("shape", [(64,), (8, 8)])
def test_the_expected_error_is_seen(kind, shape):
    estimator, workload = kind(shape=shape, epsilon=Fraction(1, 20), relation="add_remove"), all_ranges(shape)
    exact = np.arange(64).reshape(shape)
    truth = workload.matvec(exact.reshape(-1))
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(f"{kind} {shape}"):
        draws = [estimator.release(exact).reshape(-1) for _ in range(DRAWS)]
    squares = np.array([np.sum((workload.matvec(draw) - truth) ** 2) for draw in draws])
    assert squares.mean() == pytest.approx(expected_error(estimator), abs=DEVIATIONS * squares.std() / np.sqrt(DRAWS))


def test_the_noise_of_cells_has_the_variance_of_its_law():
    estimator = Identity(shape=(20000,), epsilon=Fraction(1, 4), relation="replace_one")
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("cells"):
        released = estimator.release(np.zeros(20000, dtype=np.int64))
    expected = noise_variance(estimator.parts[0])
    assert np.mean(released**2) == pytest.approx(expected, abs=DEVIATIONS * np.std(released**2) / np.sqrt(20000))


def test_wavelets_have_the_sensitivity_of_the_paper():
    for sides in itertools.product((2, 8), repeat=2):
        expected = np.prod([1 + np.log2(side) for side in sides])
        assert Privelet(shape=sides, epsilon=1, relation="add_remove").parts[0].sensitivity == expected
    strategy = Privelet(shape=(4, 3), epsilon=1, relation="replace_one")
    columns = np.abs(np.asarray(strategy.strategy.dense()))
    signed = np.asarray(strategy.strategy.dense())
    apart = max(np.abs(signed[:, [i]] - signed).sum(axis=0).max() for i in range(12))
    assert strategy.parts[0].sensitivity >= max(apart, columns.sum(axis=0).max())


def test_the_best_branching_is_that_of_the_exact_error():
    assert Hb(shape=(64,), epsilon=1, relation="add_remove").tree.branching == 8
    for workload in (AllRanges(size=64), Prefix(size=64)):
        tree = Hb(shape=(64,), epsilon=1, relation="add_remove", workload=workload).tree
        found = strategies.Hierarchical(size=64, branching=tree.branching, root=False)
        error = len(found.heights) ** 2 * strategies.total_variance(workload, found)
        for branching in (2, 4, 8, 64):
            other = strategies.Hierarchical(size=64, branching=branching, root=False)
            assert error <= 1.001 * len(other.heights) ** 2 * strategies.total_variance(workload, other)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (8, 8), (3, 7), (16, 4)])
def test_the_curve_visits_every_cell_once(shape):
    order = hilbert_order(shape)
    assert sorted(order.tolist()) == list(range(shape[0] * shape[1]))
    if shape[0] == shape[1] and shape[0].bit_count() == 1:
        steps = np.abs(np.diff(np.array(np.unravel_index(order, shape)), axis=1)).sum(axis=0)
        assert (steps == 1).all()


@pytest.mark.parametrize(("workload", "shape"), WORKLOADS)
def test_rows_and_entries_are_those_of_the_matrix(workload, shape):
    dense = np.asarray(workload.dense(), dtype=np.float64)
    assert np.allclose(rows_of(workload, np.arange(len(dense))), dense)
    assert np.allclose(spread_rows(workload), dense)
    assert largest_entry(workload) == np.abs(dense).max() * workload.denominator


@pytest.mark.parametrize("kind", [DAWA, GreedyH, Hb])
def test_workloads_of_many_rows_are_fitted_by_their_parts(kind):
    """Three hundred million queries, none of which is written out."""
    boxes = all_ranges((192, 192))
    both = Union(of=(boxes, operators.Identity(size=192 * 192)))
    made = kind(shape=(192, 192), epsilon=1, relation="add_remove", workload=both)
    assert made.release(np.ones((192, 192), dtype=int)).shape == (192, 192)
    assert largest_entry(both) == 1
    if kind is Hb:
        assert made.tree == Hb(shape=(192, 192), epsilon=1, relation="add_remove").tree


def test_what_is_too_large_to_fit_to_counts_as_all_ranges():
    small, large = Odd(MOST_UNITS, 8), Odd(MOST_UNITS + 1, 8)
    assert fitted_workload(small, (8,)) is small
    assert fitted_workload(large, (8,)) == AllRanges(size=8)
    assert len(spread_rows(small)) < 100
    for kind in (GreedyH, Hb):
        made, default = (kind(shape=(8,), epsilon=1, relation="add_remove", workload=w) for w in (large, None))
        assert made.parts == default.parts


def test_shares_are_found_quietly_whatever_the_energies():
    """Steps that go far are taken back; none of them divides by nothing."""
    draws = np.random.default_rng(7)
    with warnings.catch_warnings(action="error"):
        for count in (2, 3, 5, 9, 14):
            for _ in range(12):
                levels = np.exp(draws.normal(scale=8, size=count))
                sizes = 2.0 ** np.arange(count)[::-1]
                shares = fitted_shares(levels, sizes)
                assert shares.sum() == pytest.approx(1)
                even = error_of_shares(np.full(count, 1 / count), levels, sizes)
                assert error_of_shares(shares, levels, sizes) <= even * 1.02
