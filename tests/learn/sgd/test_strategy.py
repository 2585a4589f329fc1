import math

import numpy as np
import pytest
import torch

from discreet.errors import InvalidParameter
from discreet.learn.sgd.strategy import coefficients, error_growth, stream_for


def matrix(strategy, steps, bands):
    law = coefficients(strategy, steps, bands)
    return np.array([[law[i - j] if i >= j else 0.0 for j in range(steps)] for i in range(steps)])


def test_the_square_root_is_one():
    root = matrix("square_root", 30, 16)
    np.testing.assert_allclose(root @ root, np.tril(np.ones((30, 30))))


def test_other_strategies_have_no_coefficients():
    with pytest.raises(InvalidParameter):
        coefficients("tree", 3, 2)


@pytest.mark.parametrize("strategy", ["banded", "square_root"])
def test_streams_release_rows_of_the_matrix_and_invert_it(strategy):
    steps = 12
    torch.manual_seed(0)
    sums, noise = torch.randn(steps, 5, dtype=torch.float64), torch.randn(steps, 5, dtype=torch.float64)
    stream, released, found = stream_for(strategy, steps, 4, 3), [], []
    for t in range(steps):

        def noisy(row, t=t):
            released.append(row)
            return row + noise[t]

        found.append(stream.release(sums[t], noisy))
    c = torch.from_numpy(matrix(strategy, steps, 3))
    torch.testing.assert_close(torch.stack(released), c @ sums)
    torch.testing.assert_close(torch.stack(found), sums + torch.linalg.solve(c, noise))
    kept = 2 if strategy == "banded" else steps - 1
    assert len(stream.sums) == kept


@pytest.mark.parametrize("per_pass", [1, 5, 8])
def test_trees_release_every_complete_node_once(per_pass):
    torch.manual_seed(0)
    sums = torch.randn(2 * per_pass, 3, dtype=torch.float64)
    stream, nodes = stream_for("tree", 2 * per_pass, per_pass, 1), []

    def noisy(row):
        nodes.append(row)
        return row + 1000.0 * len(nodes)

    for row in sums:
        stream.release(row, noisy)
    assert len(nodes) == 2 * per_pass
    expected = [
        sums[start + t - (t & -t) : start + t].sum(0) for start in (0, per_pass) for t in range(1, per_pass + 1)
    ]
    torch.testing.assert_close(torch.stack(nodes), torch.stack(expected))


def test_a_record_is_in_no_more_nodes_than_are_charged():
    for per_pass in range(1, 40):
        most = max(sum(t - (t & -t) < s <= t for t in range(1, per_pass + 1)) for s in range(1, per_pass + 1))
        assert most <= per_pass.bit_length()


def test_trees_give_prefix_sums():
    sums = torch.arange(1.0, 9.0, dtype=torch.float64)[:, None]
    stream = stream_for("tree", 8, 8, 1)
    found = torch.stack([stream.release(row, lambda values: values) for row in sums])
    torch.testing.assert_close(found, sums)


@pytest.mark.parametrize("strategy", ["independent", "tree", "banded", "square_root"])
def test_error_growth_is_that_of_noise(strategy):
    steps, bands = 32, 4
    if strategy == "independent":
        rows, size = np.tril(np.ones((steps, steps))), 1.0
    elif strategy == "tree":
        rows = np.array([[1.0] * bin(t).count("1") + [0.0] * (6 - bin(t).count("1")) for t in range(1, steps + 1)])
        size = math.sqrt(steps.bit_length())
    else:
        c = matrix(strategy, steps, bands)
        rows, size = np.tril(np.ones((steps, steps))) @ np.linalg.inv(c), np.linalg.norm(c, axis=0).max()
    expected = math.sqrt((rows**2).sum() / steps) * size
    assert math.isclose(error_growth(strategy, steps, bands), expected, rel_tol=1e-9)
