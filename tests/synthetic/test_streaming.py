import copy
import itertools
import math
import os
import pickle
import sys
import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import BudgetExceeded, InvalidInput, InvalidParameter, PrivacyLoss, RelationMismatch
from discreet.errors import NotPrivateWarning
from discreet.synthetic import streaming
from discreet.synthetic.operators import Prefix
from discreet.synthetic.strategies import SquareRoot, answer_variances
from discreet.synthetic.streaming import CompleteNodes, RunningTotal
from discreet.testing import check_mechanism, seeded

PLANS = [
    {"epsilon": 1},
    {"rho": 0.5},
    {"rho": 0.5, "by": "tree"},
    {"epsilon": 2, "by": "square_root"},
    {"epsilon": 1, "delta": 1e-5},
    {"epsilon": 1, "delta": 1e-5, "by": "tree"},
]


def plan(steps=13, relation="add_remove", **settings):
    return RunningTotal(steps=steps, relation=relation, **(settings or {"rho": 0.5}))


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 8, 13])
@pytest.mark.parametrize("settings", PLANS)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_loss_is_that_of_the_worst_neighbours(steps, settings, relation):
    if steps == 1 and relation == "replace_one":
        with pytest.raises(InvalidParameter, match="public"):
            plan(steps, relation, **settings)
        return
    made = plan(steps, relation, **settings)
    whole = made.strategy.dense() * made.strategy.denominator
    moves = list(whole.T)  # under replace_one by a record that comes into a step whose count is clamped
    if relation == "replace_one":
        moves += [a - b for a, b in itertools.combinations(moves, 2)]
    if "rho" not in settings and "delta" not in settings:
        worst = max(np.abs(move).sum() for move in moves) / float(made.noise.scale)
        assert worst == pytest.approx(settings["epsilon"])
        assert made.loss.epsilon() == pytest.approx(settings["epsilon"])
        return
    worst = max(np.sum(move * move) for move in moves) / (2 * float(made.noise.sigma) ** 2)
    assert worst == pytest.approx(made.loss.rho, rel=1e-7)
    assert worst <= made.loss.rho * (1 + 1e-9)
    if "rho" in settings:
        assert worst == pytest.approx(0.5, rel=1e-8)
    else:
        assert 0.99 < made.loss.epsilon(1e-5) <= 1 + 1e-9


def test_the_loss_of_a_tree_and_of_a_factorisation_is_the_accountants():
    tree = plan(1000, epsilon=1, delta=1e-6, by="tree")
    assert tree.loss.rho == pytest.approx(PrivacyLoss.tree(1000, tree.noise.sigma).rho, rel=1e-9)
    root = plan(50, epsilon=1, delta=1e-6)
    multiplier = float(root.noise.sigma) / root.strategy.denominator
    assert root.loss.rho == pytest.approx(PrivacyLoss.matrix(root.strategy.dense(), multiplier).rho, rel=1e-9)


@pytest.mark.parametrize("steps", [1, 2, 5, 8, 50])
def test_the_error_of_the_square_root_is_that_of_its_matrix(steps):
    made = plan(steps)
    unit = float(made.noise.sigma) ** 2 / made.strategy.denominator**2
    expected = unit * answer_variances(Prefix(size=steps), SquareRoot(size=steps))
    assert made.error().deviations ** 2 == pytest.approx(expected, rel=1e-6)
    assert made.error().total == pytest.approx(expected.sum(), rel=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 3, 6, 8, 13])
def test_the_error_of_the_tree_is_the_best_that_past_measurements_allow(steps):
    """Least squares over the nodes complete by step t gives the same variance as the estimate told at step t."""
    deviations = plan(steps, rho=0.5, by="tree").error().deviations
    unit = deviations[0] ** 2
    for t in range(1, steps + 1):
        best = answer_variances(Prefix(size=t), CompleteNodes(size=t))[-1]
        assert deviations[t - 1] ** 2 / unit == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("settings", [{"epsilon": 1}, {"rho": 0.5, "by": "tree"}, {"rho": 0.5}])
