import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.sensitivity import Histogram, brute_force

RELATIONS = ["add_remove", "replace_one"]
COLOURS = ("black", "blond", "brown", "red")


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
@pytest.mark.parametrize("bins", [1, 2, 4])
def test_one_record_lies_in_one_bin(relation, p, bins):
    hair = Histogram(bins=COLOURS[:bins])
    claimed = hair.sensitivity(p, relation=relation)
    assert claimed == brute_force(hair, (*COLOURS[:bins], "green"), 3, relation, p)
    moves = relation == "replace_one" and bins > 1
    assert claimed == pytest.approx(2 ** (1 / p) if moves else 1)


def test_a_total_histogram_attains_it_too():
    hair = Histogram(bins=COLOURS)
    assert brute_force(hair, COLOURS, 3, "replace_one") == 2
    assert brute_force(hair, COLOURS, 3, "add_remove") == 1


def test_other_records_are_counted_nowhere():
    hair = Histogram(bins=COLOURS, by=lambda row: row.get("hair"))
    rows = [
        {"hair": "red"},
        {"hair": "green"},
        {},
        {"hair": ["red"]},
        {"hair": (["red"],)},
        {"hair": math.nan},
    ]
    assert hair(rows).tolist() == [0, 0, 0, 1]


def test_an_error_in_the_key_function_tells_nothing_about_a_record():
    hair = Histogram(bins=COLOURS, by=lambda row: row["hair"])
    assert hair([{}, {"hair": COLOURS[0]}]).tolist() == hair([{"hair": COLOURS[0]}]).tolist()


@given(st.lists(st.integers(0, 5)), st.randoms())
def test_neither_order_nor_container_matters(values, random):
    histogram = Histogram(bins=(0, 1, 2, 3))
    shuffled = random.sample(values, len(values))
    answers = [histogram(values), histogram(shuffled), histogram(np.array(values, dtype=np.uint8))]
    assert all(answer.dtype == np.int64 for answer in answers)
    assert all(answer.tolist() == [values.count(label) for label in range(4)] for answer in answers)


@pytest.mark.parametrize("bins", [(), None, ["a"], "ab", ([],)])
def test_bins_must_be_labels(bins):
    with pytest.raises(InvalidParameter, match="tuple of one or more labels"):
        Histogram(bins=bins)


def test_bins_must_be_disjoint():
    with pytest.raises(InvalidParameter, match="twice"):
        Histogram(bins=("a", "b", "a"))
    with pytest.raises(InvalidParameter, match="twice"):
        Histogram(bins=(1, 1.0))


def test_by_must_be_a_function():
    with pytest.raises(InvalidParameter, match="function of one record"):
        Histogram(bins=COLOURS, by="hair")
