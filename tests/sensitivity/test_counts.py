import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.sensitivity import Counts, brute_force, norm

OVERLAPPING = (lambda x: x > 0, lambda x: x > 1, lambda x: x % 2 == 1)
DOMAIN = [0, 1, 2, 3]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_one_record_moves_all_counts(relation, p, m):
    counts = Counts(wheres=OVERLAPPING[:m])
    claimed = counts.sensitivity(p, relation=relation)
    assert claimed == brute_force(counts, DOMAIN, 3, relation, p)
    assert claimed == pytest.approx(1 if p == math.inf else m ** (1 / p))


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
def test_shares_of_a_public_size(p):
    shares = Counts(wheres=OVERLAPPING, size=4)
    assert shares.sensitivity(p, relation="replace_one") == brute_force(shares, DOMAIN, 4, "replace_one", p)
    assert shares.sensitivity(relation="replace_one") == Fraction(3, 4)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_shares_keep_their_sensitivity_when_the_size_is_wrong(n):
    shares = Counts(wheres=OVERLAPPING, size=4)
    assert brute_force(shares, DOMAIN, n, "replace_one") <= shares.sensitivity(relation="replace_one")


def test_a_thousand_counts():
    counts = Counts(wheres=(lambda x: True,) * 1000)
    assert counts.sensitivity(relation="add_remove") == 1000
    assert counts.sensitivity(2, relation="add_remove") == norm([1] * 1000, 2) >= math.sqrt(1000)


def test_answers_are_exact():
    assert Counts(wheres=OVERLAPPING)(np.array([1, 2, 3])).tolist() == [3, 2, 2]
    assert Counts(wheres=OVERLAPPING)([]).dtype == np.int64
    assert Counts(wheres=OVERLAPPING, size=3)([1, 2, 3]).tolist() == [1, Fraction(2, 3), Fraction(2, 3)]


def test_sizes_of_narrow_types_do_not_wrap_around():
    shares = Counts(wheres=OVERLAPPING, size=np.int8(100))
    assert sum(shares([3] * 200)) == 6
    assert shares.sensitivity(relation="replace_one") == Fraction(3, 100)


def test_shares_need_a_public_size():
    with pytest.raises(RelationMismatch, match="the counts without size and a noisy number of records"):
        Counts(wheres=OVERLAPPING, size=4).sensitivity(relation="add_remove")


@pytest.mark.parametrize("wheres", [(), None, ("blond",), [len], len])
def test_wheres_must_be_functions(wheres):
    with pytest.raises(InvalidParameter, match="tuple of one or more functions"):
        Counts(wheres=wheres)


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "3"])
def test_sizes_must_be_positive_integers(size):
    with pytest.raises(InvalidParameter, match="public number of records"):
        Counts(wheres=OVERLAPPING, size=size)
