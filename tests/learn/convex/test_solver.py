"""The minimum that is computed: its gradient is proven, and a record moves it by no more than is claimed."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.learn.convex import Huber, HuberHinge, Logistic, OutputPerturbation, Rows
from discreet.learn.convex.objective import Objective
from discreet.learn.convex.solver import _in_balls, minimise, refined

LOSSES = (Logistic(), HuberHinge(Fraction(1, 10)), Huber(bounds=(-1, 1), width=0.25))


def problem(loss, seed, n, strength, tilt=0.0, features=3):
    rng = np.random.default_rng(seed)
    rows = Rows(features=features, norm=1, intercept=0.25)
    targets = np.sign(rng.normal(size=n))
    examples = rows.examples(rng.normal(size=(n, features)) * 2, *loss.read(targets))
    return Objective(examples, loss, strength, tilt * rng.normal(size=rows.width), float(rows.reach))


@settings(max_examples=40)
@given(st.sampled_from(LOSSES), st.integers(0, 10**6), st.integers(0, 30), st.sampled_from([0.01, 1.0, 50.0]))
def test_the_gradient_is_certainly_small(loss, seed, n, strength):
    objective = problem(loss, seed, n, strength, tilt=3.0)
    found = minimise(objective, 1e-5)
    with ctx.workprec(200):
        assert _in_balls(objective, [Fraction(x) for x in found.tolist()])[1] <= 1e-5


@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_on_rounding_holds(loss):
    rng = np.random.default_rng(3)
    for scale in (1e-3, 1.0, 100.0):
        objective = problem(loss, 7, 60, 0.5, tilt=1.0)
        w = rng.normal(size=4) * scale
        computed = objective.gradient(w)
        with ctx.workprec(200):
            exact = _in_balls(objective, [Fraction(x) for x in w.tolist()])[0]  # correctly rounded
        assert np.linalg.norm(computed - exact) <= objective.rounding(w)


@pytest.mark.parametrize("loss", LOSSES)
def test_ball_arithmetic_goes_on_where_floats_end(loss):
    objective = problem(loss, 11, 8, 0.1)
    found = refined(objective, np.zeros(4), 1e-25)
    assert found.dtype == object
    with ctx.workprec(300):
        assert _in_balls(objective, list(found))[1] <= arb(1e-25)
    assert minimise(objective, 1e-25).dtype == object
    assert minimise(objective, 1e-6).astype(float) == pytest.approx(found.astype(float), abs=1e-4)


@settings(max_examples=60)
@given(
    st.sampled_from((Logistic(), HuberHinge(Fraction(1, 2)))),
    st.sampled_from(("add_remove", "replace_one")),
    st.sampled_from((1, 10, 100)),
    st.integers(1, 4),
    st.integers(0, 10**6),
)
def test_no_record_moves_the_minimum_further_than_claimed(loss, relation, norm, n, seed):
    rng = np.random.default_rng(seed)
    fit = OutputPerturbation(
        rows=Rows(features=2, norm=norm, intercept=0.5), loss_function=loss, relation=relation, epsilon=1, strength=0.7
    )
    table, targets = rng.normal(size=(n, 2)) * 3 * norm, np.sign(rng.normal(size=n))
    others, signs = table.copy(), targets.copy()
    if relation == "add_remove":
        others, signs = others[1:], signs[1:]
    else:
        others[0], signs[0] = rng.normal(size=2) * 3 * norm, -signs[0]
    moved = fit.minimum(fit.read(table, targets)) - fit.minimum(fit.read(others, signs))
    assert np.linalg.norm(moved.astype(float)) <= fit.sensitivity


def test_the_claim_is_almost_reached():
    fit = OutputPerturbation(
        rows=Rows(features=1, norm=100), loss_function=HuberHinge(), relation="replace_one", epsilon=1, strength=4
    )
    one, other = fit.worst_case()
    moved = np.linalg.norm(fit.minimum(fit.read(*one)) - fit.minimum(fit.read(*other)))
    assert 0.999 * float(fit.sensitivity) <= moved <= fit.sensitivity
