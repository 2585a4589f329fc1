"""A tree of pairs: what it costs, what it finds, and data that give it nothing to find."""

import itertools

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter
from discreet.accounting import PrivacyLoss
from discreet.auditing.audit import audit
from discreet.synthetic import spanning_tree
from discreet.synthetic.aim_rounds import GRID, Tables
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.spanning_tree import SpanningTree
from discreet.testing import check_mechanism

SIZES = (3, 2, 4)


def chain(rows, seed=1):
    """Records in which each attribute follows the one before it."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, rows)
    second = np.where(rng.random(rows) < 0.9, first % 2, rng.integers(0, 2, rows))
    third = np.where(rng.random(rows) < 0.9, second * 2, rng.integers(0, 4, rows))
    return np.stack([first, second, third], axis=1)


@pytest.mark.parametrize("mended", [None, 0, 4])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_loss_is_that_of_all_parts(relation, mended):
    tree = SpanningTree(sizes=SIZES, rho=0.3, relation=relation, mended=mended)
    rounds = 2 + (1 if mended is None else mended)
    assert tree.rounds == rounds
    assert tree.loss.rho <= 0.3 * (1 + 1e-9)
    assert tree.loss.rho >= 0.3 * (1 - 1e-6)
    squared = 1 if relation == "add_remove" else 2
    assert float(tree.singles.sigma) ** 2 == pytest.approx(squared * 3 / (2 * 0.3 / 3))
    assert float(tree.pairs.sigma) ** 2 == pytest.approx(squared * rounds / (2 * 0.3 * 17 / 30))
    assert float(tree.choice.epsilon) ** 2 / 8 == pytest.approx(0.3 / 10 / rounds)
    assert tree.choice.sensitivity == squared * GRID
    parts = PrivacyLoss.total([3 * tree.singles.loss, rounds * tree.pairs.loss, rounds * tree.choice.loss])
    assert tree.loss.epsilon(1e-6) == pytest.approx(parts.epsilon(1e-6))


@pytest.mark.parametrize("mended", [0, 1, 3])
def test_what_is_released_is_what_is_charged(mended, monkeypatch):
    tree = SpanningTree(sizes=SIZES, rho=1, relation="add_remove", mended=mended)
    used = []
    for kind in (spanning_tree.Exponential, spanning_tree.DiscreteGaussian):
        original = kind.release
        monkeypatch.setattr(kind, "release", lambda self, x, original=original: used.append(self) or original(self, x))
    tree.release(chain(500))
    assert sum(one is tree.singles for one in used) == 3
    assert (
        sum(one is tree.pairs for one in used) == sum(one is tree.choice for one in used) == tree.rounds == 2 + mended
    )
    assert len(used) == 3 + 2 * tree.rounds


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_scores_change_by_no_more_than_is_charged(relation, monkeypatch):
    """All neighbours of small data, with the same noisy singles before: the scores are read where they are chosen."""
    tree = SpanningTree(sizes=(2, 2, 2), rho=1, relation=relation)
    seen = []
    monkeypatch.setattr(spanning_tree.Exponential, "release", lambda self, scores: seen.append(list(scores)) or 0)
    told = [Measured((i,), np.array([3.3, 2.9]), 1.0) for i in range(3)]
    cells = list(itertools.product((0, 1), repeat=3))
    base = np.array([(0, 0, 1), (1, 1, 0), (0, 1, 1)])

    def scores(codes):
        seen.clear()
        tree._chosen(Tables(tallied(codes.reshape(-1, 3), (2, 2, 2)), (2, 2, 2)), told)
        return np.array(seen[0])

    worst = 0.0
    for cell in cells:
        for others in [base[:0], base[:1], base]:
            more = np.vstack([others, [cell]])
            near = [others] if relation == "add_remove" else [np.vstack([others, [other]]) for other in cells]
            worst = max(worst, *(float(np.abs(scores(more) - scores(one)).max()) for one in near))
    assert worst == tree.choice.sensitivity


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_scores_of_further_pairs_change_by_no_more_than_is_charged(relation, monkeypatch):
    """As above, with the same model before."""
    tree = SpanningTree(sizes=(2, 2, 2), rho=1, relation=relation)
    pairs = list(itertools.combinations(range(3), 2))
    model = spanning_tree.fit_tree((2, 2, 2), [Measured((i,), np.array([3.3, 2.9]), 1.0) for i in range(3)])
    seen = []
    monkeypatch.setattr(spanning_tree.Exponential, "release", lambda self, scores: seen.append(list(scores)) or 0)

    def scores(codes):
        seen.clear()
        tree._worst(Tables(tallied(codes.reshape(-1, 3), (2, 2, 2)), (2, 2, 2)), pairs, model)
        return np.array(seen[0])

    cells, worst = list(itertools.product((0, 1), repeat=3)), 0.0
    for cell in cells:
        for others in [np.zeros((0, 3), dtype=int), np.array([(0, 0, 1), (1, 1, 0), (0, 1, 1)])]:
            more = np.vstack([others, [cell]])
            near = [others] if relation == "add_remove" else [np.vstack([others, [other]]) for other in cells]
            worst = max(worst, *(float(np.abs(scores(more) - scores(one)).max()) for one in near))
    assert worst == tree.choice.sensitivity


def ring(rows, seed=4):
    """Records whose pairs of neighbours on a ring of four agree, more often than a chain of three pairs tells."""
    rng = np.random.default_rng(seed)
    first, third = rng.integers(0, 3, rows), rng.integers(0, 3, rows)
    second = np.where(rng.random(rows) < 0.5, first, third)
    fourth = np.where(rng.random(rows) < 0.5, first, third)
    return np.stack([first, second, third, fourth], axis=1)


def test_what_a_tree_cannot_say_is_mended():
    data, sizes = ring(20_000), (3, 3, 3, 3)

    def worst(mended):
        model = SpanningTree(sizes=sizes, rho=100, relation="add_remove", mended=mended).release(data)
        exact = Tables(tallied(data, sizes), sizes)
        return max(np.abs(model.marginal(p) - exact.table(p)).sum() for p in itertools.combinations(range(4), 2))

    assert worst(0) > 3000
    assert worst(3) < 400


def test_a_model_that_is_too_large_is_not_mended_and_spends_less(monkeypatch):
    monkeypatch.setattr(spanning_tree, "SMALL", 10)
    tree = SpanningTree(sizes=SIZES, rho=1000, relation="add_remove", mended=2)
    told = []
    tree.release(chain(2000), progress=lambda *news: told.append(news))
    assert told == [("pairs", 1, 4), ("pairs", 2, 4)]


def test_with_no_time_there_is_a_tree():
    data, sizes = ring(20_000), (3, 3, 3, 3)
    model = SpanningTree(sizes=sizes, rho=100, relation="add_remove", mended=2).release(data, seconds=1e-9)
    exact = Tables(tallied(data, sizes), sizes)
    assert sum(np.abs(model.marginal(p) - exact.table(p)).sum() < 400 for p in itertools.combinations(range(4), 2)) >= 3


@pytest.mark.slow
def test_an_audit_of_mended_trees_finds_nothing_but_a_claim_far_too_small():
    tree = SpanningTree(sizes=(2, 2), rho=20, relation="replace_one", mended=2)

    def tables(records):
        return tree.release(records).marginal((0, 1)).reshape(-1)

    claims = {"ours": tree.loss, "far too small": PrivacyLoss.zcdp(0.01)}
    found = {
        name: audit(tables, claims=claim, neighbours=[tree.worst_case()], draws=300) for name, claim in claims.items()
    }
    assert not found["ours"].refuted, str(found["ours"])
    assert found["far too small"].refuted


def test_with_much_budget_the_chain_is_found():
    data = chain(5000)
    model = SpanningTree(sizes=SIZES, rho=1000, relation="add_remove").release(data)
    for pair in ((0, 1), (1, 2)):
        exact = np.zeros(tuple(SIZES[i] for i in pair))
        np.add.at(exact, tuple(data[:, i] for i in pair), 1)
        assert np.abs(model.marginal(pair) - exact).max() < 60


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((0, 3), dtype=int),
        np.zeros((1, 3), dtype=int),
        np.zeros((500, 3), dtype=int),
        [[9, -4, 2]] * 50,
        [[None, "x"], 7, [1, 2, 3, 4]],
        np.array([[0, np.nan, 1.5]] * 20),
        Tallied(np.array([[0, 0, 1], [2, 1, 3]]), np.array([1 << 32, 5])),
    ],
    ids=["empty", "one", "constant", "outside", "odd", "floats", "huge"],
)
@pytest.mark.parametrize("rho", [1e-6, 0.1, 100])
def test_any_data_give_a_model(data, rho):
    model = SpanningTree(sizes=SIZES, rho=rho, relation="add_remove").release(data)
    table = model.marginal((0, 1, 2))
    assert table.shape == SIZES
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(model.total)
    for kept in itertools.combinations(range(3), 2):
        assert np.allclose(model.marginal(kept), table.sum(axis=tuple(i for i in range(3) if i not in kept)))


@pytest.mark.parametrize("sizes", [(1,), (5,), (1, 1), (2, 1, 3), (40, 2)])
def test_odd_domains(sizes):
    data = np.zeros((30, len(sizes)), dtype=int)
    model = SpanningTree(sizes=sizes, rho=1, relation="replace_one").release(data)
    assert model.marginal((0,)).shape == (sizes[0],)


def test_impossible_combinations_never_appear_and_what_follows_does():
    mask = np.zeros((3, 4), dtype=bool)
    mask[0, 1:] = True
    turned = np.array([1, 0, 1])
    tree = SpanningTree(
        sizes=(3, 2, 4, 2), rho=5, relation="add_remove", zeros={(2, 0): mask.T}, determined={3: (0, turned)}
    )
    assert tree.loss.rho == pytest.approx(5)
    told = []
    data = np.column_stack([chain(3000), np.zeros(3000, dtype=int)])
    model = tree.release(data, seconds=2, progress=lambda *news: told.append(news))
    assert (model.marginal((0, 2))[mask] == 0).all()
    assert (model.marginal((0, 1, 2, 3)).sum(axis=(1, 3))[mask] == 0).all()
    for value in range(3):
        assert model.marginal((0, 3))[value, 1 - turned[value]] == 0
    assert told[-1] == ("pairs", 3, 3)


def test_functions_of_functions_are_followed_to_their_source():
    first, second = np.array([1, 0, 1]), np.array([3, 2])
    tree = SpanningTree(sizes=(3, 2, 4), rho=5, relation="add_remove", determined={1: (0, first), 2: (1, second)})
    model = tree.release(chain(400))
    assert model.sizes == SIZES
    for a, b, c in itertools.product(range(3), range(2), range(4)):
        possible = b == first[a] and c == second[b]
        assert (model.marginal((0, 1, 2))[a, b, c] > 0) == possible


def test_measurements_come_with_the_model():
    tree = SpanningTree(sizes=SIZES, rho=1000, relation="add_remove")
    model = tree.release(chain(5000))
    assert {(0,), (1,), (2,)} <= {one.attributes for one in model.measurements}
    for one in model.measurements:
        assert one.counts.shape == tuple(SIZES[i] for i in one.attributes)


def test_a_budget_is_kept_and_used():
    tree = SpanningTree.for_budget(1, 1e-9, sizes=SIZES, relation="add_remove")
    assert 0.97 < tree.loss.epsilon(1e-9) <= 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"sizes": (0,)},
        {"rho": 0},
        {"rho": float("nan")},
        {"sizes": (10**4, 10**4)},
        {"mended": -1},
        {"mended": 1.5},
    ],
)
def test_odd_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        SpanningTree(**{"sizes": SIZES, "rho": 1, "relation": "add_remove"} | wrong)


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(InvalidInput):
        SpanningTree(sizes=SIZES, rho=1, relation="add_remove").release(np.zeros((3, 2), dtype=int))


def test_it_conforms():
    found = check_mechanism(SpanningTree(sizes=SIZES, rho=1, relation="add_remove"))
    assert found.passed, str(found)
