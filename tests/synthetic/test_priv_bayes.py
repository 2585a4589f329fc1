"""A private Bayesian network: scores, budget, what it finds, and data that give it nothing to find."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter
from discreet.accounting import PrivacyLoss
from discreet.mechanisms import DiscreteGaussian, Geometric
from discreet.synthetic import priv_bayes
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.microdata import records_of
from discreet.synthetic.network import Network
from discreet.synthetic.priv_bayes import GRID, PrivBayes, largest_sets
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


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 2])
def test_scores_change_by_no_more_than_is_charged(relation, records):
    """All neighbours of small data, for every attribute with every set of parents."""
    sizes = (2, 2, 2)
    made = PrivBayes(sizes=sizes, epsilon=1, relation=relation, records=records)
    cells = list(itertools.product((0, 1), repeat=3))
    people = list(itertools.combinations_with_replacement(cells, records))
    choices = [(0, (1,)), (2, (0,)), (1, (0, 2)), (2, (0, 1)), (0, ())]
    worst = 0
    for base in ([], [(0, 0, 1), (1, 1, 0), (0, 1, 1)]):
        data = {person: tallied([list(cell) for cell in (*base, *person)], sizes) for person in (*people, ())}
        for shares in (np.array([GRID, 0]), np.array([300, GRID - 300])):
            for choice in choices:
                scores = {person: priv_bayes._score(one, choice, sizes, shares) for person, one in data.items()}
                for person in people:
                    near = [()] if relation == "add_remove" else people
                    worst = max(worst, *(abs(scores[person] - scores[other]) for other in near))
    assert worst <= made.choice.sensitivity
    assert worst == made.choice.sensitivity or relation == "replace_one"


def test_a_record_that_moves_changes_a_score_by_nearly_what_is_charged():
    """It leaves a group that had too few of its value, and joins one in which nobody was, with a value nobody has."""
    made = PrivBayes(sizes=(2, 3), epsilon=1, relation="replace_one")
    shares = np.array([GRID - 10, 10, 0])
    crowd = np.array([0, 0])
    one = Tallied(np.array([crowd, [0, 1]]), np.array([1000, 1]))
    other = Tallied(np.array([crowd, [1, 2]]), np.array([1000, 1]))
    before, after = (priv_bayes._score(data, (1, (0,)), (2, 3), shares) for data in (one, other))
    assert 0.98 * made.choice.sensitivity < after - before <= made.choice.sensitivity


def test_a_score_is_half_the_distance_from_independence():
    data = chain(200)
    shares = np.array([GRID // 2, GRID // 2])
    found = priv_bayes._score(tallied(data, SIZES), (1, (0,)), SIZES, shares)
    table = np.zeros((3, 2))
    np.add.at(table, (data[:, 0], data[:, 1]), 1)
    by_hand = np.abs(table - table.sum(axis=1, keepdims=True) / 2).sum() / 2
    assert Fraction(found, 2 * GRID) == Fraction(by_hand)


def test_scores_of_huge_counts_are_exact():
    many = 1 << 51
    tally = Tallied(np.array([[0, 0], [1, 1], [0, 1]]), np.array([many, many, 1]))
    shares = np.array([513, 511])
    table = [[many, 1], [0, many]]
    by_hand = sum(abs(GRID * table[i][j] - sum(table[i]) * int(shares[j])) for i in (0, 1) for j in (0, 1))
    assert priv_bayes._score(tally, (1, (0,)), (2, 2), shares) == by_hand


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 3])
def test_parts_add_up_to_the_budget_by_rho(relation, records):
    made = PrivBayes(sizes=SIZES, rho=0.3, relation=relation, records=records)
    assert 0.3 * (1 - 1e-6) <= made.loss.rho <= 0.3 * (1 + 1e-9)
    squared = (1 if relation == "add_remove" else 2) * records**2
    assert isinstance(made.tables, DiscreteGaussian)
    assert float(made.singles.sigma) ** 2 == pytest.approx(squared * 3 / (2 * 0.3 / 10))
    assert float(made.tables.sigma) ** 2 == pytest.approx(squared * 2 / (2 * 0.3 * 7 / 10))
    assert float(made.choice.epsilon) ** 2 / 8 == pytest.approx(0.3 / 5 / 2)
    parts = PrivacyLoss.total([3 * made.singles.loss, 2 * made.tables.loss, 2 * made.choice.loss])
    assert made.loss.epsilon(1e-6) == pytest.approx(parts.epsilon(1e-6))


@pytest.mark.parametrize("relation", RELATIONS)
def test_parts_add_up_to_the_budget_by_epsilon(relation):
    made = PrivBayes(sizes=SIZES, epsilon=Fraction(3, 4), relation=relation, records=2)
    assert isinstance(made.tables, Geometric)
    assert made.tables.sensitivity == (2 if relation == "add_remove" else 4)
    spent = 3 * made.singles.epsilon + 2 * made.tables.epsilon + 2 * made.choice.epsilon
    assert spent == Fraction(3, 4)
    assert made.loss.epsilon() == pytest.approx(0.75, rel=1e-12)
    assert made.loss.epsilon() <= 0.75


def test_what_is_released_is_what_is_charged(monkeypatch):
    """Every table and every choice passes through a mechanism of the loss, as often as the loss says."""
    seen = []
    for kind in (priv_bayes.Geometric, priv_bayes.Exponential):
        plain = kind.release
        monkeypatch.setattr(kind, "release", lambda self, x, plain=plain: seen.append(self) or plain(self, x))
    made = PrivBayes(sizes=SIZES, epsilon=30, relation="add_remove", theta=0.01)
    made.release(chain(300))
    assert [one for one in seen if one is made.singles] == [made.singles] * 3
    assert [one for one in seen if one is made.choice] == [made.choice] * 2
    assert [one for one in seen if one is made.tables] == [made.tables] * 2
    assert len(seen) == 7
    seen.clear()
    PrivBayes(sizes=SIZES, epsilon=30, relation="add_remove", theta=10**9).release(chain(300))
    assert len([one for one in seen if isinstance(one, Geometric)]) <= 5
    assert len([one for one in seen if not isinstance(one, Geometric)]) <= 2


def test_with_much_budget_a_chain_is_found():
    data = chain(5000)
    for budget in ({"rho": 1000}, {"epsilon": 200}):
        made = PrivBayes(sizes=SIZES, relation="add_remove", degree=1, **budget)
        network = made.network(data)
        edges = {frozenset((one.attribute, *one.given)) for one in network.conditionals if one.given}
        assert edges == {frozenset((0, 1)), frozenset((1, 2))}
        for pair in ((0, 1), (1, 2)):
            exact = tallied(data, SIZES).table(pair, SIZES)
            assert np.abs(network.marginal(pair) - exact).max() < 60


def test_with_much_budget_a_parity_of_two_is_found():
    """No pair tells anything; only both parents together tell the third."""
    bits = np.random.default_rng(4).integers(0, 2, (4000, 2))
    data = np.column_stack([bits, bits.sum(axis=1) % 2])
    model = PrivBayes(sizes=(2, 2, 2), rho=1000, relation="replace_one").release(data)
    exact = tallied(data, (2, 2, 2)).table((0, 1, 2), (2, 2, 2))
    assert np.abs(model.marginal((0, 1, 2)) - exact).max() < 60


def test_a_useful_table_has_theta_times_its_noise_in_a_cell():
    for budget in ({"rho": 0.1}, {"epsilon": 1}):
        made = PrivBayes(sizes=SIZES, relation="replace_one", theta=5, **budget)
        noise = np.abs(made.tables.release(np.zeros(40_000, dtype=np.int64))).mean()
        assert 1e5 / made.useful_cells(1e5) == pytest.approx(5 * noise, rel=0.05)


def test_parents_are_the_largest_sets_that_are_useful():
    names, sizes = [0, 1, 2, 3], (2, 3, 4, 5)
    for most, length in itertools.product((1, 6, 20, 1000), (1, 2, 3)):
        useful = [
            one
            for count in range(length + 1)
            for one in itertools.combinations(names, count)
            if math.prod(sizes[i] for i in one) <= most
        ]
        by_hand = {one for one in useful if not any(set(one) < set(other) for other in useful)}
        assert set(largest_sets(names, sizes, most, length)) == by_hand


def test_many_attributes_have_fewer_parents():
    assert PrivBayes(sizes=(2,) * 14, rho=1, relation="add_remove").parents == 3
    assert PrivBayes(sizes=(2,) * 30, rho=1, relation="add_remove").parents == 2
    assert PrivBayes(sizes=(2,) * 500, rho=1, relation="add_remove").parents == 1
    assert PrivBayes(sizes=(2, 2), rho=1, relation="add_remove").parents == 1


def test_where_cliques_are_too_large_the_network_is_the_model(monkeypatch):
    monkeypatch.setattr(Network.graphical, "__kwdefaults__", {"most": 3})
    made = PrivBayes(sizes=SIZES, rho=100, relation="add_remove")
    model = made.release(chain(500))
    assert isinstance(model, Network)
    assert records_of(model).shape == (round(model.total), 3)


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((0, 3), dtype=int),
        np.zeros((1, 3), dtype=int),
        np.zeros((500, 3), dtype=int),
        [[9, -4, 2]] * 50,
        [[None, "x"], 7, [1, 2, 3, 4]],
        Tallied(np.array([[0, 0, 1], [2, 1, 3]]), np.array([1 << 32, 1 << 31])),
    ],
    ids=["empty", "one", "constant", "outside", "odd", "huge"],
)
@pytest.mark.parametrize("budget", [{"rho": 1e-6}, {"rho": 100}, {"epsilon": 0.01}, {"epsilon": 1000}], ids=str)
def test_any_data_give_a_model(data, budget):
    model = PrivBayes(sizes=SIZES, relation="add_remove", **budget).release(data)
    table = model.marginal((0, 1, 2))
    assert table.shape == SIZES
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(model.total)
    assert records_of(model, 20).shape == (20, 3)


@pytest.mark.parametrize("sizes", [(1,), (5,), (1, 1), (2, 1, 3), (2000, 2)])
def test_odd_domains(sizes):
    data = np.zeros((30, len(sizes)), dtype=int)
    model = PrivBayes(sizes=sizes, epsilon=1, relation="replace_one").release(data)
    assert model.marginal((0,)).shape == (sizes[0],)


def test_a_budget_is_kept_and_used():
    made = PrivBayes.for_budget(1, 1e-9, sizes=SIZES, relation="add_remove")
    assert 0.99 < made.loss.epsilon(1e-9) <= 1
    pure = PrivBayes.for_budget(1, sizes=SIZES, relation="add_remove", degree=2)
    assert pure.epsilon == 1
    assert pure.degree == 2
    assert pure.loss.epsilon() <= 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"sizes": (0,)},
        {"rho": 0},
        {"rho": None},
        {"epsilon": 1},
        {"degree": 0},
        {"theta": 0},
        {"records": 0},
    ],
    ids=str,
)
def test_odd_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        PrivBayes(**{"sizes": SIZES, "rho": 1, "relation": "add_remove"} | wrong)


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(InvalidInput):
        PrivBayes(sizes=SIZES, rho=1, relation="add_remove").release(np.zeros((3, 2), dtype=int))


def test_it_conforms():
    for budget in ({"rho": 1}, {"epsilon": 1}):
        found = check_mechanism(PrivBayes(sizes=SIZES, relation="add_remove", **budget))
        assert found.passed, str(found)
