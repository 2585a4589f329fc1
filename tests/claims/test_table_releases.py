"""What histograms, workloads, streams and areas release, run from data to output with seeded noise.

Each draw is a data set of its own beside the others, in bins of its own, so one run of a histogram is thousands of
draws. What is drawn must have the law of its definition, and on neighbours no event may be likelier than is claimed.
"""

import math
import uuid

import numpy as np
import pytest
from claims_reference import discrete_gaussian, geometric
from scipy import stats

from discreet.mechanisms.histogram import KnownBins
from discreet.mechanisms.stability_histogram import StabilityHistogram
from discreet.synthetic import Explicit, Hierarchical, Identity, MatrixMechanism, Prefix, RunningTotal
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine

ALARM = 1e-9
DRAWS = 20_000
REACH = 400
RELATIONS = ["add_remove", "replace_one"]
NOISES = ["geometric", "gaussian"]


def law_of(unit, shift):
    """Return the law of noise by its definition."""
    if hasattr(unit, "sigma"):
        return discrete_gaussian(float(unit.sigma), shift, REACH)
    return geometric(float(unit.scale), shift, REACH)


def fit(outputs, log_law):
    """Return the chi-square p-value of outputs coded 0, 1, ... against their law; rare ones are joined."""
    expected = np.exp(log_law) / np.exp(log_law).sum() * len(outputs)
    counted = np.bincount(np.asarray(outputs), minlength=expected.size)
    common = expected >= 10
    counted = np.append(counted[common], counted[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    keep = expected > 1e-9
    assert not counted[~keep].any()
    return float(stats.chisquare(counted[keep], expected[keep] * counted.sum() / expected[keep].sum()).pvalue)


def told_of(bins, names):
    """Return the noisy count of each draw's bin, NaN where it was not shown."""
    told = dict(zip(bins.keys, bins.counts, strict=True))
    return np.array([told.get(name, np.nan) for name in names])


def never_likelier(often, other, epsilon, delta):
    """Return whether ``P <= e^epsilon Q + delta`` is within what chance allows, for events counted in all draws."""
    slack = 8 / math.sqrt(DRAWS)  # eight standard deviations of one share at most half each
    return often / DRAWS <= math.exp(epsilon) * (other / DRAWS + slack) + delta + slack


# --- stability histograms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bins", [1, 3])
@pytest.mark.parametrize("way", ["release", "reveal"])
def test_what_is_shown_has_the_law(noise, relation, bins, way, repeatable):
    made = StabilityHistogram(epsilon=2, delta=0.05, relation=relation, noise=noise, bins=bins)
    for count in (1, made.threshold + 1):
        names = [(draw, "a") for draw in range(DRAWS if count == 1 or way == "reveal" else DRAWS // 10)]
        if way == "reveal":
            shown = told_of(made.reveal(names, [count] * len(names)), names)
        else:
            shown = told_of(made.release([[name] if bins > 1 else name for name in names for _ in range(count)]), names)
        law = law_of(made.unit, count)
        hidden = np.logaddexp.reduce(law[: REACH + made.threshold + 1])
        codes = np.where(np.isnan(shown), 0, np.clip(shown, None, REACH) - made.threshold).astype(int)
        assert fit(codes, np.append(hidden, law[REACH + made.threshold + 1 :])) > ALARM


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bins", [1, 2, 4])
def test_a_person_alone_in_all_bins_is_shown_as_often_as_is_said(noise, relation, bins, repeatable):
    made = StabilityHistogram(epsilon=4, delta=0.05, relation=relation, noise=noise, bins=bins)
    people = [[(draw, place) for place in range(bins)] for draw in range(DRAWS)]
    shown = made.release(people if bins > 1 else [names[0] for names in people])
    times = len({draw for draw, _ in shown.keys})
    assert stats.binomtest(times, DRAWS, float(made.failure)).pvalue > ALARM
    assert float(made.failure) <= 0.05


def lookalikes(draw, kind):
    """Return four keys that differ for whoever counted, and look the same when shown."""
    if kind == "containers":
        return [(draw, (1, 2)), [draw, (1, 2)], (draw, [1, 2]), [draw, [1, 2]]]
    if kind == "numbers":
        return [(draw, 1), (draw, 1.0), (draw, True), (draw, np.int8(1))]
    return [(draw, "a")] * 4


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", ["containers", "numbers", "the same"])
def test_keys_that_look_the_same_cost_no_more(noise, relation, kind, repeatable):
    """One person in four of them: alone, and among as many people as the threshold."""
    made = StabilityHistogram(epsilon=4, delta=0.02, relation=relation, noise=noise, bins=4)
    keys = [key for draw in range(DRAWS) for key in lookalikes(draw, kind)]
    alone = made.reveal(keys, [1] * len(keys))
    assert stats.binom.sf(len(alone) - 1, DRAWS, 0.02) > ALARM
    for count in (made.threshold, 3 * made.threshold):
        names = looks(kind)
        with_her, without = (told_of(made.reveal(keys, [n] * len(keys)), names) for n in (count + 1, count))
        for limit in range(made.threshold, count + 40, 2):
            above, beyond = (int(np.nansum(side > limit)) for side in (with_her, without))
            assert never_likelier(above, beyond, 4, 0.02)
            assert never_likelier(DRAWS - beyond, DRAWS - above, 4, 0.02)


def looks(kind):
    """Return what these keys look like when shown."""
    look = {"containers": (1, 2), "numbers": 1, "the same": "a"}[kind]
    return [(draw, look) for draw in range(DRAWS)]


@pytest.mark.parametrize("noise", NOISES)
def test_types_that_are_not_told_apart_are_one_bin(noise, repeatable):
    """All of them look like None, so there is one draw in each run."""
    made = StabilityHistogram(epsilon=8, delta=0.02, relation="add_remove", noise=noise, bins=8)
    keys, runs = [uuid.UUID(int=i) for i in range(8)], 300
    shown = sum(len(made.reveal(keys, [1] * 8)) for _ in range(runs))
    assert stats.binom.sf(shown - 1, runs, 0.02) > ALARM


# --- known bins ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("noise", "delta"), [("geometric", None), ("gaussian", 0.01)])
def test_known_bins_have_the_law(relation, noise, delta, repeatable):
    labels = tuple(range(DRAWS))
    made = KnownBins(labels=labels, epsilon=1, delta=delta, relation=relation, noise=noise, bins=2)
    data = [[label, label, "nowhere"] for label in labels] + [[label, label + 1] for label in labels[::2]]
    noisy = np.asarray(made.release(data))
    assert fit(np.clip(noisy, -REACH, REACH) + REACH, law_of(made.unit, 2)) > ALARM


# --- workloads, streams and areas ----------------------------------------------------------------------------------

STRATEGIES = {
    "prefix": Prefix(size=5),
    "tree": Hierarchical(size=8),
    "identity": Identity(size=4),
    "both signs": Explicit(matrix=[[3, 0, 0], [0, 2, -2], [1, 1, 1]]),
}


def exactly_charged(noise, p, power):
    """Return whether discrete noise is for an L1 norm, or a squared L2 norm, of at least this."""
    return noise.sensitivity >= power if p == 1 else float(noise.sensitivity) ** 2 >= power * (1 - 1e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 0.5}])
def test_workloads_measure_with_the_noise_they_are_charged_for(name, relation, budget, repeatable):
    strategy = STRATEGIES[name]
    plan = MatrixMechanism(workload=strategy, strategy=strategy, relation=relation, discrete=True, **budget)
    one, other = plan.worst_case()
    matrix, p = np.asarray(strategy.dense()), 1 if "epsilon" in budget else 2
    assert exactly_charged(plan.noise, p, (np.abs(matrix @ (one - other)) ** p).sum())
    errors = np.array([plan.release(one).measured - matrix @ one for _ in range(400)]).ravel()
    assert (errors == np.rint(errors)).all()
    assert fit(np.clip(errors, -REACH, REACH).astype(int) + REACH, law_of(plan.noise, 0)) > ALARM


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 0.5, "by": "tree"}])
def test_streams_measure_with_the_noise_they_are_charged_for(relation, budget, repeatable):
    """The first total is the first measurement, and the other totals have the variance that is said."""
    made = RunningTotal(steps=7, relation=relation, **budget)
    one, other = made.worst_case()
    p = 1 if "epsilon" in budget else 2
    assert exactly_charged(made.noise, p, (np.abs(made.strategy.matvec(one - other)) ** p).sum())
    errors = np.array([made.release(one) - np.cumsum(one) for _ in range(2000)])
    assert fit(np.clip(errors[:, 0], -REACH, REACH).astype(int) + REACH, law_of(made.noise, 0)) > ALARM
    said = made.error().deviations
    assert np.all(np.abs((errors**2).mean(axis=0) / said**2 - 1) < 0.5)


