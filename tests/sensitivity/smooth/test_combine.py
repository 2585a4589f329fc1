"""Functions made of functions keep what their parts promise."""

from fractions import Fraction

import numpy as np
import pytest
from definitions import flaws, replaced

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.sensitivity import Count, Mean
from discreet.sensitivity.smooth import Function
from discreet.sensitivity.smooth.combine import Lipschitz, Maximum, Minimum, Scaled, Stack, Sum
from discreet.sensitivity.smooth.constant import Constant
from discreet.sensitivity.smooth.order import Median, OrderStatistic, SampleQuantile
from discreet.sensitivity.smooth.trimmed import TrimmedMean
from discreet.sensitivity.smooth.weighted import WeightedQuantile

BOUNDS = (0, 4)
LEAST, GREATEST = OrderStatistic(rank=1, bounds=BOUNDS), OrderStatistic(rank=4, bounds=BOUNDS)
MIDDLE, MEAN = Median(bounds=BOUNDS), TrimmedMean(trim=0, bounds=BOUNDS)
WORLD = replaced((0, 1, 3, 4), 4)


@pytest.mark.parametrize(
    "function",
    [
        Sum((LEAST, GREATEST)),
        Sum((MIDDLE, Scaled(function=MEAN, factor=Fraction(-1, 3)))),
        Scaled(function=MIDDLE, factor=-2.5),
        Maximum((MIDDLE, MEAN)),
        Minimum((MIDDLE, MEAN, GREATEST)),
        Lipschitz(function=MIDDLE, map=lambda m: abs(m - 2), constant=1, range=(0, 2)),
        Lipschitz(function=MIDDLE, map=lambda m: float(m) ** 2, constant=8, range=(0, 16), error=2.0**-48),
        Maximum((MIDDLE, Constant(query=Mean(bounds=BOUNDS, size=4), relation="replace_one", range=BOUNDS))),
        Constant(query=Mean(bounds=BOUNDS, size=4), relation="replace_one", range=BOUNDS),
    ],
)
def test_levels_bound_the_definition_and_bounds_are_smooth(function):
    seen = [function.at(data) for data in WORLD.data_sets]
    assert flaws(WORLD, seen, exact=False) == []
    low, high = function.range
    assert all(low <= one.value <= high for one in seen)
    assert isinstance(function, Function)
    assert (function.relation, function.size, function.dimension) == ("replace_one", None, 1)


def test_multiples_are_exact_and_wrong_multiples_noticed():
    seen = [Scaled(function=MIDDLE, factor=-3).at(data) for data in WORLD.data_sets]
    assert flaws(WORLD, seen, exact=True) == []
    wrong = Lipschitz(function=MIDDLE, map=lambda m: -3 * m, constant=2.7, range=(-12, 0))
    seen = [wrong.at(data) for data in WORLD.data_sets]
    assert "a level is below the local sensitivity" in flaws(WORLD, seen, exact=False)


def test_vectors_move_by_the_sum_of_their_moves():
    stack = Stack((LEAST, MIDDLE, MEAN))
    seen = [stack.at(data) for data in WORLD.data_sets]
    values = np.array([one.value for one in seen])
    assert values.shape == (len(seen), stack.dimension)
    near = np.argwhere(WORLD.distances == 1)
    moved = np.abs(values[near[:, 0]] - values[near[:, 1]]).sum(axis=1)
    local = np.zeros(len(seen))
    np.maximum.at(local, near[:, 0], moved)
    for k in range(5):
        truth = np.array([local[row <= k].max() for row in WORLD.distances])
        assert (np.array([one.local(k) for one in seen]) >= truth - 1e-15).all()
    for beta in (0.1, 1):
        bound = np.array([one.smooth(beta) for one in seen])
        assert (bound >= local).all()
        assert (bound[near[:, 0]] <= bound[near[:, 1]] * np.exp(beta + 2.0**-30)).all()
    assert (stack.norm, stack.range) == (1, (0, 4))
    assert seen[0].local() > sum(part.local() for part in seen[0].parts)  # a third is no float
    assert Stack((LEAST, GREATEST)).at([1, 2, 3, 4]).local() == 1 + 1


def test_ends_of_ranges():
    assert Sum((LEAST, GREATEST)).range == (0, 8)
    assert Scaled(function=LEAST, factor=-2).range == (-8, 0)
    wide = Median(bounds=(-1, 9))
    assert (Maximum((LEAST, wide)).range, Minimum((LEAST, wide)).range) == ((0, 9), (-1, 4))


def test_maps_cannot_leave_their_range():
    assert Lipschitz(function=MIDDLE, map=lambda m: 100 * m, constant=100, range=(0, 1)).at([3] * 4).value == 1


