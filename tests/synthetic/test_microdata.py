"""Records of a model: how close their counts are to it, that chance is fair, and models with nothing to give."""

import itertools
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.errors import NotPrivateWarning
from discreet.synthetic.coded import tallied
from discreet.synthetic.graphical import GraphicalModel, junction_tree
from discreet.synthetic.microdata import clique_steps, records_of
from discreet.synthetic.network import Conditional, Network
from discreet.synthetic.spanning_tree import SpanningTree
from discreet.testing import seeded
from discreet.testing.seeded import SeededSource

SHAPES = {
    "chain": ((4, 3, 5, 2), [(0, 1), (1, 2), (2, 3)]),
    "star": ((4, 3, 5, 2), [(0, 1), (1, 2), (1, 3)]),
    "triples": ((3, 4, 2, 5), [(0, 1, 2), (1, 2, 3)]),
    "one": ((3, 2, 4), [(0, 1, 2)]),
    "apart": ((3, 2, 4), []),
    "cycle": ((3, 2, 4, 3), [(0, 1), (1, 2), (2, 3), (0, 3)]),
}


def model_of(name, seed, spread=1.5, total=100.0):
    sizes, sets = SHAPES[name]
    rng, tree = np.random.default_rng(seed), junction_tree(sizes, sets)
    return GraphicalModel(tree, [rng.normal(0, spread, [sizes[i] for i in c]) for c in tree.cliques], total)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("rows", [1, 7, 250, 10_000])
def test_counts_of_groups_are_floors_or_ceilings(name, rows):
    """Replayed step by step: what each group of records got, beside what the model expects of that many."""
    model = model_of(name, rows)
    tally = tallied(records_of(model, rows), model.sizes)
    assert tally.counts.sum() == rows
    for step in clique_steps(model):
        order = (*step.given, step.attribute)
        counts = tally.table(order, model.sizes).reshape(-1, model.sizes[step.attribute])
        table = step.table.reshape(counts.shape)
        expected = table / table.sum(axis=1, keepdims=True) * counts.sum(axis=1, keepdims=True)
        assert np.abs(counts - expected).max() < 1 + 1e-6


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("rows", [40, 1001])
def test_single_attributes_are_within_one(name, rows):
    for seed in range(5):
        model = model_of(name, seed)
        tally = tallied(records_of(model, rows), model.sizes)
        for i in model.tree.cliques[0]:
            away = tally.table((i,), model.sizes) - model.marginal((i,)) * (rows / model.total)
            assert np.abs(away).max() < 1 + 1e-6


def test_tables_of_cliques_are_far_closer_than_drawn_ones():
    """Drawing n records leaves a cell of share p off by sqrt(n p (1 - p)); here it is off by 1 for each level."""
    model, rows = model_of("chain", 3, spread=0.7), 20_000
    tally = tallied(records_of(model, rows), model.sizes)
    for clique in model.tree.cliques:
        shares = model.marginal(clique) / model.total
        away = np.abs(tally.table(clique, model.sizes) - shares * rows)
        drawn = np.sqrt(rows * shares * (1 - shares) * 2 / np.pi)
        assert away.max() < 2
        assert away.sum() < drawn.sum() / 15


def test_tables_across_cliques_are_no_worse_than_drawn_ones():
    model, rows = model_of("chain", 4, spread=0.7), 20_000
    shares = model.marginal((0, 2)) / model.total
    away = [
        np.abs(tallied(records_of(model, rows), model.sizes).table((0, 2), model.sizes) - shares * rows).sum()
        for _ in range(8)
    ]
    assert np.mean(away) < np.sqrt(rows * shares * (1 - shares) * 2 / np.pi).sum()


def test_no_impossible_row_is_ever_made():
    rng = np.random.default_rng(2)
    for seed in range(30):
        sizes, sets = SHAPES["triples"]
        tree = junction_tree(sizes, sets)
        potentials = [rng.normal(0, 3, [sizes[i] for i in c]) for c in tree.cliques]
        for table in potentials:
            table[rng.random(table.shape) < 0.4] = -np.inf
            table.flat[0] = 0.0
        try:
            model = GraphicalModel(tree, potentials, 100.0)
        except InvalidParameter:  # nothing is possible at all
            continue
        made = records_of(model, 50 + seed)
        joint = model.marginal((0, 1, 2, 3))
        assert (joint[tuple(made.T)] > 0).all()


