import numpy as np
import pytest

from discreet.synthetic.operators import AllRanges, Identity, Prefix
from discreet.synthetic.strategies import Hierarchical, best_hierarchy, total_variance


def test_a_root_and_two_children_are_made_consistent():
    tree = Hierarchical(size=2)
    found = tree.solve([10, 4, 4])
    assert found == pytest.approx([14 / 3, 14 / 3], abs=1e-12)
    assert tree.matvec(found)[0] == pytest.approx(28 / 3, abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 100, 257])
@pytest.mark.parametrize("branching", [2, 3, 10])
@pytest.mark.parametrize("root", [True, False])
def test_two_passes_are_least_squares(size, branching, root):
    tree = Hierarchical(size=size, branching=branching, root=root)
    y = np.random.default_rng(0).normal(size=tree.shape[0])
    found = tree.solve(y)
    rest = tree.matvec(found) - y
    assert tree.rmatvec(rest) == pytest.approx(np.zeros(size), abs=1e-9)
    assert tree.covariance() @ tree.rmatvec(y) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("workload", [Prefix(size=60), AllRanges(size=60), Identity(size=60)])
@pytest.mark.parametrize("p", [1, 2])
def test_the_best_tree_is_best_among_all(workload, p):
    def error(tree):
        return float(tree.change(p, relation="add_remove").power) ** (2 / p) * total_variance(workload, tree)

    best = error(best_hierarchy(workload, p=p))
    all_trees = [Hierarchical(size=60, branching=b, root=r) for b in range(2, 61) for r in (True, False)]
    assert best <= 1.02 * min(map(error, all_trees))
    assert best < error(Hierarchical(size=60)) or best == pytest.approx(error(Hierarchical(size=60)))


def test_wide_trees_are_better_than_binary_ones_for_ranges():
    work = AllRanges(size=256)
    best = best_hierarchy(work)
    assert 8 <= best.branching <= 20
    levels = {tree: float(tree.sensitivity(1, relation="add_remove")) for tree in (best, Hierarchical(size=256))}
    errors = [level**2 * total_variance(work, tree) for tree, level in levels.items()]
    assert errors[0] < errors[1] / 2
