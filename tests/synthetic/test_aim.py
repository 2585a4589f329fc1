"""AIM: what a round costs, how far a person moves a score, what it finds, and data that give it nothing to find."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter
from discreet.synthetic import aim
from discreet.synthetic.aim import AdaptiveTables
from discreet.synthetic.aim_rounds import GRID, Tables, all_sets, closure, expected_tables, overlaps
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.graphical import GraphicalModel, junction_tree
from discreet.testing import check_mechanism

SIZES = (3, 2, 4)
RELATIONS = ("add_remove", "replace_one")


def chain(rows, seed=1):
    """Records in which each attribute follows the one before it."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, rows)
    second = np.where(rng.random(rows) < 0.9, first % 2, rng.integers(0, 2, rows))
    third = np.where(rng.random(rows) < 0.9, second * 2, rng.integers(0, 4, rows))
    return np.stack([first, second, third], axis=1)


class Watched:
    """The parts of all rounds of a release, and the scores that they chose by."""

    def __init__(self, monkeypatch):
        self.rho, self.scores, self.weights = Fraction(0), [], []
        choose, noise = aim.Exponential.release, aim.DiscreteGaussian.release

        def chosen(part, scores):
            self.rho += Fraction(part.epsilon) ** 2 / 8
            self.scores.append((part, list(scores)))
            return choose(part, scores)

        def noisy(part, table):
            self.rho += Fraction(part.sensitivity) ** 2 / (2 * Fraction(part.sigma) ** 2)
            return noise(part, table)

        monkeypatch.setattr(aim.Exponential, "release", chosen)
        monkeypatch.setattr(aim.DiscreteGaussian, "release", noisy)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize("rho", [0.003, 0.3, 40])
def test_all_rounds_together_cost_what_is_claimed(relation, records, rho, monkeypatch):
    watched = Watched(monkeypatch)
    plan = AdaptiveTables(sizes=SIZES, rho=rho, relation=relation, records=records)
    plan.release(chain(2000))
    assert watched.rho <= Fraction(rho) * (1 + Fraction(1, 10**8))  # the sensitivity of a norm is rounded up
    assert watched.rho >= Fraction(rho) * (1 - Fraction(1, 10**8))
    assert plan.loss.rho == pytest.approx(rho, rel=1e-8)
    assert plan.loss.rho <= rho


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("seconds", [None, 1e-9])
def test_rounds_are_those_that_were_charged_for(relation, seconds, monkeypatch):
    """Noise and choices are the same ones, in the same order, whatever the data and however little time there is."""
    plan = AdaptiveTables(sizes=SIZES, rho=0.3, relation=relation)
    expected = [("noise", noise.sigma) for noise in plan.singles]
    for rho in plan.rounds:
        choice, noise = plan.round_parts(rho, 1)
        expected += [("choice", choice.epsilon), ("noise", noise.sigma)]
    found = []
    for name, kind, amount in (("choice", aim.Exponential, "epsilon"), ("noise", aim.DiscreteGaussian, "sigma")):

        def seen(part, given, name=name, real=kind.release, amount=amount):
            found.append((name, getattr(part, amount)))
            return real(part, given)

        monkeypatch.setattr(kind, "release", seen)
    for data in (chain(2000), chain(0), np.zeros((3000, 3), dtype=int)):
        found.clear()
        plan.release(data, seconds=seconds)
        assert found == expected


def test_the_loss_is_that_of_all_parts():
    plan = AdaptiveTables(sizes=SIZES, rho=0.02, relation="add_remove")
    together = sum((noise.loss for noise in plan.singles[1:]), plan.singles[0].loss)
    for rho in plan.rounds:
        for part in plan.round_parts(rho, 7):
            together = together + part.loss
    assert plan.loss.epsilon(1e-6) == pytest.approx(together.epsilon(1e-6), rel=1e-6)
    assert sum(plan.rounds) == Fraction(plan.rho) * (1 - aim.SINGLES)
    assert len(plan.rounds) == 2 * len(SIZES)
    assert float(plan.rounds[-1] / plan.rounds[0]) == pytest.approx(3)


