import math

import numpy as np
import pytest

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.sensitivity import Count, brute_force

RELATIONS = ["add_remove", "replace_one"]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
def test_one_record_moves_a_count_by_one(relation, p):
    blond = Count(where=lambda hair: hair == "blond")
    claimed = blond.sensitivity(p, relation=relation)
    assert claimed == brute_force(blond, ["blond", "brown"], 4, relation, p) == 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_number_of_records(relation):
    tried = brute_force(Count(), ["a", "b"], 4, relation)
    assert tried <= Count().sensitivity(relation=relation)
    assert tried == (1 if relation == "add_remove" else 0)


def test_counts_of_any_container():
    even = Count(where=lambda x: x % 2 == 0)
    assert even([]) == Count()([]) == 0
    assert even([1, 2, 2]) == even(np.array([1, 2, 2])) == even(iter((2, 1, 2))) == 2
    assert Count()(np.zeros((3, 2))) == 3


def test_a_record_counts_once_whatever_the_condition_returns():
    assert Count(where=lambda x: 5)([1, 2]) == 2
    assert Count(where=lambda x: None)([1, 2]) == 0


def test_wrong_questions_are_refused():
    with pytest.raises(InvalidParameter, match="function of one record"):
        Count(where="blond")
    with pytest.raises(RelationMismatch):
        Count().sensitivity(relation=None)
    with pytest.raises(TypeError, match="relation"):
        Count().sensitivity()
    with pytest.raises(InvalidParameter, match="the norm p"):
        Count().sensitivity(0.5, relation="add_remove")
