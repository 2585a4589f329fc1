"""What every estimator of a line promises, whatever paper it is from."""

import dataclasses
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch
from discreet.errors import NotPrivateWarning
from discreet.synthetic.estimators import (
    AHP,
    DAWA,
    LARGEST,
    MWEM,
    AdaptiveGrid,
    GreedyH,
    Hb,
    Identity,
    Privelet,
    QuadTree,
    ShrunkTree,
    Uniform,
    UniformGrid,
)
from discreet.synthetic.estimators.estimator import Counted
from discreet.synthetic.operators import AllRanges, Prefix
from discreet.testing import check_mechanism, seeded

ALL = [AHP, DAWA, GreedyH, Hb, Identity, MWEM, Privelet, ShrunkTree, Uniform]
FITTED = [DAWA, GreedyH, Hb, MWEM, ShrunkTree]
SHAPES = [(1,), (2,), (7,), (16,), (1, 1), (3, 5), (4, 4)]
RELATIONS = ["add_remove", "replace_one"]


def make(kind, shape=(16,), relation="add_remove", epsilon=1, **settings):
    return kind(shape=shape, epsilon=epsilon, relation=relation, **settings)


def quietly(seed, function):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(seed):
        return function()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ALL)
def test_the_shares_sum_to_epsilon(kind, shape, relation):
    for epsilon in (Fraction(1, 3), 0.1, 2):
        estimator = make(kind, shape, relation, epsilon)
        spent = sum((Fraction(part.epsilon) for part in estimator.parts), Fraction(0))
        free = relation == "replace_one" and (kind is Uniform or (kind is Privelet and estimator.cells == 1))
        assert spent == (0 if free else Fraction(epsilon))
        assert estimator.loss.relation == relation
        assert estimator.loss.epsilon() == pytest.approx(float(spent), rel=1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ALL)
def test_every_histogram_is_answered_in_its_shape(kind, shape, relation):
    estimator = make(kind, shape, relation)
    one = np.zeros(shape, dtype=np.int64)
    one.flat[-1] = 5
    huge = np.full(shape, 2**62, dtype=np.int64)
    for histogram in (np.zeros(shape, dtype=np.int64), one, huge, one.astype(np.uint8), huge.astype(np.uint64) * 3):
        released = estimator.release(histogram)
        assert released.shape == shape
        assert released.dtype == np.float64
        assert np.isfinite(released).all()
    assert estimator.release(one.tolist()).shape == shape
    assert estimator.release(one.reshape(-1)).shape == shape


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", ALL)
def test_the_contract_of_mechanisms_is_kept(kind, relation):
    estimator = make(kind, (4,), relation)
    passed = check_mechanism(estimator).passed
    assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(passed)
    one, other = estimator.worst_case()
    assert np.abs(one - other).sum() == (1 if relation == "add_remove" else 2)


@pytest.mark.parametrize("kind", ALL)
def test_what_is_no_histogram_is_refused_without_showing_it(kind):
    estimator = make(kind, (4,))
    for wrong in ([1, 2, 3], [[1, 2], [3, 4]], [1.5, 0, 0, 0], [1, 2, 3, "x"], [[1], [2, 3]], [True] * 4, 977):
        with pytest.raises(InvalidInput, match="whole counts") as caught:
            estimator.release(wrong)
        assert "977" not in str(caught.value)


@pytest.mark.parametrize("kind", ALL)
def test_settings_that_nothing_could_have_are_refused(kind):
    for shape in ((), (0,), (2.5,), "4", 4, (-1, 3), (True,), (1 << 23,)):
        with pytest.raises(InvalidParameter):
            make(kind, shape)
    for epsilon in (0, -1, float("nan"), float("inf"), None):
        with pytest.raises(InvalidParameter):
            make(kind, epsilon=epsilon)
    with pytest.raises(RelationMismatch):
        make(kind, relation=None)


@pytest.mark.parametrize("kind", FITTED)
def test_a_workload_is_on_the_same_cells(kind):
    with pytest.raises(InvalidParameter, match="must agree"):
        make(kind, workload=Prefix(size=8))
    with pytest.raises(InvalidParameter, match="operator"):
        make(kind, workload=[[1, 0]])
    estimator = make(kind, workload=Prefix(size=16))
    assert "workload=Prefix(size=16)" in repr(estimator)
    assert estimator.release(np.arange(16)).shape == (16,)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(DAWA, "partition_share"), (AHP, "cluster_share"), (MWEM, "total_share"), (ShrunkTree, "total_share")],
)
def test_shares_are_between_none_and_all(kind, name):
    for share in (0, 1, -0.5, 2, None):
        with pytest.raises(InvalidParameter):
            make(kind, **{name: share})


def test_other_settings_are_checked():
    with pytest.raises(InvalidParameter, match="caution"):
        make(DAWA, caution=-1)
    with pytest.raises(InvalidParameter, match="threshold"):
        make(AHP, threshold=-1)
    with pytest.raises(InvalidParameter, match="dimension"):
        make(DAWA, (2, 2, 2))
    for rounds in (0, 1.5, True, 10**6):
        with pytest.raises(InvalidParameter, match="rounds"):
            make(MWEM, rounds=rounds)


