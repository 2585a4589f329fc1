"""Equations that contradict each other are found exactly, and a proof is given."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synthetic.consistency import elimination
from discreet.synthetic.consistency.elimination import unequal


def equations(matrix):
    return [{j: Fraction(int(c)) for j, c in enumerate(row) if c} for row in matrix]


def rank(matrix):
    """Return the rank modulo a prime that is larger than every determinant here."""
    prime, rows, count = 2**61 - 1, [[int(c) for c in row] for row in matrix], 0
    for column in range(len(rows[0])):
        pivot = next((row for row in rows[count:] if row[column] % prime), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(count, pivot)
        count += 1
        inverse = pow(pivot[column], -1, prime)
        rows[count:] = [
            [(c - row[column] * inverse * q) % prime for c, q in zip(row, pivot, strict=True)] for row in rows[count:]
        ]
    return count


@given(st.integers(0, 2**32), st.booleans())
def test_what_is_returned_is_a_proof_and_nothing_is_missed(seed, kept):
    random = np.random.default_rng(seed)
    matrix = random.integers(-1, 2, (5, 4))
    ends = matrix @ random.integers(0, 2**40, 4) + (0 if kept else random.integers(0, 2, 5))
    found = unequal(equations(matrix), ends.tolist())
    if found is not None:
        for column in matrix.T.tolist():
            assert sum(y * column[i] for i, y in found.items()) == 0
        assert sum(y * int(ends[i]) for i, y in found.items()) != 0
    assert (found is None) == (rank(matrix) == rank(np.column_stack([matrix, ends])))


@pytest.mark.parametrize("end", [1e9, 1e15, 2.0**52])
def test_one_person_in_very_many_is_seen(end):
    rows = equations([[1, 1], [1, 0], [0, 1]])
    assert unequal(rows, [end, end - 5, 5]) is None
    assert set(unequal(rows, [end, end - 5, 6])) == {0, 1, 2}


def test_numbers_that_were_rounded_do_not_contradict():
    rows = equations([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    assert unequal(rows, [1 / 3, 1 / 3, 1 / 3, 1]) is None
    assert unequal(rows, [0.1, 0.2, 0.3, 0.6]) is None
    assert unequal(rows, [0.1, 0.2, 0.3, 0.6000001]) is not None


def test_it_gives_up_in_time(monkeypatch):
    rows = equations([[1, 1], [1, 0], [0, 1]])
    assert unequal(rows, [3, 1, 1]) is not None
    monkeypatch.setattr(elimination, "MOST_WORK", 1)
    assert unequal(rows, [3, 1, 1]) is None
