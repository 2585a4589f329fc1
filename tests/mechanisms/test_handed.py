import copy
import itertools
import math
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from discreet.mechanisms.handed import handed
from discreet.mechanisms.sample_and_aggregate import SampleAndAggregate
from discreet.units import Row


class Person(NamedTuple):
    age: int
    name: str


NUMBERS = [
    0, 1, True, False, 0.0, -0.0, 1.0, 7, 7.0, 2**53, float(2**53), 2**53 + 1, 10**400, 1e300, int(1e300), math.inf,
    math.nan, float("-nan"), np.int8(7), np.float16(7), np.float32(0.5), 0.5, np.bool_(True), np.uint64(2**63),
    np.longdouble(7), np.longdouble("nan"), np.longdouble(1) / 3, Decimal("1.5"), Decimal("1.50"), Decimal("NaN"),
]  # fmt: skip


def test_numbers_that_are_the_same_are_handed_over_as_one():
    """Bare, and wherever they stand in a row."""
    same = Row(relation="replace_one").distance
    forms = [lambda x: x, lambda x: (x, "a"), lambda x: [[x]], lambda x: {"a": x}, lambda x: Person(x, "a")]
    for one, other in itertools.product(NUMBERS, repeat=2):
        for form in forms:
            if same([form(one)], [form(other)]) == 0:
                assert repr(handed(form(one))) == repr(handed(form(other)))
            else:
                assert repr(handed(form(one))) != repr(handed(form(other)))


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float32, np.float64, np.bool_])
def test_arrays_become_float64(kind):
    row = np.array([[0, 1]], dtype=kind)
    found = handed(row)
    assert found.dtype == np.float64
    assert found.tolist() == [[0.0, 1.0]]
    assert not np.shares_memory(row, found)
    assert not np.signbit(handed(np.array([-0.0]))).any()


def test_arrays_of_objects_keep_their_shape():
    row = np.empty((1, 2), dtype=object)
    row[0, 0], row[0, 1] = [1, 2], True
    found = handed(row)
    assert found.shape == (1, 2)
    assert repr(found.tolist()) == "[[[1.0, 2.0], 1.0]]"


def test_all_else_is_a_copy_of_its_own():
    row = {"a": [1, {"b"}], "c": {"d": [object()]}, "e": Person(3, "x"), "f": frozenset({2}), "g": None}
    found = handed(row)
    assert found["a"] is not row["a"]
    assert found["c"]["d"][0] is not row["c"]["d"][0]
    assert type(found["e"]) is Person
    assert repr(found["e"]) == "Person(age=3.0, name='x')"
    assert found["f"] == {2.0}
    found["a"].clear()
    assert row["a"] == [1, {"b"}]


PAIRS = {
    "a missing number": (np.array([7] * 99 + [8]), np.array([7] * 99 + [np.nan])),
    "a missing number in pandas": (pd.Series([7] * 99 + [8]), pd.Series([7] * 99 + [None])),
    "a number among booleans": (np.array([True] * 99 + [False]), np.array([True] * 99 + [2])),
    "in rows": (np.array([[7, 7]] * 99 + [[8, 8]]), np.array([[7, 7]] * 99 + [[8, np.nan]])),
}


@pytest.mark.parametrize("name", PAIRS)
def test_one_record_changes_one_answer(name):
    """Though it changes the type of all others, and the function tells types apart."""
    x, y = PAIRS[name]
    assert Row(relation="replace_one").distance(x, y) == 1
    made = SampleAndAggregate(
        function=lambda rows: len(repr(rows)), blocks=10, bounds=(0, 1000), epsilon=1, relation="replace_one"
    )
    answers = [
        [made._answer(rows) for rows in np.array_split(np.array([*copy.copy(list(data)), None], dtype=object)[:-1], 10)]
        if data.ndim == 1
        else [made._answer(rows.tolist()) for rows in np.array_split(data, 10)]
        for data in (x, y)
    ]
    assert sum(a != b for a, b in zip(*answers, strict=True)) <= 1