def test_what_is_told_is_the_least_squares_estimate_of_what_was_measured(settings):
    """The same noise twice: once told step by step, once added to the strategy's answers and solved."""
    made, counts = plan(13, **settings), np.arange(13) * 7
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning):
        with seeded("a stream"):
            told = made.release(counts)
        with seeded("a stream"):
            measured = [float(made.noise.release(int(v))) for v in made.strategy.whole_matvec(counts)]
    for t in range(1, 14):
        past = type(made.strategy)(size=t) if isinstance(made.strategy, CompleteNodes) else made.strategy
        rows = past.shape[0] if isinstance(past, CompleteNodes) else 13
        estimate = past.solve(np.array(measured[:rows]) / made.strategy.denominator)
        assert told[t - 1] == pytest.approx(float(np.sum(estimate[:t])), abs=1e-7)


@pytest.fixture
def repeatable(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


def far_off(samples, expected):
    """Whether a mean is further than 7 standard errors from its expectation."""
    return abs(samples.mean() - expected) > 7 * samples.std() / math.sqrt(len(samples))


@pytest.mark.parametrize(
    ("settings", "relation"), [*((given, "add_remove") for given in PLANS), ({"rho": 0.5}, "replace_one")]
)
def test_the_predicted_error_is_the_measured_one(settings, relation, repeatable):
    made, counts = plan(7, relation, **settings), np.arange(7) * 3
    off = np.array([made.release(counts) - np.cumsum(counts) for _ in range(500)])
    expected = made.error()
    for t in range(7):
        assert not far_off(off[:, t], 0.0)
        assert not far_off(off[:, t] ** 2, expected.deviations[t] ** 2)
    whole = (off**2).sum(axis=1)
    assert not far_off(whole, expected.total)
    assert far_off(whole, 10 * expected.total)
    assert far_off(whole, expected.total / 10)


@pytest.mark.parametrize("settings", [{"epsilon": 10**8}, {"rho": 10**14}, {"rho": 10**14, "by": "tree"}])
def test_a_lot_of_budget_gives_the_truth(settings):
    counts = np.random.default_rng(0).integers(-5, 100, size=70)
    assert plan(70, **settings).release(counts) == pytest.approx(np.cumsum(counts), abs=0.01)


def test_what_was_told_depends_on_the_past_alone():
    """The first totals have the same law whatever comes later: the stream has not seen it."""
    made = plan(6, epsilon=10**8)
    stream = made.open()
    told = [stream.add(count) for count in (5, 7, 1)]
    assert told == pytest.approx([5, 12, 13], abs=0.01)
    assert not stream.exhausted
    assert stream.step == 3
    assert made.release(np.array([5, 7, 1])).shape == (3,)


def test_a_stream_ends():
    stream = plan(3).open()
    for _ in range(3):
        stream.add(1)
    assert stream.exhausted
    with pytest.raises(InvalidInput, match="3 steps"):
        stream.add(1)


@pytest.mark.parametrize("settings", PLANS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_stream_cannot_be_copied(settings, copied):
    stream = plan(3, **settings).open()
    stream.add(1)
    with pytest.raises(TypeError, match="only one"):
        copied(stream)
    assert copy.deepcopy(plan(3, **settings)) == plan(3, **settings)


@pytest.mark.parametrize("settings", PLANS)
def test_what_measures_a_stream_ends_with_it(settings):
    stream = plan(3, **settings).open()
    for _ in range(3):
        stream.add(1)
    with pytest.raises(StopIteration):
        stream._measure.send(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_does_not_go_on_with_a_stream():
    stream = plan(3).open()
    stream.add(1)
    child = os.fork()
    if not child:
        try:
            stream.add(1)
        except BudgetExceeded:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert math.isfinite(stream.add(1))


def test_threads_take_turns():
    """No stream is measured more often than it was planned for, and no thread sees the inside of another's step."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            stream, told, refused = plan(4, epsilon=1).open(), [], []
            start = threading.Barrier(4)

            def step(stream=stream, told=told, refused=refused, start=start):
                start.wait()
                for _ in range(3):
                    try:
                        told.append(stream.add(0))
                    except Exception as error:
                        refused.append(type(error))

            threads = [threading.Thread(target=step) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(told) == stream.step == 4
            assert refused == [InvalidInput] * 8
    finally:
        sys.setswitchinterval(usual)


def test_an_interrupted_stream_does_not_go_on(monkeypatch):
    made = plan(4, epsilon=1)
    stream = made.open()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(made.noise), "release", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stream.add(1)
    with pytest.raises(BudgetExceeded, match="interrupted"):
        stream.add(1)


@pytest.mark.parametrize("large", [2**63, 2**64, 10**40])
def test_counts_of_any_size_are_taken_at_once(large):
    told = plan(3, epsilon=1000).release([1, large, -large])
    assert told == pytest.approx([1, streaming.LARGEST + 1, 1], abs=1)


@pytest.mark.parametrize("settings", [{"rho": 1}, {"rho": 1, "by": "tree"}, {"epsilon": 1}])
def test_any_count_is_taken(settings):
    stream = plan(8, **settings).open()
    for count in (0, -(10**40), 10**40, np.int64(2**63 - 1), np.uint8(255), 2**31, -(2**31)):
        assert math.isfinite(stream.add(count))
    clamped = stream.add(0)
    assert abs(clamped - (streaming.LARGEST + 255)) < 100


@pytest.mark.parametrize("wrong", [1.5, "3", None, True, math.nan, [1]])
def test_what_is_no_count_is_refused(wrong):
    stream = plan().open()
    with pytest.raises(InvalidInput) as refusal:
        stream.add(wrong)
    assert "1.5" not in str(refusal.value)
    assert stream.step == 0


def test_the_square_root_needs_less_noise_than_the_tree():
    root, tree = plan(4096).error(), plan(4096, rho=0.5, by="tree").error()
    assert root.total < 0.8 * tree.total
    assert root.largest < 0.7 * tree.largest


def test_the_largest_stream_can_be_planned():
    made = plan(1 << 20)
    assert made.loss.rho == pytest.approx(0.5)
    assert math.isfinite(made.open().add(3))


def test_keeps_the_contract():
    for settings in PLANS:
        made = plan(5, **settings)
        done = check_mechanism(made)
        assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(done.passed)
        assert "standard deviations" in made._repr_html_()
    assert plan(5, rho=Fraction(1, 3)) == plan(5, rho=Fraction(1, 3))


def test_settings_are_checked():
    for wrong in (
        {"steps": 0},
        {"steps": 2**21},
        {"steps": 1.5},
        {"by": "wavelet"},
        {"rho": 0},
        {"rho": 1, "epsilon": 1},
        {"epsilon": 1, "delta": 1},
    ):
        with pytest.raises(InvalidParameter):
            plan(**{"rho": 1, **wrong} if not {"rho", "epsilon"} & set(wrong) else wrong)
    with pytest.raises(InvalidParameter):
        RunningTotal(steps=3, relation="add_remove")
    with pytest.raises(RelationMismatch):
        plan(relation="any")
    for counts in (np.zeros(14, dtype=int), np.zeros(3), np.zeros((2, 2), dtype=int), "abc"):
        with pytest.raises(InvalidInput):
            plan().release(counts)


@pytest.mark.parametrize("steps", [*range(1, 40), 63, 64, 65, 96, 100])
@pytest.mark.parametrize(
    "noise", [{"epsilon": 1}, {"rho": 1}, {"epsilon": 1, "by": "square_root"}, {"rho": 1, "by": "tree"}]
)
def test_the_worst_case_attains_what_is_charged(steps, noise):
    for relation in ("add_remove", "replace_one") if steps > 1 else ("add_remove",):
        made = RunningTotal(steps=steps, relation=relation, **noise)
        p = 1 if "epsilon" in noise else 2
        one, other = made.worst_case()
        moved = np.abs(made.strategy.matvec(one) - made.strategy.matvec(other)) ** p
        assert moved.sum() == pytest.approx(float(made.strategy.change(p, relation=relation).power), rel=1e-12)


def test_the_worst_case_of_a_long_stream():
    for noise in ({"epsilon": 1}, {"rho": 1}):
        one, other = RunningTotal(steps=10_000, relation="replace_one", **noise).worst_case()
        assert (one.sum(), other.sum(), (one * other).sum()) == (1, 1, 0)


def test_worst_case():
    for relation in ("add_remove", "replace_one"):
        one, other = plan(8, relation).worst_case()
        assert one.sum() == 1
        assert other.sum() == (0 if relation == "add_remove" else 1)