def test_larger_attributes_get_more_of_the_budget():
    plan = AdaptiveTables(sizes=(70, 8), rho=1, relation="add_remove")
    assert (float(plan.singles[1].sigma) / float(plan.singles[0].sigma)) ** 2 == pytest.approx(4)
    even, odd = (AdaptiveTables(sizes=(70, 8), rho=1, relation="add_remove", weights=w) for w in ((1, 1), (1, 3)))
    assert even.singles[0] == even.singles[1]
    assert (float(odd.singles[0].sigma) / float(odd.singles[1].sigma)) ** 2 == pytest.approx(3)


def test_with_weights_nothing_that_is_paid_depends_on_sizes():
    """Where sizes are found privately, the terms of the loss must be those that were promised before."""
    one, other = (
        AdaptiveTables(sizes=sizes, rho=1, relation="add_remove", weights=(1, 1, 1))
        for sizes in ((10, 2, 5), (3, 700, 4))
    )
    assert one.loss.terms == other.loss.terms


@pytest.mark.parametrize("seconds", [-1, math.nan])
def test_odd_deadlines_are_refused(seconds):
    with pytest.raises(InvalidParameter, match="seconds"):
        AdaptiveTables(sizes=SIZES, rho=1, relation="add_remove").release(chain(20), seconds=seconds)


def test_a_deadline_that_is_over_leaves_a_model_of_what_was_paid_for():
    data = np.zeros((5000, 3), dtype=int)
    model = AdaptiveTables(sizes=SIZES, rho=5, relation="add_remove").release(data, seconds=0)
    assert model.marginal((0,))[0] > 4500


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 2])
def test_a_round_is_the_sum_of_its_parts(relation, records):
    plan = AdaptiveTables(sizes=SIZES, rho=1, relation=relation, records=records)
    choice, noise = plan.round_parts(Fraction(1, 7), 6)
    assert choice.loss.rho + noise.loss.rho <= 1 / 7
    assert choice.loss.rho + noise.loss.rho >= 1 / 7 - 1e-9
    moved = records if relation == "add_remove" else 2 * records
    assert choice.sensitivity == 6 * GRID * moved
    squared = records**2 if relation == "add_remove" else 2 * records**2
    assert float(noise.sigma) ** 2 == pytest.approx(squared / (2 * 0.95 / 7))


def score_vectors(plan, told_by, data):
    """The scores of all candidates on some data, with the same public model."""
    candidates = closure(plan.sought)
    weights = overlaps(candidates, plan.sought)
    tables = Tables(tallied(data, plan.sizes), plan.sizes)
    expected = expected_tables(told_by, candidates)
    return np.array([weights[one] * tables.distance(one, expected[one]) for one in candidates]), max(weights.values())


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 2])
def test_scores_change_by_no_more_than_is_charged(relation, records):
    """All neighbours of small data: the bound holds for each, and is reached."""
    sizes = (2, 2, 2)
    plan = AdaptiveTables(sizes=sizes, rho=1, relation=relation, records=records)
    rng = np.random.default_rng(5)
    tree = junction_tree(sizes, [(0, 1), (1, 2)])
    model = GraphicalModel(tree, [9 * rng.normal(size=(2, 2)) for _ in range(2)], 20.3)  # nearly all in one cell
    cells = list(itertools.product((0, 1), repeat=3))
    people = list(itertools.combinations_with_replacement(cells, records))
    base = np.array([(0, 0, 1), (1, 1, 0), (0, 1, 1)])
    worst, largest = 0, 0
    for others in [base[:0], base]:
        found = {mine: score_vectors(plan, model, np.vstack([others, mine]))[0] for mine in people}
        without, largest = score_vectors(plan, model, others)
        for mine, theirs in itertools.product(people, people):
            near = without if relation == "add_remove" else found[theirs]
            worst = max(worst, int(np.abs(found[mine] - near).max()))
    charged = plan.round_parts(Fraction(1), largest)[0].sensitivity
    assert worst == charged


def test_rounds_choose_by_the_definition(monkeypatch):
    """Each choice has the probabilities of the exponential mechanism's definition."""
    watched = Watched(monkeypatch)
    AdaptiveTables(sizes=(2, 2), rho=0.5, relation="add_remove").release([[0, 0]] * 30 + [[1, 1]] * 20)
    assert watched.scores
    for part, scores in watched.scores:
        rate = float(Fraction(part.epsilon) / (2 * part.sensitivity))
        weights = [math.exp(rate * (one - max(scores))) for one in scores]
        for place, weight in enumerate(weights):
            assert math.exp(part.log_probability(scores, place)) == pytest.approx(weight / sum(weights))


