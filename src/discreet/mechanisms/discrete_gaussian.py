"""The discrete Gaussian mechanism, calibrated by its own sum.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020. Sampling is exact (see
``discreet.noise``).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Self

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, finite, positive, probability, show, smallest
from discreet.mechanisms.accuracy import Bound, per_query
from discreet.mechanisms.faces import Faces, entrywise
from discreet.mechanisms.gaussian import analytic_sigma
from discreet.mechanisms.interface import Shift
from discreet.mechanisms.scale import NOT_GIVEN, enough, store
from discreet.mechanisms.whole import Whole, add_noise
from discreet.noise import discrete_gaussian
from discreet.noise.fast import Floats

__all__ = ["DiscreteGaussian"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DiscreteGaussian(Faces):
    """Add discrete Gaussian noise to whole numbers.

    Satisfies ``sensitivity^2 / (2 sigma^2)``-zCDP, and the (epsilon, delta) curve of its own lattice, whenever
    neighbours change the value by at most ``sensitivity`` in L2 norm. Given by ``sigma``, or by ``epsilon`` and
    ``delta``; the sigma of the continuous Gaussian is not enough here. With ``scalar=True`` it takes one number at a
    time; then the worst shift is known and the charge is exact for every sensitivity.

    >>> DiscreteGaussian(sensitivity=1, epsilon=1, delta=1e-5).sigma > 3.7307
    True
    >>> PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=3.7306316**2).delta(1)    # not 1e-5
    1.034...e-05
    """

    sensitivity: Real
    sigma: Real = NOT_GIVEN
    epsilon: Real | None = None
    delta: Real | None = None
    scalar: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.scalar, bool):
            raise InvalidParameter(f"scalar must be True or False, got {type(self.scalar).__name__}.")
        square = squared_whole(self.sensitivity)
        if self.sigma is NOT_GIVEN:
            if self.epsilon is None or self.delta is None:
                raise InvalidParameter("DiscreteGaussian needs sigma=, or epsilon= and delta=: how much noise?")
            store(self, sigma=_calibrated(square, self.epsilon, self.delta, self.scalar))
        elif self.epsilon is not None or self.delta is not None:
            raise InvalidParameter("DiscreteGaussian takes either sigma= or epsilon= and delta=, not both.")
        positive(self.sigma, "sigma")
        store(self, sensitivity=self.sensitivity, sigma=self.sigma, epsilon=self.epsilon, delta=self.delta)
        finite(self.loss.rho, "sensitivity / sigma")

    def __repr__(self) -> str:
        noise = f"sigma={show(self.sigma)}"
        if self.epsilon is not None and self.delta is not None:
            noise = f"epsilon={show(self.epsilon)}, delta={show(self.delta)}"
        scalar = ", scalar=True" if self.scalar else ""
        return f"DiscreteGaussian(sensitivity={show(self.sensitivity)}, {noise}{scalar})"

    @property
    def domain(self) -> Shift:
        """Whole numbers, by L2 norm."""
        return Shift(sensitivity=self.sensitivity, norm=2.0, whole=True)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the discrete Gaussian law, for the worst whole vector within the sensitivity."""
        return PrivacyLoss.discrete_gaussian(
            squared_sensitivity=squared_whole(self.sensitivity),
            sigma_squared=Fraction(self.sigma) ** 2,
            scalar=self.scalar,
        )

    def release(self, value: Whole, /) -> Whole:
        """Return the value plus noise, an int for an int and an int64 array for an array."""
        if self.scalar and np.ndim(value) > 0:
            raise InvalidInput("this DiscreteGaussian was built for one number (scalar=True), got several.")
        return add_noise(value, partial(discrete_gaussian, self.sigma), "DiscreteGaussian")

    def error(self, beta: Real = 0.05, *, queries: int = 1, bound: Bound = "exact") -> int:
        """Return the least t with ``P[some |Z| > t] <= beta`` over ``queries`` answers, by summing the law.

        >>> DiscreteGaussian(sensitivity=1, sigma=10).error(0.05)
        20
        """
        p = per_query(beta, queries, bound)
        law = lattice(float(self.sigma))
        beyond = 2 * np.append(np.cumsum(law[:0:-1])[::-1], 0.0)
        return int(np.argmax(beyond <= p * (1 + 1e-12)))

    @classmethod
    def for_error(cls, error: Real, beta: Real = 0.05, *, sensitivity: Real = 1, queries: int = 1) -> Self:
        """Return the mechanism of most noise that stays within ``error`` with probability ``1 - beta``.

        >>> DiscreteGaussian.for_error(19).error()
        19
        """
        limit = positive(error, "error")
        precision = smallest(lambda p: p > 0 and cls(sensitivity=1, sigma=1 / p).error(beta, queries=queries) <= limit)
        return cls(sensitivity=sensitivity, sigma=1 / precision)

    @classmethod
    def for_budget(cls, epsilon: Real, delta: Real, *, sensitivity: Real = 1, scalar: bool = False) -> Self:
        """Return the mechanism of least noise that is (epsilon, delta)-DP, by the law's own sum.

        >>> round(DiscreteGaussian.for_budget(1, 1e-5).sigma, 4)
        3.7405
        """
        square, e, d = squared_whole(sensitivity), positive(epsilon, "epsilon"), probability(delta, "delta")
        sigma = enough(partial(_loss, square, scalar), _calibrated(square, e, d, scalar), e, d)
        return cls(sensitivity=sensitivity, sigma=sigma, scalar=scalar)

    draws = entrywise

    def log_probability(self, x: Whole, y: Whole, /) -> float:
        """Return ``log P[release(x) = y]``."""
        distance = np.asarray(np.subtract(y, x, dtype=object)).astype(float) / float(self.sigma)
        return float(np.sum(-(distance**2) / 2 - log_normalizer(float(self.sigma))))

    def worst_case(self) -> tuple[int, int] | tuple[list[int], list[int]]:
        """Two values at the distance of the sensitivity; vectors, one step apart everywhere, if no number is."""
        square = squared_whole(self.sensitivity)
        root = math.isqrt(square)
        return (0, root) if root**2 == square or self.scalar else ([0] * square, [1] * square)


