"""Steps of multiplicative weights: worked values, and the divergence that each must take away."""

import math

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.synthetic.multiplicative.steps import most_updates, nudged, step_length, tilt
from discreet.synthetic.multiplicative.weights import Weights

QUERY = np.array([1.0, 1, 0, 0])


def divergence(p, w):
    """KL(p || w)."""
    kept = p > 0
    return float((p[kept] * np.log(p[kept] / w[kept])).sum())


def tilted(w, q, eta):
    moved = w * np.exp(eta * q)
    return moved / moved.sum()


def test_worked_update_of_mwem():
    expected = [0.26248959373947, 0.26248959373947, 0.23751040626053002, 0.23751040626053002]
    assert nudged(np.full(4, 0.25), QUERY, 70, 100) == pytest.approx(expected, abs=1e-14)


def test_worked_update_of_private_multiplicative_weights():
    expected = [0.24375130175789483, 0.24375130175789483, 0.25624869824210517, 0.25624869824210517]
    weights = Weights((4,), cells=4)
    weights.multiply((0,), -0.05 * QUERY)
    assert weights.table((0,)) == pytest.approx(expected, abs=1e-14)
    up = Weights((4,), cells=4)
    up.multiply((0,), 0.05 * QUERY)
    other = Weights((4,), cells=4)
    other.multiply((0,), -0.05 * (1 - QUERY))
    assert up.table((0,)) == pytest.approx(other.table((0,)), abs=1e-14)


def test_worked_numbers_of_updates():
    assert most_updates(1024, 0.1, "textbook") == math.ceil(2772.5887222397814)
    assert most_updates(1024, 0.1) == math.ceil(math.log(1024) / 0.02) == 347
    assert 8 * math.log(1024) / 0.02 == pytest.approx(2772.5887222397814)
    assert most_updates(1, 0.5) == 1
    with pytest.raises(InvalidParameter):
        most_updates(10, 0)


def test_worked_noise_and_accuracy_of_comparisons():
    three = SparseVector(threshold=0, epsilon=1, above=3, share=0.5, relation="replace_one", whole=True)
    assert [float(scale) for scale in three.scales] == [2, 12]
    once = SparseVector(threshold=0, epsilon=1, share=0.5, relation="replace_one", whole=True)
    assert once.error(0.05, queries=1000, bound="union") == pytest.approx(84.77307786476858)
    assert once.error(0.05, queries=1000) < 84.77


@pytest.mark.parametrize("step", ["fixed", "textbook"])
def test_a_step_takes_away_what_the_number_of_updates_counts_on(step):
    rng = np.random.default_rng(3)
    tightest = math.inf
    for _ in range(3000):
        size = int(rng.integers(2, 6))
        p, w, q = rng.dirichlet(np.full(size, 0.4)), rng.dirichlet(np.ones(size)), rng.random(size)
        q = np.round(q) if rng.random() < 0.5 else q
        gap = float(q @ (p - w))
        least = abs(gap) * float(rng.choice([1, 0.7, 0.3]))
        if least < 1e-3:
            continue
        moved = tilted(w, q, math.copysign(step_length(least, step), gap))
        fall = divergence(p, w) - divergence(p, moved)
        claimed = 2 * least**2 if step == "fixed" else least**2 / 4
        assert fall >= claimed - 1e-12
        tightest = min(tightest, fall / claimed)
    assert tightest < (1.05 if step == "fixed" else 2)


def test_a_projection_takes_away_the_divergence_of_its_target():
    rng = np.random.default_rng(4)
    for _ in range(1000):
        size = int(rng.integers(2, 6))
        p, w, q = rng.dirichlet(np.full(size, 0.4)), rng.dirichlet(np.ones(size)), rng.random(size)
        q = np.round(q) if rng.random() < 0.5 else q
        part = rng.random()
        target = float(q @ w + part * (q @ p - q @ w))
        eta = tilt(q, w, target)
        moved = tilted(w, q, eta)
        fall = divergence(p, w) - divergence(p, moved)
        assert fall >= divergence(moved, w) - 1e-9
        if abs(eta) < 60:
            assert float(q @ moved) == pytest.approx(target, abs=1e-9)
            assert divergence(moved, w) >= 2 * (target - q @ w) ** 2 - 1e-12


def test_a_target_out_of_reach_gives_the_longest_step():
    assert tilt(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 2.0) == 60
    assert tilt(np.array([0.0, 1.0]), np.array([0.5, 0.5]), -1.0) == -60
    assert tilt(np.array([0.5]), np.array([1.0]), 0.5) == 60
    assert tilt(np.zeros(0), np.zeros(0), 0.5) == 0
