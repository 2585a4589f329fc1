"""Graphical models against brute force: every marginal of small models, and fits of exact tables."""

import itertools
import math

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.graphical import GraphicalModel, junction_tree
from discreet.synthetic.graphical.estimation import Measured, fit, total_of
from discreet.synthetic.graphical.factor import broadcast, contracted, log_sum, summed
from discreet.synthetic.graphical.junction_tree import Growth, model_cells
from discreet.synthetic.graphical.ladder import Ladder
from discreet.synthetic.graphical.propagation import Propagation


def drawn(seed):
    """A random model, some of its entries impossible, and its whole table."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    sizes = tuple(int(size) for size in rng.integers(1, 4, count))
    sets = [
        tuple(sorted(rng.choice(count, size=rng.integers(1, min(count, 3) + 1), replace=False).tolist()))
        for _ in range(rng.integers(1, 6))
    ]
    tree = junction_tree(sizes, sets)
    tables = []
    for clique in tree.cliques:
        shape = tuple(sizes[i] for i in clique)
        tables.append(np.where(rng.random(shape) < 0.1, -np.inf, rng.normal(size=shape)))
    whole = np.zeros(sizes)
    for clique, table in zip(tree.cliques, tables, strict=True):
        whole = whole + broadcast(table, clique, tuple(range(count)))
    return sizes, sets, tree, tables, np.exp(whole)


@pytest.mark.parametrize("seed", range(60))
def test_every_marginal_is_that_of_the_whole_table(seed):
    sizes, _, tree, tables, whole = drawn(seed)
    if not whole.sum():
        with pytest.raises(InvalidParameter, match="nothing possible"):
            GraphicalModel(tree, tables, 7.0)
        return
    model = GraphicalModel(tree, tables, 7.0)
    for count in range(len(sizes) + 1):
        for kept in itertools.combinations(range(len(sizes)), count):
            gone = tuple(i for i in range(len(sizes)) if i not in kept)
            assert np.allclose(model.marginal(kept), 7 * whole.sum(axis=gone) / whole.sum(), atol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_trees_hold_every_set_and_their_attributes_hang_together(seed):
    sizes, sets, tree, _, _ = drawn(seed)
    assert all(tree.home(one) is not None for one in sets)
    assert set().union(*tree.cliques) == set(range(len(sizes)))
    for i in range(len(sizes)):
        holding = [place for place, clique in enumerate(tree.cliques) if i in clique]
        assert sum(tree.parents[place] not in holding for place in holding) == 1
    assert tree.cells == sum(math.prod(sizes[i] for i in clique) for clique in tree.cliques)


def test_cycles_are_filled_up():
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    tree = junction_tree((2,) * 5, ring)
    assert len(tree.cliques) == 3
    assert all(len(clique) == 3 for clique in tree.cliques)


def test_exact_tables_of_a_model_are_fitted():
    rng = np.random.default_rng(3)
    sizes = (3, 4, 2, 3)
    tree = junction_tree(sizes, [(0, 1), (1, 2), (2, 3)])
    model = GraphicalModel(tree, [rng.normal(size=tuple(sizes[i] for i in c)) for c in tree.cliques], 1000.0)
    told = [Measured(c, model.marginal(c), 1.0) for c in tree.cliques]
    found = fit(sizes, told, steps=5000, shrinkage=0.001)
    assert found.objective < 1
    for pair in itertools.combinations(range(4), 2):
        assert np.allclose(found.model.marginal(pair), model.marginal(pair), atol=2)


def test_a_warm_start_begins_where_the_last_fit_ended():
    rng = np.random.default_rng(4)
    told = [Measured((0, 1), rng.uniform(5, 50, (4, 5)), 2.0), Measured((1, 2), rng.uniform(5, 50, (5, 3)), 2.0)]
    first = fit((4, 5, 3), told, steps=300)
    again = fit((4, 5, 3), told, steps=1, start=first.potentials)
    cold = fit((4, 5, 3), told, steps=1)
    assert again.objective <= first.objective * (1 + 1e-9) < cold.objective


def test_impossible_entries_stay_zero():
    mask = np.zeros((3, 3), dtype=bool)
    mask[0, 1:] = True
    told = [Measured((0, 1), np.full((3, 3), 10.0), 1.0), Measured((1, 2), np.full((3, 2), 15.0), 1.0)]
    model = fit((3, 3, 2), told, zeros={(0, 1): mask}).model
    assert (model.marginal((0, 1))[mask] == 0).all()
    assert (model.marginal((0, 1, 2))[mask] == 0).all()
    assert model.marginal(()) == pytest.approx(model.total)


def test_a_deadline_returns_what_there_is():
    told = [Measured((0, 1), np.full((3, 3), 10.0), 1.0)]
    assert fit((3, 3), told, deadline=0.0).steps <= 1


def test_negative_noise_leaves_a_total_of_one_at_least():
    assert total_of([Measured((0,), np.array([-50.0, -3.0]), 1.0)]) == 1.0
    fitted = fit((2,), [Measured((0,), np.array([-50.0, -3.0]), 1.0)])
    assert fitted.model.marginal((0,)).sum() == pytest.approx(1.0)


def test_odd_measurements_are_refused():
    for wrong in (
        lambda: Measured((0,), np.zeros((2, 2)), 1.0),
        lambda: Measured((0,), np.zeros(2), 0.0),
        lambda: fit((2,), []),
        lambda: junction_tree((2,), [(1,)]),
    ):
        with pytest.raises(InvalidParameter):
            wrong()


def test_sums_of_logs_neither_overflow_nor_lose_zeros():
    assert log_sum(np.array([1000.0, 1000.0]), (0,)) == pytest.approx(1000 + math.log(2))
    assert log_sum(np.full(3, -np.inf), (0,)) == -np.inf


@pytest.mark.parametrize("seed", range(20))
def test_passes_in_logs_and_in_plain_numbers_agree(seed):
    _, _, tree, tables, whole = drawn(seed)
    if not whole.sum():
        return
    both = Propagation(tree)
    plain, total = both.tables(tables)
    logs, same = both._in_logs(tables)
    assert total == pytest.approx(same)
    assert all(np.allclose(one, other) for one, other in zip(plain, logs, strict=True))


def test_potentials_that_contradict_each_other_are_passed_in_logs():
    tree = junction_tree((2, 2, 2), [(0, 1), (1, 2)])
    far = np.array([[0.0, -2000.0], [-1.0, -2000.0]])
    against = np.array([[-2000.0, -2001.0], [0.0, 0.0]])
    model = GraphicalModel(tree, [far, against], 1.0)
    whole = far[:, :, None] + against[None]
    exact = np.exp(whole - whole.max())
    assert np.allclose(model.marginal((0, 2)), exact.sum(axis=1) / exact.sum())


def test_a_domain_too_wide_for_plain_numbers():
    sizes = (40,) * 120
    pairs = [(i, i + 1) for i in range(119)]
    tree = junction_tree(sizes, pairs)
    model = GraphicalModel(tree, [np.zeros((40, 40)) for _ in tree.cliques], 1600.0)
    assert np.allclose(model.marginal((0, 119)), 1.0)


@pytest.mark.parametrize("seed", range(30))
def test_growth_asks_for_the_tree_that_would_be_made(seed):
    sizes, sets, *_ = drawn(seed)
    finer = tuple(2 * size for size in sizes)
    growth = Growth(sizes, finer)
    added = []
    for one in sets:
        tree = junction_tree(sizes, [*added, one])
        assert growth.cells_with(one) == (tree.cells, tree.cells_by(finer))
        assert tree.cells == model_cells(sizes, [*added, one])
        assert growth.holds(one) == (junction_tree(sizes, added).home(one) is not None)
        growth.add(one)
        added.append(one)


@pytest.mark.parametrize("seed", range(20))
def test_ladders_give_all_margins_and_add_all_potentials_up(seed):
    rng = np.random.default_rng(seed)
    sizes = (2, 3, 4, 2, 3)
    clique = (0, 1, 2, 4)
    shape = tuple(sizes[i] for i in clique)
    every = [one for size in range(5) for one in itertools.combinations(clique, size)]
    wanted = [every[place] for place in rng.choice(len(every), size=rng.integers(1, 8), replace=False)]
    steps = Ladder(clique, sizes, wanted)
    table = rng.random(shape)
    for one, margin in steps.margins(table).items():
        assert np.allclose(margin, table.sum(axis=tuple(a for a, i in enumerate(clique) if i not in one)))
    parts = {one: rng.normal(size=tuple(sizes[i] for i in one)) for one in wanted}
    fixed = rng.normal(size=shape)
    added = fixed + sum(broadcast(part, one, clique) for one, part in parts.items())
    assert np.allclose(steps.potential(parts, fixed), added)


@pytest.mark.parametrize("seed", range(20))
def test_sums_and_products_of_tables_are_those_of_einsum(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 6)
    first, second = (tuple(sorted(rng.choice(6, size=rng.integers(1, 5), replace=False).tolist())) for _ in "ab")
    left, right = rng.random(sizes[list(first)]), rng.random(sizes[list(second)])
    kept = {i for i in {*first, *second} if rng.random() < 0.5}
    made, names = contracted(left, first, right, second, kept)
    assert names == tuple(sorted(kept))
    assert np.allclose(made, np.einsum(left, list(first), right, list(second), sorted(kept)))
    axes = tuple(axis for axis, i in enumerate(first) if i not in kept)
    assert np.allclose(summed(left, axes), left.sum(axis=axes))


def test_overlapping_answers_agree():
    rng = np.random.default_rng(8)
    sizes = (3, 4, 2, 5, 3, 2)
    tree = junction_tree(sizes, [(0, 1), (1, 2), (1, 3), (3, 4), (4, 5)])
    tables = [rng.normal(size=tuple(sizes[i] for i in clique)) for clique in tree.cliques]
    model = GraphicalModel(tree, tables, 100.0)
    for triple in itertools.combinations(range(6), 3):
        for axis, i in enumerate(triple):
            pair = tuple(j for j in triple if j != i)
            assert np.allclose(model.marginal(triple).sum(axis=axis), model.marginal(pair))


def test_more_shrinkage_gives_more_even_tables():
    told = [Measured((0, 1), np.array([[90.0, 3.0], [2.0, 5.0]]), 10.0)]
    entropies = []
    for shrinkage in (0.001, 0.1, 10.0):
        table = fit((2, 2), told, shrinkage=shrinkage).model.marginal((0, 1)) / 100
        entropies.append(-(table * np.log(table)).sum())
    assert entropies == sorted(entropies)
    assert entropies[0] < entropies[-1]


def test_the_fit_is_where_its_gradient_vanishes():
    """At the optimum a table's potential is (measured - fitted) / (shrinkage / smallest sigma * sigma^2)."""
    rng = np.random.default_rng(2)
    told = [Measured((0, 1), rng.uniform(5, 50, (3, 4)), 2.0), Measured((1, 2), rng.uniform(5, 50, (4, 2)), 3.0)]
    found = fit((3, 4, 2), told, steps=5000, close=1e-9, shrinkage=0.05)
    for one in told:
        pull = (one.counts - found.model.marginal(one.attributes)) / (0.05 / 2.0 * one.sigma**2)
        assert np.allclose(found.potentials[one.attributes], pull, atol=1e-4)
