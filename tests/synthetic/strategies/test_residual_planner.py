import copy
import itertools
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, PrivacyLoss, RelationMismatch
from discreet.errors import NotPrivateWarning
from discreet.synthetic import operators
from discreet.synthetic.operators import Marginals
from discreet.synthetic.operators.marginals import closed_below
from discreet.synthetic.strategies import ResidualPlanner, residual_planner
from discreet.testing import check_mechanism, conformance, seeded

SMALL = Marginals(sizes=(2, 3, 4), of=((0, 1), (1, 2), (0,)), weights=(1, 2, 3))
WORK = [
    SMALL,
    Marginals.of_order((3, 2, 2), 2),
    Marginals(sizes=(3, 1), of=((0, 1),)),
    Marginals(sizes=(4,), of=((0,),)),
]
ADULT = (16, 32, 9, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2)


def planner(workload=SMALL, relation="add_remove", **settings):
    return ResidualPlanner(workload=workload, relation=relation, **(settings or {"rho": 0.5}))


def residual_rows(sizes, attributes):
    """The residual of a table as a matrix on all cells, by its definition."""
    rows = np.ones((1, 1))
    for i, size in enumerate(sizes):
        rows = np.kron(rows, np.eye(size) - 1 / size if i in attributes else np.ones((1, size)))
    return rows


def squared_mu(plan):
    """The largest squared distance of neighbours in units of the noise, by trying all of them."""
    cells = math.prod(plan.workload.sizes)
    found = []
    moves = [np.eye(cells)[i] for i in range(cells)]
    if plan.relation == "replace_one":
        moves = [a - b for a, b in itertools.combinations(moves, 2)]
    for move in moves:
        total = 0.0
        for attributes, variance in plan.noise.items():
            change = residual_rows(plan.workload.sizes, attributes) @ move
            if np.abs(change).max() > 1e-12:
                total += float(change @ change) / variance
        found.append(total)
    return max(found)


@pytest.mark.parametrize("workload", WORK)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("budget", [{"rho": 0.5}, {"rho": Fraction(1, 50)}, {"epsilon": 1, "delta": 1e-6}])
def test_the_loss_is_that_of_the_worst_neighbours(workload, relation, budget):
    plan = planner(workload, relation, **budget)
    claimed = float(plan.loss.terms[0][0].mu_squared)
    assert squared_mu(plan) <= claimed
    assert squared_mu(plan) == pytest.approx(claimed, rel=1e-9)
    assert plan.loss.relation == relation
    if "rho" in budget:
        assert budget["rho"] * (1 - 1e-9) <= plan.loss.rho <= budget["rho"]
    else:
        assert plan.loss.epsilon(1e-6) <= 1 + 1e-9


def test_with_very_many_attributes_the_loss_is_a_bound(monkeypatch):
    exact = planner(SMALL, "replace_one")
    rho = exact.loss.rho
    monkeypatch.setattr(residual_planner, "ENUMERATED", 1)
    loose = planner(SMALL, "replace_one")
    assert loose.loss.rho == pytest.approx(rho)
    assert squared_mu(loose) <= 2 * loose.loss.rho
    assert all(loose.noise[a] >= exact.noise[a] for a in exact.noise)


@pytest.mark.parametrize("workload", WORK)
def test_the_noise_is_shared_in_the_best_way(workload):
    """Shifting noise from one residual to another at the same cost never helps: a minimum of a convex problem."""
    plan = planner(workload)
    sizes = workload.sizes

    def total(noise):
        each = zip(workload.weights, workload.of, strict=True)
        return sum(w**2 * workload.cells(b) * residual_planner._cell_variance(sizes, b, noise) for w, b in each)

    def cost(noise):
        return sum(float(residual_planner._cost(sizes, a)) / v for a, v in noise.items() if v)

    best = total(plan.noise)
    assert best == pytest.approx(plan.error().total)
    for one, factor in itertools.product(plan.noise, (0.5, 0.9, 1.1, 2)):
        other = {a: v * (factor if a == one else 1) for a, v in plan.noise.items()}
        scaled = {a: v * cost(other) / cost(plan.noise) for a, v in other.items()}
        assert total(scaled) >= best * (1 - 1e-9)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_tables_are_exact_where_there_is_next_to_no_noise(relation):
    records = np.random.default_rng(0).integers(0, 4, size=(500, 3)) % np.array([2, 3, 4])
    noisy = planner(relation=relation, rho=10**9).release(records)
    for attributes in closed_below(SMALL.of):
        counts = np.zeros(tuple(SMALL.sizes[i] for i in attributes))
        np.add.at(counts, tuple(records[:, i] for i in attributes), 1 if attributes else len(records))
        assert noisy.table(attributes) == pytest.approx(counts, abs=0.01)


