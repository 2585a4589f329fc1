"""Runs: the measure of error, the rounds, the deadline, and what the result tells."""

import math
import time
import warnings

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch, plots
from discreet.bench import (
    Algorithm,
    Measured,
    Result,
    Setting,
    Source,
    algorithms,
    generated,
    run,
    scaled_error,
    workload,
)
from discreet.bench.measured import worse
from discreet.errors import NotPrivateWarning
from discreet.mechanisms.geometric import Geometric
from discreet.synthetic.matrix_mechanism import noise_variance
from discreet.synthetic.operators import Identity, Prefix
from discreet.testing import seeded


@pytest.fixture
def repeatable(request):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


class Exact:
    """An estimator that is off by a known amount in the first cell."""

    def __init__(self, off, pause=0.0):
        self.off, self.pause, self.seen = off, pause, []

    def release(self, histogram):
        time.sleep(self.pause)
        self.seen.append(histogram)
        estimate = np.asarray(histogram, dtype=float).copy()
        estimate.reshape(-1)[0] += self.off
        return estimate


class Known(Algorithm):
    """An algorithm whose estimator is given."""

    def __init__(self, name, estimator, dimensions=(1, 2), refuses=()):
        for key, value in {"name": name, "kind": None, "dimensions": dimensions, "consistent": True}.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "given", (estimator, refuses))

    def make(self, sizes, workload, epsilon, relation):
        estimator, refuses = self.given
        if sizes in refuses:
            raise InvalidParameter("it is too large.")
        return estimator


def test_error_is_the_scaled_average_per_query():
    exact, estimate = np.array([5, 1, 2]), np.array([4.0, 1.0, 5.0])
    distance = math.sqrt((-1) ** 2 + (-1) ** 2 + 2**2)
    assert scaled_error(Prefix(size=3), exact, estimate, 8) == pytest.approx(distance / (8 * 3))


def test_error_of_identity_is_what_theory_says(repeatable):
    """E ||x - x'||^2 is the number of cells times the variance of the noise."""
    (algorithm,) = algorithms(["identity"])
    found = run([algorithm], [generated("zipf", (512,))], scales=[1000], questions="cells", trials=100)
    squares = (np.array(found.rows[0].errors) * 1000 * 512) ** 2
    expected = 512 * noise_variance(Geometric(sensitivity=1, epsilon=0.1))
    assert abs(squares.mean() - expected) < 7 * squares.std() / 10


def test_all_settings_are_measured_as_often_as_asked():
    estimator = Exact(3.0)
    sources = [generated("zipf", (16,)), generated("clusters", (4, 4))]
    found = run([Known("known", estimator)], sources, scales=[10, 1000], epsilons=[0.1, 1], trials=7, questions="cells")
    assert len(found.settings) == 8
    assert found.complete
    assert all(row.errors == pytest.approx([3.0 / (16 * row.setting.scale)] * 7) for row in found.rows)
    assert found.domains == ((16,), (4, 4))
    assert found.on((4, 4)).settings == tuple(s for s in found.settings if s.data == "clusters")
    drawn = {seen.tobytes() for seen in estimator.seen if seen.shape == (16,) and seen.sum() == 1000}
    assert len(drawn) == 5  # releases take turns on as many histograms


def test_same_seed_same_histograms():
    one, two, other = Exact(1.0), Exact(1.0), Exact(1.0)
    for estimator, seed in ((one, 1), (two, 1), (other, 2)):
        run([Known("known", estimator)], [generated("steps", (32,))], scales=[500], trials=6, seed=seed)
    assert all((a == b).all() for a, b in zip(one.seen, two.seen, strict=True))
    assert not any((a == b).all() for a in one.seen for b in other.seen)


def test_a_scale_of_none_is_that_of_the_histogram():
    source = Source.of("counts", [5, 9, 0, 2])
    found = run([Known("known", Exact(1.0))], [source], scales=[None, 100], trials=1)
    assert [setting.scale for setting in found.settings] == [16, 100]
    with pytest.raises(InvalidParameter, match="generated"):
        run([Known("known", Exact(1.0))], [generated("zipf", (4,))], scales=[None], trials=1)


