import math

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, UnboundedSensitivity, mechanisms
from discreet.mechanisms.tested_quantile import TestedQuantile
from discreet.testing import check_mechanism


def median(**settings):
    return TestedQuantile(**{"bounds": (0, 40), "epsilon": 2, "delta": 0.01, "relation": "add_remove", **settings})


@pytest.mark.parametrize(
    "mechanism",
    [median(), median(relation="replace_one", unit=3, probability=0.3, bound=4), median(bounds=(-3, -3))],
)
def test_keeps_the_contract(mechanism, monkeypatch):
    monkeypatch.setattr(mechanisms, "TestedQuantile", TestedQuantile, raising=False)
    low, high = mechanism.bounds
    done = check_mechanism(mechanism, outputs=[None, *range(low, high + 1)])
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim"} <= set(done.passed)


def test_the_threshold_is_the_least_that_keeps_delta():
    """``P[Z > T] = a^(T + 1) / (1 + a)`` for noise of ratio a."""
    for epsilon, delta in ((2, 0.01), (1, 1e-6), (0.3, 1e-9), (8, 0.2)):
        mechanism, a = median(epsilon=epsilon, delta=delta), math.exp(-epsilon / 2)
        t = mechanism.threshold
        assert a ** (t + 1) / (1 + a) <= delta < a**t / (1 + a) or t == 0


def test_steady_data_are_released_and_others_refused():
    steady, unsteady = ([7, 8, 40], [300, 300, 100]), ([0, 40], [50, 50])
    released = [median(bound=1).release(*steady) for _ in range(50)]
    refused = [median(bound=1).release(*unsteady) for _ in range(50)]
    assert all(y is not None and abs(y - 8) <= 40 for y in released)
    assert np.median(released) in (7, 8, 9)
    assert refused.count(None) >= 45
    assert median(bound=1).releases([steady])[0] is not None


def test_a_bound_as_wide_as_the_range_is_always_borne():
    assert all(median(bound=40).release([0, 40], [1, 1]) is not None for _ in range(100))


def test_the_default_bound_is_a_part_of_the_range():
    assert (median().bound, median(bounds=(0, 2560)).bound, median(bounds=(0, 2561)).bound) == (1, 10, 11)


def test_any_histogram_gives_an_answer():
    for histogram in (([], []), ([5], [-7]), ([10**30], [10**30]), ([-(2**63), 2**63 - 1], [1, 1])):
        found = median().release(*histogram)
        assert found is None or 0 <= found <= 40
    with pytest.raises(InvalidInput):
        median().release([1.5], [1])


def test_the_error_holds():
    """200 of 2000 failures where 100 are allowed come about with probability below 1e-19."""
    mechanism = median(bound=2, bounds=(0, 10**6))
    found = [mechanism.release([500], [900]) for _ in range(2000)]
    assert None not in found
    assert sum(abs(y - 500) > mechanism.error(0.05) for y in found) < 200


def test_parameters_are_checked():
    with pytest.raises(UnboundedSensitivity, match="bounds"):
        TestedQuantile(epsilon=1, delta=0.1, relation="add_remove")
    for wrong in ({"delta": 0}, {"delta": 0.5}, {"epsilon": 0}, {"bound": 0}, {"bound": 1.5}, {"unit": 0}):
        with pytest.raises(InvalidParameter):
            median(**wrong)
