import math
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidInput, InvalidParameter, RelationMismatch
from discreet.mechanisms.histogram import KnownBins
from discreet.testing import check_mechanism
from discreet.units import frozen, multiset

LABELS = ("a", "b", "c", "d")
NOISES = [{}, {"noise": "laplace"}, {"noise": "gaussian", "delta": 1e-5}]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("bins", [1, 3])
def test_keeps_the_contract(noise, relation, bins):
    made = KnownBins(labels=LABELS, epsilon=1, relation=relation, bins=bins, **noise)
    done = check_mechanism(made)
    assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(done.passed)
    assert made.loss.relation == relation
    assert made.loss.epsilon(made.delta or 0) <= 1


def test_how_many_counts_change():
    for labels, bins, add, replace in ((4, 1, 1, 2), (4, 2, 2, 4), (4, 3, 3, 4), (1, 1, 1, 1), (2, 5, 2, 2)):
        given = {"labels": tuple(range(labels)), "bins": bins, "epsilon": 1}
        assert KnownBins(relation="add_remove", **given).touched == add
        assert KnownBins(relation="replace_one", **given).touched == replace
        here, there = KnownBins(relation="replace_one", **given).worst_case()
        counts = KnownBins(relation="replace_one", **given).counts
        assert np.abs(counts(here) - counts(there)).sum() == replace


def test_counts():
    one = KnownBins(labels=LABELS, epsilon=1, relation="add_remove")
    assert one.counts(["a", "a", "x", ["a"], None, {"a"}, "d"]).tolist() == [2, 0, 0, 1]
    assert one.counts(np.array(["a", "d", "zebra", "a"])).tolist() == [2, 0, 0, 1]
    assert one.counts([]).tolist() == one.counts(np.array([], dtype="U1")).tolist() == [0, 0, 0, 0]
    numbers = KnownBins(labels=(3, 1, 7), epsilon=1, relation="add_remove")
    data = np.array([1, 1, 3, 9], dtype=np.int8)
    assert numbers.counts(data).tolist() == numbers.counts(data.tolist()).tolist() == [1, 2, 0]


def test_a_person_counts_in_few_bins_and_once_in_each():
    two = KnownBins(labels=LABELS, epsilon=1, relation="add_remove", bins=2)
    assert two.counts([["d", "a", "c", "a"], ("b", "b"), {"c"}, "d", []]).tolist() == [1, 1, 2, 1]


def test_records_that_fail_are_counted_nowhere():
    class Odd:
        def __hash__(self):
            raise RuntimeError("a value")

    class Color(Enum):
        RED = 1

    made = KnownBins(labels=(Color.RED, 2), epsilon=1, relation="replace_one")
    assert made.counts([Odd(), Color.RED, 2, 1]).tolist() == [1, 1]


@pytest.mark.parametrize("noise", NOISES)
def test_noise_is_within_what_is_said(noise):
    made = KnownBins(labels=tuple(range(2000)), epsilon=0.5, relation="replace_one", **noise)
    released = made.release(np.zeros(10, dtype=np.int64))
    assert released.dtype == (np.float64 if noise.get("noise") == "laplace" else np.int64)
    off = np.abs(released - np.eye(1, 2000)[0] * 10)
    assert np.sum(off > made.error(0.05)) + np.sum(off == made.error(0.05)) / 2 >= 30
    assert np.sum(off > made.error(0.05)) <= 180
    assert off.max() <= made.largest_error(1e-9)


def test_the_largest_error_is_exact():
    """``1 - (1 - tail)^4`` of independent bins, summed from the law."""
    made = KnownBins(labels=LABELS, epsilon=1, relation="replace_one")
    a = math.exp(-1 / 2)

    def beyond(t):
        return 1 - (1 - 2 * a ** (t + 1) / (1 + a)) ** 4

    for beta in (0.3, 0.05, 1e-3):
        t = made.largest_error(beta)
        assert beyond(t) <= beta < beyond(t - 1)