def test_after_the_deadline_it_tells_what_it_has():
    pair = [Known("quick", Exact(1.0)), Known("slow", Exact(2.0, pause=0.03))]
    found = run(pair, [generated("zipf", (8,))], scales=[10, 100], trials=1000, deadline=0.4)
    assert not found.complete
    assert set(found.algorithms) == {"quick", "slow"}
    counts = [len(row.errors) for row in found.rows]
    assert max(counts) - min(counts) <= 1
    assert max(counts) < 20
    assert "The time was over" in str(found)


def test_progress_is_told():
    told = []
    run([Known("known", Exact(1.0))], [generated("zipf", (8,))], scales=[10, 100], trials=5,
        progress=lambda words, share: told.append((words, share)))  # fmt: skip
    assert [share for _, share in told] == pytest.approx([i / 10 for i in range(10)])
    assert told[0][0] == "known on zipf"


def test_what_does_not_fit_is_left_out():
    planes = Known("planes", Exact(1.0), dimensions=(2,))
    small = Known("small", Exact(1.0), refuses=((4, 4),))
    found = run([planes, small], [generated("zipf", (8,)), generated("clusters", (4, 4))], scales=[10], trials=1)
    assert {(row.algorithm, row.setting.data) for row in found.rows} == {("planes", "clusters"), ("small", "zipf")}
    assert found.notes == ("Without small on 4 x 4 cells: it is too large.",)
    with pytest.raises(InvalidParameter, match="lines or planes"):
        run([planes], [generated("zipf", (8,))], scales=[10])
    with pytest.raises(InvalidParameter, match="refused"):
        run([small], [generated("clusters", (4, 4))], scales=[10])


def test_workload_reaches_estimators_that_look_at_it():
    for algorithm in algorithms():
        for sizes in ((16,), (4, 4)):
            if len(sizes) in algorithm.dimensions:
                asked = workload("prefixes", sizes)
                made = algorithm.make(sizes, asked, 0.5, "add_remove")
                assert made.shape == sizes
                assert made.loss.epsilon() == pytest.approx(0.5)
                assert algorithm.make(sizes, asked, 0.5, "replace_one").relation == "replace_one"
                assert getattr(made, "workload", None) == (asked if algorithm.aware else None)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"scales": []}, "at least one"),
        ({"scales": [0]}, "scale"),
        ({"scales": [10.5]}, "scale"),
        ({"epsilons": []}, "at least one"),
        ({"epsilons": [0]}, "epsilon"),
        ({"trials": 0}, "trials"),
        ({"deadline": -1}, "deadline"),
        ({"questions": "all"}, "workload"),
        ({"sources": []}, "at least one"),
        ({"sources": [generated("zipf", (8,))] * 2}, "twice"),
        ({"algorithms": []}, "at least one"),
    ],
    ids=["scales", "zero", "half", "epsilons", "epsilon", "trials", "deadline", "workload", "sources", "twice", "none"],
)
def test_refuses(wrong, words):
    given = {"algorithms": algorithms(["identity"]), "sources": [generated("zipf", (8,))], "scales": [10]} | wrong
    with pytest.raises(InvalidParameter, match=words):
        run(given.pop("algorithms"), given.pop("sources"), **given)
    with pytest.raises(RelationMismatch):
        run(algorithms(["identity"]), [generated("zipf", (8,))], scales=[10], relation="none")


def test_names_of_algorithms():
    assert [found.name for found in algorithms(["IDENTITY", "quad_tree", "Quad Tree"])] == ["identity", "quad tree"]
    with pytest.raises(InvalidParameter, match="'magic'"):
        algorithms(["identity", "magic"])
    with pytest.raises(InvalidParameter, match="none"):
        algorithms([])


# What the result tells -----------------------------------------------------------------------------------------------


def row(name, data, scale, errors, epsilon=0.1):
    setting = Setting(data=data, sizes=(16,), scale=scale, epsilon=epsilon, queries=2000)
    return Measured(algorithm=name, setting=setting, errors=tuple(errors), seconds=0.5)


RESULT = Result(
    workload="ranges",
    relation="add_remove",
    trials=3,
    rows=(
        row("a", "one", 10, [1.0, 1.1, 0.9]),
        row("b", "one", 10, [8.0, 8.1, 7.9]),
        row("c", "one", 10, [1.0, 1.2, 1.0]),
        row("a", "one", 1000, [0.4, 0.4, 0.4]),
        row("b", "one", 1000, [0.1, 0.1, 0.1]),
        row("a", "two", 10, [2.0, 2.0, 2.0]),
        row("b", "two", 10, [2.0, 2.0, 2.0]),
        row("a", "two", 1000, [0.3, 0.2, 0.1]),
        row("b", "two", 1000, [0.1, 0.1, 0.1]),
    ),
)


