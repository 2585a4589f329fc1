"""What is learned from noisy data: clusters, rounds of multiplicative weights, shrunk splits, and the choice."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.errors import NotPrivateWarning
from discreet.synthetic import operators
from discreet.synthetic.estimators import AHP, MWEM, GreedyH, Hb, Identity, ShrunkTree, Uniform, choose
from discreet.synthetic.estimators.ahp import clusters
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.estimator import Pure
from discreet.synthetic.estimators.mwem import _whole_answers
from discreet.synthetic.estimators.selector import expected_error
from discreet.synthetic.estimators.shrunk_tree import shrunk
from discreet.synthetic.estimators.splits import KINDS, Splits, posterior_means
from discreet.synthetic.operators import AllRanges, Explicit, Kronecker, Prefix, Total
from discreet.testing import seeded

EVEN = np.full(KINDS, 1 / KINDS)


def repeatable(seed, function):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(seed):
        return function()


def mean_error(estimator, exact, workload, draws=20):
    truth = workload.matvec(exact)
    return float(np.mean([np.linalg.norm(workload.matvec(estimator.release(exact)) - truth) for _ in range(draws)]))


# Clusters ------------------------------------------------------------------------------------------------------------


def test_clusters_are_neighbours_in_the_order_of_values():
    values = np.random.default_rng(2).integers(0, 50, 200).astype(float)
    labels = clusters(values, 30.0)
    assert set(labels.tolist()) == set(range(labels.max() + 1))
    assert (np.diff(labels[np.argsort(-values, kind="stable")]) >= 0).all()


def test_without_noise_only_equal_values_share_a_cluster():
    values = np.array([3.0, 1.0, 3.0, 2.0, 1.0])
    assert clusters(values, 0.0).tolist() == [0, 2, 0, 1, 2]
    assert clusters(values, 1e9).max() == 0


def test_clusters_of_equal_cells_have_little_noise():
    exact = np.repeat([0, 1000], 512)
    plan = AHP(shape=(1024,), epsilon=1, relation="add_remove")
    alone = Identity(shape=(1024,), epsilon=1, relation="add_remove")
    errors = repeatable("clusters", lambda: [np.abs(each.release(exact) - exact).mean() for each in (plan, alone)])
    assert errors[0] < errors[1] / 2


# Multiplicative weights ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    "workload", [Prefix(size=3), AllRanges(size=3), Explicit(matrix=[[1, -2, 0], [0, 1, 1], [Fraction(1, 2), 0, -1]])]
)
def test_no_record_moves_a_score_by_more_than_is_charged(workload, relation):
    plan = MWEM(shape=(3,), epsilon=1, relation=relation, workload=workload)
    most = 0
    public = _whole_answers(workload, np.array([0.4, 1.3, 2.2]))
    for cells in itertools.product(range(3), repeat=3):
        for i, j in itertools.permutations([0, 1, 2, None], 2):
            if i is None or cells[i] == 0 or (j is None) != (relation == "add_remove"):
                continue
            other = np.array(cells)
            other[i] -= 1
            if j is not None:
                other[j] += 1
            exact = [workload.whole_matvec(np.array(x)) for x in (cells, other)]
            scores = [np.abs(answers - public) for answers in exact]
            most = max(most, np.abs(scores[0] - scores[1]).max(), np.abs(exact[0] - exact[1]).max())
    assert most <= plan.sensitivity <= 2 * most


def test_rounds_share_the_budget_and_may_depend_on_the_measured_total():
    fixed = MWEM(shape=(8,), epsilon=1, relation="replace_one", rounds=4)
    assert [Fraction(part.epsilon) for part in fixed.parts] == [Fraction(1, 8)] * 8
    free = MWEM(shape=(8,), epsilon=1, relation="add_remove")
    assert isinstance(free.parts[1], Pure)
    assert free.chosen_rounds(0) == 2
    assert free.chosen_rounds(10**9) == 80


def test_weights_come_near_a_simple_histogram():
    exact = np.repeat([100, 0, 0, 300], 4) * 50
    plan = MWEM(shape=(16,), epsilon=5, relation="add_remove")
    even = Uniform(shape=(16,), epsilon=5, relation="add_remove")
    found = repeatable("weights", lambda: [mean_error(each, exact, AllRanges(size=16), 3) for each in (plan, even)])
    assert found[0] < found[1] / 10
    released = repeatable("weights", lambda: plan.release(exact))
    assert (released >= 0).all()
    assert released.sum() == pytest.approx(exact.sum(), rel=0.01)


def test_large_entries_do_not_overflow():
    workload = Explicit(matrix=[[1 << 26, 0, 0], [1, 1, 1]])
    plan = MWEM(shape=(3,), epsilon=1, relation="add_remove", workload=workload, rounds=3)
    assert plan.sensitivity == 1 << 26
    released = repeatable("large", lambda: plan.release([2**60, 2**60, 0]))
    assert np.isfinite(released).all()
    assert (released >= 0).all()


def mixed(weight, size=512):
    return operators.Union(of=(Prefix(size=size), operators.Identity(size=size)), weights=(1, weight))


def large(factors):
    half = Explicit(matrix=[[1 << 15] * 2])
    return Kronecker(of=(*[half] * (factors - 1), Explicit(matrix=[[1 << 15, 1 << 15, 0]])))


@pytest.mark.parametrize(
    ("workload", "shape"),
    [(mixed(0.1), (512,)), (mixed(0.1, 2), (2,)), (large(4), (2, 2, 2, 3)), (large(3), (2, 2, 3))],
)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_workload_whose_answers_could_wrap_is_refused(workload, shape, relation):
    with pytest.raises(InvalidParameter, match="round its weights"):
        MWEM(shape=shape, epsilon=1, relation=relation, workload=workload, rounds=1)


@pytest.mark.parametrize(
    ("workload", "shape"),
    [
        (mixed(Fraction(1, 10)), (512,)),
        (mixed(0.125), (512,)),
        (large(2), (2, 3)),
        (Explicit(matrix=[[1 << 28, -(1 << 28), 0], [-1, 1 << 28, 5]]), (3,)),
        (operators.Union(of=(Prefix(size=3), Explicit(matrix=[[-7, 1, 0]])), weights=(Fraction(1, 3), 5)), (3,)),
        (None, (4, 4)),
    ],
)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_answers_of_full_cells_are_exact_and_move_by_no_more_than_is_charged(workload, shape, relation):
    plan = MWEM(shape=shape, epsilon=1, relation=relation, workload=workload, rounds=1)
    assert plan.largest_count >= 1 << 16
    dense = [
        [int(entry) for entry in row]
        for row in plan.queries.whole_matvec(np.eye(plan.cells, dtype=np.int64)).astype(object)
    ]
    half = plan.cells // 2
    for fill in (plan.largest_count, 2**70):
        cells = [fill] * half + [0] * (plan.cells - half)
        pairs = [[*cells], [*cells]]
        pairs[0][-1] += 1
        if relation == "replace_one":
            pairs[1][0] += 1
        answers = []
        for each in pairs:
            kept = [min(count, plan.largest_count) for count in each]
            found = [int(answer) for answer in plan.exact_answers(plan.read(each))]
            assert found == [sum(a * x for a, x in zip(row, kept, strict=True)) for row in dense]
            answers.append(found)
        assert max(abs(a - b) for a, b in zip(*answers, strict=True)) <= plan.sensitivity


# Shrunk splits -------------------------------------------------------------------------------------------------------


def test_the_posterior_mean_is_that_of_numerical_integration():
    p, r, at, v = 50.0, 0.4, 12.0, 30.0
    grid = np.linspace(0, p, 200_001)
    likelihood = np.exp(-((at - grid) ** 2) / (2 * v))
    only_even = np.eye(KINDS)[-1] + 1e-300
    one = Splits(records=np.array([p]), share=np.array([r]), measured=np.array([at]), variance=np.array([v]))
    mean, _ = posterior_means(one, only_even / only_even.sum())
    assert mean[0] == pytest.approx((grid * likelihood).sum() / likelihood.sum(), abs=0.01)
    first = np.eye(KINDS)[0] + 1e-300
    binomial = p * r * (1 - r)
    mean, _ = posterior_means(one, first / first.sum())
    assert mean[0] == pytest.approx(r * p + (at - r * p) * binomial / (binomial + v), abs=0.01)


def test_splits_stay_within_their_block_whatever_was_measured():
    random = np.random.default_rng(4)
    many = Splits(
        records=10.0 ** random.uniform(-5, 12, 500),
        share=random.uniform(0.01, 0.99, 500),
        measured=random.normal(0, 1, 500) * 10.0 ** random.uniform(-5, 14, 500),
        variance=10.0 ** random.uniform(-9, 20, 500),
    )
    means, frequencies = posterior_means(many, EVEN)
    assert np.isfinite(means).all()
    assert ((means >= 0) & (means <= many.records)).all()
    assert frequencies.sum() == pytest.approx(1)


def test_frequencies_are_learned():
    random = np.random.default_rng(5)
    p = np.full(2000, 1000.0)
    empty = random.integers(0, 2, 2000) * p
    many = Splits(records=p, share=p / 2000, measured=empty + random.normal(0, 200, 2000), variance=p * 40)
    means, frequencies = posterior_means(many, EVEN)
    assert frequencies[4] + frequencies[5] > 0.8
    assert np.mean((means - empty) ** 2) < 0.2 * 200**2


def test_without_noise_the_tree_is_kept():
    random = np.random.default_rng(6)
    for shape in ((1,), (33,), (5, 12)):
        tree, exact = Blocks(shape=shape, in_turn=True), random.integers(0, 1000, shape)
        values = [level.astype(float) for level in tree.sums(exact)]
        assert np.allclose(shrunk(tree, values, [1e-9] * tree.levels), exact.reshape(-1), atol=1e-3)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("shape", [(512,), (16, 32)])
def test_shrinking_helps_where_blocks_are_empty_or_even(relation, shape):
    exact = np.zeros(512, dtype=np.int64)
    exact[100:104], exact[256:] = 4000, 20
    workload = AllRanges(size=512)
    settings = {"shape": shape, "epsilon": Fraction(1, 10), "relation": relation}
    found = repeatable(
        f"{relation} {shape}",
        lambda: [mean_error(kind(**settings), exact, _Line(workload)) for kind in (ShrunkTree, GreedyH)],
    )
    assert found[0] < 0.7 * found[1]


def test_the_lowest_level_keeps_its_share_where_cells_are_crowded():
    tree = ShrunkTree(shape=(1024,), epsilon=1, relation="add_remove")
    shares = [tree.shares(10.0**k) for k in range(-2, 9)]
    assert all(sum(each) == 1 for each in shares)
    lowest = [each[-1] for each in shares]
    assert lowest == sorted(lowest)
    assert shares[-1] == tree.fitted
    assert lowest[0] > 0


def test_no_count_is_below_zero():
    tree = ShrunkTree(shape=(64,), epsilon=Fraction(1, 100), relation="add_remove")
    assert all((tree.release(np.zeros(64, dtype=np.int64)) >= 0).all() for _ in range(20))


# The choice ----------------------------------------------------------------------------------------------------------


def test_the_choice_is_by_public_facts():
    settings = {"epsilon": 0.1, "relation": "add_remove"}
    assert isinstance(choose((64, 64), **settings).estimator, ShrunkTree)
    assert isinstance(choose((64,), **settings, persons=299).estimator, Uniform)
    assert isinstance(choose((64,), **settings, persons=300).estimator, ShrunkTree)
    assert isinstance(choose((64,), epsilon=0.1, relation="replace_one", persons=599).estimator, Uniform)
    assert isinstance(choose((8,), **settings, workload=Total(size=8)).estimator, Uniform)
    assert isinstance(choose((1,), **settings).estimator, Uniform)
    chosen = choose((8,), **settings, workload=Prefix(size=8)).estimator
    assert chosen == ShrunkTree(shape=(8,), **settings, workload=Prefix(size=8))
    for choice in (choose((64,), **settings), choose((64,), **settings, unbiased=True)):
        assert choice.reason.endswith(".")


def test_the_unbiased_choice_has_the_least_expected_error():
    for shape, workload in [
        ((64,), None),
        ((64,), operators.Identity(size=64)),
        ((16, 16), None),
        ((16, 4), Kronecker(of=(Prefix(size=16), operators.Identity(size=4)))),
    ]:
        settings = {"shape": shape, "epsilon": 1, "relation": "add_remove"}
        chosen = choose(shape, epsilon=1, relation="add_remove", workload=workload, unbiased=True).estimator
        fitted = {} if workload is None else {"workload": workload}
        others = [Identity(**settings), GreedyH(**settings, **fitted), Hb(**settings, **fitted)]
        least = min(expected_error(other, workload) for other in others)
        assert expected_error(chosen, workload) == pytest.approx(least)


def test_what_cannot_be_chosen_for_is_refused():
    with pytest.raises(InvalidParameter, match="persons"):
        choose((4,), epsilon=1, relation="add_remove", persons=-1)
    with pytest.raises(InvalidParameter, match="persons"):
        choose((4,), epsilon=1, relation="add_remove", persons=1.5)
    with pytest.raises(InvalidParameter, match="must agree"):
        choose((4,), epsilon=1, relation="add_remove", workload=Prefix(size=5))


class _Line:
    """A workload that reads an estimate of any shape as a line."""

    def __init__(self, workload):
        self.workload = workload

    def matvec(self, cells):
        return self.workload.matvec(np.asarray(cells).reshape(-1))
