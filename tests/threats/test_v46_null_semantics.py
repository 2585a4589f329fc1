"""A missing value must mean one thing, said beforehand, and count as the record that it is.

In SQL a NULL is left out of an average, of ``COUNT(column)`` but not of ``COUNT(*)``, and of both sides of a
comparison. Each is a sum over fewer records than the sensitivity was computed for: if two of three values are missing,
the third one is the mean.

Defence: None and NaN count as the lower bound in sums, means, variances and quantiles; counts count records; nothing
divides by the number of values that happen to be there.
Source: The semantics of NULL in the SQL standard; OpenDP's documentation on imputation.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import Quantile
from discreet.sensitivity import Count, Counts, Histogram, Mean, Sum, Variance, brute_force

VALUES = [None, math.nan, 0, 4, 10]
QUERIES = {
    "sum": Sum(bounds=(0, 10)),
    "sum below 0": Sum(bounds=(-10, 10)),
    "mean": Mean(bounds=(0, 10), size=3),
    "variance": Variance(bounds=(0, 10), size=3),
    "count": Count(),
    "count of values": Count(where=lambda x: x is not None),
    "shares": Counts(wheres=(lambda x: x is None, lambda x: x == 10), size=3),
    "histogram": Histogram(bins=(None, 0, 10)),
}


def keeps(query, claimed):
    return brute_force(query, VALUES, 3, "replace_one") <= claimed


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_missing_value_counts_for_no_more_than_another(query):
    assert keeps(query, query.sensitivity(relation="replace_one"))


@pytest.mark.parametrize("missing", [None, math.nan, np.nan, np.float32("nan")], ids=repr)
def test_the_rule_is_the_lower_bound(missing):
    for name in ("sum", "sum below 0", "mean", "variance"):
        query = QUERIES[name]
        assert query([4, missing, 10]) == query([4, query.bounds[0], 10])
    median = Quantile(bounds=(0, 10), epsilon=1, relation="replace_one", grid=1)
    for y in range(11):
        assert median.log_probability([4, missing], y) == median.log_probability([4, 0], y)


def test_the_mean_divides_by_all_records():
    assert QUERIES["mean"]([None, None, 9]) == 3
    assert QUERIES["mean"]([None, None, None]) == 0


def test_counts_count_records():
    assert Count()([None, math.nan, 1]) == 3
    assert QUERIES["count of values"]([None, 1]) == 1


def sql_average(rows):
    there = [Fraction(x) for x in rows if x is not None and x == x]
    return sum(there, Fraction(0)) / len(there) if there else 0


def sql_variance(rows):
    there = [Fraction(x) for x in rows if x is not None and x == x]
    return sum((x - sql_average(there)) ** 2 for x in there) / len(there) if there else 0


def test_the_check_catches_averages_of_what_is_there():
    assert not keeps(sql_average, QUERIES["mean"].sensitivity(relation="replace_one"))
    assert not keeps(sql_variance, QUERIES["variance"].sensitivity(relation="replace_one"))
