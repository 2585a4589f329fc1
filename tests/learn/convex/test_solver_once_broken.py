"""Data on which the solver once went on for millions of steps: the minimum lies on the rim of a narrow corner."""

from fractions import Fraction

import numpy as np
import pytest

import discreet.learn.convex.solver as solver
from discreet.learn.convex import Huber, HuberHinge, OutputPerturbation, Rows


@pytest.mark.parametrize(
    "loss", [HuberHinge(Fraction(1, 1000)), HuberHinge(1e-6), Huber(bounds=(-1, 1), width=1e-6)], ids=repr
)
@pytest.mark.parametrize("strength", [1e-3, 1e-6])
def test_narrow_corners_are_found(monkeypatch, loss, strength):
    monkeypatch.setattr(solver, "refined", lambda *_: pytest.fail("floats did not reach the minimum"))
    fit = OutputPerturbation(
        rows=Rows(features=3, norm=1, intercept=1),
        loss_function=loss,
        relation="add_remove",
        epsilon=1,
        delta=1e-5,
        strength=strength,
    )
    signs = np.repeat([1.0, -1.0], 250)
    assert np.isfinite(fit.release((np.outer(signs, np.ones(3)), signs))).all()
