import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, NoTheorem, RelationMismatch
from discreet.errors import NotPrivateWarning
from discreet.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace
from discreet.synthetic import compare, operators, strategies
from discreet.synthetic.comparison import best_strategy
from discreet.synthetic.matrix_mechanism import MatrixMechanism, noise_variance
from discreet.synthetic.operators import AllRanges, Explicit, Identity, Kronecker, Marginals, Prefix, Total, Union
from discreet.synthetic.strategies import (
    Haar,
    Hierarchical,
    SquareRoot,
    kronecker_identities,
    p_identity,
    weighted_marginals,
)
from discreet.testing import check_mechanism, conformance, seeded

PURE = {"epsilon": 1}
BUDGETS = [PURE, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-5}]
TABLES = Marginals.of_order((2, 3), 1)

STRATEGIES = {
    "identity": (Prefix(size=8), Identity(size=8)),
    "workload itself": (Prefix(size=6), Prefix(size=6)),
    "all ranges": (AllRanges(size=5), AllRanges(size=5)),
    "binary tree": (AllRanges(size=8), Hierarchical(size=8)),
    "ragged tree without root": (Prefix(size=7), Hierarchical(size=7, branching=3, root=False)),
    "haar": (Prefix(size=8), Haar(size=8)),
    "ragged haar": (AllRanges(size=7), Haar(size=7)),
    "p-identity": (AllRanges(size=16), p_identity(AllRanges(size=16))),
    "square root": (Prefix(size=9), SquareRoot(size=9)),
    "product": (
        Kronecker(of=(Prefix(size=3), Identity(size=4))),
        Kronecker(of=(Hierarchical(size=3), Identity(size=4))),
    ),
    "product of p-identities": (TABLES, kronecker_identities(TABLES)),
    "weighted marginals": (TABLES, weighted_marginals(TABLES)),
    "marginals": (TABLES, TABLES),
    "union": (Prefix(size=4), Union(of=(Total(size=4), Identity(size=4)), weights=(Fraction(1, 3), 1))),
    "explicit": (Total(size=3), Explicit(matrix=[[1, 1, 0], [0, 0, 1]])),
}


def mechanism(workload=None, strategy=None, relation="add_remove", **settings):
    return MatrixMechanism(
        workload=workload or Prefix(size=4),
        strategy=strategy or Identity(size=4),
        relation=relation,
        **({} if {"epsilon", "rho"} & set(settings) else PURE),
        **settings,
    )


# Worked values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [(Identity(size=4), 20), (Hierarchical(size=4, branching=2), 324 / 7), (Prefix(size=4), 128)],
)
def test_worked_values(strategy, expected):
    plan = mechanism(strategy=strategy, discrete=False)
    assert plan.error().total == pytest.approx(expected, abs=1e-8)
    assert plan.total_error() == pytest.approx(expected, abs=1e-8)
    assert float(np.sum(plan.error().deviations ** 2)) == pytest.approx(expected, abs=1e-8)


def test_discrete_noise_has_a_little_less_error():
    assert mechanism().error().total == pytest.approx(10 * 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2)


def test_gaussian_error_is_the_textbook_formula():
    for strategy in (Identity(size=4), Hierarchical(size=4), Haar(size=4)):
        a, w = strategy.dense().astype(float), Prefix(size=4).dense().astype(float)
        norm = max(np.sum(a * a, axis=0))
        plan = mechanism(strategy=strategy, rho=0.5, discrete=False)
        assert plan.error().total == pytest.approx(norm * np.linalg.norm(w @ np.linalg.pinv(a)) ** 2)


# Privacy: what neighbours change, against what the noise is for ------------------------------------------------------


def neighbours(cells, relation):
    """Differences of histograms of neighbours, as they are after counts were clamped: a full cell does not change."""
    one = np.eye(cells, dtype=np.int64)
    apart = [] if relation == "add_remove" else [a - b for a, b in itertools.combinations(one, 2)]
    return [*one, *apart]


def worst_epsilon(plan):
    """The largest log-ratio of probabilities over all outputs and neighbours: exact for (discrete) Laplace noise."""
    whole = plan.strategy.dense() * plan.strategy.denominator
    moves = [np.abs(whole @ move).sum() for move in neighbours(plan.strategy.shape[1], plan.relation)]
    return max(moves) / float(plan.noise.scale)


