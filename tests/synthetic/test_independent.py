"""Single attributes alone: what they cost, that the model is their product, and data that give nothing to count."""

import itertools

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.independent import Independent
from discreet.testing import check_mechanism

SIZES = (3, 2, 4)
RELATIONS = ["add_remove", "replace_one"]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 3])
def test_the_loss_is_that_of_all_tables(relation, records):
    made = Independent(sizes=SIZES, rho=0.3, relation=relation, records=records)
    squared = (1 if relation == "add_remove" else 2) * records**2
    assert float(made.noise.sigma) ** 2 == pytest.approx(squared / (2 * 0.1))
    assert 0.3 * (1 - 1e-6) <= made.loss.rho <= 0.3 * (1 + 1e-9)
    assert made.loss.epsilon(1e-6) == pytest.approx((3 * made.noise.loss).epsilon(1e-6))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 2])
def test_tables_change_by_no_more_than_is_charged(relation, records):
    """All neighbours of small data, over all places where a person's records may lie."""
    sizes = (2, 3)
    made = Independent(sizes=sizes, rho=1, relation=relation, records=records)
    cells = list(itertools.product(range(2), range(3)))
    base = [[0, 0], [1, 2]]
    worst = 0.0
    for person in itertools.combinations_with_replacement(cells, records):
        others = [()] if relation == "add_remove" else list(itertools.combinations_with_replacement(cells, records))
        for other in others:
            one, two = (tallied(base + [list(cell) for cell in rows], sizes) for rows in (person, other))
            for i in range(2):
                worst = max(worst, float(((one.table((i,), sizes) - two.table((i,), sizes)) ** 2).sum()))
    assert worst == pytest.approx(float(made.noise.sensitivity) ** 2)


def test_the_worst_case_is_the_worst():
    for relation in RELATIONS:
        made = Independent(sizes=SIZES, rho=1, relation=relation, records=2)
        one, other = (tallied(data, SIZES) for data in made.worst_case())
        for i in range(3):
            moved = float(((one.table((i,), SIZES) - other.table((i,), SIZES)) ** 2).sum())
            assert moved == pytest.approx(float(made.noise.sensitivity) ** 2)


def test_the_model_is_the_product_of_its_tables():
    data = np.random.default_rng(5).integers(0, 2, (4000, 3))
    model = Independent(sizes=SIZES, rho=1000, relation="add_remove").release(data)
    whole = model.marginal((0, 1, 2))
    alone = [model.marginal((i,)) / model.total for i in range(3)]
    assert np.allclose(whole, np.einsum("i,j,k", *alone) * model.total)
    for i in range(3):
        assert np.abs(model.marginal((i,)) - np.bincount(data[:, i], minlength=SIZES[i])).max() < 5


@pytest.mark.parametrize(
    "data",
    [np.zeros((0, 3), dtype=int), [[0, 0, 0]], [[1, 1, 1]] * 500, [[9, -4, 2]] * 50, [[None, "x"], 7, [1, 2, 3, 4]]],
    ids=["empty", "one", "constant", "outside", "odd"],
)
@pytest.mark.parametrize("rho", [1e-6, 100])
def test_any_data_give_a_model(data, rho):
    model = Independent(sizes=SIZES, rho=rho, relation="replace_one").release(data)
    table = model.marginal((0, 1, 2))
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(model.total)


def test_tallied_records_count_as_often_as_they_are():
    tally = Tallied(np.array([[0, 0], [1, 1]]), np.array([1 << 32, 5]))
    model = Independent(sizes=(2, 2), rho=1, relation="add_remove").release(tally)
    assert model.marginal((0,))[0] == pytest.approx(1 << 32, rel=1e-6)


def test_impossible_combinations_have_no_chance():
    mask = np.zeros((3, 2), dtype=bool)
    mask[2, 1] = True
    data = [[0, 1, 0], [2, 0, 3]] * 100
    made = Independent(sizes=SIZES, rho=10, relation="add_remove", zeros={(0, 1): mask})
    model = made.release(data, seconds=5)
    assert model.marginal((0, 1))[2, 1] == 0
    assert np.abs(model.marginal((0,)) - [100, 0, 100]).max() < 12


def test_zeros_are_checked_before_any_data_and_tell_apart():
    mask = np.zeros((3, 2), dtype=bool)
    plain = Independent(sizes=SIZES, rho=1, relation="add_remove")
    assert plain == Independent(sizes=SIZES, rho=1, relation="add_remove", zeros={})
    assert plain != Independent(sizes=SIZES, rho=1, relation="add_remove", zeros={(0, 1): mask})
    for wrong in ({(0, 1): ~mask}, {(0, 2): mask}, {(0, 9): mask}):
        with pytest.raises(InvalidParameter, match="zeros"):
            Independent(sizes=SIZES, rho=1, relation="add_remove", zeros=wrong)


def test_a_budget_is_kept_and_used():
    made = Independent.for_budget(1, 1e-9, sizes=SIZES, relation="add_remove", records=2)
    assert 0.99 < made.loss.epsilon(1e-9) <= 1
    assert made.records == 2


def test_progress_is_told():
    seen = []
    Independent(sizes=SIZES, rho=1, relation="add_remove").release([[0, 0, 0]], progress=lambda *one: seen.append(one))
    assert seen == [("single attributes", i, 3) for i in (1, 2, 3)]


@pytest.mark.parametrize(
    "wrong",
    [{"sizes": ()}, {"sizes": (0,)}, {"sizes": (1 << 25,)}, {"rho": 0}, {"rho": float("nan")}, {"records": 0}],
    ids=str,
)
def test_odd_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        Independent(**{"sizes": SIZES, "rho": 1, "relation": "add_remove"} | wrong)


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(InvalidInput):
        Independent(sizes=SIZES, rho=1, relation="add_remove").release(np.zeros((3, 2), dtype=int))


def test_it_conforms():
    found = check_mechanism(Independent(sizes=SIZES, rho=1, relation="add_remove"))
    assert found.passed, str(found)
