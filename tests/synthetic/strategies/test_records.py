"""Persons with several records, some of them counted nowhere: the noise covers every way in which they may move."""

import itertools
import math

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic import MatrixMechanism
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine
from discreet.synthetic.operators import Identity, Marginals, Prefix, Union
from discreet.synthetic.strategies import Hierarchical, ResidualPlanner
from discreet.synthetic.strategies.residual_planner import EXACT

SMALL = Marginals(sizes=(2, 3), of=((0,), (1,), (0, 1), ()))


def steps(cells, relation, records):
    """Every change of a histogram when up to so many records of a person vanish and as many others appear."""
    units = [tuple(row) for row in np.eye(cells, dtype=int)]
    some = (one for k in range(records + 1) for one in itertools.combinations_with_replacement(units, k))
    total = [np.sum(one, axis=0) if one else np.zeros(cells, dtype=int) for one in some]
    if relation == "add_remove":
        return total
    return [a - b for a in total for b in total]


def residual_rows(sizes, attributes):
    rows = np.ones((1, 1))
    for i, size in enumerate(sizes):
        rows = np.kron(rows, np.eye(size) - 1 / size if i in attributes else np.ones((1, size)))
    return rows


@pytest.mark.parametrize("records", [1, 2, 3])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_residuals_cover_every_move_of_a_person(relation, records):
    partial = relation == "replace_one"
    plan = ResidualPlanner(workload=SMALL, relation=relation, rho=0.5, partial=partial, records=records)
    assert plan.loss.rho <= 0.5 * (1 + 1e-9)
    worst = 0.0
    for move in steps(6, relation, records):
        each = [(residual_rows((2, 3), a) @ move, v) for a, v in plan.noise.items()]
        worst = max(worst, sum(float(change @ change) / v for change, v in each))
    assert worst <= 2 * plan.loss.rho * (1 + 1e-9)
    assert worst >= 2 * plan.loss.rho * (0.999 if relation == "add_remove" else 0.7)


def test_a_partial_plan_noises_the_total_and_a_whole_one_does_not():
    whole = ResidualPlanner(workload=SMALL, relation="replace_one", rho=0.5)
    partial = ResidualPlanner(workload=SMALL, relation="replace_one", rho=0.5, partial=True)
    assert whole.noise[()] == 0
    assert partial.noise[()] > 0
    with pytest.raises(InvalidParameter, match="partial=True"):
        ResidualPlanner(workload=SMALL, relation="replace_one", rho=0.5, records=2)
    with pytest.raises(InvalidParameter, match="partial"):
        whole.release_cells([[0, 0]], [3])


def test_counted_cells_are_the_same_as_their_records():
    plan = ResidualPlanner(workload=SMALL, relation="add_remove", rho=0.5)
    records = np.array([[0, 1]] * 5 + [[1, 2]] * 7)
    one, other = plan._counted(records), plan._counted(np.array([[0, 1], [1, 2]]), np.array([5, 7]))
    assert all(np.array_equal(one[a], other[a]) for a in one)


def test_enormous_counts_are_clamped_and_never_wrap():
    plan = ResidualPlanner(workload=SMALL, relation="add_remove", rho=0.5)
    tables = plan._counted(np.array([[0, 0]] * 4), np.array([2**62 - 1] * 4).clip(0, 2**40))
    assert all((table >= 0).all() for table in tables.values())
    noisy = plan.release_cells([[0, 0], [1, 2]], [10**30, -5])
    assert 2**39 < float(noisy.table(())) < EXACT


@pytest.mark.parametrize("records", [1, 2, 3])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 0.5}])
def test_matrices_cover_every_move_of_a_person(relation, records, budget):
    for strategy in (
        Identity(size=4),
        Prefix(size=4),
        Hierarchical(size=4, branching=2),
        Union(of=(Identity(size=4), Prefix(size=4))),
    ):
        plan = MatrixMechanism(
            workload=Identity(size=4), strategy=strategy, relation=relation, records=records, **budget
        )
        p = 1 if "epsilon" in budget else 2
        moved = max(
            float((np.abs(strategy.matvec(move)).astype(float) ** p).sum()) ** (1 / p)
            for move in steps(4, relation, records)
        )
        allowed = float(plan.noise.sensitivity) / strategy.denominator
        assert moved <= allowed * (1 + 1e-9)
        single = MatrixMechanism(workload=Identity(size=4), strategy=strategy, relation=relation, **budget)
        assert float(plan.noise.sensitivity) == pytest.approx(records * float(single.noise.sensitivity))
        assert (plan.loss.epsilon() <= 1) if p == 1 else (plan.loss.rho <= 0.5)


@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_hierarchies_cover_every_move_of_a_person(relation, records):
    town = Hierarchy(
        spine=Spine(levels=("town", "street"), leaves=(("Bath", "High"), ("Bath", "Low"))),
        cells=Cells(attributes={"sex": ("f", "m")}),
        queries={"total": (), "all": ("sex",)},
        rho=1,
        relation=relation,
        records=records,
    )
    worst = 0.0
    for move in steps(4, relation, records):
        leaves = move.reshape(2, 2)
        total = 0.0
        for m in town.measurements:
            level = leaves if m.level == "street" else leaves.sum(axis=0, keepdims=True)
            table = level if m.attributes else level.sum(axis=1, keepdims=True)
            total += float((table**2).sum()) / m.sigma**2
        worst = max(worst, total)
    assert worst / 2 <= float(town.loss.rho) * (1 + 1e-9) <= 1 + 1e-6
    assert town.measurements[0].squared_sensitivity == records**2


@pytest.mark.parametrize("records", [0, -1, 1.0, True, None, 2**41])
def test_odd_numbers_of_records_are_refused(records):
    with pytest.raises(InvalidParameter, match="how many may a person have"):
        ResidualPlanner(workload=SMALL, relation="add_remove", rho=0.5, records=records)
    with pytest.raises(InvalidParameter, match="how many may a person have"):
        MatrixMechanism(
            workload=Identity(size=2), strategy=Identity(size=2), relation="add_remove", epsilon=1, records=records
        )


def test_the_largest_deviation_is_that_of_an_entry():
    """With impossible cells entries of one table differ, and the largest is told."""
    town = Hierarchy(
        spine=Spine(levels=("town", "street"), leaves=(("A", "x"), ("A", "y"), ("B", "z"))),
        cells=Cells(
            attributes={"age": ("child", "adult"), "role": ("spouse", "other")},
            rules={"grown up": lambda cell: cell["role"] != "spouse" or cell["age"] == "adult"},
        ),
        queries={"age": ("age",), "all": ("age", "role")},
        rho=1,
        relation="add_remove",
    )
    largest, mean = town.largest_errors(), town.standard_errors()
    assert all(largest[level][q] >= mean[level][q] * (1 - 1e-9) for level in mean for q in mean[level])
    runs = 1500
    found = {level: [] for level in mean}
    zero = np.zeros((3, 2, 2), dtype=np.int64) + 1000
    for _ in range(runs):
        out = town.publish(town.measure(zero))
        for level, rows in found.items():
            rows.append(out.estimated(level, ("age",)))
    for level, rows in found.items():
        spread = np.std(rows, axis=0).max()
        assert math.isclose(spread, largest[level]["age"], rel_tol=8 / math.sqrt(2 * runs))