@pytest.mark.parametrize("relation", RELATIONS)
def test_areas_measure_with_the_noise_they_are_charged_for(relation, repeatable):
    spine = Spine(levels=("state", "county"), leaves=(("A", "B"), ("A", "C")))
    cells = Cells(attributes={"adult": (False, True)})
    made = Hierarchy(spine=spine, cells=cells, queries={"by age": ("adult",)}, rho=0.5, relation=relation)
    one, other = made.worst_case()
    runs = [made.measure(one).noisy for _ in range(500)]
    spent = 0.0
    for place, measurement in enumerate(made.measurements):
        level = made.spine.depth(measurement.level)
        exact, moved = (
            np.asarray(data if level else data.sum(axis=0, keepdims=True)).reshape(-1, 2) for data in (one, other)
        )
        tables = exact if measurement.attributes else exact.sum(axis=1, keepdims=True)
        away = tables - (moved if measurement.attributes else moved.sum(axis=1, keepdims=True))
        errors = np.array([run[place] for run in runs]) - tables
        assert fit(np.clip(errors, -REACH, REACH).astype(int).ravel() + REACH, law_of(measurement.mechanism, 0)) > ALARM
        spent += float((away**2).sum()) / (2 * float(measurement.mechanism.sigma) ** 2)
    assert 0 < spent <= made.loss.rho * (1 + 1e-9)
