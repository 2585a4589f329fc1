"""Sums and means: bounds, sizes and special values that the noise does not know about."""

from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Floats, Integers, geometric, lattice, many

__all__ = ["BROKEN", "CORRECT"]

Whole = tuple[int, ...]
ONE = PrivacyLoss.pure(1)


def total(records: Whole, n: int, rng: np.random.Generator, *, most: int | None = None) -> Integers:
    """Return the noisy sum of values said to lie in [0, 1]; with ``most``, of what clamping leaves of them."""
    return sum(min(max(x, 0), most) if most else x for x in records) + geometric(1, n, rng)


def range_from_data(records: Whole, n: int, rng: np.random.Generator) -> Integers:
    """Take the sensitivity of the sum from the range of the data."""
    width = max(records) - min(records)
    return sum(records) + (geometric(width, n, rng) if width else np.zeros(n, dtype=np.int64))


def clamped_to_range(records: Whole, n: int, rng: np.random.Generator) -> Integers:
    """Return a noisy record count between the smallest and the largest value that were seen."""
    return np.clip(len(records) + geometric(1, n, rng), min(records), max(records))


def clamped_to_size(records: Whole, n: int, rng: np.random.Generator) -> Integers:
    """Return a noisy sum that is never above the true number of records."""
    return np.clip(sum(records) + geometric(1, n, rng), 0, len(records))


def clamped_to_public(records: Whole, n: int, rng: np.random.Generator) -> Integers:
    """Return a noisy sum within public limits."""
    return np.clip(sum(records) + geometric(1, n, rng), 0, 10)


def nearest_record(records: Whole, n: int, rng: np.random.Generator) -> Integers:
    """Replace the noisy sum by the closest value that occurs, to make it plausible."""
    values = np.asarray(records)
    noisy = sum(min(x, 1) for x in records) + geometric(1, n, rng)
    return np.asarray(values[np.abs(noisy[:, None] - values).argmin(axis=1)])


def mean_scaled_by_size(records: Whole, n: int, rng: np.random.Generator) -> Floats:
    """Add noise of scale 1 / (size * epsilon) to a mean, as if the size were public."""
    return lattice(np.mean(records) + rng.laplace(0, 1 / len(records), n))


def mean_divided_by_size(records: Whole, n: int, rng: np.random.Generator) -> Floats:
    """Divide a noisy sum by the true size: a whole number over that size comes out."""
    return (sum(records) + geometric(1, n, rng)) / len(records)


def mean_of_noisy(records: Whole, n: int, rng: np.random.Generator) -> Floats:
    """Divide a noisy sum by a noisy size, half the budget each."""
    sums, sizes = sum(records) + geometric(2, n, rng), len(records) + geometric(2, n, rng)
    return sums / np.maximum(sizes, 1)


def floats(records: tuple[float, ...], n: int, rng: np.random.Generator, *, missing: bool) -> Floats:
    """Return a noisy sum of clamped floats; clamping leaves NaN as it is unless ``missing`` values are dropped."""
    values = np.clip(np.asarray(records), 0, 1)
    return float(np.nansum(values) if missing else np.sum(values)) + geometric(1, n, rng).astype(np.float64)


def zero_if_empty(records: Whole, n: int, rng: np.random.Generator) -> Integers:
    """Return 0 at once where there is nothing to add up."""
    return total(records, n, rng) if records else np.zeros(n, dtype=np.int64)


def narrow(records: Whole, n: int, rng: np.random.Generator, *, dtype: npt.DTypeLike) -> Integers:
    """Return a noisy sum of values in [0, 100], added up in this type."""
    return int(np.sum(np.array(records), dtype=dtype)) + geometric(100, n, rng)


def half_precision(records: tuple[float, ...], n: int, rng: np.random.Generator, *, exact: bool) -> Integers:
    """Return a noisy sum of values in [-2048, 2048], added up one by one in half precision, or exactly."""
    values = np.array(records, dtype=np.float16)
    added = values.sum(dtype=np.float64) if exact else np.add.accumulate(values, dtype=np.float16)[-1]
    return int(added) + geometric(2048, n, rng)


