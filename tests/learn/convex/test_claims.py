"""Claims of linear fits, exactly: in one dimension the law of a tilted minimum is a change of variables away."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import PrivacyLoss
from discreet.errors import NoTheorem
from discreet.learn.convex import (
    ERM,
    L2,
    FrankWolfe,
    GradientDescent,
    HuberHinge,
    L1Ball,
    Logistic,
    Moments,
    ObjectivePerturbation,
    OutputPerturbation,
    Rows,
    Softmax,
)
from discreet.testing import check_mechanism

RELATIONS = ("add_remove", "replace_one")


def log_density(fit, data, w):
    """Return the log-density of the exact minimum at w: that of the tilt, times how fast the tilt turns with w."""
    examples = fit.read(*data)
    x = examples.rows[:, 0]
    predictions = np.outer(w, x)
    loss, strength = fit.loss_function, float(fit.raised)
    tilt = -(loss.slope(predictions, examples.targets) @ x + strength * w)
    speed = loss.curvature(predictions, examples.targets) @ x**2 + strength
    noise = fit.tilt
    if fit.delta:
        return -(tilt**2) / (2 * noise.sigma**2) - math.log(noise.sigma * math.sqrt(2 * math.pi)) + np.log(speed)
    scale = float(noise.scale)
    return -np.abs(tilt) / scale - math.log(2 * scale) + np.log(speed)


def pairs(relation, norm):
    """Yield neighbours: at the ends, in the middle, beside other records."""
    others = [], [(norm, 1)], [(norm, 1)] * 5, [(norm, 1), (-norm, 1), (norm / 2, -1)]
    for rest in others:
        for one in ((norm, 1), (norm / 3, -1), (-norm, 1)):
            other = [] if relation == "add_remove" else [(-one[0], one[1])]
            yield tuple(
                (np.array([[x] for x, _ in rows]).reshape(-1, 1), np.array([t for _, t in rows], dtype=float))
                for rows in ([*rest, one], [*rest, *other])
            )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("norm", [1, 10, 100])
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(Fraction(1, 2))])
@pytest.mark.parametrize("delta", [0, 0.01])
@pytest.mark.parametrize("strength", [0.01, 3])
def test_a_tilted_minimum_is_as_private_as_claimed(relation, norm, loss, delta, strength):
    fit = ObjectivePerturbation(
        rows=Rows(features=1, norm=norm),
        loss_function=loss,
        relation=relation,
        epsilon=1,
        delta=delta,
        strength=strength,
        size=5,
    )
    epsilon, failure = map(float, fit.parts)
    reach = (12 * float(fit.tilt.sigma if delta else 4 * fit.tilt.scale) + 10) / float(fit.raised)
    w = np.linspace(-reach, reach, 20_001)
    step, worst = w[1] - w[0], 0.0
    for one, other in pairs(relation, norm):
        p, q = log_density(fit, one, w), log_density(fit, other, w)
        assert np.sum(np.exp(p)) * step == pytest.approx(1, abs=1e-2)
        for a, b in ((p, q), (q, p)):
            if delta:
                worst = max(worst, float(np.sum(np.maximum(0, np.exp(a) - np.exp(epsilon + b))) * step))
            else:
                worst = max(worst, float(np.max(a - b)))
    assert worst <= (failure if delta else epsilon) + 1e-6
    if strength == 3 and not delta and isinstance(loss, HuberHinge):
        assert worst > 0.5 * epsilon  # the claim is not idle


@pytest.mark.parametrize("norm", [1, 10, 100])
def test_the_unit_of_the_data_changes_no_constant(norm):
    """A smoothness of norm / 4 in place of norm^2 / 4 would break the claim for norms above 1."""
    made = [
        ObjectivePerturbation(
            rows=Rows(features=2, norm=r), loss_function=Logistic(), relation="add_remove", epsilon=1, strength=1
        )
        for r in (1, norm)
    ]
    assert made[0].raised == made[1].raised
    assert made[0].tilt == made[1].tilt
    inside = [fit.read(np.array([[0.6 * r, 0.8 * r]]), [1.0]).rows for fit, r in zip(made, (1, norm), strict=True)]
    assert np.allclose(inside[0], inside[1], atol=2e-6)


def methods(relation, delta, **more):
    rows, box = Rows(features=2, norm=1, intercept=0.25), Rows(features=2, norm=1, shape="box")
    shared = {"loss_function": Logistic(), "relation": relation, "epsilon": 1, "delta": delta, **more}
    yield OutputPerturbation(rows=rows, strength=1, **shared)
    yield ObjectivePerturbation(rows=rows, strength=1, **shared)
    yield FrankWolfe(rows=box, radius=3, steps=5, **shared)
    yield ERM(rows=rows, **shared)
    yield ERM(rows=rows, regularizer=L2(2), method="output", **shared)
    yield ERM(rows=box, regularizer=L1Ball(2), **shared)
    if delta:
        yield GradientDescent(rows=rows, steps=7, **shared)
        yield ERM(rows=rows, method="gradient", **shared)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("delta", [0, 1e-5])
def test_losses_stay_within_the_budget(relation, delta):
    for fit in methods(relation, delta):
        assert fit.loss.relation == relation
        assert 0.9 < fit.loss.epsilon(delta) <= 1 + 1e-9
        assert PrivacyLoss.from_json(fit.loss.to_json()) == fit.loss
        assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(check_mechanism(fit).passed)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("delta", [0, 1e-5])
def test_every_data_set_is_fitted_without_a_word(relation, delta):
    nan, inf = float("nan"), float("inf")
    tables = [
        (np.zeros((0, 2)), np.zeros(0)),
        (np.ones((1, 2)), np.ones(1)),
        (np.ones((5, 2)), np.ones(5)),
        (np.array([[nan, 1], [inf, 1], [1e308, -1e308], [1e-320, 0]]), np.array([1, -1, 1, -1])),
        (np.ones((3, 2)), np.array([nan, 7, -inf])),
        ([["text", None], [1, 2]], ["yes", 1]),
    ]
    for fit in methods(relation, delta):
        for data in tables:
            weights = fit.release(data)
            assert weights.dtype == np.float64
            assert np.isfinite(weights).all()


def test_moments_move_by_no_more_than_claimed():
    rng = np.random.default_rng(1)
    for relation in RELATIONS:
        made = Moments(
            rows=Rows(features=3, norm=2, intercept=1), relation=relation, epsilon=1, delta=1e-5, bounds=(-1, 3)
        )
        for _ in range(200):
            table, targets = rng.normal(size=(2, 3)) * 3, rng.normal(size=2) * 4
            one = made._read((table[:1], targets[:1]))
            other = made._read((table[1:], targets[1:])) if relation == "replace_one" else 0 * one
            moved = np.outer(one, one) - np.outer(other, other)
            assert np.linalg.norm(moved) <= float(made.sensitivity)


def test_least_squares_noise_is_halved_off_the_diagonal():
    made = Moments(rows=Rows(features=2, norm=1), relation="add_remove", epsilon=1, delta=1e-5)
    drawn = np.array([made.release(np.zeros((0, 2)))[np.triu_indices(2)] for _ in range(1500)])
    assert drawn.std(axis=0) == pytest.approx(made.sigma * np.array([1, 0.5**0.5, 1]), rel=0.1)


def test_noisy_gradients_are_exact_gaussian_noise():
    fit = GradientDescent(
        rows=Rows(features=1, norm=1), loss_function=Logistic(), relation="replace_one", epsilon=1, delta=1e-5, steps=25
    )
    assert fit.loss.mu == pytest.approx(1 / 3.730631635, rel=1e-8)
    assert fit.noise.sensitivity * Fraction(1, 2**40) == 2


def test_frank_wolfe_finds_the_column_that_matters():
    rng = np.random.default_rng(4)
    table = rng.choice([-1.0, 1.0], size=(2000, 30))
    fit = FrankWolfe(
        rows=Rows(features=30, norm=1, shape="box"),
        loss_function=Logistic(),
        relation="add_remove",
        epsilon=2,
        radius=5,
        steps=10,
    )
    weights = fit.release((table, table[:, 17]))
    assert np.argmax(np.abs(weights)) == 17
    assert np.abs(weights).sum() <= 5 + 1e-9


def test_several_classes_take_noisy_gradients():
    rng = np.random.default_rng(6)
    centres = np.array([[1, 0], [-0.5, 0.8], [-0.5, -0.8]])
    labels = rng.integers(0, 3, 3000)
    table = centres[labels] + 0.2 * rng.normal(size=(3000, 2))
    fit = ERM(
        rows=Rows(features=2, norm=1.5, intercept=0.25),
        loss_function=Softmax(3),
        relation="add_remove",
        epsilon=1,
        delta=1e-5,
        size=3000,
    )
    weights, intercept = fit.rows.weights(fit.release((table, labels)))
    assert np.mean(np.argmax(table @ weights + intercept, axis=1) == labels) > 0.95


@pytest.mark.parametrize("method", [ObjectivePerturbation, OutputPerturbation, FrankWolfe])
@pytest.mark.parametrize("delta", [0, 1e-5])
def test_a_loss_of_several_predictions_is_refused_where_no_theorem_covers_it(method, delta):
    shape = "box" if method is FrankWolfe else "ball"
    shared = {"rows": Rows(features=2, norm=1, shape=shape), "relation": "add_remove", "epsilon": 1, "delta": delta}
    assert method(loss_function=Logistic(), **shared).loss.epsilon(delta) <= 1 + 1e-9
    with pytest.raises(NoTheorem, match="one linear prediction"):
        method(loss_function=Softmax(3), **shared)


@pytest.mark.parametrize("delta", [0, 1e-9])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("epsilon", "features"), [(1, 20), (1e-8, 2000), (1e-10, 500), (1e-12, 20)])
def test_the_rounding_of_a_tilt_is_what_the_blur_counts(epsilon, features, relation, delta):
    """Float64 holds every point of the grid that a tilt comes to, so that it is off by half a step at most."""
    fit = ObjectivePerturbation(
        rows=Rows(features=features, norm=1), loss_function=Logistic(), relation=relation, epsilon=epsilon, delta=delta
    )
    scale = Fraction(fit.tilt.sigma if delta else fit.tilt.scale)
    assert 1000 * scale <= Fraction(2) ** 53 * fit.tilt.grid
    off = float(fit.tilt.grid) * math.sqrt(features) / 2
    apart = 2 * (float(fit.tolerance) + off) / float(fit.raised)
    assert fit.blur.sensitivity >= apart * (1 if delta else math.sqrt(features)) * (1 - 1e-12)
    for _ in range(5):
        tilt = np.asarray(fit.tilt.release(np.zeros(features)))
        assert np.linalg.norm(np.spacing(np.abs(tilt)) / 2) <= off
    assert fit.loss.epsilon(delta) <= epsilon * (1 + 1e-9)
