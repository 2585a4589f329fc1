"""Noise for a local sensitivity that is itself released first, with noise and a margin.

Vadhan, "The Complexity of Differential Privacy", 2017, section 3.4, on functions whose local sensitivity has a small
global sensitivity: the number of triangles in a graph, of which an edge moves as many as its ends have common
neighbours, and the largest number of common neighbours moves by at most 1 when an edge comes or goes.

The proof. Let ``B = max(step, LS + Z + T)`` with integer Laplace noise in steps of a public grid and the least T with
``P[Z < -T] <= delta``. Under x the event ``B < |f(x) - f(y)| <= LS(x)`` has probability of at most delta. B costs
``epsilon_1``, and where ``B >= |f(x) - f(y)|`` Laplace noise of scale ``B / epsilon_2``, which is public once B is,
costs ``epsilon_2``. So ``P_x[S] <= delta + e^(epsilon_1 + epsilon_2) P_y[S]`` for every set S of outputs.

It is not charged as the noise plus something that fails with probability delta: the proof adds the two deltas, and that
sum would charge a little less.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, positive, probability, show, up
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.laplace_threshold import laplace_survival
from discreet.mechanisms.margin import check_delta, least_tail
from discreet.mechanisms.propose_test_release import check_function, fits, fitted
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise.grid import power_of_two
from discreet.sensitivity.smooth import Function

__all__ = ["BoundedLocal", "Fitted"]

STEPS = 1024
LARGEST = 1 << 200
"""A local sensitivity counts as at most so many steps. No two values of the function are further apart."""
MOST = 2 * LARGEST
"""A bound is at most so many steps, which noise does not reach."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A value with noise, and the bound on its local sensitivity that the noise was fitted to."""

    value: float | npt.NDArray[np.float64]
    bound: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoundedLocal(Faces):
    """Release a bound on the local sensitivity, then the value with Laplace noise for that bound.

    Satisfies (``epsilon``, ``delta``)-DP under the function's relation whenever the local sensitivity, as it is
    computed by ``function.at(records).local()``, moves by at most ``sensitivity`` between neighbours. A share ``test``
    of epsilon pays for the bound. The bound is released in steps of ``sensitivity / steps``; 1 step will do for whole
    numbers.

    >>> from discreet.sensitivity.graphs import Triangles
    >>> count = BoundedLocal(function=Triangles(vertices=100), sensitivity=1, epsilon=2, delta=1e-6, steps=1)
    >>> found = count.release([(0, 1), (1, 2), (0, 2)])
    >>> found.bound >= 1, isinstance(found.value, float), count.tail
    (True, True, 13)
    """

    function: Function
    sensitivity: Real
    epsilon: Real
    delta: Real
    test: Real = Fraction(1, 2)
    steps: int = STEPS
    grid: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        check_function(self.function, "BoundedLocal")
        positive(self.sensitivity, "sensitivity")
        positive(self.epsilon, "epsilon")
        check_delta(self.delta)
        probability(self.test, "test")
        if type(self.steps) is not int or self.steps < 1:
            raise InvalidParameter(f"steps must be a whole number of at least 1, got {self.steps!r}.")
        store(self, sensitivity=self.sensitivity, epsilon=self.epsilon, delta=self.delta, test=self.test)
        if self.grid is not NOT_GIVEN:
            store(self, grid=power_of_two(self.grid))
        _ = self.tail  # which must exist
        low, high = (finite(end, "the range of the function") for end in self.function.range)
        if (high - low) * self.function.dimension > LARGEST * self.step:
            raise InvalidParameter(
                "the range of the function must be at most 2^200 steps of the bound wide. Write a larger sensitivity, "
                "fewer steps or narrower bounds."
            )
        for bound in (1, MOST):  # whatever the data are
            fits(partial(self._fitted, bound), "sensitivity, steps, epsilon, grid or the range of the function")

    def __repr__(self) -> str:
        more = "" if Fraction(self.test) == Fraction(1, 2) else f", test={show(self.test)}"
        more += "" if self.steps == STEPS else f", steps={self.steps}"
        more += "" if self.grid is NOT_GIVEN else f", grid={show(self.grid)}"
        return (
            f"BoundedLocal(function={self.function!r}, sensitivity={show(self.sensitivity)}, "
            f"epsilon={show(self.epsilon)}, delta={show(self.delta)}{more})"
        )

    @property
    def step(self) -> Fraction:
        """The grid of the bound."""
        return Fraction(self.sensitivity) / self.steps

    @property
    def tail(self) -> int:
        """What is added to the noisy local sensitivity, in steps, so that it is a bound but for ``delta``."""
        return least_tail(Fraction(self._noise.scale), Fraction(self.delta))

    @property
    def domain(self) -> Records:
        """What the function takes."""
        return Records(relation=self.function.relation, size=self.function.size)

    @property
    def loss(self) -> PrivacyLoss:
        """That of noise on the bound and on the value, but for a bound that is too small."""
        failure = Fraction(up(lambda: laplace_survival(Fraction(self._noise.scale), self.tail + 1)))
        return PrivacyLoss.approximate(self.epsilon, failure).under(self.function.relation)

    def release(self, records: Any, /) -> Fitted:  # noqa: ANN401 - what the function takes
        """Return the value and the bound that its noise is for."""
        vicinity = self.function.at(records)
        bound = min(max(1, self._noise.release(self._steps(vicinity.local())) + self.tail), MOST)
        return Fitted(self._fitted(bound).release(vicinity.value), float(bound * self.step))

    def log_probability(self, records: Any, output: Fitted, /) -> float:  # noqa: ANN401
        """Return the log of the probability of an output."""
        vicinity = self.function.at(records)
        local, bound = self._steps(vicinity.local()), round(Fraction(output.bound) / self.step)
        if not 1 <= bound <= MOST or output.bound != float(bound * self.step):
            return -math.inf
        noise = bound - self.tail - local
        if bound > 1:
            bounded = self._noise.log_probability(0, noise)
        else:
            scale = Fraction(self._noise.scale)  # P[Z <= noise]
            low = float(laplace_survival(scale, -noise if noise < 0 else noise + 1).mid())
            bounded = math.log(low) if noise < 0 else math.log1p(-low)
        return bounded + self._fitted(bound).log_probability(vicinity.value, output.value)

    @property
    def _noise(self) -> Geometric:
        return Geometric(sensitivity=self.steps, epsilon=Fraction(self.epsilon) * Fraction(self.test))

    def _steps(self, local: float) -> int:
        """Return the local sensitivity in steps, rounded up: a whole number of steps apart stays so."""
        return min(math.ceil(Fraction(local) / self.step), LARGEST) if math.isfinite(local) else LARGEST

    def _fitted(self, bound: int) -> Laplace:
        return fitted(self.function, bound * self.step, Fraction(self.epsilon) * (1 - Fraction(self.test)), self.grid)
