"""Objective perturbation: tilt the objective at random, minimise, and blur the minimum by what was not minimised.

- Pure: Chaudhuri, Monteleoni and Sarwate, JMLR 2011; Kifer, Smith and Thakurta, COLT 2012, for any loss and any noise
  whose density changes by a bounded ratio. Here the tilt has Laplace entries.
  Under replace_one the two second derivatives have all other records in common, at least ``strength I``, so the ratio
  of their determinants is at most ``1 + beta / strength``, once.
- Gaussian: Redberg, Koskela and Wang, NeurIPS 2023, for losses of one linear prediction, under add_remove.
- Approximate minima: Iyengar et al., S&P 2019.

The theorems are about the exact minimum of an objective with a tilt of real numbers. What is computed differs in two
ways, and both are gradients: the solver stops at a gradient of norm at most gamma, and the tilt is rounded to a grid,
which moves it by at most ``grid sqrt(d) / 2``. So given the exact minimum, which is private, the computed one lies
within ``tau / strength`` of it on both of two neighbours, ``2 tau / strength`` apart. That much is covered by noise on
the output, a release of its own, which is charged.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import NoTheorem
from discreet.exact import ball, log2_floor, up
from discreet.learn.convex.model import Regularized
from discreet.learn.convex.rows import Examples
from discreet.learn.convex.solver import minimise
from discreet.learn.convex.theorems import jacobian, objective_renyi, objective_rho, objective_sigma
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.fast import Floats

__all__ = ["ObjectivePerturbation"]

OUTPUT_SHARE = Fraction(1, 50)
"""The part of epsilon that pays for the noise of the output."""

ORDERS = tuple(1 + Fraction(2.0 ** (k / 4)) for k in range(-16, 41))
"""Orders at which the Renyi divergence is listed: so dense that what lies between them is lost hardly."""

STEPS_BITS = 43
"""The scale of a tilt is at most two to this power of steps of its grid."""

MOST_JACOBIAN = Fraction(1, 2)
"""The largest part of epsilon that the change of variables may take; the regularisation is raised until it does."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ObjectivePerturbation(Regularized):
    """Fit a linear model to a randomly tilted objective: Laplace tilt for delta 0, else Gaussian.

    Satisfies (epsilon, delta)-DP whenever the loss is convex, twice differentiable but for finitely many predictions,
    and depends on one linear prediction, with the stated Lipschitz constant and smoothness, for every data set.

    >>> from discreet.learn.convex import Logistic, Rows
    >>> fit = ObjectivePerturbation(rows=Rows(features=2, norm=1), loss_function=Logistic(), relation="add_remove",
    ...                             epsilon=1, delta=1e-5, strength=10)
    >>> fit.loss.epsilon(1e-5) <= 1
    True
    """

    def __post_init__(self) -> None:
        Regularized.__post_init__(self)
        if not self.loss_function.smoothness:
            raise NoTheorem("objective perturbation needs a loss with a bounded second derivative.")

    @property
    def raised(self) -> Fraction:
        """The regularisation that is used: the given one, or the least at which the change of variables fits."""
        room = Fraction(self.epsilon) * MOST_JACOBIAN / (self.turns if self.delta else 1)
        least = Fraction(up(lambda: ball(self.smoothness) / (ball(room).exp() - 1)))
        return max(Fraction(self.strength), least)

    @property
    def parts(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta of the exact minimum; the rest is for the noise of the output."""
        kept = Fraction(9, 10) if self.delta else Fraction(0)
        return Fraction(self.epsilon) * (1 - OUTPUT_SHARE), Fraction(self.delta) * kept

    @property
    def tilt(self) -> Laplace | Gaussian:
        """The noise of each entry of the tilt, on a grid so fine that rounding is less than what the solver leaves."""
        return _tilt(self)

    @property
    def blur(self) -> Laplace | Gaussian:
        """The noise of the output, for two computed minima at twice the distance that one may have."""
        return _blur(self)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the exact minimum and of the noise of the output, composed."""
        epsilon, delta = self.parts
        exact = PrivacyLoss.approximate(epsilon, delta) if delta else PrivacyLoss.pure(epsilon)
        blur = self.blur
        spent = PrivacyLoss.pure(blur.epsilon) if isinstance(blur, Laplace) else blur.loss
        return (exact + spent).under(self.relation)

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Also by the Renyi divergences of a Gaussian tilt, and by their zCDP parameter, where a record comes or goes.

        Theorem 3.2 of Redberg et al. is about what runs: a loss of one linear prediction, so that the gradient of a
        record is a multiple of its row, whatever the minimum; its Lipschitz constant and its smoothness; ``raised``,
        the regularisation that is used; and the sigma of the tilt. The noise of the output is a release of its own. For
        a record that is replaced (epsilon, delta) alone is charged: two steps of a chain do not add up in divergences.
        """
        if not self.delta or self.turns != 1 or not isinstance(self.tilt, Gaussian):
            return (self.loss,)
        curve, rho = _divergences(self)
        return self.loss, *((exact + self.blur.loss).under(self.relation) for exact in (curve, rho))

    def _weights(self, examples: Examples) -> Floats:
        tilt = np.asarray(self.tilt.release(np.zeros(self.rows.width)))
        found = minimise(self.objective(examples, tilt, self.raised), float(self.tolerance))
        return self.blur.release(found)


@lru_cache(maxsize=64)
def _divergences(fit: ObjectivePerturbation) -> tuple[PrivacyLoss, PrivacyLoss]:
    """Return what the exact minimum costs, by its Renyi divergences and by its zCDP parameter."""
    assert isinstance(fit.tilt, Gaussian)  # noqa: S101 - it is one where delta is above 0
    mu, j = fit.lipschitz / Fraction(fit.tilt.sigma), jacobian(fit.smoothness, fit.raised)
    curve = PrivacyLoss.renyi_curve((order, objective_renyi(order, mu=mu, jacobian=j)) for order in ORDERS)
    return curve, PrivacyLoss.zcdp(objective_rho(mu=mu, jacobian=j))


@lru_cache(maxsize=64)
def _tilt(fit: ObjectivePerturbation) -> Laplace | Gaussian:
    epsilon, delta = fit.parts
    j = jacobian(fit.smoothness, fit.raised)
    root = Fraction(up(lambda: ball(fit.rows.width).sqrt()))
    if not delta:
        shift = fit.turns * fit.lipschitz * root
        return Laplace(sensitivity=shift, epsilon=epsilon - j, grid=_grid(fit, root, shift / (epsilon - j)))
    if fit.turns == 2:  # a record is removed and another one added
        epsilon, delta = epsilon / 2, delta / Fraction(up(lambda: 1 + (ball(epsilon) / 2).exp()))
    sigma = objective_sigma(epsilon, delta, lipschitz=fit.lipschitz, jacobian=j)
    return Gaussian(sensitivity=fit.lipschitz, sigma=sigma, grid=_grid(fit, root, Fraction(sigma)))


def _grid(fit: ObjectivePerturbation, root: Fraction, scale: Fraction) -> Fraction:
    """Return the grid of the tilt: finer than what the solver leaves, but so coarse that float64 holds its points.

    Float64 holds up to ``2^53`` steps. A tilt lies beyond with a probability below ``d exp(-2^53 grid / scale)``, which
    is less than ``e^-1000``; a grid that had to be coarser for that is counted in the blur as any other.
    """
    fine = Fraction(2) ** math.floor(math.log2(float(fit.tolerance / root)))
    return max(fine, Fraction(2) ** (log2_floor(scale) + 1 - STEPS_BITS))


@lru_cache(maxsize=64)
def _blur(fit: ObjectivePerturbation) -> Laplace | Gaussian:
    root = Fraction(up(lambda: ball(fit.rows.width).sqrt()))
    left_over = fit.tolerance + Fraction(fit.tilt.grid) * root / 2
    apart = 2 * left_over / fit.raised
    epsilon, delta = Fraction(fit.epsilon) * OUTPUT_SHARE, Fraction(fit.delta) / 10
    if not delta:
        return Laplace(sensitivity=apart * root, epsilon=epsilon)
    return Gaussian(sensitivity=apart, epsilon=epsilon, delta=delta)
