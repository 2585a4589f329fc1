"""MWEM on product domains: what it costs, what its scores may do, and what it learns from any data."""

import itertools

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter
from discreet.accounting import PrivacyLoss
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.geometric import Geometric
from discreet.synthetic.coded import Tallied
from discreet.synthetic.multiplicative import MWEM, mwem
from discreet.synthetic.multiplicative.questions import Counts
from discreet.synthetic.multiplicative.replay import Lesson, replayed
from discreet.synthetic.multiplicative.steps import nudged
from discreet.synthetic.multiplicative.weights import Weights
from discreet.testing import check_mechanism

SIZES = (3, 2, 4)
RELATIONS = ["add_remove", "replace_one"]


def chain(rows, seed=1):
    """Records in which each attribute follows the one before it."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, rows)
    second = np.where(rng.random(rows) < 0.9, first % 2, rng.integers(0, 2, rows))
    third = np.where(rng.random(rows) < 0.9, second * 2, rng.integers(0, 4, rows))
    return np.stack([first, second, third], axis=1)


def exact(data, attributes):
    table = np.zeros(tuple(SIZES[i] for i in attributes))
    np.add.at(table, tuple(data[:, i] for i in attributes), 1)
    return table


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize("budget", ["epsilon", "rho"])
def test_the_loss_is_that_of_all_parts(relation, records, budget):
    plan = MWEM(sizes=SIZES, relation=relation, records=records, rounds=4, **{budget: 0.5})
    measured = relation == "add_remove" or records > 1
    assert (plan.total_noise is not None) == measured == plan.measures_total
    parts = [4 * plan.choice.loss, 4 * plan.noise.loss, *([plan.total_noise.loss] if measured else [])]
    touched = records * (1 if relation == "add_remove" else 2)
    each = (0.95 if measured else 1) * 0.5 / 8
    assert plan.choice.sensitivity == mwem.GRID * touched
    if budget == "epsilon":
        assert plan.loss.epsilon() == pytest.approx(0.5)
        assert float(plan.choice.epsilon) == pytest.approx(each)
        assert float(plan.noise.scale) == pytest.approx(touched / each)
    else:
        assert 0.5 * (1 - 1e-6) < plan.loss.rho <= 0.5 * (1 + 1e-9)
        assert float(plan.choice.epsilon) ** 2 / 8 == pytest.approx(each)
        assert float(plan.noise.sigma) ** 2 == pytest.approx(touched * records / (2 * each))
    assert plan.loss.epsilon(1e-6) == pytest.approx(PrivacyLoss.total(parts).epsilon(1e-6))
    assert plan.loss.relation == relation


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 2])
def test_scores_and_tables_change_by_no_more_than_is_charged(relation, records, monkeypatch):
    """All neighbours of small data: scores are read where they are chosen, tables where they are measured."""
    plan = MWEM(sizes=(2, 3), relation=relation, records=records, epsilon=1, rounds=2, size=5)
    seen = {}
    monkeypatch.setattr(Exponential, "release", lambda self, scores: seen["scores"].append(list(scores)) or 2)

    def release(self, table):
        seen["tables"].append(table)
        return np.array([[3, -1, 2], [0, 4, 1]])  # the same whatever the data: the second round starts alike

    monkeypatch.setattr(Geometric, "release", release)

    def read(data):
        seen.update(scores=[], tables=[])
        plan.release(np.array(data).reshape(-1, 2))
        return np.array(seen["scores"]), np.array(seen["tables"])

    cells = list(itertools.product(range(2), range(3)))
    scores = tables = 0
    for others in ([], [(0, 1), (1, 1)]):
        for own in itertools.combinations_with_replacement(cells, records):
            one = read([*others, *own])
            swaps = itertools.combinations_with_replacement(cells, records) if relation == "replace_one" else [()]
            for two in (read([*others, *other]) for other in list(swaps)[:: 1 if records == 1 else 9]):
                scores = max(scores, int(np.abs(one[0] - two[0]).max()))
                tables = max(tables, int(np.abs(one[1] - two[1]).sum(axis=(1, 2)).max()))
    assert scores == plan.choice.sensitivity
    assert tables == plan.noise.sensitivity


def test_what_was_measured_is_found_again():
    data = chain(5000)
    for settings in ({}, {"average": True}, {"update": "paper"}, {"cells": 16}, {"size": 5000}):
        plan = MWEM(sizes=SIZES, rho=2000, relation="add_remove", rounds=8, **settings)
        model = plan.release(data)
        worst = max(np.abs(model.marginal(pair) - exact(data, pair)).max() for pair in ((0, 1), (1, 2)))
        limit = {"average": 500, "update": 700}.get(next(iter(settings), ""), 60)
        assert worst < limit, settings


def test_more_rounds_and_more_budget_help():
    data = chain(3000)

    def error(rounds, epsilon):
        plan = MWEM(sizes=SIZES, epsilon=epsilon, relation="replace_one", rounds=rounds)
        found = []
        for _ in range(5):
            model = plan.release(data)
            found.append(sum(np.abs(model.marginal(pair) - exact(data, pair)).sum() for pair in ((0, 1), (1, 2))))
        return np.mean(found)

    assert error(6, 30) < 0.5 * error(1, 30)
    assert error(6, 30) < 0.5 * error(6, 0.3)


def test_one_step_of_the_paper():
    """Replaying the paper's worked update: cells are the entries of one table."""
    weights = Weights((2, 2), cells=4)
    lesson = Lesson((0,), np.array([70.0, 50.0]), 1.0)
    weights.multiply((0,), mwem.np.clip((lesson.counts - 50) / 200, -1, 1))
    expected = nudged(np.full((2, 2), 0.25), np.array([[1.0, 1.0], [0.0, 0.0]]), 70, 100)
    assert weights.table((0, 1)) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("update", ["paper", "scaled"])
