import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, Quantile, RelationMismatch, UnboundedSensitivity
from discreet.testing import check_mechanism


def median(**settings):
    return Quantile(**{"bounds": (0, 10), "epsilon": 1, "relation": "replace_one", **settings})


@pytest.mark.parametrize(
    "records", [[], [5], [5] * 1000, [0, 10], np.arange(11), [math.inf, -math.inf, math.nan], [1e308]]
)
def test_any_data_gives_an_answer_within_the_bounds(records):
    assert all(0 <= median().release(records) <= 10 for _ in range(20))


def test_nan_counts_as_the_lower_bound():
    mechanism = median()
    for y in (0.0, 5.0, 10.0):
        assert mechanism.log_probability([math.nan, 3], y) == mechanism.log_probability([0, 3], y)


def test_masked_values_count_as_the_lower_bound_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert median().log_probability([np.ma.masked, 3], 5.0) == median().log_probability([0, 3], 5.0)


def test_much_data_gives_a_good_answer():
    ages = np.tile(np.arange(0, 10, 0.01), 20)
    found = [
        Quantile(bounds=(0, 10), epsilon=1, relation="add_remove", probability=p).release(ages) for p in (0.1, 0.5, 0.9)
    ]
    assert found == pytest.approx([1, 5, 9], abs=0.1)


def test_order_does_not_matter():
    data = [3, 1, 2, 2, 9]
    for y in (0.0, 2.0, 5.0):
        assert median().log_probability(data, y) == median().log_probability(sorted(data), y)


@pytest.mark.parametrize("records", ["abc", [[1, 2]], ["x"], {"a": 1}, 5, [None, "a"]])
def test_other_data_is_refused_without_showing_it(records):
    with pytest.raises(InvalidInput) as refusal:
        median().release(records)
    assert "abc" not in str(refusal.value)


def test_parameters_are_checked():
    with pytest.raises(UnboundedSensitivity, match="bounds"):
        Quantile(epsilon=1, relation="add_remove")
    for bounds in ((1, 1), (2, 1), (math.nan, 1), (0, math.inf), ("a", "b")):
        with pytest.raises(InvalidParameter):
            median(bounds=bounds)
    for probability in (0, 1, -0.5, math.nan):
        with pytest.raises(InvalidParameter):
            median(probability=probability)
    with pytest.raises(RelationMismatch):
        median(relation="swap")


def test_the_rank_error_holds_where_good_points_fill_the_stated_share():
    """Whole ages leave at least a year free around the median: a hundredth of 0..100."""
    mechanism = Quantile(bounds=(0, 100), epsilon=1, relation="replace_one", grid=0.25)
    ages = [20, 30, 40, 41, 42, 60, 70] * 9
    limit, beta = mechanism.error(0.05, share=Fraction(1, 100)), 0.05
    outputs = [k / 4 for k in range(401)]
    law = np.exp([mechanism.log_probability(ages, y) for y in outputs])
    ranks = np.array([abs(np.sum(np.array(ages) < y) - len(ages) / 2) for y in outputs])
    assert law[ranks > limit + 0.5].sum() <= beta


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_with_a_step_it_keeps_the_contract(relation):
    mechanism = Quantile(bounds=(0, 10), epsilon=1, relation=relation, step=2.5)
    done = check_mechanism(mechanism, outputs=[0.0, 2.5, 5.0, 7.5, 10.0])
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)


def test_with_a_step_the_value_that_many_share_is_the_median():
    """Beside it lie the ranks of fewer records: the weight below alone would choose any number up to the next."""
    hours = [15, 20, 25, *[45] * 400, *[50] * 370]
    with_step = Quantile(bounds=(0, 100), epsilon=5, relation="replace_one", step=5)
    assert {with_step.release(hours) for _ in range(40)} == {45.0}
    without = Quantile(bounds=(0, 100), epsilon=5, relation="replace_one")
    assert {45.0} != {without.release(hours) for _ in range(40)}


def test_with_a_step_the_error_in_ranks_holds_for_any_data():
    mechanism = Quantile(bounds=(0, 20), epsilon=1, relation="replace_one", step=1)
    for data in ([3] * 40, [0] * 20 + [20] * 20, [], list(range(21)) * 2):
        far = 0.0
        for y in range(21):
            below, upto = sum(x < y for x in data), sum(x <= y for x in data)
            if max(below - len(data) / 2, len(data) / 2 - upto) > mechanism.error(0.05):
                far += math.exp(mechanism.log_probability(data, y))
        assert far <= 0.05
    with pytest.raises(InvalidParameter, match="share"):
        Quantile(bounds=(0, 20), epsilon=1, relation="replace_one").error(0.05)


@pytest.mark.parametrize("step", [0, -1, 3, math.nan, 1e-12])
def test_a_step_divides_the_bounds(step):
    with pytest.raises(InvalidParameter):
        Quantile(bounds=(0, 10), epsilon=1, relation="replace_one", step=step)