def test_the_first_attribute_is_fair_and_others_nearly():
    """Over many runs the mean count is what the model says: exactly, then up to a part of a record."""
    model, runs, rows = model_of("chain", 11), 1000, 10
    first = next(iter(clique_steps(model))).attribute
    made = [tallied(records_of(model, rows), model.sizes) for _ in range(runs)]
    counts = sum(one.table((first,), model.sizes) for one in made) / runs
    assert np.abs(counts - model.marginal((first,)) * rows / model.total).max() < 5 * np.sqrt(0.25 / runs)
    for clique in model.tree.cliques:
        counts = sum(one.table(clique, model.sizes) for one in made) / runs
        assert np.abs(counts - model.marginal(clique) * rows / model.total).max() < 0.4


def test_who_gets_which_value_is_left_to_chance():
    """Attributes of a product of two even coins are independent in the records, not sorted alike."""
    model = GraphicalModel(junction_tree((2, 2), []), [np.zeros(2), np.zeros(2)], 400.0)
    table = tallied(records_of(model), (2, 2)).table((0, 1), (2, 2))
    assert table.sum(axis=0).tolist() == table.sum(axis=1).tolist() == [200, 200]
    assert 50 < table[0, 0] < 150


def test_rows_come_in_no_order():
    made = records_of(GraphicalModel(junction_tree((2,), []), [np.zeros(2)], 1000.0))[:, 0]
    assert 400 < (np.diff(made) != 0).sum() < 600


def test_the_same_source_makes_the_same_records():
    model = model_of("star", 1)
    one, two = (records_of(model, 500, source=SeededSource(8)) for _ in range(2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, records_of(model, 500, source=SeededSource(9)))
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(8):
        assert np.array_equal(one, records_of(model, 500))


@pytest.mark.parametrize("rows", [-1, 2.5, True, "7", 1 << 40])
def test_odd_numbers_of_rows_are_refused(rows):
    with pytest.raises(InvalidParameter, match="rows"):
        records_of(model_of("one", 1), rows)


def test_as_many_rows_as_the_model_stands_for():
    assert records_of(model_of("one", 1, total=12.6)).shape == (13, 3)
    assert records_of(model_of("one", 1), 0).shape == (0, 3)


def test_extreme_chances():
    tree = junction_tree((3, 2), [(0, 1)])
    model = GraphicalModel(tree, [np.array([[0.0, -800.0], [-900.0, -700.0], [-np.inf, -1.0]])], 10.0)
    made = records_of(model, 100_000)
    assert {tuple(row) for row in made.tolist()} <= {(0, 0), (2, 1)}


def test_a_network_is_drawn_in_its_order():
    rng = np.random.default_rng(3)
    first = Conditional(2, (), np.array([0.2, 0.3, 0.5]))
    second = Conditional(0, (2,), rng.dirichlet(np.ones(4), 3))
    third = Conditional(1, (0, 2), rng.dirichlet(np.ones(2), (4, 3)))
    network = Network((4, 2, 3), (first, second, third), 500.0)
    tally = tallied(records_of(network, 5000), network.sizes)
    for some in itertools.chain(((i,) for i in range(3)), ((0, 2), (0, 1, 2))):
        assert np.abs(tally.table(some, network.sizes) - network.marginal(some) * 10).max() < 4


@pytest.mark.slow
def test_adult_keeps_its_tables():
    """The real census extract: all single attributes within 1, all measured pairs ten times closer than drawn ones."""
    folder = Path(os.environ.get("DISCREET_DATA", "missing"), "adult")
    if not folder.exists():
        pytest.skip("needs the census extract in $DISCREET_DATA/adult")
    domain = json.loads((folder / "adult-domain.json").read_text())
    lines = (folder / "adult-discrete.csv").read_text().splitlines()
    names = lines[0].split(",")
    data = np.array([[int(float(code)) for code in line.split(",")] for line in lines[1:]])
    sizes = tuple(domain[name] for name in names)
    model = SpanningTree(sizes=sizes, rho=0.1, relation="add_remove").release(data)
    tally, rows = tallied(records_of(model, len(data)), sizes), len(data)
    for i in range(len(sizes)):
        assert np.abs(tally.table((i,), sizes) - model.marginal((i,)) * rows / model.total).max() < 3
    away = drawn = 0.0
    for clique in model.tree.cliques:
        shares = model.marginal(clique) / model.total
        away += float(np.abs(tally.table(clique, sizes) - shares * rows).sum())
        drawn += float(np.sqrt(rows * shares * (1 - shares) * 2 / np.pi).sum())
    assert away < drawn / 10