def test_replaying_brings_tables_nearer(update):
    weights = Weights((4, 4), cells=16)
    wanted = np.arange(16.0).reshape(4, 4)
    before = np.abs(weights.table((0, 1)) * 120 - wanted).sum()
    replayed(weights, [Lesson((0, 1), wanted, 1.0)], 120.0, update)
    after = np.abs(weights.table((0, 1)) * 120 - wanted).sum()
    assert after < (0.5 if update == "paper" else 0.05) * before


ODD = {
    "empty": np.zeros((0, 3), dtype=int),
    "one": np.zeros((1, 3), dtype=int),
    "constant": np.zeros((500, 3), dtype=int),
    "outside": [[9, -4, 2]] * 50,
    "odd": [[None, "x"], 7, [1, 2, 3, 4]],
    "huge": Tallied(np.array([[0, 0, 0], [2, 1, 3]]), np.array([2**32, 2**32])),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
@pytest.mark.parametrize("budget", [{"rho": 1e-6}, {"epsilon": 0.1}, {"rho": 100}], ids=["little", "some", "much"])
def test_any_data_give_a_model(data, budget):
    model = MWEM(sizes=SIZES, relation="add_remove", rounds=3, **budget).release(data)
    table = model.marginal((0, 1, 2))
    assert table.shape == SIZES
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(model.total)


@pytest.mark.parametrize("sizes", [(1,), (5,), (1, 1), (2, 1, 3), (40, 2)], ids=str)
def test_odd_domains(sizes):
    data = np.zeros((30, len(sizes)), dtype=int)
    model = MWEM(sizes=sizes, rho=1, relation="replace_one").release(data)
    assert model.marginal((0,)).shape == (sizes[0],)
    assert model.total == 30


def test_what_is_impossible_stays_so():
    mask = np.array([[False, True], [False, False], [True, False]])
    for cells in (1 << 20, 16):
        plan = MWEM(sizes=SIZES, rho=5, relation="add_remove", zeros={(0, 1): mask}, rounds=4, cells=cells)
        assert plan.release(chain(300)).marginal((0, 1))[mask].tolist() == [0, 0]
    with pytest.raises(InvalidParameter, match="nothing possible"):
        MWEM(sizes=SIZES, rho=5, relation="add_remove", zeros={(1,): np.array([True, True])})
    with pytest.raises(InvalidParameter, match="axis"):
        MWEM(sizes=SIZES, rho=5, relation="add_remove", zeros={(1,): np.array([True])})


def test_a_workload_is_all_that_is_measured(monkeypatch):
    seen = set()
    original = Counts.table
    monkeypatch.setattr(Counts, "table", lambda self, attributes: seen.add(attributes) or original(self, attributes))
    MWEM(sizes=SIZES, rho=1, relation="add_remove", workload=((2, 0), (1,))).release(chain(50))
    assert seen == {(0, 2), (1,)}


def test_a_deadline_changes_nothing_private(monkeypatch):
    calls = []
    original = DiscreteGaussian.release
    monkeypatch.setattr(DiscreteGaussian, "release", lambda self, x: calls.append(1) or original(self, x))
    told = []
    plan = MWEM(sizes=SIZES, rho=1, relation="add_remove", rounds=5)
    model = plan.release(chain(100), seconds=0, progress=lambda *step: told.append(step))
    assert len(calls) == 6
    assert told == [("rounds", i + 1, 5) for i in range(5)]
    assert np.isfinite(model.marginal((0, 1))).all()


def test_tables_that_do_not_fit_are_not_chosen():
    plan = MWEM(sizes=(10,) * 4, rho=10, relation="add_remove", rounds=12, cells=150)
    model = plan.release(np.zeros((500, 4), dtype=int))
    assert sum(table.size for table in model.cliques().values()) <= 150
    with pytest.raises(InvalidParameter, match="no table"):
        MWEM(sizes=(10, 10), rho=1, relation="add_remove", workload=((0, 1),), cells=50)


def test_a_budget_is_kept_and_used():
    plan = MWEM.for_budget(1, 1e-9, sizes=SIZES, relation="add_remove", rounds=3)
    assert 0.98 < plan.loss.epsilon(1e-9) <= 1
    assert MWEM.for_budget(1, sizes=SIZES, relation="add_remove").loss.is_pure


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"rho": 0},
        {"rho": None},
        {"epsilon": 1},
        {"rounds": 0},
        {"rounds": 2.5},
        {"size": 0},
        {"cells": 0},
        {"update": "slow"},
        {"average": 1},
        {"average": True, "sizes": (1000, 1000, 100)},
        {"workload": ()},
        {"workload": ((0, 5),)},
        {"workload": ((),)},
        {"total_share": 1},
    ],
    ids=str,
)
def test_odd_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        MWEM(**{"sizes": SIZES, "rho": 1, "relation": "add_remove"} | wrong)


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(InvalidInput):
        MWEM(sizes=SIZES, rho=1, relation="add_remove").release(np.zeros((3, 2), dtype=int))


def test_it_conforms():
    found = check_mechanism(MWEM(sizes=SIZES, rho=1, relation="add_remove", rounds=2))
    assert found.passed, str(found)
    assert "repr" in found.passed
