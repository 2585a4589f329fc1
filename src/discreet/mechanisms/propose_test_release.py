"""Propose-test-release: noise for a local sensitivity that was guessed, and tested.

Dwork and Lei, "Differential Privacy and Robust Statistics", STOC 2009. Somebody who knows such data proposes a bound on
the local sensitivity; a noisy test tells whether the data lie far enough from all data sets that break it; if so the
value is released with noise for that bound, and nothing otherwise.

The proof. The margin of a data set is its distance ``d = min {k : A(x, k) > bound}``: 0 if its own local sensitivity
exceeds the bound, and never further than 1 from that of a neighbour. Let x and y be neighbours.

- If the margin of x or of y is above 0, then ``|f(x) - f(y)| <= min(LS(x), LS(y)) <= bound``. The release is that of a
  noisy margin, which costs ``epsilon_1``, followed, if the test is passed, by Laplace noise of scale
  ``bound / epsilon_2``.
- If both margins are 0, the test has the same law on both sides and is passed with probability p of at most delta: the
  releases differ by at most p in total variation.

So each pair is covered by the noise or by a release that tells all with probability p and nothing else. The sum of both
covers either, and is what is charged: at most ``(epsilon_1 + epsilon_2, delta)``. Since a run that refused never came
to its second step, ``refused`` is what it costs where steps are charged as they are made.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, finite, positive, probability, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.margin import Margin, Outcome, check_delta
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise.fast import Floats
from discreet.noise.grid import power_of_two
from discreet.sensitivity.smooth import ROUNDING, Function

__all__ = ["ProposeTestRelease", "check_function", "fits", "fitted"]

ULP = 2.0**-50
"""The last digits of two values, as a part of the largest there is: more than rounding each of them once or twice."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProposeTestRelease(Faces):
    """Release a function with Laplace noise for ``bound`` if the data lie far from a larger local sensitivity.

    Satisfies (``epsilon``, ``delta``)-DP under the function's relation, whatever the bound is: a poor one only makes a
    refusal likely. A share ``test`` of epsilon pays for the test and the rest for the noise. The bound, and the grid
    of the release, must come from public information.

    >>> from discreet.sensitivity.smooth import Median
    >>> income = ProposeTestRelease(function=Median(bounds=(0, 10**6)), bound=500, epsilon=2, delta=1e-6)
    >>> income.release([30_000 + 10 * k for k in range(2001)]).passed
    True
    >>> income.release([0] * 1000 + [10**6] * 1001)      # one person more or less, and the median is another
    Outcome(value=None, passed=False)
    >>> income.threshold, income.refused.epsilon(1e-6) <= 1, income.loss.epsilon(1e-6) <= 2
    (13, True, True)
    """

    function: Function
    bound: Real
    epsilon: Real
    delta: Real
    test: Real = Fraction(1, 2)
    grid: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        check_function(self.function, "ProposeTestRelease")
        positive(self.bound, "bound")
        positive(self.epsilon, "epsilon")
        check_delta(self.delta)
        probability(self.test, "test")
        store(self, bound=self.bound, epsilon=self.epsilon, delta=self.delta, test=self.test)
        if self.grid is not NOT_GIVEN:
            store(self, grid=power_of_two(self.grid))
        _ = self.threshold  # which must exist
        fits(lambda: self.noise, "bound, epsilon, grid or the range of the function")

    def __repr__(self) -> str:
        grid = "" if self.grid is NOT_GIVEN else f", grid={show(self.grid)}"
        test = "" if Fraction(self.test) == Fraction(1, 2) else f", test={show(self.test)}"
        return (
            f"ProposeTestRelease(function={self.function!r}, bound={show(self.bound)}, epsilon={show(self.epsilon)}, "
            f"delta={show(self.delta)}{test}{grid})"
        )

    @property
    def test_epsilon(self) -> Fraction:
        """What the test costs."""
        return Fraction(self.epsilon) * Fraction(self.test)

    @property
    def noise(self) -> Laplace:
        """What a value is released by, if the test is passed."""
        return fitted(self.function, Fraction(self.bound), Fraction(self.epsilon) - self.test_epsilon, self.grid)

    @property
    def threshold(self) -> int:
        """The test is passed if the noisy distance is above this."""
        return self._margin.threshold

    @property
    def _margin(self) -> Margin:
        return Margin(epsilon=self.test_epsilon, delta=self.delta)

    @property
    def domain(self) -> Records:
        """What the function takes."""
        return Records(relation=self.function.relation, size=self.function.size)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noisy distance, that of the noise, and that of passing without any margin."""
        return self.refused + self.noise.loss

    @property
    def refused(self) -> PrivacyLoss:
        """What a run costs that was refused, if what is left of a budget is decided by what was released so far."""
        unsafe = PrivacyLoss.approximate(0, self._margin.failure)
        return (self._margin.loss + unsafe).under(self.function.relation)

    def release(self, records: Any, /) -> Outcome[float | Floats]:  # noqa: ANN401 - what the function takes
        """Return the value with noise, or None if the test was not passed."""
        vicinity = self.function.at(records)
        if not self._margin.passes(vicinity.distance(self.bound)):
            return Outcome(None, False)
        return Outcome(self.noise.release(vicinity.value), True)

    def chance(self, records: Any, /) -> float:  # noqa: ANN401
        """Return the probability that the test is passed: as secret as the data, for planning on made-up ones."""
        return math.exp(self._margin.log_probability(self.function.at(records).distance(self.bound), True))

    def log_probability(self, records: Any, output: Outcome[Any], /) -> float:  # noqa: ANN401
        """Return the log of the probability of an output."""
        vicinity = self.function.at(records)
        tested = self._margin.log_probability(vicinity.distance(self.bound), output.passed)
        if not output.passed:
            return tested if output.value is None else -math.inf
        return -math.inf if output.value is None else tested + self.noise.log_probability(vicinity.value, output.value)


def fitted(function: Function, bound: Fraction, epsilon: Fraction, grid: Real) -> Laplace:
    """Return Laplace noise for a local sensitivity, with room for what float64 does to it and to the value.

    >>> from discreet.sensitivity.smooth import Median
    >>> noise = fitted(Median(bounds=(0, 100)), Fraction(1), Fraction(1), NOT_GIVEN)
    >>> 1 < noise.sensitivity < 1 + 2e-9
    True
    """
    farthest = max(abs(finite(end, "the range of the function")) for end in function.range)
    room = bound * Fraction(ROUNDING) + function.dimension * farthest * Fraction(ULP)  # each entry is rounded
    return Laplace(sensitivity=bound + room, epsilon=epsilon, grid=grid)


def fits(make: Callable[[], Laplace], names: str) -> None:
    """Refuse what has no noise, before there are data: a release that fails would tell of them.

    >>> fits(lambda: Laplace(sensitivity=2**-995, epsilon=1), "sensitivity")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: sensitivity is too large or too small: scales and grids of the noise must lie
    between 2^-1000 and 2^1000 whatever the data are. Measure in another unit.
    """
    try:
        make()
    except InvalidParameter:
        raise InvalidParameter(
            f"{names} is too large or too small: scales and grids of the noise must lie between 2^-1000 and 2^1000 "
            "whatever the data are. Measure in another unit."
        ) from None


def check_function(function: object, name: str) -> None:
    """Refuse what does not know its local sensitivity, or knows it in another norm than Laplace noise needs."""
    if not isinstance(function, Function):
        raise InvalidParameter(
            f"{name} needs a function that knows its local sensitivity (discreet.sensitivity.smooth), got "
            f"{type(function).__name__}."
        )
    if function.dimension > 1 and function.norm != 1:
        raise NoTheorem(f"{name} adds Laplace noise, so a vector needs its local sensitivity in norm 1.")
