"""Laplace noise under a smooth bound, with the exact delta that a changing scale costs."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, down, enclose, positive, probability, show, smallest, up
from discreet.mechanisms.admissible.drawn import Drawn, fitted, whole
from discreet.mechanisms.scale import store
from discreet.noise.densities import Laplace as Density
from discreet.noise.fast import Floats

__all__ = ["Laplace", "laplace_delta"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace(Drawn):
    """Noise with density ``e^-|z| / 2``, scaled by ``bound / kappa``.

    Satisfies ``(epsilon, delta)``-DP whenever neighbours move the value by at most the smaller of their bounds, in L1
    norm for a vector, and the bounds are beta-smooth. Measured in the smaller of the two scales, let the wider law have
    scale ``s = e^l`` with ``0 <= l <= beta``, and let the places lie ``D <= kappa <= epsilon`` apart.

    *The narrower law against the wider*: the log-ratio ``|z - D| / s - |z| + l`` is at most ``kappa e^-l + l``. That is
    convex in l, hence at most epsilon if it is so at both ends: ``kappa <= epsilon`` and
    ``kappa <= (epsilon - beta) e^beta``. No delta is needed.

    *The wider against the narrower*: it exceeds ``e^epsilon`` times the narrower law on two tails alone, since between
    0 and D the log-ratio is at most ``D - l``. At the inner end of a tail the two densities, one of them times
    ``e^epsilon``, are equal, and a tail of a Laplace law weighs its scale times the density at its end. So
    ``delta = (1 - 1/s) e^(-(epsilon + l) / (s - 1)) cosh(D / (s - 1))``. This rises with D, and with s, because the
    derivative of its logarithm is ``(epsilon + l - D tanh(D / (s - 1))) / (s - 1)^2 > 0``. Hence for one number

        ``delta = (1 - e^-beta) e^(-(epsilon + beta) / (e^beta - 1)) cosh(kappa / (e^beta - 1))``,

    attained by the pair with the largest move and the largest stretch. ``kappa`` is the largest that keeps this.

    *A vector of d numbers*: narrower against wider, the log-ratio is at most ``kappa e^-l + d l``. Wider against
    narrower, it is at most ``kappa + (s - 1) G - d l`` with G of the Gamma law of shape d, the sum of the sizes of the
    noises. So delta is at most the hockey-stick divergence, at ``epsilon - kappa``, of Gamma laws with scales s and 1:
    the largest of ``P[s G > u] - e^(epsilon - kappa) P[G > u]`` over u, which rises with s, and is
    ``Q(d, t) - e^(epsilon - kappa) Q(d, s t)`` at ``t = u / s = (epsilon - kappa + d l) / (s - 1)``.

    >>> noise = Laplace(epsilon=1, delta=1e-6, beta=0.05)
    >>> round(1 / float(noise.factor), 6)
    0.532073
    >>> Laplace(epsilon=1, delta=1e-6, beta=0.1)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: beta must be at most 0.0915987 for this epsilon and delta, got 0.1: ...
    """

    epsilon: Real
    delta: Real
    beta: Real
    dimension: int = 1
    factor: Fraction = field(init=False, repr=False, compare=False)
    norm: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        e, d = positive(self.epsilon, "epsilon"), probability(self.delta, "delta")
        b, n = fitted(self.beta), whole(self.dimension)
        if not _hides(e, d, b, n):
            most = _largest_beta(e, d, n)
            raise InvalidParameter(
                f"beta must be at most {most:.6g} for this epsilon and delta, got {show(self.beta)}: no Laplace noise "
                "hides so fast a change of scale. Take a smaller beta, or noise of heavier tails such as PowerLaw."
            )
        kappa = _one_number(e, d, b) if n == 1 else _vector(e, d, b, n)
        store(self, epsilon=self.epsilon, delta=self.delta, beta=self.beta)
        object.__setattr__(self, "factor", 1 / Fraction(kappa))

    @property
    def loss(self) -> PrivacyLoss:
        """Epsilon with delta; attained for one number, unless kappa is limited by epsilon and beta alone."""
        return PrivacyLoss.approximate(self.epsilon, self.delta)

    @property
    def density(self) -> Density:
        """The law of Z."""
        return Density()

    def log_density(self, z: Floats, /) -> Floats:
        """Return ``-|z| - log 2``."""
        return -np.abs(z) - math.log(2)


def laplace_delta(epsilon: Real, beta: Real, kappa: Real, *, dimension: int = 1) -> float:
    """Return the delta of Laplace noise of scale ``bound / kappa`` under bounds that are beta-smooth, rounded up.

    Exact for one number and for ``kappa <= min(epsilon, (epsilon - beta) e^beta)``, beyond which it is not known. The
    lemma of Nissim, Raskhodnikova and Smith has kappa = epsilon / 2 and ``beta = epsilon / (2 ln(2 / delta))``, and
    promises 1.3e-6 for epsilon 1 and delta 1e-6:

    >>> laplace_delta(1, 0.5 / math.log(2e6), 0.5)
    4.06365...e-09
    """
    e, b, k = positive(epsilon, "epsilon"), positive(beta, "beta"), positive(kappa, "kappa")
    n = whole(dimension)
    if not _narrow_is_hidden(e, b, k, n):
        raise InvalidParameter("kappa must be at most epsilon and (epsilon - dimension * beta) e^beta.")
    if n > 1:
        return min(up(lambda: _gamma_stick(e - k, b, n)), 1.0)
    return up(lambda: _log_delta(e, b).exp() * (ball(k) / ball(b).expm1()).cosh())


def _narrow_is_hidden(e: Fraction, b: Fraction, kappa: Fraction, dimension: int) -> bool:
    return kappa <= e and bool(ball(kappa) * (-ball(b)).exp() <= ball(e - dimension * b))


def _log_delta(e: Fraction, b: Fraction) -> arb:
    """Return the logarithm of delta for a value that does not move."""
    return (-((-ball(b)).expm1())).log() - ball(e + b) / ball(b).expm1()


def _gamma_stick(e: Fraction, b: Fraction, dimension: int) -> arb:
    """Return the divergence at e of Gamma laws of one shape with scales ``e^b`` and 1."""
    s = ball(b).exp()
    t, d = ball(e + dimension * b) / ball(b).expm1(), arb(dimension)
    return t.gamma_upper(d, regularized=True) - ball(e).exp() * (s * t).gamma_upper(d, regularized=True)


def _hides(e: Fraction, d: Fraction, b: Fraction, dimension: int) -> bool:
    """Tell whether a change of scale alone is hidden, with room for some move of the value."""
    if dimension * b >= e:
        return False
    if dimension == 1:
        return bool(enclose(lambda: ball(d).log() - _log_delta(e, b), relative_bits=20, absolute_bits=40) > 0)
    return up(lambda: _gamma_stick(e, b, dimension)) < d


def _largest_beta(e: Fraction, d: Fraction, dimension: int) -> float:
    return 1 / smallest(lambda rate: rate > 0 and _hides(e, d, Fraction(1 / rate), dimension), 2.0**40)


def _one_number(e: Fraction, d: Fraction, b: Fraction) -> float:
    """Return the largest kappa, rounded down: delta solved for it, and the limits of the narrower law."""

    def kappa() -> arb:
        excess = ball(d).log() - _log_delta(e, b)  # the hyperbolic cosine may be so large, in logarithms
        exact = ball(b).expm1() * (excess + (1 + (1 - (-2 * excess).exp()).sqrt()).log())
        return exact.min(ball(e)).min(ball(e - b) * ball(b).exp())

    return down(kappa)


def _vector(e: Fraction, d: Fraction, b: Fraction, dimension: int) -> float:
    """Return the largest kappa of a vector: a part of what the narrower law allows, found by halving."""
    most = down(lambda: ball(e).min(ball(e - dimension * b) * ball(b).exp()))

    def enough(ratio: float) -> bool:
        kappa = Fraction(most) / Fraction(1 + ratio)
        return up(lambda: _gamma_stick(e - kappa, b, dimension)) <= d

    ratio = smallest(enough, 2.0**40)
    if not enough(ratio):
        raise InvalidParameter("beta leaves no room for a move of the value: take a smaller one.")
    return float(Fraction(most) / Fraction(1 + ratio)) * (1 - 2.0**-50)
