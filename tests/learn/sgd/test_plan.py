import dataclasses
import json
import math

import pytest

from discreet.accounting import PrivacyLoss, noise_multiplier
from discreet.errors import InvalidParameter, NoTheorem, UnknownKind
from discreet.learn.sgd import Training

SMALL = Training(records=1000, batch=50, steps=100, noise_multiplier=1.5)


def test_loss_is_that_of_the_sampler_and_the_noise():
    assert SMALL.loss == 100 * PrivacyLoss.gaussian(mu_squared=1 / 2.25).sampled(0.05) or math.isclose(
        SMALL.loss.epsilon(1e-5), (100 * PrivacyLoss.gaussian(mu=1 / 1.5).sampled(0.05)).epsilon(1e-5)
    )
    assert SMALL.loss.relation == "add_remove"
    assert SMALL.loss_after(0).epsilon(1e-5) == 0
    assert SMALL.loss_after(10).epsilon(1e-5) < SMALL.loss.epsilon(1e-5)


def test_calibration_meets_the_budget_and_no_more():
    plan = Training.calibrated(records=1000, batch=50, epochs=5, epsilon=2, delta=1e-5)
    assert 1.99 < plan.loss.epsilon(1e-5) <= 2
    assert math.isclose(
        plan.noise_multiplier, noise_multiplier(rate=0.05, steps=100, epsilon=2, delta=1e-5), rel_tol=1e-5
    )


def test_nothing_in_a_plan_depends_on_the_data():
    names = {field.name for field in dataclasses.fields(Training)}
    assert "present" not in names
    assert SMALL.rate * SMALL.records == SMALL.batch


def test_passes_are_not_amplified():
    poisson = SMALL.loss.epsilon(1e-5)
    passes = dataclasses.replace(SMALL, sampling="passes").loss
    assert math.isclose(passes.epsilon(1e-5), (5 * PrivacyLoss.gaussian(mu=1 / 1.5)).epsilon(1e-5), rel_tol=1e-9)
    assert passes.epsilon(1e-5) > 2 * poisson


@pytest.mark.parametrize("strategy", ["tree", "banded", "square_root"])
def test_correlated_noise_needs_passes(strategy):
    with pytest.raises(NoTheorem):
        dataclasses.replace(SMALL, strategy=strategy)
    plan = dataclasses.replace(SMALL, strategy=strategy, sampling="passes")
    assert plan.loss.epsilon(1e-5) > dataclasses.replace(plan, strategy="independent").loss.epsilon(1e-5)


def test_several_passes_of_a_matrix_cost_what_the_whole_matrix_says():
    from discreet.learn.sgd.strategy import coefficients

    plan = Training(
        records=100, batch=25, steps=12, noise_multiplier=3, sampling="passes", strategy="square_root", bands=3
    )
    law = coefficients("square_root", 12, 3)
    dense = [[law[i - j] if i >= j else 0.0 for j in range(12)] for i in range(12)]
    expected = PrivacyLoss.matrix(dense, 3, epoch=4)
    assert math.isclose(plan.loss.epsilon(1e-5), expected.epsilon(1e-5), rel_tol=1e-9)


def test_insecure_noise_promises_nothing():
    plan = dataclasses.replace(SMALL, noise="insecure_fast")
    assert plan.loss.epsilon(1e-5) == math.inf
    assert plan.ideal_loss == SMALL.loss


def test_adaptive_clipping_is_charged():
    plan = dataclasses.replace(SMALL, clipping="adaptive")
    together = 1 / plan.sum_multiplier**2 + 1 / (2 * plan.count_sigma) ** 2
    assert together <= 1 / plan.noise_multiplier**2
    assert math.isclose(together, 1 / plan.noise_multiplier**2, rel_tol=1e-9)
    assert plan.loss == SMALL.loss


@pytest.mark.parametrize(
    "wrong",
    [
        {"records": 0},
        {"records": 10.5},
        {"batch": 2000},
        {"steps": 0},
        {"noise_multiplier": 0},
        {"noise_multiplier": math.nan},
        {"clip": -1},
        {"clip": math.inf},
        {"sampling": "shuffle"},
        {"clipping": "none"},
        {"noise": "none"},
        {"rounding": 0},
    ],
)
def test_wrong_plans_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        dataclasses.replace(SMALL, **wrong)


def test_plans_are_written_and_read():
    assert Training.from_json(SMALL.to_json()) == SMALL
    changed = json.loads(SMALL.to_json())
    for broken in ({**changed, "version": 2}, {**changed, "more": 1}, {"record": "other"}):
        with pytest.raises(UnknownKind):
            Training.from_json(json.dumps(broken))
    with pytest.raises(UnknownKind):
        Training.from_json("no plan")
