import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch, UnboundedSensitivity, mechanisms
from discreet.mechanisms.smooth_interval import SmoothInterval
from discreet.mechanisms.smooth_quantile import SmoothQuantile
from discreet.sensitivity.smooth import ROUNDING
from discreet.testing import check_mechanism

EMPTY = np.array([], dtype=np.int64)


def median(**settings):
    return SmoothQuantile(**{"bounds": (0, 10), "epsilon": 1, "relation": "add_remove", **settings})


@pytest.mark.parametrize(
    "mechanism",
    [
        median(),
        median(relation="replace_one", unit=3, probability=0.3, beta=0.1),
        median(bounds=(-3, -3)),
        median(delta=0.001),
    ],
)
def test_keeps_the_contract(mechanism, monkeypatch):
    monkeypatch.setattr(mechanisms, "SmoothQuantile", SmoothQuantile, raising=False)
    low, high = mechanism.bounds
    done = check_mechanism(mechanism, outputs=range(low, high + 1))
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)


def test_intervals_keep_the_contract(monkeypatch):
    for kind in (SmoothQuantile, SmoothInterval):
        monkeypatch.setattr(mechanisms, kind.__name__, kind, raising=False)
    mechanism = SmoothInterval(quantile=median(), epsilon=0.5, level=0.9)
    done = check_mechanism(mechanism, neighbours=median().worst_case())
    assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(done.passed)


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
    told = SmoothInterval(quantile=mechanism, epsilon=1)
    for _ in range(5):
        assert bounds[0] <= mechanism.release(cells, weights) <= bounds[1]
        low, value, high = told.release((cells, weights))
        assert bounds[0] <= low <= value <= high <= bounds[1]
    assert bounds[0] <= mechanism.release((cells, weights)) <= bounds[1]


@pytest.mark.parametrize(
    ("cells", "weights"),
    [([1], []), ([1.5], [1]), (np.array([0.5]), np.array([1])), ("ab", [1, 2]), (5, 6), ([True], [1])],
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
        SmoothQuantile(epsilon=1, relation="add_remove")
    for wrong in (
        {"bounds": (2, 1)},
        {"bounds": (0.5, 3)},
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"probability": 1.1},
        {"unit": 0},
        {"delta": 1},
        {"beta": 1},
        {"beta": 0},
    ):
        with pytest.raises(InvalidParameter):
            median(**wrong)
    with pytest.raises(RelationMismatch):
        median(relation="swap")
    for wrong in ({"epsilon": 0}, {"level": 1.5}):
        with pytest.raises(InvalidParameter):
            SmoothInterval(**{"quantile": median(), "epsilon": 1, **wrong})


def test_ties_are_released_as_they_are():
    """Where hundreds of units would have to change before anything moves, the noise is less than half a cell."""
    found = median(bounds=(0, 10**9)).releases([([7, 10**9], [600, 200]), ([3], [1000]), ([], [])])
    assert found.dtype == np.int64
    assert found[:2].tolist() == [7, 3]


def test_probabilities_beyond_exact_floats_are_those_of_what_is_released():
    """Cells are counted from the lower bound in float64, so an odd cell far from it is never released."""
    top = 2**54 + 7
    mechanism = median(bounds=(0, top), epsilon=20)
    near = ([2**54 + 1], [1000])
    assert mechanism.log_probability(near, 2**54 + 1) == mechanism.log_probability(near, 2**54 + 2) == -math.inf
    law = {y: math.exp(mechanism.log_probability(near, y)) for y in (2**54 - 2, 2**54, 2**54 + 4, top)}
    assert math.isclose(sum(law.values()), 1)
    assert math.isclose(law[2**54], 1)
    assert {mechanism.release(*near) for _ in range(20)} == {2**54}
    far = median(bounds=(0, 2**62))
    found = [far.release([0, 2**62], [50, 50]) for _ in range(50)]
    assert all(far.log_probability(([0, 2**62], [50, 50]), y) > -math.inf for y in found)


def test_noise_too_large_to_be_drawn_is_refused_before_there_are_data():
    """A beta that leaves next to nothing of epsilon needs noise beyond all floats."""
    just_below = 1 - Fraction(ROUNDING)
    with pytest.raises(InvalidParameter, match="larger epsilon"):
        median(bounds=(0, 2**60), beta=just_below - Fraction(1, 2**960))
    mechanism = median(bounds=(0, 2**60), beta=just_below - Fraction(1, 2**900))
    told = SmoothInterval(quantile=mechanism, epsilon=1, level=1 - 2.0**-50)
    for histogram in (([], []), ([5], [10**6]), ([0, 2**60], [5, 5])):
        low, value, high = told.release(histogram)
        assert 0 <= low <= value <= high <= 2**60


def test_noise_too_small_to_be_drawn_is_raised():
    mechanism = median(bounds=(0, 2**60), epsilon=2600, beta=2600 / 3.001)
    for histogram in (([5], [10**6]), ([5, 9], [3, 10**6]), ([], [])):
        assert 0 <= mechanism.release(histogram) <= 2**60
    assert mechanism.release([5], [10**6]) == 5
    assert abs(mechanism.log_probability(([5], [10**6]), 5)) < 1e-30


def test_a_finer_grid_costs_nothing():
    """Unlike a choice among cells, noise does not know how many of them there are."""
    spread = np.arange(2000)
    off = []
    for fineness in (1, 2**30):
        mechanism = median(bounds=(0, 2000 * fineness), epsilon=1)
        seen = mechanism.function.at((spread * fineness, np.ones(2000, dtype=np.int64)))
        off.append(seen.smooth(mechanism.beta) / fineness)
    assert math.isclose(*off)


def test_delta_buys_smaller_noise():
    """At epsilon 1, where data lie evenly."""
    seen = median(bounds=(0, 2000)).function.at((np.arange(2000), np.ones(2000, dtype=np.int64)))
    pure, approximate = (m.noise.reach(0.05) * seen.smooth(m.beta) for m in (median(), median(delta=0.01)))
    assert approximate < pure


def test_no_loop_follows_the_cells(instructions):
    generator = np.random.default_rng(0)
    cells = np.sort(generator.choice(2**40, 65_536, replace=False))
    weights = generator.integers(0, 5000, cells.size)
    mechanism = median(bounds=(0, 2**40), unit=1000)
    assert instructions(lambda: mechanism.release(cells, weights)) < 100_000
    assert instructions(lambda: mechanism.release(EMPTY, EMPTY)) < 40_000
