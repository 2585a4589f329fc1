"""The smoothness of a loss function must be that of the data's norm, squared where it is squared.

Objective perturbation tilts a convex objective at random. Its privacy rests on how much one record can change the
second derivative: for logistic regression on rows of norm R that is R^2 / 4. A library that takes R / 4 makes no error
at R = 1, where everybody tries it, and spends nearly 4 in place of 1 at R = 100.

Defence: rows are scaled to norm 1 before anything is derived from them; the law of the fit is integrated at norms of 1,
10 and 100, and what the estimator releases is audited at each.
Source: Found while comparing libraries: a logistic regression.
"""

import math
import warnings

import numpy as np
import pytest

from discreet import PrivacyLoss
from discreet.auditing.audit import audit
from discreet.errors import NotPrivateWarning
from discreet.learn.convex import Logistic, ObjectivePerturbation, Rows
from discreet.learn.estimators import LogisticRegression
from discreet.testing import seeded

NORMS = (1, 10, 100)
EPSILON = 1
ALPHA = 1e-9

each = pytest.mark.parametrize("norm", NORMS)


class Tilted:
    """Objective perturbation in one dimension with Laplace noise, as it is written in the data's own units.

    The smoothness that it believes in decides the strength and the noise.
    """

    def __init__(self, norm, smoothness):
        self.norm = norm
        self.strength = max(1.0, smoothness / math.expm1(EPSILON / 2))
        self.scale = norm / (EPSILON - math.log1p(smoothness / self.strength))

    def log_density(self, rows, w):
        """Return the log-density of the minimum: that of the tilt that leads to it, and how fast that turns."""
        margins = np.outer(w, rows)
        share = 1 / (1 + np.exp(np.minimum(margins, 700)))
        tilt = share @ rows - self.strength * w
        speed = (share * (1 - share)) @ rows**2 + self.strength
        return -np.abs(tilt) / self.scale - math.log(2 * self.scale) + np.log(speed)

    def batch(self, generator):
        """Return a function that draws many minima at once, by bisection."""

        def draw(rows, count):
            tilt = generator.laplace(0, self.scale, count)
            low, high = np.full(count, -1e4), np.full(count, 1e4)
            for _ in range(60):
                middle = (low + high) / 2
                share = 1 / (1 + np.exp(np.clip(np.outer(middle, rows), -700, 700)))
                slope = -share @ rows + self.strength * middle + tilt
                low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
            return low

        return draw


def ours(norm):
    fit = ObjectivePerturbation(
        rows=Rows(features=1, norm=norm), loss_function=Logistic(), relation="add_remove", epsilon=EPSILON, strength=1
    )

    def log_density(rows, w):
        inside = fit.read(np.asarray(rows).reshape(-1, 1), np.ones(len(rows))).rows[:, 0]
        margins = np.outer(w, inside)
        ones = np.ones(len(rows))
        tilt = -(fit.loss_function.slope(margins, ones) @ inside + float(fit.raised) * w)
        speed = fit.loss_function.curvature(margins, ones) @ inside**2 + float(fit.raised)
        scale = float(fit.tilt.scale)
        return -np.abs(tilt) / scale - math.log(2 * scale) + np.log(speed)

    return log_density


def largest_loss(log_density, norm, unit):
    """Return the largest log-ratio of densities over neighbours with nobody else, one and three others."""
    w = np.concatenate([-np.geomspace(1e-5, 1e3, 2000)[::-1], np.geomspace(1e-5, 1e3, 2000)]) / unit
    losses = [0.0]
    for others in ([], [norm], [norm, -norm, norm / 2]):
        for one in (norm, -norm, norm / 3):
            with_it, without = (np.array(rows, dtype=float) for rows in ([*others, one], others))
            losses.append(float(np.abs(log_density(with_it, w) - log_density(without, w)).max()))
    return max(losses)


def attacked(batch, claims, norm, draws):
    here, there = np.array([float(norm)]), np.array([])
    return audit(
        lambda rows: batch(rows, 1)[0],
        claims=claims,
        neighbours=(here, there),
        batch=batch,
        draws=draws,
        alpha=ALPHA,
    )


@each
def test_the_law_of_a_fit_keeps_its_claim_at_every_norm(norm):
    found = largest_loss(ours(norm), norm, unit=1)
    assert 0.3 * EPSILON < found <= EPSILON


@each
def test_the_squared_norm_is_right(norm):
    """The same mechanism in the data's own units, with R^2 / 4."""
    assert largest_loss(Tilted(norm, norm**2 / 4).log_density, norm, unit=norm) <= EPSILON + 1e-9


@each
def test_the_check_catches_a_norm_that_is_not_squared(norm):
    """R / 4 for R^2 / 4: at norm 1 both are the same, and nothing is wrong."""
    found = largest_loss(Tilted(norm, norm / 4).log_density, norm, unit=norm)
    assert (found > 1.5 * EPSILON) is (norm > 1)


@each
def test_the_estimator_stands_an_audit(norm):
    model = LogisticRegression(
        epsilon=EPSILON, norm=norm, classes=[-1, 1], strength=1, method="objective", intercept=0, size=10
    )

    def batch(rows, count):
        table, targets = rows.reshape(-1, 1), np.ones(len(rows))
        return np.array([float(model.fit(table, targets).coef_[0, 0]) for _ in range(count)])

    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(f"norm {norm}"):
        found = attacked(batch, model.cost(1), norm, draws=400)
    assert not found.refuted, str(found)


def test_the_audit_catches_a_norm_that_is_not_squared():
    generator = np.random.default_rng(1)
    claims = PrivacyLoss.pure(EPSILON).under("add_remove")
    wrong = attacked(Tilted(100, 100 / 4).batch(generator), claims, 100, draws=20_000)
    assert wrong.refuted
    assert wrong.epsilon > 1.5 * EPSILON
    right = attacked(Tilted(100, 100**2 / 4).batch(generator), claims, 100, draws=20_000)
    assert not right.refuted, str(right)
