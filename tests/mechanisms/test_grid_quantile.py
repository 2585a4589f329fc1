import math

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch, UnboundedSensitivity
from discreet.mechanisms import GridQuantile
from discreet.testing import check_mechanism

EMPTY = np.array([], dtype=np.int64)


def median(**settings):
    return GridQuantile(**{"bounds": (0, 10), "epsilon": 1, "relation": "add_remove", **settings})


@pytest.mark.parametrize(
    "mechanism", [median(), median(relation="replace_one", unit=3, shift=-1, probability=0.3), median(bounds=(-3, -3))]
)
def test_keeps_the_contract(mechanism):
    low, high = mechanism.bounds
    done = check_mechanism(mechanism, outputs=range(low, high + 1))
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)


@pytest.mark.parametrize(
    ("cells", "weights"),
    [
        (EMPTY, EMPTY),
        ([], []),
        ([5], [0]),
        ([5], [-7]),
        ([0, 10], [2**62, 2**62]),
        (np.arange(11), np.full(11, 2**63 - 1)),
        ([-(2**63), 2**63 - 1], [1, 1]),
        ([10**30], [10**30]),
        ([7, 3, 3, 9], [1, 2, 3, 4]),
        (np.arange(11, dtype=np.uint8), np.full(11, 2**64 - 1, dtype=np.uint64)),
    ],
)
@pytest.mark.parametrize("bounds", [(0, 10), (-(2**61), 2**61 - 1), (3, 3)])
def test_any_histogram_gives_an_answer_within_the_bounds(cells, weights, bounds):
    mechanism = median(bounds=bounds)
    for _ in range(10):
        assert bounds[0] <= mechanism.release(cells, weights) <= bounds[1]
    assert bounds[0] <= mechanism.release((cells, weights)) <= bounds[1]


def test_cells_outside_and_out_of_order_are_ordinary_cells():
    for y in range(11):
        found = median().log_probability(([99, -5, 4, 4], [1, 2, 3, 4]), y)
        assert found == median().log_probability(([0, 4, 10], [2, 7, 1]), y)


def test_huge_weights_are_exact():
    """Nothing overflows: a weight of 2^62 in each of a thousand cells puts the median in the middle."""
    weights = np.full(1001, 2**62)
    for unit, reach in ((2**62, 120), (1, 1)):
        mechanism = median(bounds=(0, 1000), epsilon=1, unit=unit)
        assert abs(mechanism.release(np.arange(1001), weights) - 500) <= reach


@pytest.mark.parametrize(
    ("cells", "weights"),
    [
        ([1], []),
        ([1.5], [1]),
        (np.array([0.5]), np.array([1])),
        ("ab", [1, 2]),
        (5, 6),
        (np.ones((2, 2), int),) * 2,
        ([True], [1]),
    ],
)
def test_what_is_no_histogram_is_refused_without_showing_it(cells, weights):
    with pytest.raises(InvalidInput) as refusal:
        median().release(cells, weights)
    assert "1.5" not in str(refusal.value)


def test_one_argument_is_a_pair():
    with pytest.raises(InvalidInput, match="pair"):
        median().release([1, 2, 3])


def test_parameters_are_checked():
    with pytest.raises(UnboundedSensitivity, match="bounds"):
        GridQuantile(epsilon=1, relation="add_remove")
    for wrong in (
        {"bounds": (2, 1)},
        {"bounds": (0, 2**62)},
        {"bounds": (0.5, 3)},
        {"bounds": (2**63, 2**63 + 1)},
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"probability": -0.1},
        {"probability": 1.1},
        {"unit": 0},
        {"unit": 1.5},
        {"shift": 0.5},
    ):
        with pytest.raises(InvalidParameter):
            median(**wrong)
    with pytest.raises(RelationMismatch):
        median(relation="swap")


def test_several_groups_at_once():
    histograms = [([2, 3], [1000, 1000]), ([], []), ([7, 8], [1000, 1000])]
    found = median().releases(histograms)
    assert found.dtype == np.int64
    assert found.shape == (3,)
    assert found[0] in (2, 3)  # both are medians
    assert found[2] in (7, 8)


def test_shift_aims_above_and_below():
    cells, weights = np.arange(1000), np.full(1000, 10)
    found = [median(bounds=(0, 999), epsilon=1, shift=shift).release(cells, weights) for shift in (-2000, 0, 2000)]
    assert found == pytest.approx([300, 500, 700], abs=10)


def test_the_ends_of_the_range_are_quantiles_too():
    cells, weights = np.arange(100, 200), np.full(100, 50)
    ends = [median(bounds=(0, 1000), epsilon=2, probability=p).release(cells, weights) for p in (0, 1)]
    assert ends[0] <= 105
    assert ends[1] >= 195


def test_no_loop_follows_the_cells(instructions):
    generator = np.random.default_rng(0)
    cells = np.sort(generator.choice(2**40, 65_536, replace=False))
    weights = generator.integers(0, 5000, cells.size)
    mechanism = median(bounds=(0, 2**40), unit=1000)
    assert instructions(lambda: mechanism.release(cells, weights)) < 40_000
    assert instructions(lambda: mechanism.release(EMPTY, EMPTY)) < 20_000