@pytest.mark.parametrize("kind", [AHP, GreedyH, Hb, Identity, MWEM, Privelet, ShrunkTree, Uniform])
def test_three_axes_are_answered(kind):
    assert make(kind, (3, 2, 4)).release(np.ones((3, 2, 4), dtype=np.int64)).shape == (3, 2, 4)


@pytest.mark.parametrize("relation", RELATIONS)
def test_reading_clamps_and_keeps_the_number_of_records(relation):
    estimator = make(Identity, (3,), relation)
    counted = estimator.read([-5, 2**70, 7])
    assert isinstance(counted, Counted)
    assert counted.cells.tolist() == [0, LARGEST, 7]
    assert counted.persons == 2 + 2**70
    high = estimator.read(np.array([2**63 - 1, 2**63 - 1, 0]))
    assert high.persons == 2**64 - 2
    assert estimator.read(np.array([2**64 - 1, 1, 0], dtype=np.uint64)).persons == 2**64


def test_neighbours_have_the_same_public_total_where_cells_are_full():
    estimator = make(Uniform, (2,), "replace_one")
    full = [LARGEST + 1, 3]
    moved = [LARGEST, 4]
    assert estimator.release(full).tolist() == estimator.release(moved).tolist()
    clamped = [estimator.read(histogram).cells for histogram in (full, moved)]
    assert np.abs(clamped[0] - clamped[1]).sum() == 1 <= estimator.touched


@pytest.mark.parametrize("kind", [DAWA, GreedyH, Hb, Identity, Privelet, ShrunkTree])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape", [(37,), (6, 9)])
def test_the_error_vanishes_as_epsilon_grows(kind, relation, shape):
    exact = np.arange(np.prod(shape)).reshape(shape) % 11 * 40
    released = quietly(f"{kind.__name__} {relation} {shape}", lambda: make(kind, shape, relation, 10**5).release(exact))
    assert np.abs(released - exact).max() < 0.1


@pytest.mark.parametrize("kind", [DAWA, GreedyH, Hb, Identity, Privelet, ShrunkTree])
@pytest.mark.parametrize("relation", RELATIONS)
def test_records_that_differ_by_one_are_told_apart_as_epsilon_grows(kind, relation):
    exact = np.arange(64) * 7 % 5 % 2 + 30
    released = quietly(f"one {kind.__name__} {relation}", lambda: make(kind, (64,), relation, 10**5).release(exact))
    assert np.abs(released - exact).max() < 0.1


@pytest.mark.parametrize("kind", [*ALL, QuadTree, UniformGrid, AdaptiveGrid])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [1e-20, 1e-100, 1e-160, 1e-200, 1e-290])
def test_noise_of_any_width_leaves_finite_estimates(kind, relation, epsilon):
    with warnings.catch_warnings(action="error"):
        assert np.isfinite(make(kind, (4, 4), relation, epsilon).release(np.zeros((4, 4), dtype=int))).all()


@pytest.mark.parametrize("kind", [*ALL, QuadTree, UniformGrid, AdaptiveGrid])
def test_a_public_total_of_any_size_is_answered(kind):
    assert np.isfinite(make(kind, (4, 4), "replace_one").release([[10**400] * 4] * 4)).all()


def test_large_counts_are_read_in_either_order_of_bytes():
    for order in "<>":
        read = make(Identity, (2,)).read(np.array([2**63, 3], dtype=f"{order}u8"))
        assert read.cells.tolist() == [LARGEST, 3]
        assert read.persons == 2**63 + 3


def test_what_was_read_does_not_show_itself():
    shown = repr(make(Identity, (2,)).read([918273, 3]))
    assert "918273" not in shown
    assert "918276" not in shown


def test_the_error_of_an_even_spread_does_not_vanish():
    assert np.abs(make(Uniform, (2,), epsilon=10**6).release([1000, 0]) - [1000, 0]).max() > 400


@pytest.mark.parametrize("kind", [DAWA, GreedyH, Hb, Identity, Privelet, ShrunkTree])
def test_scale_and_epsilon_are_exchangeable(kind):
    shape = np.repeat([900, 0, 40, 7, 300, 0, 0, 2], 16)
    work = AllRanges(size=128)

    def mean_error(factor):
        exact, estimator = shape * factor, make(kind, (128,), epsilon=Fraction(1, 5 * factor))
        truth = work.matvec(exact)
        errors = [np.linalg.norm(work.matvec(estimator.release(exact)) - truth) / exact.sum() for _ in range(60)]
        return float(np.mean(errors))

    one, ten = quietly(kind.__name__, lambda: (mean_error(1), mean_error(10)))
    assert 0.8 < one / ten < 1.25


def test_estimators_are_values():
    assert make(DAWA) == make(DAWA)
    assert len({make(kind) for kind in ALL}) == len(ALL)
    assert dataclasses.replace(make(DAWA), caution=2).caution == 2
