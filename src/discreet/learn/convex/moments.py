"""Noisy second moments: sums of products of every two columns, from which least squares and components are computed.

Vu and Slavkovic, ICDM Workshops 2009, and Wang, "Revisiting Differentially Private Linear Regression", UAI 2018, for
regression from sufficient statistics; Dwork, Talwar, Thakurta and Zhang, "Analyze Gauss", STOC 2014, for components.

A record with row a contributes ``a a^T``, of Frobenius norm ``|a|^2``; two such matrices differ by at most ``sqrt 2``
times the larger norm, as ``|a a^T - c c^T|^2 = |a|^4 + |c|^4 - 2 (a . c)^2``. Each entry off the diagonal stands for
two, so it needs ``1 / sqrt 2`` of the noise. Sums are exact (see ``exact_sums``).
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
from discreet.learn.convex.rows import Rows, one_column, within_range
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.scale import store
from discreet.noise import on_grid
from discreet.noise.densities import Gaussian as Density
from discreet.noise.fast import Floats
from discreet.units import Relation, check_relation

__all__ = ["Moments"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Moments(Faces):
    """Release the sum of ``a a^T`` over records, with a the row inside and, where ``bounds`` are given, its target.

    Satisfies (epsilon, delta)-DP, by Laplace noise for delta 0 and else as one Gaussian release, whenever rows and
    targets are what ``Rows`` and the bounds make of them, which is always. A target is moved to [-1, 1].

    >>> from discreet.learn.convex import Rows
    >>> Moments(rows=Rows(features=2, norm=1), relation="add_remove", epsilon=1, delta=1e-5).release([[1, 0]]).shape
    (2, 2)
    """

    rows: Rows
    relation: Relation
    epsilon: Real
    delta: Real = 0
    bounds: tuple[Real, Real] | None = None

    def __post_init__(self) -> None:
        check_relation(self.relation)
        positive(self.epsilon, "epsilon")
        probability(self.delta, "delta", zero=True)
        store(self, epsilon=self.epsilon, delta=self.delta)
        if self.bounds is None:
            return
        low, high = (within_range(end, "an end of the bounds") for end in self.bounds)
        if not low < high:
            raise InvalidParameter("bounds are a pair (low, high) with low below high.")

    def __repr__(self) -> str:
        bounds = "" if self.bounds is None else f", bounds={self.bounds!r}"
        return (
            f"Moments(rows={self.rows!r}, relation={self.relation!r}, epsilon={show(self.epsilon)}, "
            f"delta={show(self.delta)}{bounds})"
        )

    @property
    def width(self) -> int:
        """How many columns the matrix has."""
        return self.rows.width + (self.bounds is not None)

    @property
    def square(self) -> Fraction:
        """The largest squared norm of a row with its target."""
        return self.rows.reach**2 + (self.bounds is not None)

    @property
    def sensitivity(self) -> Fraction:
        """How far a neighbour moves the matrix, in Frobenius norm."""
        return self.square * (Fraction(up(lambda: ball(2).sqrt())) if self.relation == "replace_one" else 1)

    @property
    def noise(self) -> Gaussian | Laplace:
        """The noise of an entry of the diagonal; with Gaussian noise the others have it divided by ``sqrt 2``."""
        return _noise(self)

    @property
    def sigma(self) -> float:
        """The standard deviation of an entry of the diagonal."""
        noise = self.noise
        return float((noise.sigma if isinstance(noise, Gaussian) else noise.scale * math.sqrt(2)) * UNIT)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise."""
        return self.noise.loss.under(self.relation)

    @property
    def domain(self) -> Records:
        """Tables of rows, or pairs of a table and its targets."""
        return Records(relation=self.relation)

    def release(self, data: Any, /) -> Floats:  # noqa: ANN401 - a table, or a pair of a table and its targets
        """Return the noisy matrix, which is symmetric."""
        wide = self._read(data)
        sums = exact_products(wide, wide, most=max(self.rows.tallest, Fraction(1)) ** 2)
        upper = np.triu_indices(self.width)
        noise, values = self.noise, whole(sums[upper])
        if isinstance(noise, Laplace):
            noisy = noise.release(values)
        else:
            less = upward(Fraction(noise.sigma) * Fraction(up(lambda: 1 / ball(2).sqrt())))
            scales = np.where(upper[0] == upper[1], float(upward(Fraction(noise.sigma))), less)
            noisy = on_grid(Density(), values, scales, grid=noise.grid)
        matrix = np.zeros((self.width, self.width))
        matrix[upper] = noisy * float(UNIT)
        return matrix + np.triu(matrix, 1).T

    def worst_case(self) -> tuple[Any, Any]:
        """One record of the largest norm that comes, or turns to another axis."""
        row = np.zeros((1, self.rows.features))
        row[0, 0] = float(self.rows.norm)
        gone: Any = row[:0]
        if self.relation == "replace_one":
            gone = np.roll(row, 1, axis=1) if self.rows.features > 1 else 0 * row
        if self.bounds is None:
            return row, gone
        return (row, np.full(1, float(self.bounds[1]))), (gone, np.full(len(gone), float(self.bounds[0])))

    def centred(self, targets: Floats) -> Floats:
        """Return targets moved to [-1, 1]."""
        low, high = (float(end) for end in self.bounds or (-1, 1))
        with np.errstate(all="ignore"):
            return np.clip((targets - (low + high) / 2) / ((high - low) / 2), -1.0, 1.0)

    def _read(self, data: Any) -> Floats:  # noqa: ANN401
        if self.bounds is None:
            return self.rows.read(data)
        table, targets = data
        numbers = one_column(targets)
        examples = self.rows.examples(table, numbers, np.isfinite(numbers))
        return np.hstack([examples.rows, truncated(self.centred(examples.targets))[:, None]])


@lru_cache(maxsize=64)
def _noise(fit: Moments) -> Gaussian | Laplace:
    if fit.delta:
        return Gaussian(sensitivity=fit.sensitivity / UNIT, epsilon=fit.epsilon, delta=fit.delta)
    turns = 2 if fit.relation == "replace_one" else 1
    return Laplace(sensitivity=turns * fit.square * Fraction(fit.width + 1, 2) / UNIT, epsilon=fit.epsilon)
