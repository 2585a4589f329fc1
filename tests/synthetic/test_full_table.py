"""The table of all combinations: its loss, its sensitivity by brute force, and the model that is made of it."""

from itertools import product

import numpy as np
import pytest

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.synthetic.coded import tallied
from discreet.synthetic.full_table import FullTable
from discreet.testing import check_mechanism

SIZES = (2, 3)
EVERY = [list(row) for row in product(range(2), range(3))]


def moved(relation, records):
    """The largest change of the table in L1 and in squared L2 norm, over all neighbours of a small data set."""
    rest = [[1, 1], [0, 2]]
    people = [[row] * records for row in EVERY] + [[EVERY[0], EVERY[-1]][:records] for _ in range(records > 1)]
    sides = [rest] if relation == "add_remove" else [rest + one for one in people]
    found = []
    for a, one in product(sides, people):
        tables = [tallied(data, SIZES).table((0, 1), SIZES) for data in (a, rest + one)]
        change = np.abs(tables[0] - tables[1])
        found.append((int(change.sum()), int((change**2).sum())))
    return max(first for first, _ in found), max(second for _, second in found)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("records", [1, 2])
def test_the_sensitivity_is_the_largest_change(relation, records):
    first, squared = moved(relation, records)
    pure = FullTable(sizes=SIZES, epsilon=1, relation=relation, records=records)
    gaussian = FullTable(sizes=SIZES, rho=0.5, relation=relation, records=records)
    assert pure.noise.sensitivity == first
    ((term, count),) = gaussian.loss.terms
    assert (term.squared_sensitivity, count) == (squared, 1)
    assert gaussian.loss.rho <= 0.5
    assert pure.loss.epsilon() == 1
    assert float(gaussian.noise.sigma) == pytest.approx(np.sqrt(squared / (2 * 0.5)))


def test_a_budget_is_used_up():
    table = FullTable.for_budget(1, 1e-6, sizes=SIZES, relation="add_remove")
    assert 0.99 < table.loss.epsilon(1e-6) <= 1
    assert FullTable.for_budget(1, sizes=SIZES, relation="add_remove").loss.is_pure


@pytest.mark.parametrize("data", [[], [[0, 0]], [[1, 2]] * 1000, [[9, -4]] * 10, [[None, "x"]] * 10])
def test_any_records_make_a_model(data):
    model = FullTable(sizes=SIZES, rho=0.1, relation="replace_one").release(data)
    assert model.sizes == SIZES
    assert model.total >= 1
    assert (model.marginal((0, 1)) >= 0).all()


def test_it_is_accurate_and_never_impossible():
    mask = np.array([[False, True, False], [False, False, False]])
    table = FullTable(sizes=SIZES, rho=100, relation="add_remove", zeros={(0, 1): mask})
    counts = table.release([[0, 1]] * 30 + [[0, 0]] * 200 + [[1, 2]] * 300).marginal((0, 1))
    assert counts[0, 1] == 0
    assert abs(counts[0, 0] - 200) < 3
    assert abs(counts[1, 2] - 300) < 3
    with pytest.raises(InvalidParameter, match="nothing possible"):
        FullTable(sizes=SIZES, rho=1, relation="add_remove", zeros={(0,): np.array([True, True])}).release([])


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"sizes": (5000, 5000)},
        {"rho": None},
        {"epsilon": 1},
        {"rho": 0},
        {"records": 0},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        FullTable(**{"sizes": SIZES, "rho": 1, "relation": "add_remove"} | wrong)


def test_the_relation_must_be_said():
    with pytest.raises(RelationMismatch):
        FullTable(sizes=SIZES, rho=1, relation="x")


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_it_keeps_the_contract_of_mechanisms(relation):
    check_mechanism(FullTable(sizes=SIZES, epsilon=1, relation=relation))
