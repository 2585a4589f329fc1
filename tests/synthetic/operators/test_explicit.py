import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array

from discreet import InvalidParameter
from discreet.synthetic.operators import Explicit
from discreet.testing.rebuild import rebuild


def test_dense_and_sparse_are_the_same():
    dense = [[1, 0, 0.5], [0, -2, 0]]
    forms = [dense, np.array(dense), csr_array(np.array(dense)), csc_matrix(np.array(dense))]
    first, *others = (Explicit(matrix=form) for form in forms)
    for other in others:
        assert first == other
        assert hash(first) == hash(other)
    assert first != Explicit(matrix=[[1, 0, 0.5], [0, 2, 0]])
    assert first != Explicit(matrix=[[2, 0, 1], [0, -4, 0]])


def test_entries_that_are_named_twice_add_up():
    twice = coo_array(([1, 1, 2], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert Explicit(matrix=twice).dense().tolist() == [[2, 0], [0, 2]]


def test_what_was_given_can_change_afterwards():
    given = np.array([[1, 2], [3, 4]])
    held = Explicit(matrix=given)
    given[0, 0] = 9
    assert held.dense().tolist() == [[1, 2], [3, 4]]
    sparse = csr_array(np.array([[1.0, 2.0]]))
    kept = Explicit(matrix=sparse)
    sparse.data[0] = 7
    assert kept.dense().tolist() == [[1, 2]]


def test_nothing_is_shared_with_a_sparse_matrix():
    for make in (csr_array, csc_matrix, coo_array):
        given = make(np.array([[1, 0, 3], [0, 2, 0]]))
        held = Explicit(matrix=given)
        before = held.sensitivity(1, relation="add_remove")
        for name in ("data", "indices", "indptr", "row", "col"):
            if hasattr(given, name):
                getattr(given, name)[:] = 0
        assert held.dense().tolist() == [[1, 0, 3], [0, 2, 0]]
        assert held.sensitivity(1, relation="add_remove") == before


def test_a_sparse_matrix_stays_as_it_was_and_can_be_read_twice():
    stored = ([1, 0, 3, 4], [0, 1, 1, 2], [0, 2, 3, 4])  # a zero among the entries
    given = csr_array(tuple(np.array(part) for part in stored), shape=(3, 3))
    first = Explicit(matrix=given)
    assert first == Explicit(matrix=given)
    assert first.dense().tolist() == given.toarray().tolist() == [[1, 0, 0], [0, 3, 0], [0, 0, 4]]
    assert [part.tolist() for part in (given.data, given.indices, given.indptr)] == list(map(list, stored))


def test_what_is_held_cannot_be_written_to():
    for given in ([[1, 2], [0, 1]], csr_array(np.eye(2))):
        entries = Explicit(matrix=given).matrix.entries
        for array in (entries.data, entries.indices, entries.indptr):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


@pytest.mark.parametrize("make", [np.asarray, csr_array, coo_array])
def test_large_whole_entries_are_refused_and_never_wrap(make):
    for matrix in (
        np.array([[2**64 - 1, 1]], dtype=np.uint64),
        np.array([[2**63]], dtype=np.uint64),
        np.array([[-(2**63)]]),
        np.array([[2**31]]),
    ):
        with pytest.raises(InvalidParameter, match="digits"):
            Explicit(matrix=make(matrix))
    assert Explicit(matrix=make(np.array([[200, 255]], dtype=np.uint8))).dense().tolist() == [[200, 255]]


def test_small_entries_that_are_named_twice_add_up_in_64_bits():
    twice = coo_array((np.array([100, 100], dtype=np.int8), ([0, 0], [0, 0])), shape=(1, 1))
    assert Explicit(matrix=twice).dense().tolist() == [[200]]


def test_repr_gives_it_back_where_it_is_short():
    for matrix in ([[1, 2], [0, -1]], [[Fraction(1, 3), 1], [0, 2]]):
        held = Explicit(matrix=matrix)
        assert rebuild(repr(held), {"Explicit": Explicit, "Fraction": Fraction}) == held
    assert repr(Explicit(matrix=np.eye(20))) == "Explicit(matrix=<20 x 20>)"


def test_the_sensitivity_of_floats_is_exact():
    assert Explicit(matrix=[[0.5, 0.25]]).sensitivity(1, relation="add_remove") == Fraction(1, 2)
    assert Explicit(matrix=[[1, 2], [1, 2]]).sensitivity(2, relation="replace_one") == pytest.approx(2**0.5, rel=1e-15)
    assert Explicit(matrix=[[0, 0]]).sensitivity(2, relation="add_remove") == 0


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_cannot_be_written_to_either(again):
    made = Explicit(matrix=[[1, 0], [Fraction(1, 2), 1]])
    copied = again(made)
    assert copied == made
    assert copied.denominator == 2
    for name in ("data", "indices", "indptr"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(copied.matrix.entries, name)[0] = 7
        assert not getattr(made.matrix.entries, name).flags.writeable


def test_what_was_charged_for_cannot_be_replaced():
    made = Explicit(matrix=[[1, 0], [0, 1]])
    entries = made.matrix.entries
    entries.data = entries.data * 1000
    assert made.dense().tolist() == [[1, 0], [0, 1]]
    for array in (made.matrix.data, made.matrix.indices, made.matrix.indptr):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
