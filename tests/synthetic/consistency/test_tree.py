"""Two passes against the normal equations of the whole tree, written down densely."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency import tree_least_squares
from discreet.synthetic.consistency.tree import add_up


def membership(parents, leaves):
    """Return for each level the matrix that sums leaves to nodes."""
    sums = [np.eye(leaves)]
    for parent in reversed(parents):
        up = np.zeros((int(parent.max()) + 1, len(parent)))
        up[parent, np.arange(len(parent))] = 1
        sums.insert(0, up @ sums[0])
    return sums


def dense(values, parents, variances):
    """Return the estimates and variances of all nodes by the normal equations, for one tree."""
    sums = membership(parents, len(values[-1]))
    rows, precision = np.vstack(sums), np.concatenate([1 / v for v in variances])
    told = np.where(precision > 0, np.concatenate(values), 0)
    normal = rows.T @ (precision[:, None] * rows)
    cover = np.linalg.inv(normal)
    leaves = cover @ (rows.T @ (precision * told))
    return [s @ leaves for s in sums], [np.diag(s @ cover @ s.T) for s in sums]


def random_tree(random, levels):
    parents, count = [], int(random.integers(1, 3))
    for _ in range(levels - 1):
        children = random.integers(1, 5, count)
        parent = np.repeat(np.arange(count), children)
        parents.append(random.permutation(parent))
        count = len(parent)
    sizes = [int(p.max()) + 1 for p in parents] + [count]
    return parents, sizes


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_equals_the_normal_equations(seed, levels):
    random = np.random.default_rng(seed)
    parents, sizes = random_tree(random, levels)
    values = [random.normal(0, 10, size) for size in sizes]
    variances = [random.uniform(0.1, 9, size) for size in sizes]
    for level in range(levels - 1):  # leaves are measured, so everything is told; above, some are not
        variances[level][random.random(sizes[level]) < 0.3] = np.inf
    estimate = tree_least_squares(values, parents, variances)
    expected, spread = dense(values, parents, variances)
    for level in range(levels):
        assert estimate.values[level] == pytest.approx(expected[level], abs=1e-9)
        assert estimate.variances[level] == pytest.approx(spread[level], rel=1e-9)


def test_many_trees_at_once_are_as_each_alone():
    random = np.random.default_rng(5)
    parents, sizes = random_tree(random, 3)
    values = [random.normal(size=(size, 7)) for size in sizes]
    variances = [random.uniform(0.5, 2, (size, 7)) for size in sizes]
    together = tree_least_squares(values, parents, variances)
    for column in range(7):
        alone = tree_least_squares([v[:, column] for v in values], parents, [v[:, column] for v in variances])
        for a, b in zip(together.values, alone.values, strict=True):
            assert a[:, column] == pytest.approx(b, abs=1e-12)


def test_what_nothing_tells_is_shared_evenly():
    estimate = tree_least_squares([[9], [5, 7, 7]], [[0, 0, 0]], [2, [1, np.inf, np.inf]])
    assert estimate.values[1].tolist() == [5, 2, 2]
    assert estimate.values[0].tolist() == [9]
    assert estimate.variances[0].tolist() == [2]
    assert np.isinf(estimate.variances[1]).tolist() == [False, True, True]
    one = tree_least_squares([[9], [5, 7]], [[0, 0]], [2, [1, np.inf]])
    assert one.values[1].tolist() == [5, 4]
    assert one.variances[1].tolist() == [1, 3]


def test_worked_value():
    estimate = tree_least_squares([[10], [4, 4]], [[0, 0]], [1, 1])
    assert estimate.values[0] == pytest.approx([28 / 3], abs=1e-12)
    assert estimate.values[1] == pytest.approx([14 / 3, 14 / 3], abs=1e-12)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 2**32))
def test_children_sum_to_their_parent(children, seed):
    random = np.random.default_rng(seed)
    parent = np.repeat(np.arange(len(children)), children)
    values = [random.normal(0, 1e6, len(children)), random.normal(0, 1e6, len(parent))]
    estimate = tree_least_squares(values, [parent], [random.uniform(1e-3, 1e3, len(v)) for v in values])
    assert add_up(estimate.values[1], parent, len(children)) == pytest.approx(estimate.values[0], abs=1e-6)


def test_no_variance_is_made_up_and_none_is_ignored():
    """Halving a variance moves the answer toward that measurement: a pass that forgot variances would not see it."""
    far = tree_least_squares([[10], [4, 4]], [[0, 0]], [1, 1]).values[0]
    near = tree_least_squares([[10], [4, 4]], [[0, 0]], [0.5, 1]).values[0]
    assert far[0] < near[0] < 10


@pytest.mark.parametrize(
    ("values", "parents", "variances"),
    [
        ([], [], []),
        ([[1], [1, 2]], [], [1, 1]),
        ([[1], [1, 2]], [[0]], [1, 1]),
        ([[1], [1, 2]], [[0, 1]], [1, 1]),
        ([[1, 2], [1, 2]], [[0, 0]], [1, 1]),
        ([[1], [1, 2]], [[0, 0]], [1, 0]),
        ([[1], [1, 2]], [[0, 0]], [1, float("nan")]),
        ([[1], [1, 2]], [[0, 0]], [1]),
    ],
)
def test_what_is_no_tree_is_refused(values, parents, variances):
    with pytest.raises(InvalidParameter):
        tree_least_squares(values, parents, variances)
