import itertools
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.errors import InvalidInput
from discreet.synthetic.coded import codes_of_rows
from discreet.synthetic.operators import Marginals
from discreet.synthetic.strategies.residual_planner import ResidualPlanner
from discreet.units import Row


class Loud(list):
    def __iter__(self):
        raise RuntimeError("a value")


class Number(float):
    def __float__(self):
        warnings.warn("a value", stacklevel=1)
        raise SystemExit


ODD = {
    "missing": [1, None], "NaN": [1, np.nan], "infinite": [1, np.inf], "text": [1, "x"], "short": [1], "no codes": [],
    "a part": [1, 0.5], "nested": [1, [2]], "a class": [1, Number(1)], "exact": [1, Fraction(1, 3)],
    "time": [1, pd.NaT],
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_no_record_is_refused_and_an_odd_code_is_0(name, relation):
    plan = ResidualPlanner(workload=Marginals.of_order((2, 3), 1), rho=0.5, relation=relation)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plan.release([[0, 1]] * 5 + [ODD[name]]).table((0,)).shape == (2,)
        found = codes_of_rows([[0, 1]] * 5 + [ODD[name]], 2, 100).tolist()
    assert found == [[0, 1]] * 5 + [[1, 0] if ODD[name] else [0, 0]]


NO_ROWS = [None, 7, "ab", {0: 1}, object(), np.array(3), np.zeros((2, 2))]


@pytest.mark.parametrize("record", NO_ROWS, ids=range(len(NO_ROWS)))
def test_what_is_no_row_has_the_code_0(record):
    assert codes_of_rows([(1, 2), record], 2, 100).tolist() == [[1, 2], [0, 0]]


def test_rows_are_read_as_what_they_are():
    structured = np.array([(1, 2.0)], dtype="i4,f8")[0]
    rows = [(1, 2), [1, 2, 9], np.array([1.0, 2.0]), Loud([1, 2]), structured, (True, np.int8(2)), (Decimal(1), 2)]
    assert codes_of_rows(rows, 2, 100).tolist() == [[1, 2]] * 7


def test_records_at_distance_0_have_the_same_codes():
    values = [0, 1, True, False, 1.0, -0.0, 2**62, float(2**62), 2**63, 1e300, int(1e300), -(10**30), np.float32(1),
              None, np.nan, float("nan"), np.inf, 0.5, np.uint64(2**63), Decimal("1.0"), Decimal(1), "1"]  # fmt: skip
    same = Row(relation="replace_one").distance
    for one, other in itertools.product(values, repeat=2):
        if same([[one]], [[other]]) == 0:
            assert codes_of_rows([[one]], 1, 2**62).tolist() == codes_of_rows([(other,)], 1, 2**62).tolist()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint64, np.int64, np.float16, np.float32, np.float64, object])
def test_arrays_say_the_same_as_lists(kind):
    rows = [[0, 1], [5, 7], [100, 3]]
    assert codes_of_rows(np.array(rows, dtype=kind), 2, 50).tolist() == codes_of_rows(rows, 2, 50).tolist()
    assert codes_of_rows(pd.DataFrame(rows, dtype=kind), 2, 50).tolist() == [[0, 1], [5, 7], [50, 3]]


def test_far_codes_in_arrays_of_any_kind():
    for array in (np.array([[2**63, 2**64 - 1]], dtype=np.uint64), np.array([[1e300, 2.0**63]]), [[10**40, 2**63]]):
        assert codes_of_rows(array, 2, 2**62).tolist() == [[2**62, 2**62]]
    assert codes_of_rows(np.array([[-1e300, -(2.0**63)]]), 2, 2**62).tolist() == [[-(2**62)] * 2]
    assert codes_of_rows(np.array([[np.nan, np.inf]]), 2, 2**62).tolist() == [[0, 0]]
    assert codes_of_rows([], 2, 9).shape == codes_of_rows(np.array([]), 2, 9).shape == (0, 2)


def test_what_is_public_is_refused():
    for data, match in ((np.zeros(3), "one row"), (np.zeros((2, 3)), "column"), (np.full((2, 2), "a"), "whole")):
        with pytest.raises(InvalidInput, match=match):
            codes_of_rows(data, 2, 9)


def test_a_frame_that_declares_a_column_of_texts_is_refused():
    """By its type, whatever is in it: else the whole column would count as the code 0."""
    good = pd.DataFrame({"a": [1, 2], "b": [0, 1]})
    assert codes_of_rows(good, 2, 100).tolist() == [[1, 0], [2, 1]]
    texts, dates = pd.array(["x", "1"], dtype="string"), pd.to_datetime(["2026-01-01", "2026-01-02"])
    for column in (texts, dates):
        frame = good.assign(b=column)
        for one in (frame, frame.iloc[:0], pa.Table.from_pandas(frame)):
            with pytest.raises(InvalidInput, match="column 'b' is declared to hold"):
                codes_of_rows(one, 2, 100)