def squared_whole(sensitivity: Real) -> int:
    """Return the largest squared norm that a whole vector within the sensitivity can have.

    A float root such as ``math.sqrt(3)`` may lie below the number that is meant, so a part in 10^9 is added first.

    >>> squared_whole(math.sqrt(3)), squared_whole(2)
    (3, 4)
    """
    square = math.floor(positive(sensitivity, "sensitivity") ** 2 * (1 + Fraction(1, 10**9)))
    if square < 1:
        raise InvalidParameter("a whole number changes by at least 1 or not at all: sensitivity must be at least 1.")
    return square


def log_normalizer(sigma: float) -> float:
    """Return the log of ``sum exp(-z^2 / (2 sigma^2))``; above sigma 3 the sum equals the integral to 30 digits.

    >>> round(log_normalizer(1.0), 6)
    0.918939
    """
    if sigma > 3:
        return math.log(sigma) + math.log(2 * math.pi) / 2
    return math.log1p(2 * math.fsum(math.exp(-(z * z) / (2 * sigma * sigma)) for z in range(1, 150)))


def lattice(sigma: float) -> Floats:
    """Return the probabilities of 0, 1, 2, ... as far as they matter."""
    if sigma > 2e6:
        raise InvalidParameter(
            "sigma above two million is beyond exact summation; use Gaussian, whose error is closed."
        )
    z = np.arange(math.ceil(39 * sigma) + 2, dtype=np.float64)
    return np.exp(-(z**2) / (2 * sigma * sigma) - log_normalizer(sigma))


def _calibrated(square: int, epsilon: Real, delta: Real, scalar: bool = False) -> float:
    """Return a sigma that is (epsilon, delta)-DP by the law's own sum and that cannot be lowered a little.

    The search starts at the sigma of the continuous Gaussian and goes up or down to where the answer changes. Where
    sigma is small, delta is not monotone in it: a much smaller sigma may fit again.
    """
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta")
    start = analytic_sigma(Fraction(math.sqrt(square)), e, d)

    def fits(sigma: float) -> bool:
        return _loss(square, scalar, sigma).delta(e) <= d

    low, high, step = start, start, 1e-3
    while fits(low):
        low, high, step = low * (1 - min(step, 0.5)), low, 2 * step
    while not fits(high):
        low, high, step = high, high * (1 + step), 2 * step
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _loss(square: int, scalar: bool, sigma: float) -> PrivacyLoss:
    variance = Fraction(sigma) ** 2
    return PrivacyLoss.discrete_gaussian(squared_sensitivity=square, sigma_squared=variance, scalar=scalar)
