import math

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.units import frozen, multiset, records


class Frame:
    columns = ("age", "hair")

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize("data", ["abc", b"abc", {"a": 1}, {1, 2}, frozenset({1}), 3, None, np.array(3), Frame()])
def test_what_is_no_sequence_of_records_is_refused(data):
    with pytest.raises(InvalidInput, match="sequence of records"):
        records(data)


def test_generators_are_read_once():
    assert records(x * x for x in range(3)) == [0, 1, 4]


def test_every_occurrence_counts():
    assert multiset(["a", "b", "a"]) == {"a": 2, "b": 1}


def test_numpy_and_python_records_agree():
    rows = [[1, 2.5], [3, 4.0]]
    assert multiset(np.array(rows)) == multiset(rows) == multiset([tuple(row) for row in rows])
    assert multiset(list(np.array([1, 2, 2], dtype=np.int8))) == multiset([1, 2, 2])


def test_all_nans_are_the_same_record():
    nans = [math.nan, -math.nan, float("nan"), np.float32("nan")]
    assert len(multiset(nans)) == 1
    assert frozen({"x": (1, float("nan"))}) == frozen({"x": [1, np.nan]})


def test_sets_and_long_doubles_inside_records():
    assert frozen({"tags": {"a", "b"}}) == frozen({"tags": frozenset({"b", "a"})})
    assert frozen(np.longdouble(2)) == 2


def test_unhashable_records_are_refused_without_showing_them():
    with pytest.raises(InvalidInput, match="bytearray") as caught:
        multiset([bytearray(b"secret")])
    assert "secret" not in str(caught.value)