WILSON = "Wilson et al., Differentially Private SQL with Bounded User Contribution, PETS 2020"
HOLOHAN = "Holohan, Braghin, Mac Aonghusa and Levacher, Diffprivlib, 2019"
CASACUBERTA = "Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity, CCS 2022"
OUTLIER = {"neighbours": ((1, 1, 0), (1, 1, 10)), "relation": "replace_one"}
ONES = {"neighbours": ((1, 1, 1), (1, 1, 1, 1)), "relation": "add_remove"}
FIRST = {"neighbours": ((), (1,)), "relation": "add_remove"}
NANS = {"neighbours": ((1.0, 0.0), (1.0, 0.0, float("nan"))), "relation": "add_remove"}
WRAPPED = {"neighbours": ((100, 27), (100, 28)), "relation": "replace_one"}
LARGE, SMALL = (2048.0,) * 16, (15.0,) * 400
ORDERS = {
    "neighbours": (LARGE + SMALL + tuple(-x for x in LARGE), SMALL + LARGE + tuple(-x for x in LARGE)),
    "relation": "replace_one",
}

BROKEN = (
    many(
        total,
        name="unclipped-sum",
        mistake="Values are said to lie in [0, 1] and are never clamped; one is 10.",
        paper=WILSON,
        claims=ONE,
        **OUTLIER,
    ),
    many(
        range_from_data,
        name="bounds-from-data",
        mistake="The noise is scaled by the smallest and largest value of the data themselves.",
        paper=HOLOHAN,
        claims=ONE,
        neighbours=((0, 0, 0), (0, 0, 0, 1)),
        relation="add_remove",
    ),
    many(
        clamped_to_range,
        name="clamped-to-data-range",
        mistake="A noisy answer is forced into the range of the raw data, which is not post-processing.",
        paper=HOLOHAN,
        claims=ONE,
        neighbours=((0, 1, 2, 3), (0, 1, 2, 3, 9)),
        relation="add_remove",
    ),
    many(
        clamped_to_size,
        name="clamped-to-true-size",
        mistake="A noisy sum is cut at the true number of records, so that a larger one proves a larger data set.",
        paper=HOLOHAN,
        claims=ONE,
        **ONES,
    ),
    many(
        nearest_record,
        name="nearest-record",
        mistake="A noisy answer is replaced by the closest raw value: post-processing that reads the data again.",
        paper=WILSON,
        claims=ONE,
        neighbours=((0, 4), (0, 4, 2)),
        relation="add_remove",
    ),
    many(
        mean_scaled_by_size,
        name="noise-scaled-by-true-size",
        mistake="The noise of a mean shrinks with the true number of records, which is private under add_remove.",
        paper=HOLOHAN,
        claims=ONE,
        neighbours=((1,), (1, 0)),
        relation="add_remove",
    ),
    many(
        mean_divided_by_size,
        name="mean-divided-by-true-size",
        mistake="A noisy sum is divided by the true number of records, which the fractions that come out reveal.",
        paper=HOLOHAN,
        claims=ONE,
        neighbours=((1, 1), (1, 1, 1)),
        relation="add_remove",
    ),
    many(
        partial(floats, missing=False),
        name="nan-poisons-sum",
        mistake="One NaN survives clamping and turns the whole answer into NaN.",
        paper=WILSON,
        claims=ONE,
        **NANS,
    ),
    many(
        zero_if_empty,
        name="empty-is-exact",
        mistake="An empty data set is answered with 0 and no noise.",
        paper=CASACUBERTA,
        claims=ONE,
        **FIRST,
    ),
    many(
        partial(narrow, dtype=np.int8),
        name="int8-wraparound",
        mistake="The sum is kept in eight bits: one more unit turns 127 into -128.",
        paper=CASACUBERTA,
        claims=ONE,
        **WRAPPED,
    ),
    many(
        partial(half_precision, exact=False),
        name="float-sum-depends-on-order",
        mistake="Small values are lost next to large ones, so that the same records in another order sum differently.",
        paper=CASACUBERTA,
        claims=ONE,
        **ORDERS,
    ),
)

CORRECT = (
    many(partial(total, most=1), name="clipped-sum", mistake="", paper=WILSON, claims=ONE, **OUTLIER),
    many(clamped_to_public, name="clamped-to-public-range", mistake="", paper=WILSON, claims=ONE, **ONES),
    many(
        mean_of_noisy,
        name="mean-of-noisy-parts",
        mistake="",
        paper=WILSON,
        claims=ONE,
        neighbours=((1, 1), (1, 1, 1)),
        relation="add_remove",
    ),
    many(partial(floats, missing=True), name="nan-dropped", mistake="", paper=WILSON, claims=ONE, **NANS),
    many(total, name="empty-is-ordinary", mistake="", paper=CASACUBERTA, claims=ONE, **FIRST),
    many(partial(narrow, dtype=np.int64), name="wide-sum", mistake="", paper=CASACUBERTA, claims=ONE, **WRAPPED),
    many(partial(half_precision, exact=True), name="exact-sum", mistake="", paper=CASACUBERTA, claims=ONE, **ORDERS),
)
