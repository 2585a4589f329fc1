"""Rows are read one by one, and never grow: exact norms, strange numbers, strange types."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, InvalidParameter
from discreet.learn.convex.exact_sums import UNIT, exact_products, truncated
from discreet.learn.convex.rows import Rows, one_column

floats = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(st.lists(st.lists(floats, min_size=3, max_size=3), min_size=1, max_size=5), st.sampled_from([1e-3, 1, 10, 1e6]))
def test_norms_are_at_most_one_exactly(table, norm):
    for shape in ("ball", "box"):
        for row in Rows(features=3, norm=norm, shape=shape).read(np.array(table)):
            exact = [Fraction(x) for x in row.tolist()]
            assert all((x * 2**20).denominator == 1 for x in exact)
            assert sum(x * x for x in exact) <= 1 if shape == "ball" else max(map(abs, exact)) <= 1


@given(st.lists(st.lists(floats, min_size=2, max_size=2), min_size=2, max_size=6), st.integers(0, 5))
def test_a_row_is_read_by_itself(table, place):
    table = np.array(table)
    rows = Rows(features=2, norm=1, intercept=1)
    whole = rows.read(table)
    one_by_one = np.vstack([rows.read(table[i : i + 1]) for i in range(len(table))])
    assert np.array_equal(whole, one_by_one)


def test_rows_without_finite_numbers_do_not_count():
    rows = Rows(features=2, norm=1)
    strange = [[1, 0], [float("nan"), 0], [float("inf"), 0], ["text", 0], [None, 0], [10**400, 0], [{}, 0]]
    assert len(rows.read(strange)) == 1
    assert len(rows.read([*strange, [1], [1, 0, 0], [], None, "ab"])) == 1
    assert len(rows.read(pd.DataFrame([[1, 0], [float("nan"), 0], [float("inf"), 0]]))) == 1
    assert rows.read([]).shape == (0, 2)
    assert len(rows.read(np.zeros((0, 2)))) == 0


def test_only_the_shape_is_refused():
    with pytest.raises(InvalidInput, match="2 columns"):
        Rows(features=2, norm=1).read(np.array([[1, 2, 3]]))
    for table in (pd.DataFrame([[1, "a"], [2, 3]]), np.array([["1", "2"]]), np.array([[1, None]], dtype=object)):
        with pytest.raises(InvalidInput, match="declared to hold"):
            Rows(features=2, norm=1).read(table)
    with pytest.raises(InvalidParameter):
        Rows(features=2, norm=0)
    with pytest.raises(InvalidParameter):
        Rows(features=2, norm=1, intercept=100)


def test_weights_predict_the_same_inside_and_outside():
    rows = Rows(features=3, norm=8, intercept=0.5)
    table = np.random.default_rng(2).uniform(-2, 2, (20, 3))
    inside = np.array([1.0, -2.0, 3.0, 4.0])
    weights, intercept = rows.weights(inside)
    assert table @ weights + intercept == pytest.approx(rows.read(table) @ inside, abs=1e-4)


@given(st.integers(0, 2**32 - 1), st.integers(0, 20_000))
def test_sums_of_products_are_exact_in_any_order(seed, size):
    rng = np.random.default_rng(seed)
    left, right = truncated(rng.uniform(-1, 1, (size, 2))), truncated(rng.uniform(-1, 1, (size, 1)))
    found = exact_products(left, right, most=Fraction(1))
    order = rng.permutation(size)
    assert (exact_products(left[order], right[order], most=Fraction(1)) == found).all()
    ints = (left * 2**20).astype(int).T.astype(object) @ (right * 2**20).astype(int).astype(object)
    if size:
        assert (ints == found).all()
    assert Fraction(1, 2**40) == UNIT


class Silent:
    """A table of which only numpy learns the type."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_dates_and_durations_are_refused_by_their_type(kind, unit):
    array = np.array([[1], [2]], dtype=f"{kind}[{unit}]")
    frame = pd.DataFrame(array, columns=["x"])
    assert frame.dtypes["x"].kind in "Mm"
    rows = Rows(features=1, norm=1)
    odd = pd.concat([frame, pd.DataFrame({"x": ["odd"]})])
    for table in (array, frame, odd, Silent(array)):
        with pytest.raises(InvalidInput, match="declared to hold"):
            rows.read(table)
    for column in (array[:, 0], frame["x"], odd["x"], Silent(array[:, 0])):
        with pytest.raises(InvalidInput, match="declared to hold"):
            one_column(column)


def test_an_odd_record_of_a_table_of_objects_changes_no_other():
    rows = Rows(features=1, norm=4)
    plain = np.array([[1], [2.5], [True]], dtype=object)
    odd = np.concatenate([plain, np.array([[np.datetime64(1, "ns")], ["odd"]], dtype=object)])
    assert rows.read(odd.tolist())[:3].tolist() == rows.read(plain.tolist()).tolist()


def test_a_column_may_be_called_as_other_libraries_call_their_types():
    names = ["schema", "column_names", "type", "kind"]
    frame = pd.DataFrame(np.arange(8.0).reshape(2, 4), columns=names, index=["a", "b"])
    assert (Rows(features=4, norm=100).read(frame) == Rows(features=4, norm=100).read(frame.to_numpy())).all()
    with pytest.raises(InvalidInput, match="column 'schema' is declared"):
        Rows(features=4, norm=100).read(frame.astype({"schema": str}))
