"""No record may make a query fail.

Overflow, division by zero, a bad cast or a date that does not exist abort the query of an engine, and a failure is an
answer without noise: an analyst asks for ``1 / (id - 4711)`` and learns who is there. Within the stated domain, which
is all numbers and missing values, whatever their size and type, every data set must be answered.

Defence: cleaning, clamping and adding are total, in exact arithmetic, with no float exception and no warning; where a
function that the analyst supplies fails, the record counts nowhere.
Source: Haeberlen, Pierce and Narayan, Differential Privacy Under Fire, USENIX Security 2011.
Open: a record of another type makes sums and quantiles fail.
"""

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import STAT, Geometric, Laplace, Quantile, parallel
from discreet.sensitivity import Count, Counts, Histogram, Mean, Sum, Variance

EXTREMES = [
    *(math.nan, math.inf, -math.inf, None, -0.0, 5e-324, 1e308, -1e308),
    *(10**400, -(10**400), 2**63, 2**64, -(2**63), 2**53 + 1),
    *(Fraction(10**400, 3), Fraction(1, 10**400)),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999"), Decimal("-1e-999999")),
    *(True, np.True_, np.int8(-128), np.uint64(2**64 - 1), np.float16(6e4), np.float32("nan")),
    *(np.longdouble("1e4000"), np.longdouble("nan"), np.array(0.5)),
]
RESTS = [[0.25, 0.5], [0, 1], [0, 0.5], [None, 0.5], [Fraction(1, 3), 1], [np.True_, None], []]
HEADS = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
REAL = Laplace(sensitivity=2**60, epsilon=1)
RELEASES = {
    "Sum": REAL.of(Sum(bounds=(-1, 1)), relation="add_remove").release,
    "Sum, centred": REAL.of(Sum(bounds=(0, 1), center=True), relation="add_remove").release,
    "Sum, wide": REAL.of(Sum(bounds=(0, 2**60)), relation="add_remove").release,
    "Mean": REAL.of(Mean(bounds=(0, 1), size=3), relation="replace_one").release,
    "Variance": REAL.of(Variance(bounds=(0, 1), size=3), relation="replace_one").release,
    "Count": HEADS.release,
    "Counts": Geometric(sensitivity=2, epsilon=1)
    .of(Counts(wheres=(lambda x: x is None, lambda x: x is not None)), relation="add_remove")
    .release,
    "Histogram": Geometric(sensitivity=2, epsilon=1).of(Histogram(bins=(0, 1)), relation="replace_one").release,
    "Quantile": Quantile(bounds=(0, 1), epsilon=1, relation="replace_one").release,
    "STAT": STAT(query=lambda x: x, size=3, epsilon=1).release,
    "Parallel": parallel({1: HEADS, None: HEADS}, by=lambda x: x, relation="add_remove").release,
}


def fails(release, data):
    """Return what an analyst would see of a failure or a warning: its type and text, None where there is none."""
    with warnings.catch_warnings(action="error"):
        try:
            release(data)
        except Exception as error:
            return type(error).__name__, str(error)
    return None


@pytest.mark.parametrize("name", RELEASES)
def test_every_number_is_answered_whatever_stands_beside_it(name):
    seen = {
        (repr(value), place): failure
        for value in EXTREMES
        for rest in RESTS
        for place in {0, len(rest)}
        if (failure := fails(RELEASES[name], [*rest[:place], value, *rest[place:]]))
    }
    assert not seen


@pytest.mark.parametrize("name", ["Sum", "Sum, wide", "Mean", "Variance", "Quantile", "STAT"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.uint64, object])
def test_every_array_is_answered(name, dtype):
    ends = [np.iinfo(dtype).min, np.iinfo(dtype).max] if np.dtype(dtype).kind in "iu" else [-math.inf, math.nan]
    largest = [np.finfo(dtype).max] if np.dtype(dtype).kind == "f" else []
    assert fails(RELEASES[name], np.array([*ends, *largest, 0], dtype=dtype)) is None


NAIVE = {
    "a whole number": lambda rows: sum(int(x) for x in rows),
    "a quotient": lambda rows: sum(1 / x for x in rows),
    "a root": lambda rows: sum(math.sqrt(x) for x in rows),
    "a fixed width": lambda rows: np.array(rows, dtype=np.int64).sum(),
    "a cast": lambda rows: np.array(rows, dtype=np.longdouble).astype(np.float64).sum(),
}


@pytest.mark.parametrize("name", NAIVE)
def test_the_check_catches_partial_functions(name):
    assert fails(NAIVE[name], [1.0, 2.0]) is None
    assert any(fails(NAIVE[name], [1.0, value]) for value in EXTREMES)


@pytest.mark.xfail(reason="a value that is no number is outside the domain, and is refused", strict=True)
@pytest.mark.parametrize("name", ["Sum", "Mean", "Variance", "Quantile", "STAT"])
def test_records_of_another_type_are_answered(name):
    assert fails(RELEASES[name], [0.5, "x"]) is None


@pytest.mark.parametrize(
    "run",
    [
        Count(where=lambda x: 1 / x > 2),
        Counts(wheres=(lambda x: 1 / x > 2,)),
        Histogram(bins=(1,), by=lambda x: 1 // x),
        STAT(query=lambda x: 1 / x, size=2, epsilon=1).release,
        parallel({1: HEADS}, by=lambda x: 1 // x, relation="add_remove").release,
    ],
    ids=["Count", "Counts", "Histogram", "STAT", "Parallel"],
)
def test_functions_of_the_analyst_fail_for_no_record(run):
    assert fails(run, [1, 2]) is None
    assert fails(run, [1, 0]) is None