def test_the_paper_s_score_is_what_a_round_uses(monkeypatch):
    watched = Watched(monkeypatch)
    plan = AdaptiveTables(sizes=(2, 2), rho=2, relation="add_remove")
    models = []
    real = aim.expected_tables

    def seen(model, ones):
        models.append((model, list(ones)))
        return real(model, ones)

    monkeypatch.setattr(aim, "expected_tables", seen)
    data = [[0, 0]] * 300 + [[1, 1]] * 200 + [[0, 1]] * 100
    plan.release(data)
    exact = tallied(data, (2, 2))
    for (part, scores), (model, ones) in zip(watched.scores, models, strict=True):
        sigma = math.sqrt(1 / (2 * float(part.epsilon) ** 2 / 8 * 19))  # nineteen parts of twenty measure
        for one, score in zip(ones, scores, strict=True):
            table, expected = exact.table(one, (2, 2)), model.marginal(one)
            wanted = 2 if len(one) == 2 else 1
            away = np.abs(table - expected).sum() - 0.8 * math.sqrt(2 / math.pi) * sigma * table.size
            assert score / GRID == pytest.approx(wanted * away, abs=0.02)


def test_with_much_budget_the_data_are_found():
    data = chain(5000)
    model = AdaptiveTables(sizes=SIZES, rho=1000, relation="add_remove").release(data)
    exact = tallied(data, SIZES).table((0, 1, 2), SIZES)
    assert np.abs(model.marginal((0, 1, 2)) - exact).max() < 25


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((0, 3), dtype=int),
        np.zeros((1, 3), dtype=int),
        np.zeros((500, 3), dtype=int),
        [[9, -4, 2]] * 50,
        [[None, "x"], 7, [1, 2, 3, 4]],
        Tallied(np.array([[0, 0, 1], [2, 1, 3]]), np.array([1 << 32, 5])),
    ],
    ids=["empty", "one", "constant", "outside", "odd", "huge"],
)
@pytest.mark.parametrize("rho", [1e-6, 0.1, 100])
def test_any_data_give_a_model(data, rho):
    model = AdaptiveTables(sizes=SIZES, rho=rho, relation="add_remove").release(data)
    table = model.marginal((0, 1, 2))
    assert table.shape == SIZES
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(model.total)
    for kept in itertools.combinations(range(3), 2):
        gone = tuple(i for i in range(3) if i not in kept)
        assert np.allclose(model.marginal(kept), table.sum(axis=gone), rtol=1e-6, atol=1e-6 * model.total)


@pytest.mark.parametrize("sizes", [(1,), (5,), (1, 1), (2, 1, 3), (40, 2), (10_000, 3)])
@pytest.mark.parametrize("relation", RELATIONS)
def test_odd_domains(sizes, relation):
    model = AdaptiveTables(sizes=sizes, rho=1, relation=relation).release(np.zeros((30, len(sizes)), dtype=int))
    assert model.marginal((0,)).shape == (sizes[0],)
    assert model.marginal((0,)).sum() == pytest.approx(model.total)


def test_too_many_values_are_refused_before_data_with_advice():
    with pytest.raises(InvalidParameter, match="coarsen"):
        AdaptiveTables(sizes=(10_000, 2), rho=1, relation="add_remove", cells=5000)


def test_impossible_combinations_never_appear_and_what_follows_does():
    mask = np.zeros((3, 4), dtype=bool)
    mask[0, 1:] = True
    double = np.array([1, 0, 1])
    plan = AdaptiveTables(
        sizes=(3, 2, 4, 2), rho=5, relation="add_remove", zeros={(0, 2): mask}, determined={3: (0, double)}
    )
    data = np.column_stack([chain(3000), np.zeros(3000, dtype=int)])
    model = plan.release(data)
    assert (model.marginal((0, 2))[mask] == 0).all()
    assert (model.marginal((0, 1, 2, 3)).sum(axis=(1, 3))[mask] == 0).all()
    together = model.marginal((0, 3))
    for value in range(3):
        assert together[value, 1 - double[value]] == 0
    assert model.marginal((1, 3)).sum() == pytest.approx(model.total)