def test_statistics_of_a_row():
    one = row("a", "one", 10, [1.0, 2.0, 3.0, 4.0])
    assert one.mean == 2.5
    assert one.persons == pytest.approx(2.5 * 10 * math.sqrt(2000))
    assert one.high == pytest.approx(3.85)
    reach = 3.182446 * math.sqrt(5 / 3) / 2
    assert one.interval == pytest.approx((2.5 - reach, 2.5 + reach), rel=1e-6)
    assert row("a", "one", 10, [1.0]).interval == (-math.inf, math.inf)


def test_intervals_hold_as_often_as_they_say():
    """1,000 means of 8 normal errors: 95 percent are covered, within 7 standard errors."""
    draws = np.random.default_rng(0).normal(5, 1, (1000, 8))
    intervals = [row("a", "one", 10, errors).interval for errors in draws]
    covered = np.mean([low <= 5 <= high for low, high in intervals])
    assert abs(covered - 0.95) < 7 * math.sqrt(0.95 * 0.05 / 1000)


def test_welch_is_that_of_scipy():
    from scipy.stats import ttest_ind

    draw = np.random.default_rng(1)
    for _ in range(50):
        a, b = draw.normal(1.5, 1, 6), draw.normal(1, 2, 9)
        high, low = (a, b) if a.mean() > b.mean() else (b, a)
        p = ttest_ind(high, low, equal_var=False).pvalue
        one, best = row("a", "one", 10, high), row("b", "one", 10, low)
        assert worse(one, best, p * 1.001)
        assert not worse(one, best, p * 0.999)
        assert not worse(best, one, 0.999999)


def test_competitive_and_regret():
    first = RESULT.settings[0]
    assert RESULT.best(first).algorithm == "a"
    assert RESULT.competitive(first) == ("a", "c")
    regret = RESULT.regret()
    assert regret["a"] == pytest.approx((1 * 4 * 1 * 2) ** 0.25)
    assert regret["b"] == pytest.approx((8 * 1 * 1 * 1) ** 0.25)
    assert list(regret) == sorted(regret, key=regret.get)
    zero = Result(workload="cells", relation="add_remove", trials=1,
                  rows=(row("a", "one", 10, [0.0]), row("b", "one", 10, [1.0])))  # fmt: skip
    assert zero.regret() == {"a": 1.0, "b": math.inf}


def test_json_there_and_back():
    assert Result.from_json(RESULT.to_json()) == RESULT
    part = Result(workload="w", relation="add_remove", trials=1, rows=(), complete=False, notes=("no",))
    assert Result.from_json(part.to_json()) == part


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"format": "other"}', RESULT.to_json().replace('"queries": 2000', '"queries": "many"'),
     RESULT.to_json().replace("8.1", "-8.1"), RESULT.to_json().replace("8.1", "NaN")],
    ids=["empty", "object", "list", "other", "words", "negative", "nan"],
)  # fmt: skip
def test_refuses_other_json(text):
    with pytest.raises(InvalidInput):
        Result.from_json(text)


def test_table_in_text():
    lines = str(RESULT).splitlines()
    assert lines[0].split() == ["data", "cells", "scale", "epsilon", "a", "b", "c"]
    assert lines[1].split() == ["one", "16", "10", "0.1", "1*", "8", "1.07*"]
    assert lines[2].split() == ["one", "16", "1e3", "0.1", "0.4", "0.1*"]
    assert "add_remove" in lines[5]
    assert RESULT.table(percentile=True)[1][0][5] == "8.09"


def test_pictures():
    drawn = plots.svg(RESULT.plot("one"))
    assert ">a<" in drawn
    assert ">b<" in drawn
    assert ">c<" not in drawn  # not measured at every scale
    assert "2 shapes" in plots.svg(RESULT.plot())
    ratios = plots.svg(RESULT.heat_map(scale=10))
    assert ">8.00<" in ratios
    assert ">best<" in ratios
    assert ">one<" in ratios
    assert "two, 1e3" in plots.svg(RESULT.heat_map())
    with pytest.raises(InvalidParameter):
        RESULT.plot("three")
    with pytest.raises(InvalidParameter):
        RESULT.heat_map(scale=5)


def test_identity_operator_agrees_with_cells():
    assert workload("cells", (5,)) == Identity(size=5)
