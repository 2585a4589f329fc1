import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, RelationMismatch
from discreet.units import Person, Row

RELATIONS = ["add_remove", "replace_one"]
scalars = st.lists(st.integers(0, 3), max_size=5)
owned = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=5)


def test_rows_added_and_removed():
    unit = Row(relation="add_remove")
    assert unit.distance([], []) == 0
    assert unit.distance([1, 1], [1]) == 1
    assert unit.distance([1, 2, 3], [3, 4]) == 3
    assert unit.neighbours([1, 1], [1])
    assert not unit.neighbours([1], [2])


def test_rows_replaced():
    unit = Row(relation="replace_one")
    assert unit.distance([1, 2, 3], [3, 4, 4]) == 2
    assert unit.distance([1], [1, 1]) == math.inf
    assert unit.neighbours([1, 2], [2, 3])


def test_rows_may_be_dictionaries_in_any_order():
    a = [{"hair": "blond", "age": 3}, {"hair": "red", "age": 4}]
    b = [{"age": 4, "hair": "red"}, {"age": 3, "hair": "blond"}]
    assert Row().distance(a, b) == 0


def test_rows_of_numpy_arrays():
    a = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert Row().distance(a, a[::-1].copy()) == 0
    assert Row(relation="replace_one").distance(a, a.astype(np.float32)) == 0
    assert Row().neighbours(a, a[:1])


def test_persons_come_and_go_with_all_their_rows():
    a = [("Ada", 1), ("Ada", 2), ("Bob", 1)]
    assert Person(0).distance(a, [("Bob", 1)]) == 1
    assert Person(0).distance(a, []) == 2
    assert Row().distance(a, [("Bob", 1)]) == 2


def test_a_person_whose_rows_change_is_removed_and_added():
    a, b = [("Ada", 1), ("Ada", 1), ("Bob", 1)], [("Ada", 1), ("Bob", 1)]
    assert Person(0).distance(a, b) == 2
    assert Person(0, relation="replace_one").distance(a, b) == 1


def test_a_person_may_be_replaced_by_another():
    unit = Person("user", relation="replace_one")
    a = [{"user": "Ada", "spent": 1}, {"user": "Bob", "spent": 1}]
    b = [{"user": "Eve", "spent": 9}, {"user": "Eve", "spent": 8}, {"user": "Bob", "spent": 1}]
    assert unit.neighbours(a, b)
    assert unit.distance(a, a[:1]) == math.inf


def test_persons_in_numpy_arrays():
    a = np.array([[7, 1], [7, 2], [8, 1]])
    assert Person(0).neighbours(a, a[:2])
    assert Person(0).distance(list(a), a.tolist()) == 0


@pytest.mark.parametrize("rows", [[{"name": "Ada"}], [("Ada", 1)], ["Ada"], [3]])
def test_rows_without_the_key_are_refused(rows):
    with pytest.raises(InvalidInput, match="whose it is under 'user'") as caught:
        Person("user").distance(rows, rows)
    assert "Ada" not in str(caught.value)


@pytest.mark.parametrize("position", [-1, 2])
def test_positions_outside_the_row_are_refused(position):
    with pytest.raises(InvalidInput, match="whose it is"):
        Person(position).distance([("Ada", 1)], [])


@pytest.mark.parametrize("build", [lambda r: Row(relation=r), lambda r: Person("user", relation=r)])
def test_unknown_relations_are_refused(build):
    with pytest.raises(RelationMismatch):
        build("unbounded")


def test_units_are_values():
    assert Person("user") == Person(key="user", relation="add_remove")
    assert repr(Row()) == "Row(relation='add_remove')"
    assert len({Row(), Row(), Row(relation="replace_one")}) == 2


@pytest.mark.parametrize("relation", RELATIONS)
@given(a=scalars, b=scalars, c=scalars)
def test_row_distance_is_a_metric(relation, a, b, c):
    assert_metric(Row(relation=relation), a, b, c, same=sorted(a) == sorted(b))


@pytest.mark.parametrize("relation", RELATIONS)
@given(a=owned, b=owned, c=owned)
def test_person_distance_is_a_metric(relation, a, b, c):
    assert_metric(Person(0, relation=relation), a, b, c, same=sorted(a) == sorted(b))


@given(a=owned, b=owned)
def test_persons_with_one_row_each_are_rows(a, b):
    a, b = ([(i, *row) for i, row in enumerate(sorted(rows))] for rows in (a, b))
    for relation in RELATIONS:
        assert Person(0, relation=relation).distance(a, b) == Row(relation=relation).distance(a, b)


@given(a=scalars, record=st.integers(0, 3), at=st.integers(0, 5))
def test_one_record_more_is_a_neighbour(a, record, at):
    assert Row().neighbours(a, [*a[:at], record, *a[at:]])


@given(a=scalars, b=scalars)
def test_adding_and_removing_costs_twice_a_replacement(a, b):
    replaced = Row(relation="replace_one").distance(a, b)
    if replaced < math.inf:
        assert Row(relation="add_remove").distance(a, b) == 2 * replaced


def assert_metric(unit, a, b, c, *, same):
    d = unit.distance
    assert (d(a, b) == 0) == same
    assert d(a, b) == d(b, a) == d(a[::-1], b)
    assert d(a, c) <= d(a, b) + d(b, c)
