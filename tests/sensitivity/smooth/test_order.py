"""Order statistics against the definition, over all data sets of small domains."""

from fractions import Fraction

import numpy as np
import pytest
from definitions import World, added, by_persons, flaws, replaced

from discreet.errors import InvalidInput, InvalidParameter, RelationMismatch, UnboundedSensitivity
from discreet.sensitivity.smooth.order import Median, OrderStatistic, SampleQuantile, rank_of
from discreet.sensitivity.smooth.sample import sample
from discreet.sensitivity.smooth.windows import Windows

DOMAIN = (0, 1, 3, 4)
BOUNDS = (0, 4)


def look(function, world):
    return [function.at(data) for data in world.data_sets]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_every_rank_is_exact(n):
    world = replaced(DOMAIN, n)
    for rank in range(1, n + 1):
        assert flaws(world, look(OrderStatistic(rank=rank, bounds=BOUNDS), world), exact=True) == []


@pytest.mark.parametrize("kind", ["average", "lower", "upper"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_every_median_is_exact(n, kind):
    world = replaced((0, 1, 2, 5), n)
    assert flaws(world, look(Median(bounds=(0, 5), kind=kind), world), exact=True) == []


@pytest.mark.parametrize("probability", [0.1, Fraction(1, 3), 0.5, 0.9, 1])
def test_quantiles_are_exact_where_the_number_of_records_is_public(probability):
    for n in (1, 2, 3, 4):
        world = replaced(DOMAIN, n)
        assert flaws(world, look(SampleQuantile(probability=probability, bounds=BOUNDS), world), exact=True) == []


@pytest.mark.parametrize(
    "function",
    [
        *(SampleQuantile(probability=p, bounds=BOUNDS, relation="add_remove") for p in (0.1, 0.4, 0.5, 0.8, 1)),
        *(Median(bounds=BOUNDS, kind=kind, relation="add_remove") for kind in ("lower", "upper")),
        *(OrderStatistic(rank=rank, bounds=BOUNDS, relation="add_remove") for rank in (1, 2, 3, 9)),
    ],
)
def test_levels_bound_from_above_where_the_number_is_private(function):
    world = added((0, 1, 4), 7)
    inside = np.array([len(data) < 4 for data in world.data_sets])
    assert flaws(world, look(function, world), exact=False, most=4, inside=inside) == []


def test_levels_are_not_loose_where_the_number_is_private():
    world = added((0, 1, 4), 7)
    seen = look(SampleQuantile(probability=0.5, bounds=BOUNDS, relation="add_remove"), world)
    truth = world.levels(np.array([one.value for one in seen]), 4)
    inside = [i for i, data in enumerate(world.data_sets) if 1 <= len(data) < 4]
    equal = [truth[i, k] == seen[i].local(k) for i in inside for k in range(4)]
    assert sum(equal) > 0.6 * len(equal)


@pytest.mark.parametrize(("rows", "persons"), [(2, 2), (2, 3), (3, 2)])
def test_persons_with_several_rows(rows, persons):
    function = [OrderStatistic(rank=r, bounds=(0, 4), rows=rows) for r in range(1, rows * persons + 1)]
    loose = by_persons((0, 1, 4), persons, rows, False)
    fixed = by_persons((0, 1, 4) if persons * rows < 6 else (0, 4), persons, rows, True)
    for one in function:
        assert flaws(loose, look(one, loose), exact=True) == []
        assert flaws(fixed, look(one, fixed), exact=False) == []


def test_fixed_persons_can_move_less_than_any_rows():
    fixed = by_persons((0, 4), 3, 2, True)
    found = flaws(fixed, look(OrderStatistic(rank=1, bounds=(0, 4), rows=2), fixed), exact=True)
    assert found == ["a bound is above the least smooth bound", "a level is not the local sensitivity"]


@pytest.mark.parametrize("rows", [2, 3])
def test_persons_with_several_rows_who_come_or_go(rows):
    world = added((0, 1, 4), 8)
    world = World(world.data_sets, -(-world.distances // rows))
    inside = np.array([len(data) <= 8 - 2 * rows for data in world.data_sets])
    for function in (
        SampleQuantile(probability=0.4, bounds=BOUNDS, rows=rows, relation="add_remove"),
        OrderStatistic(rank=2, bounds=BOUNDS, rows=rows, relation="add_remove"),
    ):
        assert flaws(world, look(function, world), exact=False, most=2, inside=inside) == []


@pytest.mark.parametrize(
    "sabotage",
    [
        lambda one: Windows(one.value, one.points, one.left, one.right, weight=Fraction(9, 10)),
        lambda one: Windows(one.value, one.points, max(one.left - 1, 0), max(one.right - 1, 0)),
        lambda one: Windows(one.value, np.append(one.points[1:-1], [one.points[-1]] * 2), one.left, one.right),
    ],
    ids=["factor", "rank", "sentinel"],
)
def test_wrong_levels_would_be_noticed(sabotage):
    world = replaced(DOMAIN, 3)
    seen = [sabotage(one) for one in look(OrderStatistic(rank=2, bounds=BOUNDS), world)]
    assert "a level is below the local sensitivity" in flaws(world, seen, exact=False)


def test_one_row_would_not_do_for_two():
    world = by_persons((0, 1, 4), 2, 2, False)
    assert flaws(world, look(OrderStatistic(rank=2, bounds=(0, 4)), world), exact=False) != []


@pytest.mark.parametrize(
    ("data", "beta", "smooth", "levels"),
    [
        ([1, 2, 3, 5, 6], 0.1, 4.021920, [2, 3, 4, 5, 6, 6]),
        ([1, 2, 3, 5, 6], 1.0, 2.0, [2, 3, 4, 5, 6, 6]),
        ([3, 3, 3, 3, 3], 0.5, 1.103638323514327, [0, 0, 3, 3, 3, 6]),
        ([0, 0, 0, 6, 6], 0.5, 6.0, [6, 6, 6, 6, 6, 6]),
        ([0, 1, 1, 2, 6], 0.25, 3.8940039153570245, [1, 5, 5, 6, 6, 6]),
    ],
)
def test_worked_medians(data, beta, smooth, levels):
    seen = Median(bounds=(0, 6)).at(data)
    assert [seen.local(k) for k in range(6)] == levels
    assert seen.smooth(beta) == pytest.approx(smooth, rel=2e-7 if beta == 0.1 else 2e-9)


def test_worked_ranks_and_distances():
    for rank in (2, 4):
        assert OrderStatistic(rank=rank, bounds=(0, 4)).at([0, 1, 3, 4]).smooth(0.3) == pytest.approx(
            2.2224546620451537, rel=2e-9
        )
    seen = Median(bounds=(0, 6)).at([1, 2, 3, 5, 6])
    assert [seen.distance(bound) for bound in (1, 2, 3, 5)] == [0, 1, 2, 4]
    assert seen.distance(6) is None


def test_two_neighbours_with_one_median_and_far_different_local_sensitivities():
    here, there = Median(bounds=(0, 8)).at([0, 0, 0, 0, 8, 8, 8]), Median(bounds=(0, 8)).at([0, 0, 0, 0, 0, 8, 8])
    assert here.value == there.value
    assert (here.local(), there.local()) == (8, 0)
    assert here.smooth(0.3) <= there.smooth(0.3) * np.exp(0.3 + 1e-8)


def test_values_are_the_textbook_ones():
    data = [9, 1, 7, 3]
    assert [OrderStatistic(rank=r, bounds=(0, 10)).at(data).value for r in (1, 2, 3, 4, 5)] == [1, 3, 7, 9, 10]
    assert Median(bounds=(0, 10)).at(data).value == 5
    assert Median(bounds=(0, 10)).at([9, 1, 7]).value == 7
    numbers = np.random.default_rng(1).random(57)
    for p in (0.01, 0.25, 0.5, 0.77, 1.0):
        expected = np.quantile(numbers, p, method="inverted_cdf")
        assert SampleQuantile(probability=p, bounds=(0, 1)).at(numbers).value == expected
    assert [rank_of(p, 100) for p in (0.07, 0.29, 0.57)] == [7, 29, 57]


def test_wrong_numbers_of_records_are_harmless():
    assert SampleQuantile(probability=0.5, bounds=(2, 5)).at([]).value == 2
    assert Median(bounds=(2, 5)).at([]).value == 2
    assert Median(bounds=(2, 5), size=3).at([3, 4, 5, 5, 5]).value == 4
    assert Median(bounds=(2, 5), size=3).at([3]).value == 2
    for n in range(4):
        assert OrderStatistic(rank=3, bounds=(0, 1)).at([0.5] * n).smooth(0.1) > 0


def test_wrong_questions_are_refused():
    with pytest.raises(UnboundedSensitivity, match="the median has no bounds"):
        Median()
    with pytest.raises(InvalidParameter, match="rank must be at least 1"):
        OrderStatistic(rank=0, bounds=(0, 1))
    with pytest.raises(InvalidParameter, match="rank must be an integer"):
        OrderStatistic(rank=1.5, bounds=(0, 1))
    with pytest.raises(InvalidParameter, match="rows must be at least 1"):
        OrderStatistic(rank=1, bounds=(0, 1), rows=0)
    with pytest.raises(InvalidParameter, match='kind="lower"'):
        Median(bounds=(0, 1), relation="add_remove")
    with pytest.raises(InvalidParameter, match="kind must be"):
        Median(bounds=(0, 1), kind="middle")
    with pytest.raises(InvalidParameter, match="size must be left out"):
        SampleQuantile(probability=0.5, bounds=(0, 1), relation="add_remove", size=3)
    with pytest.raises(InvalidParameter, match="probability"):
        SampleQuantile(probability=0, bounds=(0, 1))
    with pytest.raises(RelationMismatch):
        OrderStatistic(rank=1, bounds=(0, 1), relation="other")
    with pytest.raises(InvalidInput, match="2 dimensions"):
        Median(bounds=(0, 1)).at(np.zeros((2, 2)))


def test_more_rows_than_records_take_no_longer_and_change_nothing(instructions):
    many = OrderStatistic(rank=2, bounds=BOUNDS, rows=10**9).at([1, 2, 3])
    assert many.smooth(0.1) == OrderStatistic(rank=2, bounds=BOUNDS, rows=4).at([1, 2, 3]).smooth(0.1)
    few, more = (
        instructions(lambda n=n: OrderStatistic(rank=2, bounds=BOUNDS, rows=n).at([1, 2, 3]).smooth(0.1))
        for n in (4, 10**9)
    )
    assert more < 2 * few
    for data in ([], [2], [1, 2, 3]):
        for rank in (1, 2, 5):
            points = sample(data, BOUNDS)
            place = min(rank, points.size - 1)
            plain = Windows(float(points[place]), points, place, place, rows=50)
            seen = OrderStatistic(rank=rank, bounds=BOUNDS, rows=50).at(data)
            assert [seen.local(k) for k in range(4)] == [plain.local(k) for k in range(4)]
            assert seen.smooth(0.3) == plain.smooth(0.3)


def test_the_order_of_more_records_than_the_public_number_does_not_matter():
    median = Median(bounds=(0, 9), size=3)
    assert median.at([0, 0, 0, 9, 9, 9]).value == median.at([9, 9, 9, 0, 0, 0]).value
