import math

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch
from discreet.mechanisms import QuantileTree
from discreet.testing import check_mechanism


def tree(**settings):
    given = {"branching": 4, "levels": 2, "relation": "add_remove", **settings}
    return QuantileTree(**given) if {"epsilon", "rho", "sigma"} & set(given) else QuantileTree(**given, epsilon=1)


@pytest.mark.parametrize(
    "mechanism",
    [tree(), tree(rho=0.5, relation="replace_one"), tree(sigma=3, unit=7, consistent=False), tree(epsilon=0.1)],
)
def test_keeps_the_contract(mechanism):
    done = check_mechanism(mechanism)
    assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(done.passed)


def test_ways_to_give_the_same_weights():
    sharp = tree(epsilon=10**6)
    dense = np.zeros(16, dtype=np.int64)
    dense[[3, 9]] = 5, 8
    for given in ((dense,), ([3, 9], [5, 8]), (([9, 3], [8, 5]),), (np.array([3, 3, 9]), np.array([2, 3, 8]))):
        released = sharp.release(*given)
        assert released.nodes[-1].tolist() == dense.tolist()
        assert released.nodes[0].tolist() == [5, 0, 8, 0]


def test_ranks_and_quantiles_without_noise():
    sharp = tree(epsilon=10**6).release([2, 3, 10], [1, 1, 2])
    assert [round(sharp.rank(y)) for y in (0, 2, 3, 4, 10, 11, 16)] == [0, 0, 1, 2, 2, 4, 4]
    assert sharp.total() == pytest.approx(4)
    assert [sharp.quantile(p) for p in (0.25, 0.5, 0.75)] == pytest.approx([3, 4, 10.5])
    assert sharp.interval(0.75) == (10, 11)
    assert sharp.interval(0.5)[0] <= 4 <= sharp.interval(0.5)[1]


@pytest.mark.parametrize("options", [{"epsilon": 1}, {"sigma": 4}])
def test_many_groups_in_one_call(options):
    weights = np.zeros((5, 16), dtype=np.int64)
    weights[np.arange(5), 3 * np.arange(5)] = 10_000
    released = tree(**options).release(weights)
    assert released.quantile(0.5) == pytest.approx(3 * np.arange(5) + 0.5, abs=0.1)
    low, high = released.interval(0.5)
    assert (low <= 3 * np.arange(5)).all()
    assert (high >= 3 * np.arange(5) + 1).all()
    assert released.rank(0).shape == released.total().shape == (5,)
    assert released.nodes[0].shape == (5, 4)


@pytest.mark.parametrize(
    "given",
    [
        ([], []),
        (np.array([], dtype=np.int64), np.array([], dtype=np.int64)),
        ([5], [0]),
        ([5], [-9]),
        ([-7, 99], [1, 1]),
        ([3] * 50, [2**62] * 50),
        ([10**30], [10**30]),
        (np.full(16, 2**63 - 1),),
        (np.full((2, 16), -(2**63)),),
        (np.zeros((0, 16), dtype=np.int64),),
        (np.full(16, 2**64 - 1, dtype=np.uint64),),
    ],
)
@pytest.mark.parametrize("options", [{"epsilon": 1}, {"rho": 0.5}])
def test_any_weights_are_answered(given, options):
    released = tree(**options).release(*given)
    for p in (0, 0.3, 1):
        found, (low, high) = released.quantile(p), released.interval(p)
        assert np.all((np.asarray(found) >= 0) & (np.asarray(found) <= 16))
        assert np.all(np.asarray(low) < np.asarray(high))
    assert np.isfinite(released.rank(7)).all()


def test_leaves_beyond_the_grid_count_at_its_ends():
    assert tree(epsilon=10**6).release([-5, 16, 10**9], [1, 2, 4]).nodes[-1].tolist() == [1, *[0] * 14, 6]


@pytest.mark.parametrize(
    "given",
    [
        ([1], []),
        ([1.5], [1]),
        (np.zeros(15, dtype=np.int64),),
        (np.zeros((2, 2, 16), dtype=np.int64),),
        ([1, 2, 3],),
        (np.full(16, 0.5),),
        ("ab", "cd"),
    ],
)
def test_what_is_no_histogram_is_refused(given):
    with pytest.raises(InvalidInput) as refusal:
        tree().release(*given)
    assert "1.5" not in str(refusal.value)


def test_parameters_are_checked():
    for wrong in (
        {"branching": 1},
        {"branching": 2.5},
        {"levels": 0},
        {"levels": 40},
        {"branching": 2**40},
        {"unit": 0},
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"rho": -1},
        {"sigma": 0},
        {"epsilon": 1, "rho": 1},
        {"consistent": 1},
    ):
        with pytest.raises(InvalidParameter):
            tree(**wrong)
    with pytest.raises(InvalidParameter, match="one of"):
        QuantileTree(branching=2, levels=2, relation="add_remove")
    with pytest.raises(RelationMismatch):
        tree(relation="swap")
    released = tree().release([], [])
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidParameter):
            released.quantile(p)
    with pytest.raises(InvalidParameter):
        released.interval(0.5, 1)


def test_much_data_gives_good_answers():
    generator = np.random.default_rng(1)
    values = np.clip(generator.normal(2000, 300, 50_000), 0, 4095).astype(np.int64)
    released = QuantileTree(branching=16, levels=3, relation="replace_one", epsilon=1).release(
        np.bincount(values, minlength=4096)
    )
    for p in (0.1, 0.5, 0.9):
        assert released.quantile(p) == pytest.approx(np.quantile(values, p), abs=15)
        low, high = released.interval(p, 0.999)
        assert low <= np.quantile(values, p, method="inverted_cdf") <= high
