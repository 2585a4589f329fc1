"""Water filling against the best of all sets of positive entries."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency import project_total

NUMBERS = st.floats(-50, 50, allow_nan=False).map(lambda x: round(x, 3))


def best(values, total, weights):
    """Return the closest vector by trying every set of entries that stay above zero."""
    winner, least = None, np.inf
    for size in range(1, len(values) + 1):
        for chosen in map(list, itertools.combinations(range(len(values)), size)):
            x = np.zeros(len(values))
            level = (values[chosen].sum() - total) / (1 / weights[chosen]).sum()
            x[chosen] = values[chosen] - level / weights[chosen]
            distance = (weights * (x - values) ** 2).sum()
            if x.min() >= -1e-9 and distance < least:
                winner, least = x, distance
    return winner


@given(
    st.lists(NUMBERS, min_size=1, max_size=6),
    st.floats(0, 60).map(lambda x: round(x, 3)),
    st.lists(st.floats(0.1, 10), min_size=6, max_size=6),
)
def test_equals_the_best_of_all_supports(values, total, weights):
    v, w = np.array(values), np.array(weights[: len(values)])
    for kept in (np.ones_like(v), w):
        x = project_total(v, total, weights=kept)
        assert x.min() >= 0
        assert x.sum() == pytest.approx(total, abs=1e-9)
        assert x == pytest.approx(best(v, total, kept), abs=1e-7)


def test_lines_of_an_array_are_projected_each_alone():
    random = np.random.default_rng(3)
    values, totals = random.normal(size=(4, 5, 6)), random.uniform(0, 9, (4, 6))
    together = project_total(values, totals, axis=1)
    for i, j in itertools.product(range(4), range(6)):
        assert together[i, :, j] == pytest.approx(project_total(values[i, :, j], totals[i, j]), abs=1e-12)


def test_impossible_entries_stay_empty():
    x = project_total([3.0, -np.inf, 1.0, -np.inf], 10)
    assert x.tolist() == [6, 0, 4, 0]
    assert project_total([-np.inf, -np.inf], 0).tolist() == [0, 0]
    assert project_total([5.0, -3.0], 0).tolist() == [0, 0]


def test_large_lines_are_fast_and_exact():
    random = np.random.default_rng(4)
    values = random.normal(0, 100, 200_000)
    x = project_total(values, 1e6)
    assert x.sum() == pytest.approx(1e6, rel=1e-12)
    level = (values - x)[x > 0]
    assert level == pytest.approx(level[0], abs=1e-7)
    assert np.all(values[x == 0] <= level[0] + 1e-7)


@pytest.mark.parametrize(
    ("values", "total", "weights"),
    [
        ([1.0], -1, None),
        ([1.0], np.nan, None),
        ([np.nan], 1, None),
        ([np.inf], 1, None),
        ([1.0], 1, [0]),
        ([-np.inf], 1, None),
    ],
)
def test_what_has_no_answer_is_refused(values, total, weights):
    with pytest.raises(InvalidParameter):
        project_total(values, total, weights=weights)