def test_a_model_stays_as_small_as_said(monkeypatch):
    rng = np.random.default_rng(3)
    sizes = (5,) * 6
    first = rng.integers(0, 5, 4000)
    data = np.stack([np.where(rng.random(4000) < 0.7, first, rng.integers(0, 5, 4000)) for _ in sizes], axis=1)
    fitted = []
    real = aim.fit
    monkeypatch.setattr(aim, "fit", lambda *a, **k: fitted.append(real(*a, **k)) or fitted[-1])
    AdaptiveTables(sizes=sizes, rho=20, relation="add_remove", cells=400).release(data)
    assert len(fitted) > 3
    assert max(one.model.tree.cells for one in fitted) <= 400


def test_a_deadline_ends_the_rounds_and_the_budget_is_spent_all_the_same(monkeypatch):
    watched = Watched(monkeypatch)
    told = []
    plan = AdaptiveTables(sizes=SIZES, rho=1, relation="add_remove")
    plan.release(chain(2000), seconds=1e-9, progress=lambda *news: told.append(news))
    assert watched.rho == pytest.approx(1.0)
    assert told == [("tables", done, 6) for done in range(1, 7)]
    tables = [scores for _, scores in watched.scores]
    assert [len(scores) for scores in tables] == sorted((len(scores) for scores in tables), reverse=True)


def test_a_deadline_with_few_candidates_measures_them_again(monkeypatch):
    watched = Watched(monkeypatch)
    plan = AdaptiveTables(sizes=(2, 3), rho=1, relation="add_remove")
    model = plan.release([[0, 1]] * 90 + [[1, 2]] * 50, seconds=1e-9)
    assert [len(scores) for _, scores in watched.scores] == [3, 2, 1, 3]
    assert watched.rho == pytest.approx(1)
    assert model.marginal((0, 1)).shape == (2, 3)


def test_tables_that_follow_from_others_are_not_kept_as_measured():
    model = AdaptiveTables(sizes=SIZES, rho=5, relation="add_remove").release(chain(2000))
    assert len(model.measurements) == 3 + 6


def test_workloads_and_candidates():
    assert all_sets(3) == ((0, 1, 2),)
    assert closure([(0, 1), (1, 2)]) == ((0,), (1,), (2,), (0, 1), (1, 2))
    plan = AdaptiveTables(sizes=SIZES, rho=9, relation="add_remove", workload=((2, 1), (1,)))
    assert plan.workload == ((1, 2), (1,))
    assert plan.release(chain(500)).marginal((0, 1, 2)).shape == SIZES


def test_a_budget_is_kept_and_used():
    plan = AdaptiveTables.for_budget(1, 1e-9, sizes=SIZES, relation="add_remove")
    assert 0.998 < plan.loss.epsilon(1e-9) <= 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"sizes": (0,)},
        {"rho": 0},
        {"rho": float("nan")},
        {"cells": 3},
        {"cells": 1.5},
        {"weights": (1, 2)},
        {"weights": (1, 0, 2)},
        {"workload": ()},
        {"workload": ((3,),)},
        {"zeros": {(0, 1): np.ones((3, 2), dtype=bool)}},
        {"zeros": {(0, 1): np.zeros((2, 3), dtype=bool)}},
        {"zeros": {(0, 0): np.zeros((3, 3), dtype=bool)}},
        {"determined": {1: (0, np.array([0, 1, 2]))}},
        {"determined": {1: (0, np.array([0, 1, 1])), 0: (1, np.array([0, 1]))}},
        {"determined": {1: (0, np.array([0, 1, 1]))}, "zeros": {(1,): np.array([True, False])}},
    ],
)
def test_odd_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        AdaptiveTables(**{"sizes": SIZES, "rho": 1, "relation": "add_remove"} | wrong)


def test_equal_plans_are_equal():
    mask = np.eye(3, 2, dtype=bool)
    one, same = (AdaptiveTables(sizes=SIZES, rho=1, relation="add_remove", zeros={(0, 1): mask.copy()}) for _ in "ab")
    other = AdaptiveTables(sizes=SIZES, rho=1, relation="add_remove", zeros={(0, 1): ~mask})
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(InvalidInput):
        AdaptiveTables(sizes=SIZES, rho=1, relation="add_remove").release(np.zeros((3, 2), dtype=int))


def test_it_conforms():
    found = check_mechanism(AdaptiveTables(sizes=SIZES, rho=1, relation="add_remove"))
    assert found.passed, str(found)
