"""One record of another type must not change what all others mean.

Put one text into a column of numbers and a lenient engine compares all of them as texts: 60 sorts below 9, clamps stop
clamping, sums of numbers become sums of prefixes. One record thus moves an answer by the whole data set.

Defence: each value is read by itself; a column that holds anything but numbers and missing values is outside the
stated domain and is refused as a whole, with one text for all values of that type.
Source: Found while comparing libraries: an SQL engine with dynamic types under a privacy layer.
"""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.sensitivity import Histogram, Mean, Sum, Variance

ROWS = [5, 60, 700]
QUERIES = [Sum(bounds=(0, 9)), Sum(bounds=(0, 2**60)), Mean(bounds=(0, 9), size=4), Variance(bounds=(0, 9), size=4)]
POISON = ["x", "3", "", b"3", 3j, [3], {"a": 3}, object(), np.str_("3"), np.datetime64("2020-01-01")]
ODD_NUMBERS = [None, True, np.True_, Decimal("2.5"), Fraction(5, 2), np.float16(2.5), np.longdouble(2.5), 2**200]
CONTAINERS = [list, tuple, iter, lambda rows: np.array([*rows, None], dtype=object)[:-1]]


def poisoned(query, value):
    """Tell whether one more record moves the answer further than a record may; a refusal moves nothing."""
    try:
        return abs(query([*ROWS, value]) - query([*ROWS, 0])) > query.sensitivity(relation="replace_one")
    except InvalidInput:
        return False


class Lenient:
    """A sum that compares numbers as texts as soon as one of them is one: what must not exist."""

    def __call__(self, rows):
        column = np.asarray(rows)
        lower, upper = (0, 9) if column.dtype.kind in "if" else ("0", "9")
        clamped = [min(max(x, lower), upper) for x in column.tolist()]
        return sum(int(x) for x in clamped if str(x).isdigit())

    def sensitivity(self, *, relation):
        return 9


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@pytest.mark.parametrize("value", POISON, ids=lambda value: type(value).__name__)
def test_other_types_are_refused_wherever_they_stand(query, value):
    for place, container in product(range(4), CONTAINERS):
        with pytest.raises(InvalidInput, match=r"every value must be a number|every record must be one number"):
            query(container([*ROWS[:place], value, *ROWS[place:]]))
    assert not poisoned(query, value)


@pytest.mark.parametrize("query", QUERIES[:3], ids=lambda query: type(query).__name__)
@pytest.mark.parametrize("value", ODD_NUMBERS, ids=repr)
def test_odd_numbers_leave_the_others_as_they_are(query, value):
    """Sums are made of what each record is by itself, whatever types stand beside it."""
    alone, rest, both = query([value]), query(ROWS), query([*ROWS, value])
    assert both == alone + rest
    assert query([0.1, 0.2, value]) == query([0.1]) + query([0.2]) + alone


def test_labels_are_not_merged_across_types():
    assert Histogram(bins=(1, "1"))([1, "1", "1", b"1"]).tolist() == [1, 2]


def test_the_check_catches_a_lenient_engine():
    assert poisoned(Lenient(), "x")
    assert not any(poisoned(Lenient(), value) for value in (3, 2.5, 10))
