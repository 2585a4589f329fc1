"""A value that falls into no bin must not be countable for nothing.

Cutting a column into bins turned NaN into a missing label, and the number of missing labels was then released as if
it were public: the same leak as a failed cast. Nor may anybody believe that all bins add up to the number of records.

Defence: what is in no bin is counted nowhere; the stated sensitivity covers records in bins, outside, and moving
between the two, under both relations.
Source: OpenDP issue 2939.
"""

import math
from bisect import bisect

import numpy as np
import pytest

from discreet.sensitivity import Histogram, brute_force

RELATIONS = ("add_remove", "replace_one")
VALUES = [0.5, 1.5, 2.5, math.nan, None, math.inf, "text", [1]]


def cut(value):
    """Return the label of a value by its place among public edges; NaN and text have none."""
    try:
        return bisect([1.0, 2.0], value) if value == value else None
    except TypeError:
        return math.nan


class Missing:
    """How many records lie in no bin, called public: what must not exist."""

    def __init__(self, histogram):
        self.histogram = histogram

    def __call__(self, rows):
        return len(rows) - int(self.histogram(rows).sum())

    def sensitivity(self, *, relation):
        return 0


QUERIES = [
    Histogram(bins=(0, 1), by=cut),
    Histogram(bins=(0, 1, 2), by=cut),
    Histogram(bins=(0,), by=cut),
    Histogram(bins=(0, 1, None), by=cut),
    Histogram(bins=(0.5, 1.5, "text")),
]


def keeps(query, relation):
    return brute_force(query, VALUES, 3, relation) <= query.sensitivity(relation=relation)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("relation", RELATIONS)
def test_records_in_no_bin_are_covered(query, relation):
    assert keeps(query, relation)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_check_catches_a_free_number_of_missing_labels(relation):
    assert not keeps(Missing(QUERIES[0]), relation)


def test_bins_need_not_add_up_to_the_number_of_records():
    assert QUERIES[0](VALUES).tolist() == [1, 1]
    assert QUERIES[0]([math.nan] * 5).tolist() == [0, 0]
    assert QUERIES[0](np.array([math.nan, 0.5])).tolist() == [1, 0]
