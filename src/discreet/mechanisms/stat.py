"""The statistical-query oracle STAT, made private.

Kearns, "Efficient Noise-Tolerant Learning from Statistical Queries", STOC 1993; Blum, Dwork, McSherry and Nissim,
PODS 2005, for its private form: the mean of a function with values in [0, 1] over the sample, plus Laplace noise.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.scale import store
from discreet.quietly import Silence
from discreet.sensitivity import Mean
from discreet.sensitivity.total import safely

__all__ = ["STAT"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class STAT(Faces):
    """Answer one statistical query about the distribution that ``size`` records were drawn from.

    Satisfies ``epsilon``-DP under replace_one: the mean of n values in [0, 1] changes by at most 1/n. The query's
    values are clamped to [0, 1], so a careless query costs accuracy and not privacy.

    >>> oracle = STAT(query=lambda person: person == "smoker", size=1000, epsilon=0.5)
    >>> round(oracle.tolerance(0.05), 3)
    0.054
    """

    query: Callable[[Any], Real]
    size: int
    epsilon: Real

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        store(self, epsilon=self.epsilon)
        if type(self.size) is not int or self.size < 1:
            raise InvalidParameter(f"size must be a whole number of at least 1, got {self.size!r}.")
        if self._step > 1:
            raise InvalidParameter(
                "size * epsilon must be above 2^-22: with less, the noise is a million times wider than what any mean "
                "can be. Take more records or a larger epsilon."
            )

    def __repr__(self) -> str:
        return f"STAT(query={self.query!r}, size={self.size}, epsilon={show(self.epsilon)})"

    @property
    def domain(self) -> Records:
        """A sample of public size."""
        return Records(relation="replace_one", size=self.size)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the Laplace mechanism."""
        return self._noise.loss.under("replace_one")

    def release(self, records: Sequence[Any], /) -> float:
        """Return the noisy mean of the query over the sample."""
        with Silence():
            answers = [safely(self.query, record, otherwise=0) for record in records]
        return self._noise.release(self._mean(answers))

    def error(self, beta: Real = 0.05) -> float:
        """Return how far the release strays from the mean of the sample, the rounding of its values included."""
        return self._noise.error(beta) + float(self._step) / 2

    def tolerance(self, beta: Real = 0.05) -> float:
        """Return how far the release strays from the mean of the distribution, with probability ``1 - beta``.

        Half of beta goes to the noise and half to sampling (Hoeffding's inequality).
        """
        half = probability(beta, "beta") / 2
        return self.error(half) + math.sqrt(math.log(2 / half) / (2 * self.size))

    @staticmethod
    def sample_size(*, tolerance: Real, epsilon: Real, beta: Real = 0.05) -> int:
        """Return a number of records that suffices: ``max(2 log(2/b) / (e t), 2 log(4/b) / t^2)`` and a little more.

        The little, a part in 260,000, pays for the grids that values and noise are rounded to. Noise and sampling
        each get half of the tolerance and half of beta.

        >>> STAT.sample_size(tolerance=0.1, epsilon=0.5, beta=0.05)
        877
        """
        t, e = (float(positive(x, name)) for x, name in ((tolerance, "tolerance"), (epsilon, "epsilon")))
        b = float(probability(beta, "beta"))
        return math.ceil(max(2 * math.log(2 / b) / (e * t), 2 * math.log(4 / b) / t**2) * (1 + 2.0**-18))

    @property
    def _mean(self) -> Mean:
        """The mean of the query, on a grid finer than the noise."""
        return Mean(bounds=(0, 1), size=self.size, grid=self._step)

    @property
    def _step(self) -> Fraction:
        return max(Fraction(1, 2**50), Fraction(self._noise.grid) / 2)

    @property
    def _noise(self) -> Laplace:
        return Laplace(sensitivity=Fraction(1, self.size), epsilon=self.epsilon)
