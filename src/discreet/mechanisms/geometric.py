"""The geometric mechanism: integer Laplace noise.

Ghosh, Roughgarden and Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms", STOC 2009. Sampling is exact
(see ``discreet.noise``).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Self

import numpy as np
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, probability, show, smallest, upward
from discreet.mechanisms.accuracy import Bound, per_query
from discreet.mechanisms.faces import Faces, entrywise
from discreet.mechanisms.interface import Shift
from discreet.mechanisms.scale import NOT_GIVEN, amount, complete, enough, store
from discreet.mechanisms.whole import Whole, add_noise
from discreet.noise import discrete_laplace

__all__ = ["Geometric"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Geometric(Faces):
    """Add two-sided geometric noise to whole numbers.

    Satisfies ``epsilon``-DP whenever neighbours change the value, a number or a vector, by at most ``sensitivity`` in
    L1 norm. Given by ``epsilon`` or by ``scale = sensitivity / epsilon``.

    >>> count = Geometric(sensitivity=1, epsilon=0.5)
    >>> count.error(0.05)
    6
    >>> count.loss.epsilon()
    0.5
    >>> isinstance(count.release(1234), int)
    True
    """

    sensitivity: int
    epsilon: Real = NOT_GIVEN
    scale: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        exact = positive(self.sensitivity, "sensitivity")
        if exact.denominator != 1:
            raise InvalidParameter(
                f"the sensitivity of whole numbers is a whole number, got {show(exact)}. Use Laplace."
            )
        epsilon, scale = complete(exact, self.epsilon, self.scale, "Geometric")
        store(self, sensitivity=exact, epsilon=epsilon, scale=scale)

    def __repr__(self) -> str:
        return f"Geometric(sensitivity={self.sensitivity}, {amount(self.epsilon, self.scale)})"

    @property
    def domain(self) -> Shift:
        """Whole numbers, by L1 norm."""
        return Shift(sensitivity=self.sensitivity, norm=1.0, whole=True)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the discrete Laplace law shifted by the sensitivity."""
        return PrivacyLoss.discrete_laplace(sensitivity=self.sensitivity, scale=self.scale)

    def release(self, value: Whole, /) -> Whole:
        """Return the value plus noise, an int for an int and an int64 array for an array."""
        return add_noise(value, partial(discrete_laplace, self.scale), "Geometric")

    def error(self, beta: Real = 0.05, *, queries: int = 1, bound: Bound = "exact") -> int:
        """Return the least t with ``P[some |Z| > t] <= beta`` over ``queries`` answers; exact, not asymptotic.

        For scales beyond 2^40 it may be larger by a part in 2^40.
        """
        p, s = per_query(beta, queries, bound), Fraction(self.scale)
        a = math.exp(-1 / s)
        t = max(0, math.ceil(float(s) * math.log(2 / ((1 + a) * p)) * (1 - 1e-12)) - 1)
        step = max(1, t >> 40)
        while not _tail(s, t) <= arb(p * (1 + 1e-12)):
            t += step
        return t

    @classmethod
    def for_error(cls, error: Real, beta: Real = 0.05, *, sensitivity: int = 1, queries: int = 1) -> Self:
        """Return the mechanism of least epsilon that stays within ``error`` with probability ``1 - beta``.

        >>> Geometric.for_error(6, 0.05).epsilon < 0.5
        True
        """
        limit = positive(error, "error")
        return cls(
            sensitivity=sensitivity,
            epsilon=smallest(
                lambda e: e > 0 and cls(sensitivity=sensitivity, epsilon=e).error(beta, queries=queries) <= limit
            ),
        )

    @classmethod
    def for_budget(cls, epsilon: Real, delta: Real = 0, *, sensitivity: int = 1) -> Self:
        """Return the mechanism of least noise that is (epsilon, delta)-DP.

        >>> Geometric.for_budget(0.5)
        Geometric(sensitivity=1, epsilon=0.5)
        >>> Geometric.for_budget(0.5, 0.1).scale < 2
        True
        """
        whole = cls(sensitivity=sensitivity, epsilon=epsilon)
        e, d = positive(epsilon, "epsilon"), probability(delta, "delta", zero=True)
        if not d:
            return whole

        def loss(scale: float) -> PrivacyLoss:
            return PrivacyLoss.discrete_laplace(sensitivity=whole.sensitivity, scale=scale)

        least = smallest(lambda scale: scale > 0 and loss(scale).delta(e) <= d, upward(Fraction(whole.scale)))
        return cls(sensitivity=sensitivity, scale=enough(loss, least, e, d))

    draws = entrywise

    def log_probability(self, x: Whole, y: Whole, /) -> float:
        """Return ``log P[release(x) = y]``."""
        distance = np.asarray(np.abs(np.subtract(y, x, dtype=object)), dtype=np.float64)
        s = float(self.scale)
        return float(np.sum(math.log(math.tanh(1 / (2 * s))) - distance / s))

    def worst_case(self) -> tuple[int, int]:
        """Two values at the distance of the sensitivity."""
        return 0, self.sensitivity


def _tail(scale: Fraction, t: int) -> arb:
    """Return ``P[|Z| > t]``."""
    return 2 * (-ball((t + 1) / scale)).exp() / (1 + (-ball(1 / scale)).exp())