def worst_rho(plan):
    """The largest zCDP parameter over all neighbours."""
    whole = plan.strategy.dense() * plan.strategy.denominator
    moves = [np.sum((whole @ move) ** 2.0) for move in neighbours(plan.strategy.shape[1], plan.relation)]
    return max(moves) / (2 * float(plan.noise.sigma) ** 2)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("discrete", [True, False])
def test_the_loss_is_that_of_the_worst_neighbours(name, relation, discrete):
    pure = mechanism(*STRATEGIES[name], relation, epsilon=Fraction(1, 2), discrete=discrete)
    assert worst_epsilon(pure) == pytest.approx(0.5, rel=1e-9)
    assert pure.loss.epsilon() == pytest.approx(0.5)
    assert pure.loss.relation == relation
    plan = mechanism(*STRATEGIES[name], relation, rho=Fraction(1, 8), discrete=discrete)
    assert worst_rho(plan) == pytest.approx(1 / 8, rel=1e-8)
    assert plan.loss.rho == pytest.approx(1 / 8, rel=1e-8)
    assert plan.loss.rho <= 1 / 8 * (1 + 1e-15)


@pytest.mark.parametrize("name", [*STRATEGIES, "heavy total"])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 1}])
@pytest.mark.parametrize("discrete", [True, False])
def test_neighbours_with_full_cells_are_charged(name, relation, budget, discrete):
    """What is really measured of neighbours whose counts reach the largest one, on either side of 0."""
    heavy = Union(of=(Total(size=3), Identity(size=3)), weights=(1, Fraction(1, 2**20)))
    workload, strategy = STRATEGIES.get(name, (heavy, heavy))
    plan = mechanism(workload, strategy, relation, discrete=discrete, **budget)
    most, cells = plan.largest_count, strategy.shape[1]
    p = 1 if "epsilon" in budget else 2
    spent = float(plan.noise.scale) if p == 1 else 2 * float(plan.noise.sigma) ** 2
    worst = 0
    for i, j in itertools.permutations(range(cells), 2):
        for low, high in itertools.product((0, most - 1, most, -most - 1), repeat=2):
            base = np.zeros(cells, dtype=np.int64)
            base[i], base[j] = low, high
            one, other = base.copy(), base.copy()
            one[i] += 1
            if relation == "replace_one":
                other[j] += 1
            a, b = (strategy.whole_matvec(plan._counts(counts)).tolist() for counts in (one, other))
            worst = max(worst, sum(abs(x - y) ** p for x, y in zip(a, b, strict=True)))
    assert worst == plan.sensitivity.power * strategy.denominator**p
    assert worst / spent <= 1 + 1e-9
    assert worst / spent == pytest.approx(1, rel=1e-7)


def test_a_strategy_that_understates_its_sensitivity_is_caught():
    class Liar(Identity):
        __slots__ = ()

        def largest_column(self, p, /):
            return 1

        def whole_matvec(self, x, /):
            return 2 * x

        def whole_rmatvec(self, y, /):
            return 2 * y

    assert worst_epsilon(mechanism(strategy=Liar(size=4), epsilon=1)) == pytest.approx(2)
    assert worst_rho(mechanism(strategy=Liar(size=4), rho=0.5)) == pytest.approx(2)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_worst_case_is_one(name, relation):
    plan = mechanism(*STRATEGIES[name], relation)
    one, other = plan.worst_case()
    assert one.sum() == 1
    assert other.sum() == (0 if relation == "add_remove" else 1)
    moved = np.abs(plan.strategy.dense() @ (one - other)).sum()
    if relation == "add_remove" or plan.strategy.shape[1] < 5:
        assert moved == pytest.approx(float(plan.sensitivity.power))
    assert 0 < moved <= float(plan.sensitivity.power) * (1 + 1e-12)


