import math
import warnings
from collections import OrderedDict
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from discreet.mechanisms.lookalikes import DEEPEST, MOST, NONE, alike, key_of, shown
from discreet.mechanisms.stability import Mode

HOUR = timezone(timedelta(hours=1))
NAIVE = datetime(2020, 1, 1)  # noqa: DTZ001
APART = [
    None, False, True, 0, 1, 10**5000, -(10**5000), 0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 5e-324,
    "", "1", "\ud800", b"", b"1", Fraction(1, 3), Fraction(0), Fraction(1),
    Decimal("0"), Decimal("-0"), Decimal("0.0"), Decimal("1"), Decimal("1.0"), Decimal("1e10"), Decimal("10000000000"),
    Decimal("NaN"), Decimal("-NaN"), Decimal("NaN12"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-Infinity"),
    date(2020, 1, 1), NAIVE, NAIVE.replace(fold=1), NAIVE.replace(microsecond=1), datetime(2020, 1, 1, tzinfo=UTC),
    datetime(2020, 1, 1, 1, tzinfo=HOUR), datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=1), "CET")),
    datetime(2020, 1, 1, tzinfo=timezone(timedelta(0), "UTC")),
    datetime(2020, 1, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(2020, 1, 1, tzinfo=ZoneInfo("UTC")),
    time(0), time(0, fold=1), time(0, tzinfo=UTC), time(1, tzinfo=HOUR),
    timedelta(0), timedelta(days=-1), timedelta(microseconds=1), timedelta.max, timedelta.min,
    (), (0,), (0.0,), (-0.0,), ((0,),), (Decimal("1.0"),), frozenset(), frozenset({0}), frozenset({0.0}),
    frozenset({(0,), "a", None, b"a", 1.5}), (("a", 1),),
]  # fmt: skip


def test_what_looks_different_has_another_key_and_is_shown_as_it_was():
    keys = [key_of(value) for value in APART]
    assert len(set(keys)) == len(APART)
    for value, key in zip(APART, keys, strict=True):
        again = shown(key)
        assert type(again) is type(value)
        if not isinstance(value, int | frozenset):  # whose digits may be too many to be written, or have an order
            assert repr(again) == repr(value)
        assert key_of(again) == key
        assert alike(value, again)
        assert value is None or not alike(value, None)


class Row(NamedTuple):
    a: int
    b: int


SAME = [
    ([1, [2]], (1, (2,))),
    (np.array([1, 2]), (1, 2)),
    (np.array(5), 5),
    (np.int8(3), 3),
    (np.float32(0.5), 0.5),
    (np.longdouble(0.5), 0.5),
    (np.longdouble("1e4000"), math.inf),
    (np.str_("a"), "a"),
    (np.bytes_(b"a"), b"a"),
    (np.bool_(True), True),
    (np.datetime64("2020-01-01"), date(2020, 1, 1)),
    (np.datetime64("NaT"), None),
    (np.array([(1, 2.0)], dtype="i4,f8")[0], (1, 2.0)),
    (Row(1, 2), (1, 2)),
    ({1, 2}, frozenset({1, 2})),
    ({"b": {2: [1]}, "a": 1}, (("a", 1), ("b", ((2, (1,)),)))),
    (OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
    (float("-nan"), math.nan),
    (Fraction(np.int64(1), np.int64(3)), Fraction(1, 3)),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_counts_as_something_simpler(one, other):
    assert key_of(one) == key_of(other)
    assert repr(shown(key_of(one))) == repr(shown(key_of(other)))


def test_sets_are_shown_in_one_order():
    values = [8 * k for k in range(40)] + [str(k) for k in range(40)]
    shows = {repr(shown(key_of(s))) for s in (set(values), {*values[::-1]}, frozenset(values[5:] + values[:5]))}
    assert len(shows) == 1


class Colour(IntEnum):
    RED = 1


class Number(int):
    def __eq__(self, other):
        raise ValueError("a value")

    __hash__ = None


class Unequal:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise ValueError("a value")


class Items(dict):
    def items(self):
        raise RuntimeError("a value")

    def __iter__(self):
        raise RuntimeError("a value")


class Nowhere(tzinfo):
    def utcoffset(self, when):
        raise SystemExit

    def __eq__(self, other):
        raise SystemExit

    __hash__ = None


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


def contains_itself():
    found = []
    found += [found, found, found]
    return found


def doubled(depth):
    found = [1]
    for _ in range(depth):
        found = [found] * 20
    return found


UNFIT = [
    object(), len, range(3), 1j, np.clongdouble(1j), bytearray(b"a"), memoryview(b"a"), Colour.RED, Number(3),
    Unequal(), [Unequal()], {1: Unequal()}, datetime(2020, 1, 1, tzinfo=Nowhere()), time(1, tzinfo=Nowhere()),
    nested(DEEPEST + 2), nested(5000), contains_itself(), doubled(DEEPEST - 1), [0] * (MOST + 2), np.zeros(MOST + 2),
    (x for x in ()), [object()], {"a": len},
]  # fmt: skip


@pytest.mark.parametrize("record", UNFIT, ids=lambda record: type(record).__name__)
def test_everything_else_is_none_without_a_word(record):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert key_of(record) == NONE
        assert Mode(epsilon=1, delta=1e-6, relation="replace_one").look([record] + ["a"] * 50) == (24, "a")


def test_what_is_just_fit():
    assert key_of(nested(DEEPEST)) != NONE
    assert key_of([0] * (MOST - 1)) != NONE
    assert key_of(Items(a=1)) == key_of({"a": 1})


def test_records_that_cannot_be_shown_count_as_none():
    """A set of what has a hash of its own that a plain tuple does not have."""

    class Odd(tuple):
        __slots__ = ()

        def __hash__(self):
            return 1

    odd, mode = {Odd(([1], Decimal("sNaN")))}, Mode(epsilon=1, delta=1e-6, relation="replace_one")
    with pytest.raises(TypeError):
        shown(key_of(odd))
    assert mode.look([odd] * 60 + [None] * 40 + ["a"] * 10) == (44, None)
