import itertools
import math
from fractions import Fraction

import pytest

from discreet import Laplace
from discreet.errors import InvalidParameter, RelationMismatch
from discreet.sensitivity import brute_force
from discreet.sensitivity.restricted import Restricted
from discreet.units import Row

VALUES = (0, 1, 3, 10)
SPACE = {
    "replace_one": list(itertools.combinations_with_replacement(VALUES, 3)),
    "add_remove": [x for n in range(4) for x in itertools.combinations_with_replacement(VALUES, n)],
}


def spread(data):
    return max(data, default=0) - min(data, default=0)


def below(data):
    return max(data, default=0) <= 3


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("function", [sum, spread, lambda data: Fraction(len(data) ** 2, 7)])
def test_it_is_the_function_on_the_list_and_no_steeper_anywhere(relation, function):
    hypothesis = tuple(filter(below, SPACE[relation]))
    restricted = Restricted(function=function, hypothesis=hypothesis, relation=relation)
    rate = restricted.sensitivity(relation=relation)
    assert all(restricted(data) == function(data) for data in hypothesis)
    distance = Row(relation=relation).distance
    pairs = [(x, y) for x, y in itertools.combinations(hypothesis, 2) if distance(x, y) < math.inf]
    assert rate == max(abs(Fraction(function(x)) - function(y)) / Fraction(distance(x, y)) for x, y in pairs)
    assert brute_force(restricted, VALUES, 3, relation) <= rate
    assert all(
        abs(restricted(x) - restricted(y)) <= rate * distance(x, y)
        for x, y in itertools.combinations(SPACE[relation], 2)
        if distance(x, y) < math.inf
    )


def test_a_smaller_rate_would_be_wrong_on_the_list():
    hypothesis = tuple(filter(below, SPACE["replace_one"]))
    restricted = Restricted(function=sum, hypothesis=hypothesis, relation="replace_one")
    assert restricted.rate == 3
    assert brute_force(sum, VALUES, 3, "replace_one") == 10
    object.__setattr__(restricted, "rate", restricted.rate * Fraction(9, 10))
    assert any(restricted(data) != sum(data) for data in hypothesis)


def edges_apart(a, b):
    return len(a ^ b)


def triangles(graph):
    return sum({(a, b), (a, c), (b, c)} <= graph for a, b, c in itertools.combinations(range(4), 3))


def test_triangles_of_graphs_with_small_degrees():
    pairs = list(itertools.combinations(range(4), 2))
    graphs = [frozenset(chosen) for n in range(7) for chosen in itertools.combinations(pairs, n)]
    few = [g for g in graphs if all(sum(v in edge for edge in g) <= 2 for v in range(4))]
    restricted = Restricted(function=triangles, hypothesis=tuple(few), relation="add_remove", distance=edges_apart)
    assert restricted.sensitivity(relation="add_remove") == 1
    assert all(restricted(g) == triangles(g) for g in few)
    neighbours = [(g, g ^ {edge}) for g in graphs for edge in pairs]
    assert max(abs(triangles(a) - triangles(b)) for a, b in neighbours) == 2
    assert max(abs(restricted(a) - restricted(b)) for a, b in neighbours) == 1


def test_noise_fits_it():
    restricted = Restricted(function=sum, hypothesis=([1, 2], [2, 3]), relation="replace_one")
    released = Laplace(sensitivity=2, epsilon=1000).of(restricted, relation="replace_one").release([1, 2])
    assert abs(released - 3) < 1
    with pytest.raises(InvalidParameter, match="changes by up to"):
        Laplace(sensitivity=Fraction(1, 2), epsilon=1).of(restricted, relation="replace_one")
    with pytest.raises(RelationMismatch):
        Laplace(sensitivity=2, epsilon=1).of(restricted, relation="add_remove")


def test_data_that_nothing_reaches_has_a_value():
    restricted = Restricted(function=sum, hypothesis=([1, 2], [2, 3]), relation="replace_one")
    assert restricted([1]) == 3
    assert restricted([1, 2, 3]) == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"function": sum, "hypothesis": ()},
        {"function": lambda data: math.inf, "hypothesis": ([1],)},
        {"function": lambda data: data[0], "hypothesis": ([1, 2], [2, 1])},
        {"function": sum, "hypothesis": ([1], [2]), "distance": lambda a, b: -1},
    ],
)
def test_settings_are_checked(settings):
    with pytest.raises(InvalidParameter):
        Restricted(relation="replace_one", **settings)


class Unhashable:
    __hash__ = None


class Failing:
    def __hash__(self):
        raise RuntimeError


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("odd", [Unhashable(), Failing(), (1, Unhashable()), bytearray(b"1")])
def test_records_that_cannot_be_compared_are_on_no_list(relation, odd):
    restricted = Restricted(function=sum, hypothesis=([1, 2], [2, 3], [2, 9]), relation=relation)
    assert restricted([1, odd]) == restricted([1, "on no list"])


def test_records_that_can_be_read_once_are_compared_with_the_whole_list():
    restricted = Restricted(function=max, hypothesis=([1, 2, 3], [1, 3, 9]), relation="replace_one")
    assert restricted(iter([1, 3, 9])) == 9
    own = Restricted(
        function=max, hypothesis=([1, 2], [1, 9]), relation="replace_one", distance=lambda a, b: abs(max(a) - max(b))
    )
    assert own(iter([1, 9])) == 9


def test_a_list_that_changes_later_changes_nothing():
    hypothesis = ([1, 2, 3], [9, 2, 4])
    restricted = Restricted(function=max, hypothesis=hypothesis, relation="replace_one")
    hypothesis[0][:] = [9, 2, 5]
    assert restricted([9, 2, 4]) == 9