@pytest.mark.parametrize("noise", [{"epsilon": 1}, {"rho": 1}])
@pytest.mark.parametrize(
    "matrix",
    [
        [[3, 2, -2]],
        [[3, 0, 0], [0, 2, -2]],
        [[1, 0, 0, 1], [0, 5, -4, 0]],
        [[2**28, 0, -(2**28)], [0, 2**29 - 1, 0]],
    ],
)
def test_the_worst_case_is_the_largest_distance_of_two_columns(matrix, noise):
    """Where it is not from the largest column."""
    plan = mechanism(operators.Explicit(matrix=matrix), operators.Explicit(matrix=matrix), "replace_one", **noise)
    p = 1 if "epsilon" in noise else 2
    one, other = plan.worst_case()
    columns = np.array(matrix, dtype=object).T
    largest = max((abs(a - b) ** p).sum() for a in columns for b in columns)
    assert (
        (abs(np.array(matrix, dtype=object) @ (one - other)) ** p).sum()
        == largest
        == plan.strategy.change(p, relation="replace_one").power
    )


def test_budgets_by_epsilon_and_delta():
    for discrete, kind in ((True, DiscreteGaussian), (False, Gaussian)):
        plan = mechanism(strategy=Hierarchical(size=4), epsilon=1, delta=1e-5, discrete=discrete)
        assert isinstance(plan.noise, kind)
        assert 0.99 < plan.loss.epsilon(1e-5) <= 1


def test_noise_is_discrete_where_the_strategy_is_whole():
    assert isinstance(mechanism().noise, Geometric)
    assert isinstance(mechanism(rho=1).noise, DiscreteGaussian)
    halves = Union(of=(Identity(size=4),), weights=(Fraction(1, 2),))
    assert isinstance(mechanism(strategy=halves).noise, Laplace)
    assert isinstance(mechanism(strategy=halves, rho=1).noise, Gaussian)
    assert mechanism(strategy=halves, discrete=False).error().total == pytest.approx(20)


# Error: what was predicted, against what is measured -----------------------------------------------------------------


