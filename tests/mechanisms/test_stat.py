import math

import pytest

from discreet import STAT, InvalidInput, InvalidParameter, RandomRecord


def test_the_sample_size_rule_gives_the_tolerance():
    n = STAT.sample_size(tolerance=0.1, epsilon=0.5, beta=0.05)
    assert n == 877
    assert STAT(query=abs, size=n, epsilon=0.5).tolerance(0.05) <= 0.1
    assert STAT.sample_size(tolerance=0.1, epsilon=0.001, beta=0.05) == math.ceil(2 * math.log(40) / (0.001 * 0.1))


def test_a_careless_query_costs_accuracy_and_not_privacy():
    oracle = STAT(query=lambda x: x, size=1000, epsilon=100)
    assert oracle.release([1e9, math.nan, math.inf] + [0.0] * 997) == pytest.approx(0.002, abs=0.01)


def test_sizes_are_checked():
    for size in (0, -1, 2.5, True):
        with pytest.raises(InvalidParameter):
            STAT(query=abs, size=size, epsilon=1)
        with pytest.raises(InvalidParameter):
            RandomRecord(size=size)
    with pytest.raises(InvalidInput, match="public size"):
        RandomRecord(size=3).release(["Ada"])


def test_noise_that_hides_every_mean_is_refused_when_the_oracle_is_made():
    for size, epsilon in ((1, 1e-9), (1, 2.0**-22), (100, 1e-9)):
        with pytest.raises(InvalidParameter, match="size \\* epsilon"):
            STAT(query=float, size=size, epsilon=epsilon)
    assert math.isfinite(STAT(query=float, size=1, epsilon=2.0**-21).release([1.0]))
    assert math.isfinite(STAT(query=float, size=4, epsilon=2.0**-23).release([1.0] * 4))


def test_one_random_person_is_published_as_is():
    assert {RandomRecord(size=3).release(["Ada", "Ben", "Cem"]) for _ in range(100)} == {"Ada", "Ben", "Cem"}
