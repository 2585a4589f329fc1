import itertools

import numpy as np
import pytest

from discreet.sensitivity.graphs.cuts import heaviest, widest

BOUND = 5.0


def over_all_cuts(weights, levels):
    """Return the largest w_(k+1) and the largest w_(k+2) - w_1, trying every cut."""
    n = len(weights)
    heavy, wide = np.zeros(levels), np.zeros(levels)
    for side in itertools.product((False, True), repeat=n - 1):
        if any(side):
            inside = np.array([False, *side])
            across = np.sort(weights[inside][:, ~inside].ravel())
            across = np.append(np.minimum(across[np.isfinite(across)], BOUND), [BOUND] * (levels + 1))
            heavy = np.maximum(heavy, across[:levels])
            wide = np.maximum(wide, across[1 : levels + 1] - across[0])
    return heavy, wide


def random_weights(count):
    generator = np.random.default_rng(2007)
    for trial in range(count):
        n = int(generator.integers(2, 8))
        weights = [
            generator.integers(0, 6, (n, n)).astype(float),
            generator.random((n, n)) * 8,
            generator.exponential(1, (n, n)).round(2),
            BOUND * (generator.random((n, n)) < 0.5) + generator.random((n, n)),
            np.where(generator.random((n, n)) < 0.4, np.inf, generator.random((n, n))),
        ][trial % 5]
        weights = np.minimum(np.triu(weights, 1), BOUND * np.isfinite(weights))
        weights[generator.random((n, n)) < (trial % 5 == 4) * 0.3] = np.inf
        weights[np.tril_indices(n)] = np.inf
        yield np.minimum(weights, weights.T)


def extended(found, levels):
    return np.append(found, [found[-1]] * levels)[:levels]


def test_they_are_those_of_all_cuts():
    for weights in random_weights(250):
        levels = 2 * len(weights)
        heavy, wide = over_all_cuts(weights, levels)
        found = heaviest(weights, BOUND)
        assert found[-1] == BOUND
        assert np.array_equal(extended(found, levels), heavy)
        assert np.array_equal(extended(widest(weights, BOUND, found), levels), np.maximum(heavy, wide))


@pytest.mark.parametrize("most", [1, 2])
def test_the_first_two_alone_are_the_same(most):
    for weights in random_weights(150):
        assert heaviest(weights, BOUND, most).tolist() == heaviest(weights, BOUND)[:most].tolist()
