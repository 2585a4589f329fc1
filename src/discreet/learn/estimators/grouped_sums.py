"""Noisy sums of short vectors within groups: what scalers, centres and class means are computed from.

Each record adds one vector to the sums of one group. Vectors lie on a grid and are added up exactly (see
``discreet.learn.convex.exact_sums``). A record that comes or goes changes the sums by its vector; one that is replaced
by at most twice the longest.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, probability, show, up, upward
from discreet.learn.convex.exact_sums import UNIT, exact_products, truncated, whole
from discreet.learn.convex.rowwise import squared_lengths
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.units import Relation, check_relation

__all__ = ["GroupedSums"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupedSums(Faces):
    """Release the sums of vectors by group; entries are at most 1, and their squares add up to at most ``square``.

    Satisfies (epsilon, delta)-DP for ``times`` releases together, each of which may group by what earlier ones told:
    by Laplace noise for delta 0, and else by Gaussian noise, of which ``times`` releases are one with ``sqrt(times)``
    times the mu. Vectors are rounded towards zero to the grid and shortened to the bound.

    >>> sums = GroupedSums(groups=2, width=3, square=3, relation="add_remove", epsilon=1)
    >>> sums.release((np.ones((4, 3)), np.array([0, 1, 1, 7]))).shape
    (2, 3)
    """

    groups: int
    width: int
    square: Real
    relation: Relation
    epsilon: Real
    delta: Real = 0
    times: int = 1

    def __post_init__(self) -> None:
        check_relation(self.relation)
        positive(self.epsilon, "epsilon")
        positive(self.square, "square")
        probability(self.delta, "delta", zero=True)
        store(self, epsilon=self.epsilon, delta=self.delta, square=self.square)
        for name in ("groups", "width", "times"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InvalidParameter(f"{name} must be a whole number of at least 1, got {value!r}.")

    def __repr__(self) -> str:
        times = "" if self.times == 1 else f", times={self.times}"
        return (
            f"GroupedSums(groups={self.groups}, width={self.width}, square={show(self.square)}, "
            f"relation={self.relation!r}, epsilon={show(self.epsilon)}, delta={show(self.delta)}{times})"
        )

    @property
    def turns(self) -> int:
        """How many vectors a neighbour changes."""
        return 2 if self.relation == "replace_one" else 1

    @property
    def noise(self) -> Gaussian | Laplace:
        """The noise of each entry in one release, in units of the exact sum."""
        return _noise(self)

    @property
    def deviation(self) -> float:
        """The standard deviation of each entry in one release."""
        noise = self.noise
        return float((noise.sigma if isinstance(noise, Gaussian) else noise.scale * math.sqrt(2)) * UNIT)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all releases."""
        return (self.times * self.noise.loss).under(self.relation)

    @property
    def domain(self) -> Records:
        """Vectors with the places of their groups."""
        return Records(relation=self.relation)

    def release(self, data: tuple[Any, Any], /) -> Floats:
        """Return the noisy sums, a row for each group; a vector of a group that does not exist does not count."""
        vectors, places = data
        short = self._short(np.asarray(vectors, dtype=np.float64))
        member = np.equal.outer(np.asarray(places), np.arange(self.groups)).astype(np.float64)
        sums = exact_products(member, short, most=Fraction(1))
        return self.noise.release(whole(sums)) * float(UNIT)

    def worst_case(self) -> tuple[Any, Any]:
        """One vector as long as allowed that comes, or turns to its opposite."""
        entry = min(1.0, math.sqrt(float(self.square) / self.width))
        one = np.full((1, self.width), entry)
        if self.relation == "replace_one":
            return (one, np.zeros(1)), (-one, np.zeros(1))
        return (one, np.zeros(1)), (one[:0], np.zeros(0))

    def _short(self, vectors: Floats) -> Floats:
        clipped = np.clip(np.nan_to_num(vectors), -1.0, 1.0)
        length = np.sqrt(squared_lengths(clipped))
        limit = math.sqrt(float(self.square)) * (1 - 2.0**-40)
        with np.errstate(divide="ignore"):
            return truncated(clipped * np.minimum(1.0, limit / length))


@lru_cache(maxsize=64)
def _noise(fit: GroupedSums) -> Gaussian | Laplace:
    square = Fraction(fit.square)
    if fit.delta:
        alone = Gaussian(sensitivity=1, epsilon=fit.epsilon, delta=fit.delta)
        sensitivity = fit.turns * Fraction(up(lambda: ball(square).sqrt())) / UNIT
        root = Fraction(up(lambda: ball(fit.times).sqrt()))
        return Gaussian(sensitivity=sensitivity, sigma=upward(Fraction(alone.sigma) * sensitivity * root))
    longest = Fraction(up(lambda: (ball(square) * fit.width).sqrt()))
    return Laplace(
        sensitivity=fit.turns * min(longest, Fraction(fit.width)) / UNIT,
        epsilon=Fraction(fit.epsilon) / fit.times,
    )