def test_tables_agree_with_each_other():
    noisy = planner().release(np.zeros((10, 3), dtype=np.int64))
    assert noisy.table((0, 1)).sum(axis=1) == pytest.approx(noisy.table((0,)))
    assert noisy.table((0, 1)).sum(axis=0) == pytest.approx(noisy.table((1, 2)).sum(axis=1))
    assert noisy.table(()) == pytest.approx(noisy.table((1, 2)).sum())
    assert noisy.table((2, 1)) == pytest.approx(noisy.table((1, 2)))
    with pytest.raises(InvalidParameter):
        noisy.table((0, 2))


@pytest.fixture
def repeatable(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


def far_off(samples, variance):
    """Whether a mean is further than 7 standard errors from its expectation."""
    return abs(samples.mean() - variance) > 7 * samples.std() / math.sqrt(len(samples))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_predicted_error_is_the_measured_one(relation, repeatable):
    plan, records = planner(relation=relation), np.array([[1, 2, 3]] * 7 + [[0, 1, 2]] * 3)
    truth = planner(relation=relation, rho=10**12).release(records)
    squares = {b: [] for b in SMALL.of}
    for _ in range(400):
        noisy = plan.release(records)
        for b in SMALL.of:
            squares[b].append(np.mean((noisy.table(b) - np.rint(truth.table(b))) ** 2))
    for b, weight, deviation in zip(SMALL.of, SMALL.weights, plan.error().deviations, strict=True):
        samples = np.array(squares[b])
        assert not far_off(samples, noisy.variance(b))
        assert weight**2 * noisy.variance(b) == pytest.approx(deviation**2)
    whole = sum(w**2 * SMALL.cells(b) * np.array(squares[b]) for w, b in zip(SMALL.weights, SMALL.of, strict=True))
    assert not far_off(whole, plan.error().total)
    assert far_off(whole, 2 * plan.error().total)
    assert far_off(whole, plan.error().total / 2)


def test_covariances_are_those_of_the_matrix_mechanism():
    """The estimate of all tables is the generalised least squares one of the residuals' measurements."""
    plan = planner()
    blocks = [residual_rows(SMALL.sizes, a) for a in plan.noise]
    precision = sum(b.T @ b / v for b, v in zip(blocks, plan.noise.values(), strict=True))
    for b, (_, part) in zip(SMALL.of, SMALL.parts, strict=True):
        rows = part.dense().astype(float)
        variances = np.diagonal(rows @ np.linalg.pinv(precision, hermitian=True) @ rows.T)
        assert variances == pytest.approx(residual_planner._cell_variance(SMALL.sizes, b, plan.noise), rel=1e-9)


def test_all_tables_of_three_attributes_of_a_census_(repeatable):
    records = np.stack([np.random.default_rng(0).integers(0, n, 48_842) for n in ADULT], axis=1)
    work = Marginals.of_order(ADULT, 3)
    plan = planner(work, rho=0.1)
    noisy = plan.release(records)
    tables = [noisy.table(b) for b in work.of]
    assert len(tables) == 364
    assert sum(table.size for table in tables) == 1_772_180
    deviation = math.sqrt(noisy.variance(work.of[0]))
    exact = np.zeros(tables[0].shape)
    np.add.at(exact, tuple(records[:, i] for i in work.of[0]), 1)
    assert not far_off((tables[0] - exact).reshape(-1) ** 2, deviation**2)


def test_codes_outside_are_clamped():
    records = np.array([[-5, 99, 3], [1, 2, 10**15]])
    sharp = planner(rho=10**9)
    inside = sharp.release(np.array([[0, 2, 3], [1, 2, 3]]))
    assert sharp.release(records).table((0, 1)) == pytest.approx(inside.table((0, 1)), abs=0.01)
    assert sharp.release(np.zeros((0, 3), dtype=np.int64)).table(()) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("large", [2**63, 2**64, 10**40])
def test_codes_of_any_size_are_clamped(large):
    sharp = planner(rho=10**9)
    table = sharp.release([[0, large, 3], [1, -large, 3]]).table((0, 1))
    assert table == pytest.approx(np.array([[0, 0, 1], [1, 0, 0]]), abs=0.01)


def test_no_records_are_read_however_they_are_given():
    for records in ([], np.zeros((0, 3), dtype=np.int64)):
        assert planner(rho=10**9).release(records).table((0, 1)) == pytest.approx(np.zeros((2, 3)), abs=0.01)


@pytest.mark.parametrize("sizes", [(2,), (5,), (2, 3), (4, 4, 2)])
def test_residuals_of_the_largest_counts_are_exact(sizes):
    everything = tuple(range(len(sizes)))
    most, rng = residual_planner._largest(sizes, everything), np.random.default_rng(0)
    factor = math.prod(sizes)
    for _ in range(20):
        table = rng.integers(0, 2, size=sizes) * most
        exact = residual_rows(sizes, everything) * factor
        expected = [sum(round(a) * b for a, b in zip(row, table.reshape(-1).tolist(), strict=True)) for row in exact]
        found = residual_planner._taken_out(table).astype(np.float64).reshape(-1)
        assert [int(value) for value in found] == expected
        assert max(map(abs, expected)) <= 2**53


def test_neighbours_with_full_cells(monkeypatch):
    """Under add_remove a full cell stays as it is; under replace_one one cell of two would, so it is not filled."""
    monkeypatch.setattr(residual_planner, "EXACT", 32)
    work = Marginals(sizes=(2, 2), of=((0, 1),))
    assert planner(work).largest_count == 16
    many = np.zeros((17, 2), dtype=np.int64)
    assert planner(work, rho=10**9).release(many).table((0, 1)).sum() == pytest.approx(17, abs=0.01)
    with pytest.raises(InvalidInput, match="public"):
        planner(work, "replace_one").release(many)
    assert planner(work, "replace_one", rho=10**9).release(many[1:]).table((0, 1)).sum() == pytest.approx(16, abs=0.01)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rho", [1e-6, 1e-12, 1e-30, 1e-200, 1e100])
def test_small_and_large_budgets_are_spent(relation, rho):
    plan = planner(relation=relation, rho=rho)
    assert rho * (1 - 1e-9) <= plan.loss.rho <= rho
    assert squared_mu(plan) == pytest.approx(2 * rho, rel=1e-9)
    assert np.isfinite(plan.release([[0, 1, 2]]).table((0, 1))).all()
    small = planner(relation=relation, epsilon=1e-3, delta=1e-12)
    assert small.loss.epsilon(1e-12) <= 1e-3


def test_what_does_not_fit_floats_is_refused():
    far = Marginals(sizes=(2, 3), of=((0,), (1,)), weights=(1, 10**200))
    for made in (lambda: planner(rho=1e-290), lambda: planner(rho=1e290), lambda: planner(far)):
        with pytest.raises(InvalidParameter, match="floats"):
            made()


def test_plans_and_tables_can_be_copied_and_pickled():
    for plan in (planner(), planner(relation="replace_one", epsilon=1, delta=1e-6)):
        for made in (copy.copy(plan), copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
            assert made == plan
            assert made.noise == plan.noise
            assert made.loss == plan.loss
        noisy = plan.release([[0, 1, 2]])
        assert np.array_equal(pickle.loads(pickle.dumps(noisy)).table((0, 1)), noisy.table((0, 1)))


def test_keeps_the_contract(monkeypatch):
    names = type("Names", (), {**vars(conformance.mechanisms), **vars(operators)})
    monkeypatch.setattr(conformance, "mechanisms", names)
    for plan in (planner(), planner(relation="replace_one"), planner(epsilon=0.5, delta=1e-7)):
        done = check_mechanism(plan)
        assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(done.passed)
        assert "standard deviations" in plan._repr_html_()
        assert plan.loss == PrivacyLoss.from_json(plan.loss.to_json())
    with pytest.raises(TypeError):
        planner().noise[()] = 0.0


def test_settings_and_records_are_checked():
    for wrong in ({}, {"epsilon": 1}, {"delta": 1e-6}, {"rho": 1, "epsilon": 1, "delta": 0.1}, {"rho": -1}):
        with pytest.raises(InvalidParameter):
            ResidualPlanner(workload=SMALL, relation="add_remove", **wrong)
    with pytest.raises(InvalidParameter):
        planner(operators.Prefix(size=3))
    with pytest.raises(InvalidParameter, match="nothing to protect"):
        planner(Marginals(sizes=(3,), of=((),)), "replace_one")
    with pytest.raises(RelationMismatch):
        planner(relation="both")
    for records in (np.zeros(3, dtype=int), np.zeros((2, 2), dtype=int), np.full((2, 3), "a"), "abc", {"a": 1}):
        with pytest.raises(InvalidInput):
            planner().release(records)