def test_constants_are_global_sensitivities_under_both_relations():
    for relation in ("add_remove", "replace_one"):
        seen = Constant(query=Count(), relation=relation, range=(0, 100)).at([1, 2, 3])
        assert seen.value == 3
        assert seen.smooth(0.5) >= float(Count().sensitivity(relation=relation))
    assert Constant(query=Count(), relation="add_remove", range=(0, 2)).at([1, 2, 3]).value == 2


def test_sizes_are_taken_over():
    assert Sum((LEAST, Median(bounds=BOUNDS, size=7))).size == 7
    assert Scaled(function=Median(bounds=BOUNDS, size=7), factor=2).size == 7


def test_wrong_combinations_are_refused():
    with pytest.raises(RelationMismatch):
        Sum((LEAST, SampleQuantile(probability=0.5, bounds=BOUNDS, relation="add_remove")))
    with pytest.raises(InvalidParameter, match="size"):
        Sum((Median(bounds=BOUNDS, size=7), Median(bounds=BOUNDS, size=8)))
    with pytest.raises(InvalidParameter, match="at least one"):
        Maximum(())
    for wrong in (lambda f: Sum((f,)), lambda f: Scaled(function=f, factor=2)):
        with pytest.raises(InvalidParameter, match="one number"):
            wrong(Stack((LEAST, MIDDLE)))
    with pytest.raises(InvalidParameter, match="factor"):
        Scaled(function=LEAST, factor=0)
    with pytest.raises(InvalidParameter, match="constant"):
        Lipschitz(function=LEAST, map=abs, constant=0, range=(0, 1))
    with pytest.raises(InvalidParameter, match="error"):
        Lipschitz(function=LEAST, map=abs, constant=1, range=(0, 1), error=-1)
    with pytest.raises(InvalidParameter, match="range"):
        Constant(query=Count(), relation="add_remove", range=(1, 0))


@pytest.mark.parametrize("records", [lambda: iter([1, 2, 3, 4]), lambda: (x for x in (4, 3, 2, 1))])
def test_records_that_can_be_read_once_are_read_by_all_parts(records):
    for kind in (Sum, Maximum, Minimum):
        assert kind((LEAST, MIDDLE)).at(records()).value == kind((LEAST, MIDDLE)).at([1, 2, 3, 4]).value
    assert Stack((LEAST, GREATEST)).at(records()).value.tolist() == [1, 4]


def test_histograms_that_can_be_read_once_are_read_by_all_parts():
    function = WeightedQuantile(bounds=(0, 9), relation="add_remove")
    assert Sum((function, function)).at((iter([3, 5]), iter([1, 4]))).value == 10


def test_a_list_of_functions_that_changes_later_changes_nothing():
    functions = [LEAST]
    both = Sum(functions)
    functions.append(GREATEST)
    assert both.at([1, 2, 3, 4]).value == 1


def test_small_integers_of_numpy_do_not_wrap_around():
    assert Scaled(function=MIDDLE, factor=np.int8(100)).at([4] * 4).value == 400
    wide = Lipschitz(function=MIDDLE, map=lambda m: 100 * m, constant=np.int8(100), range=(0, np.int16(400)))
    assert (wide.at([4] * 4).value, wide.range) == (400, (0, 400))
    assert SampleQuantile(probability=np.int8(1), bounds=BOUNDS).at([1] * 300 + [3]).value == 3
    assert repr(SampleQuantile(probability=np.int8(1), bounds=BOUNDS, size=np.int8(3))) == repr(
        SampleQuantile(probability=1, bounds=BOUNDS, size=3)
    )


@pytest.mark.parametrize("odd", ["x", [2], 3j, object(), None, float("nan")])
def test_constants_read_odd_records_as_missing(odd):
    mean = Constant(query=Mean(bounds=(0, 120), size=3), relation="replace_one", range=(0, 120))
    for records in ([30, odd, 60], iter([30, odd, 60])):
        assert mean.at(records).value == mean.at([30, None, 60]).value == 30


def test_constants_whose_query_always_fails_have_the_least_value():
    class Failing:
        def __call__(self, data):
            raise KeyError(data)

        def sensitivity(self, p=1, *, relation):
            return 1

    assert Constant(query=Failing(), relation="add_remove", range=(2, 9)).at([1, "x"]).value == 2


def test_constants_need_a_finite_sensitivity():
    class Unbounded(Count):
        def sensitivity(self, p=1, *, relation):
            return float("inf")

    with pytest.raises(InvalidParameter, match="finite"):
        Constant(query=Unbounded(), relation="add_remove", range=(0, 9))
