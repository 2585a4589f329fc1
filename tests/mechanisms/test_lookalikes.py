import copy
import itertools
import math
import uuid
import warnings
from collections import OrderedDict
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from importlib import resources
from types import MappingProxyType
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pandas as pd
import pytest

from discreet import units
from discreet.mechanisms.lookalikes import DEEPEST, MOST, NONE, alike, key_of, shown
from discreet.mechanisms.stability import Mode
from discreet.units import frozen

HOUR = timezone(timedelta(hours=1))
NAIVE = datetime(2020, 1, 1)  # noqa: DTZ001
APART = [
    None, 0, 1, -1, 10**5000, -(10**5000), 0.5, -0.5, math.inf, -math.inf, math.nan, 5e-324,
    "", "1", "\ud800", b"", b"1", Fraction(1, 3), Fraction(0), Fraction(1),
    Decimal("0"), Decimal("1"), Decimal("-1"), Decimal("1.5"), Decimal("10000000000"), Decimal("1E+21"),
    Decimal("1E-7"), Decimal("Infinity"), Decimal("-Infinity"),
    date(2020, 1, 1), NAIVE, NAIVE.replace(fold=1), NAIVE.replace(microsecond=1), datetime(2020, 1, 1, tzinfo=UTC),
    datetime(2020, 1, 1, 1, tzinfo=HOUR), datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=1), "CET")),
    datetime(2020, 1, 1, tzinfo=timezone(timedelta(0), "UTC")),
    datetime(2020, 1, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(2020, 1, 1, tzinfo=ZoneInfo("UTC")),
    time(0), time(0, fold=1), time(0, tzinfo=UTC), time(1, tzinfo=HOUR),
    timedelta(0), timedelta(days=-1), timedelta(microseconds=1), timedelta.max, timedelta.min,
    (), (0,), (0.5,), ((0,),), (Decimal("1"),), frozenset(), frozenset({0}), frozenset({0.5}),
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


class Colour(IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


BY_ROW = units.Row()


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


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
    (False, 0),
    (True, 1),
    (0.0, 0),
    (-0.0, 0),
    (1e300, int(1e300)),
    (np.float32(3), 3),
    (np.array([True, False]), (1, 0)),
    (np.array(np.float32(7), dtype=object), 7),
    (Decimal("-0"), Decimal(0)),
    (Decimal("0E+9"), Decimal(0)),
    (Decimal("1.50"), Decimal("1.5")),
    (Decimal("1E+2"), Decimal("100.00")),
    (Decimal("-NaN12"), math.nan),
    (Decimal("sNaN"), math.nan),
    ({1.0: "a"}, {True: "a"}),
    ({(1, True)}, {(1.0, 1)}),
    (Fraction(np.int64(1), np.int64(3)), Fraction(1, 3)),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_counts_as_something_simpler(one, other):
    assert key_of(one) == key_of(other)
    assert repr(shown(key_of(one))) == repr(shown(key_of(other)))


OTHERS = [
    True, False, 0.0, -0.0, 1.0, 2.0, 1 + 0j, np.complex128(1), np.clongdouble(1), np.longdouble(1),
    np.longdouble("nan"), np.clongdouble("nan"), complex("nan"),
    np.longdouble("1e4000"), np.float16(0.5), np.uint8(1), np.array(1.0), np.array([0]), np.array([[0]]),
    np.array(np.float32(1), dtype=object), np.array(np.datetime64("2020-01-01"), dtype=object), np.ma.masked,
    np.ma.array([0, 1], mask=[False, True]), (0, None), np.datetime64("2020-01-01"),
    np.datetime64("2020-01-01T00:00:00"),
    np.datetime64("2020-01-01", "ns"), np.timedelta64(1, "us"), np.datetime64("NaT"), np.str_("1"), np.bytes_(b"1"),
    Decimal("1.0"), Decimal("-0"), Decimal("1.50"), Decimal("NaN"), Decimal("sNaN"), Decimal("NaN12"), Decimal("1e10"),
    Fraction(1, 2), Fraction(2), uuid.UUID(int=1), uuid.UUID(int=2), pd.Timestamp(2020, 1, 1), pd.NaT, pd.NA,
    ["a", 1], ("a", 1.0), [["a", True]], {"a": 1}, {"a": 1.0}, OrderedDict(a=True), {("a", 1)},
    MappingProxyType({"a": 1}), {"a": 1}.keys(), {"a"}, frozenset({"a"}), {1: 2}.items(), {(1, 2)}, [(1, 2)],
    {1: 2}, range(1), [],
    NAIVE.replace(tzinfo=ZoneInfo.no_cache("UTC")), NAIVE.replace(tzinfo=timezone(timedelta(0), "x")),
    nested(DEEPEST), nested(DEEPEST + 1), [nested(DEEPEST)], np.array([0] * 9).reshape(3, 3), [[0, 0, 0]] * 3,
]  # fmt: skip


def test_records_at_distance_0_look_the_same():
    values = [*APART, *OTHERS, *(pair[i] for pair in SAME for i in (0, 1)), Colour.RED, Text("a"), float("nan")]
    for one, other in itertools.product(values, repeat=2):
        if BY_ROW.distance([one], [other]) == 0:
            assert key_of(one) == key_of(other)
    for value in values:
        assert BY_ROW.distance([value], [frozen(value)]) == BY_ROW.distance([value], [value]) == 0
    for value in APART:
        assert BY_ROW.distance([value], [copy.deepcopy(value)]) == 0


def test_sets_are_shown_in_one_order():
    values = [8 * k for k in range(40)] + [str(k) for k in range(40)]
    shows = {repr(shown(key_of(s))) for s in (set(values), {*values[::-1]}, frozenset(values[5:] + values[:5]))}
    assert len(shows) == 1


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


class Own(str):
    __slots__ = ("secret",)

    def __str__(self):
        return self


class Loud(Own):
    __slots__ = ()

    def __hash__(self):
        raise RuntimeError("a value")


class Offset(timedelta):
    def __floordiv__(self, other):
        raise SystemExit


@pytest.mark.parametrize(
    "zone", [timezone(timedelta(0), Own("x")), timezone(timedelta(0), Loud("x")), timezone(Offset(hours=1))]
)
@pytest.mark.parametrize("kind", [NAIVE, time(1)])
def test_zones_with_methods_of_their_own_are_not_shown(kind, zone):
    record = kind.replace(tzinfo=zone)
    assert key_of(record) == NONE
    mode = Mode(epsilon=1, delta=1e-6, relation="replace_one")
    assert mode.release([record] + ["a"] * 200).value == "a"
    plain = kind.replace(tzinfo=timezone(timedelta(0), "x"))
    assert type(mode.release([record] + [plain] * 200).value.tzinfo.tzname(None)) is str


class HashExit(type):
    def __hash__(cls):
        raise SystemExit


class OfHashExit(metaclass=HashExit):
    pass


class IntExit:
    def __int__(self):
        raise SystemExit


def test_nothing_ends_the_program_but_the_keyboard():
    half = Fraction(1, 2)
    half._numerator = IntExit()
    assert key_of(OfHashExit()) == key_of(half) == key_of([half]) == NONE

    class Stop:
        def __int__(self):
            raise KeyboardInterrupt

    half._numerator = Stop()
    with pytest.raises(KeyboardInterrupt):
        key_of(half)


def test_what_is_just_fit():
    assert key_of(nested(DEEPEST)) != NONE
    assert key_of([0] * (MOST - 1)) != NONE
    assert key_of(Items(a=1)) == key_of({"a": 1})


def test_records_that_cannot_be_shown_count_as_none():
    """A zone that came from a file and is not known by its name."""
    with (resources.files("tzdata.zoneinfo") / "UTC").open("rb") as file:
        odd = NAIVE.replace(tzinfo=ZoneInfo.from_file(file, key="Nowhere/At/All"))
    mode = Mode(epsilon=1, delta=1e-6, relation="replace_one")
    with pytest.raises(ZoneInfoNotFoundError):
        shown(key_of(odd))
    assert mode.look([odd] * 60 + [None] * 40 + ["a"] * 10) == (44, None)


def test_a_class_of_classes_is_not_asked():
    meta = type("Meta", (type,), {"__eq__": lambda *_: True, "__hash__": lambda _: hash(int)})
    assert key_of(meta("Odd", (), {})()) == NONE


def test_numpy_may_be_told_to_raise():
    with np.errstate(all="raise"):
        assert key_of(np.longdouble("1e4000")) == key_of(math.inf)