def test_counts_of_somebody_else():
    made = KnownBins(labels=LABELS, epsilon=100, relation="add_remove")
    assert made.reveal(np.array([5, 0, 7, 1])).tolist() == [5, 0, 7, 1]
    with pytest.raises(InvalidInput, match="4 labels"):
        made.reveal(np.array([5, 0, 7]))


def test_noise_that_is_calibrated_to_both_relations():
    assert KnownBins(labels=LABELS, epsilon=1, relation="add_remove").scale == 1
    assert KnownBins(labels=LABELS, epsilon=1, relation="replace_one").scale == 2
    assert KnownBins(labels=LABELS, epsilon=Fraction(1, 3), relation="replace_one", bins=2).scale == 12
    add, replace = (
        KnownBins(labels=LABELS, epsilon=1, delta=1e-5, noise="gaussian", relation=r).scale
        for r in ("add_remove", "replace_one")
    )
    assert float(replace / add) == pytest.approx(math.sqrt(2), rel=0.01)


@pytest.mark.parametrize(
    "given",
    [
        {"labels": ()},
        {"labels": ["a"]},
        {"labels": ("a", "a")},
        {"labels": (1, True)},
        {"labels": ([],)},
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"bins": 0},
        {"bins": 1.5},
        {"noise": "cauchy"},
        {"noise": "gaussian"},
        {"delta": 0.1},
        {"noise": "gaussian", "delta": 0},
    ],
)
def test_what_cannot_be(given):
    with pytest.raises(InvalidParameter):
        KnownBins(**({"labels": LABELS, "epsilon": 1, "relation": "add_remove"} | given))


def test_the_relation_must_be_said():
    with pytest.raises(TypeError):
        KnownBins(labels=LABELS, epsilon=1)
    with pytest.raises(RelationMismatch):
        KnownBins(labels=LABELS, epsilon=1, relation="edge")


class Place(NamedTuple):
    x: int
    y: int


SAME = [
    ((1, 2), [1, 2]),
    ((1, 2), np.array([1, 2])),
    ((1, 2), Place(1, 2)),
    (1, np.array(1)),
    (1, np.float32(1)),
    (frozenset({3}), {3}),
    (((1, 2), "a"), [[1.0, 2], "a"]),
    (Decimal("0.5"), Decimal("0.50")),
    (Fraction(1, 2), Fraction(np.int64(1), np.int64(2))),
    (datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=range(len(SAME)))
def test_records_that_are_the_same_are_in_the_same_bin(one, other):
    assert multiset([one]) == multiset([other])
    made = KnownBins(labels=("x", one), epsilon=1, relation="add_remove")
    assert made.counts([one]).tolist() == made.counts([other]).tolist() == [0, 1]


def test_a_list_of_bins_may_be_an_array():
    made = KnownBins(labels=(1, 2, 3), epsilon=1, relation="add_remove", bins=2)
    for record in ([1, 3], np.array([1, 3]), np.array([1.0, 3.0]), np.array([(1, 3)], dtype="i4,i4")[0]):
        assert made.counts([record]).tolist() == [1, 0, 1]


def test_equal_values_of_other_types_are_found():
    class Size(IntEnum):
        LARGE = 7

    made = KnownBins(labels=(7, "a", datetime(2020, 1, 1, tzinfo=UTC)), epsilon=1, relation="add_remove")
    moment = pd.Timestamp(2020, 1, 1, tz=UTC)
    assert made.counts([7.0, Decimal(7), Fraction(7), Size.LARGE, np.str_("a"), moment]).tolist() == [4, 1, 1]
    enums = KnownBins(labels=(Size.LARGE, Decimal(2)), epsilon=1, relation="add_remove")
    assert enums.counts([7, Size.LARGE, 2, 2.0, Decimal("2.0")]).tolist() == [2, 3]
    assert KnownBins(labels=((1, 2), 0.5), epsilon=1, relation="add_remove").counts([Fraction(1, 2)]).tolist() == [0, 1]


def test_labels_that_are_the_same_record_are_one_too_many():
    nanoseconds = np.datetime64(5, "ns")
    assert frozen(nanoseconds) == 5
    with pytest.raises(InvalidParameter, match="once"):
        KnownBins(labels=(nanoseconds, 5), epsilon=1, relation="add_remove")