@pytest.fixture
def repeatable(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


def far_off(samples, expected):
    """Whether a mean is further than 7 standard errors from its expectation."""
    return abs(samples.mean() - expected) > 7 * samples.std() / math.sqrt(len(samples))


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("budget", [PURE, {"rho": 0.5}])
def test_the_predicted_error_is_the_measured_one(name, budget, repeatable):
    workload, strategy = STRATEGIES[name]
    plan = mechanism(workload, strategy, **budget)
    x = np.arange(workload.shape[1]) * 10
    truth, expected = workload.matvec(x), plan.error()
    rounds = 1600 if workload.shape[0] == 1 else 600  # enough for the last two lines, too
    off = np.array([plan.release(x).values - truth for _ in range(rounds)])
    squares = off**2
    assert not far_off(squares.sum(axis=1), expected.total)
    for query in range(min(workload.shape[0], 5)):
        assert not far_off(off[:, query], 0.0)
        assert not far_off(squares[:, query], expected.deviations[query] ** 2)
    assert far_off(squares.sum(axis=1), 10 * expected.total)
    assert far_off(squares.sum(axis=1), expected.total / 10)


@pytest.mark.parametrize(
    "noise",
    [
        Geometric(sensitivity=1, epsilon=3),
        Geometric(sensitivity=1, epsilon=0.1),
        Laplace(sensitivity=1, epsilon=1, grid=2),
        DiscreteGaussian(sensitivity=1, sigma=0.7),
        DiscreteGaussian(sensitivity=1, sigma=5),
        Gaussian(sensitivity=1, sigma=1, grid=1),
    ],
)
def test_the_variance_of_the_noise(noise, repeatable):
    values = np.zeros(40_000, dtype=np.int64 if noise.domain.whole else np.float64)
    expected = noise_variance(noise)
    rounded = 0.05 * expected if getattr(noise, "grid", 0) in (1, 2) else 0.0  # a coarse grid is not quite uniform
    samples = noise.release(values).astype(float) ** 2
    assert abs(samples.mean() - expected) < 7 * samples.std() / 200 + rounded


# What it gives -------------------------------------------------------------------------------------------------------


def test_answers_agree_with_one_histogram():
    plan = mechanism(AllRanges(size=8), Hierarchical(size=8))
    answers = plan.release(np.arange(8))
    assert answers.values == pytest.approx(AllRanges(size=8).matvec(answers.estimate))
    assert answers.measured.shape == (15,)
    assert answers.deviations == pytest.approx(plan.error().deviations)
    assert "36 answers" in repr(answers)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_lot_of_budget_gives_the_truth(name):
    workload, strategy = STRATEGIES[name]
    x = np.arange(strategy.shape[1]) * 100
    for settings in ({"epsilon": 10**7}, {"rho": 10**12}):
        assert mechanism(workload, strategy, **settings).release(x).values == pytest.approx(
            workload.matvec(x), abs=0.05
        )


@pytest.mark.parametrize("name", ["identity", "binary tree", "haar", "p-identity", "product", "weighted marginals"])
def test_a_histogram_without_negative_cells(name, repeatable):
    workload, strategy = STRATEGIES[name]
    plan = mechanism(workload, strategy, nonnegative=True)
    free = mechanism(workload, strategy)
    assert plan.loss == free.loss
    x = np.zeros(strategy.shape[1], dtype=np.int64)
    x[0] = 1000
    off = {plan: [], free: []}
    for each, found in off.items():
        for _ in range(15):
            estimate = each.release(x).estimate
            found.append(np.sum((strategy.matvec(estimate) - strategy.matvec(x)) ** 2))
            assert each is free or estimate.min() >= 0
    assert np.mean(off[plan]) < np.mean(off[free])
    with pytest.raises(NoTheorem, match="nonnegative=False"):
        plan.error()


def test_the_nonnegative_estimate_is_nearest_to_the_measurements(repeatable):
    from scipy.optimize import nnls

    plan = mechanism(Prefix(size=8), Hierarchical(size=8), epsilon=0.2, nonnegative=True)
    for _ in range(5):
        answers = plan.release(np.zeros(8, dtype=np.int64))
        best, distance = nnls(Hierarchical(size=8).dense().astype(float), answers.measured)
        found = np.linalg.norm(Hierarchical(size=8).matvec(answers.estimate) - answers.measured)
        assert found <= distance * (1 + 1e-3) + 1e-6
        assert answers.estimate == pytest.approx(best, abs=0.3)


@pytest.mark.parametrize("discrete", [True, False])
def test_any_counts_are_answered(discrete):
    plan = mechanism(Prefix(size=4), Hierarchical(size=4), discrete=discrete)
    for counts in (
        [0, 0, 0, 0],
        [-5, 2**62, -(2**63), 7],
        np.full(4, 2**63 - 1),
        np.full(4, 2**64 - 1, dtype=np.uint64),
        np.zeros((2, 2), dtype=np.int8),
        np.full(4, 255, dtype=np.uint8),
        [1, 2, 3, 2**63],
        [-1, 2**63, 2**64, 10**40],
        [-(10**40), 0, 2**63 - 1, 2**64 - 1],
    ):
        assert np.isfinite(plan.release(counts).values).all()
    assert mechanism(discrete=discrete, epsilon=1000).release(np.full(4, 255, dtype=np.uint8)).values[
        3
    ] == pytest.approx(1020, abs=1)
    most = plan.largest_count
    huge = plan.release(np.full(4, 2**64 - 1, dtype=np.uint64)).values[3]
    assert huge == pytest.approx(4 * most, rel=1e-9)


@pytest.mark.parametrize(
    "wrong", [[1, 2, 3], [1, 2, 3, 4, 5], [1.5, 0, 0, 0], ["a"] * 4, [True] * 4, [None] * 4, [math.nan] * 4]
)
def test_what_is_no_histogram_is_refused(wrong):
    with pytest.raises(InvalidInput) as refusal:
        mechanism().release(wrong)
    assert "1.5" not in str(refusal.value)


def test_counts_of_any_size_are_clamped():
    plan = mechanism()
    for large in (2**62, 2**63, 2**64, 10**40):
        assert plan._counts([7, large, -large, 0]).tolist() == [7, plan.largest_count, -plan.largest_count, 0]


def test_settings_are_checked():
    for wrong in (
        {"epsilon": 0},
        {"epsilon": 1, "rho": 1},
        {"rho": 1, "delta": 1e-6},
        {"epsilon": -1},
        {"rho": math.nan},
        {"epsilon": 1, "delta": 2},
        {"nonnegative": None},
        {"discrete": 1},
        {"strategy": Identity(size=5)},
        {"strategy": Total(size=4), "relation": "replace_one"},
        {"workload": "prefix"},
    ):
        with pytest.raises(InvalidParameter):
            mechanism(**wrong)
    with pytest.raises(InvalidParameter):
        MatrixMechanism(workload=Prefix(size=4), strategy=Identity(size=4), relation="add_remove", delta=0.1)
    with pytest.raises(RelationMismatch):
        mechanism(relation=None)
    deep = Kronecker(of=tuple(Union(of=(Identity(size=2),), weights=(Fraction(1, 2**16) + 1,)) for _ in range(3)))
    with pytest.raises(InvalidParameter, match="digits"):
        mechanism(deep, deep)
    for workload, strategy in (
        (Prefix(size=4), Total(size=4)),
        (Marginals.of_order((30, 30, 30), 2), Marginals.of_order((30, 30, 30), 1)),
        (Identity(size=4), Explicit(matrix=[[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])),
    ):
        with pytest.raises(InvalidParameter, match="determine"):
            mechanism(workload, strategy)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_keeps_the_contract(name, budget, monkeypatch):
    names = type("Names", (), {**vars(conformance.mechanisms), **vars(operators), **vars(strategies)})
    monkeypatch.setattr(conformance, "mechanisms", names)
    plan = mechanism(*STRATEGIES[name], **budget)
    done = check_mechanism(plan)
    assert {"interface", "frozen", "keyword-only", "loss"} <= set(done.passed)
    assert "repr" in {*done.passed, *(check for check, _ in done.skipped)}
    assert "expected squared error" in plan._repr_html_()


# Which strategy ------------------------------------------------------------------------------------------------------


def test_strategies_are_compared_by_their_exact_errors():
    table = compare(Prefix(size=4), epsilon=1, relation="add_remove", discrete=False)
    assert [row.error for row in table.rows] == sorted(row.error for row in table.rows)
    assert table["identity"].error == pytest.approx(20, abs=1e-8)
    assert table["workload itself"].error == pytest.approx(128, abs=1e-8)
    for row in table.rows:
        assert row.error == pytest.approx(row.mechanism.error().total)
        assert row.name in repr(table)
    with pytest.raises(InvalidParameter, match="identity"):
        table["none"]


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    "workload",
    [
        AllRanges(size=32),
        Identity(size=16),
        Total(size=5),
        Kronecker(of=(Prefix(size=8), AllRanges(size=4))),
        Marginals.of_order((3, 4, 5), 2),
        Union(of=(Prefix(size=6), Kronecker(of=(Identity(size=2), Total(size=3))))),
    ],
)
def test_every_kind_of_workload_has_a_best_strategy(workload, budget):
    table = compare(workload, relation="add_remove", **budget)
    assert len(table.rows) >= 3
    best = best_strategy(workload, relation="add_remove", **budget)
    plan = mechanism(workload, best, **budget)
    assert plan.total_error() == pytest.approx(
        min(row.error for row in table.rows if isinstance(row.mechanism, MatrixMechanism))
    )
    if "epsilon" not in budget and isinstance(workload, Marginals):
        assert table.best.name == "residual planner"


def test_what_is_public_needs_no_strategy():
    with pytest.raises(InvalidParameter):
        compare(Total(size=1), epsilon=1, relation="replace_one")
    assert compare(Total(size=3), epsilon=1, relation="replace_one").rows


@pytest.mark.parametrize("epsilon", [1, 100, 699, 701, 715, 999, 1001, 10**6])
def test_the_variance_of_next_to_no_noise_does_not_overflow(epsilon):
    from discreet.mechanisms import Geometric
    from discreet.synthetic.matrix_mechanism import noise_variance

    assert 0 <= noise_variance(Geometric(sensitivity=1, epsilon=epsilon)) <= 2


@pytest.mark.parametrize("exponent", [3, 5, 6, 7, 9, 20, 100, 160, 200, 290])
def test_the_variance_of_wide_noise_is_that_of_laplace_and_never_fails(exponent):
    epsilon = Fraction(1, 10**exponent)
    expected = 2.0 * 10.0 ** (2 * exponent) if exponent < 150 else math.inf
    for noise in (Geometric(sensitivity=1, epsilon=epsilon), Laplace(sensitivity=1, epsilon=epsilon)):
        assert noise_variance(noise) == pytest.approx(expected, rel=1e-6)
    if exponent < 150:  # wider Gaussian noise is refused
        gaussian = DiscreteGaussian(sensitivity=1, sigma=10**exponent)
        assert noise_variance(gaussian) == pytest.approx(expected / 2, rel=1e-6)
