"""Pairs of distributions, seen through their privacy loss.

A pair (P, Q) is known to the numerical accountant by the masses that P and Q give to cells of the loss
``L = log(dP / dQ)``. ``RELATIVE_ERROR`` bounds the relative error of every mass in float64; the accountant carries it
into its results.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["ON_EDGE", "RELATIVE_ERROR", "Atoms", "GaussianPair", "LaplacePair", "Pair", "Sampled", "Spread"]

Floats = npt.NDArray[np.float64]

RELATIVE_ERROR = 2.0**-38

ON_EDGE = 1e-9
"""An atom this part of a cell from an edge is taken to lie on it; the accountant carries that too."""


class Spread(Protocol):
    """Losses, by where they lie."""

    @property
    def support(self) -> tuple[float, float]:
        """The least and the largest loss; infinite where there is none."""
        ...

    def span(self, tail: float, /) -> tuple[float, float]:
        """Return losses between which all but ``tail`` of the mass of P lies, on each side."""
        ...


class Pair(Spread, Protocol):
    """Two distributions by the law of their privacy loss under each."""

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Return the P and Q masses of the open cells between the edges."""
        ...

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Return the P and Q masses of the edges themselves; an atom that is on none of them lies in a cell."""
        ...

    def reversed(self) -> "Pair":
        """Return the pair (Q, P)."""
        ...


def normal_mass(a: Floats, b: Floats) -> Floats:
    """Return the standard normal mass of the intervals (a, b], with relative accuracy in both tails."""
    from scipy.special import ndtr

    flip = b > -a
    return np.asarray(ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a)))


@dataclass(frozen=True, slots=True)
class GaussianPair:
    """N(mu, 1) against N(0, 1): the loss is normal with mean ``mu^2 / 2`` and variance ``mu^2``."""

    mu: float

    @property
    def support(self) -> tuple[float, float]:
        """All losses occur."""
        return -math.inf, math.inf

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Normal masses."""
        z = edges / self.mu
        return (
            normal_mass(z[:-1] - self.mu / 2, z[1:] - self.mu / 2),
            normal_mass(z[:-1] + self.mu / 2, z[1:] + self.mu / 2),
        )

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """No atoms."""
        return np.zeros(edges.size), np.zeros(edges.size)

    def span(self, tail: float, /) -> tuple[float, float]:
        """Normal quantiles."""
        from scipy.special import ndtri

        reach = -float(ndtri(max(tail, 1e-300))) * self.mu
        return self.mu**2 / 2 - reach, self.mu**2 / 2 + reach

    def reversed(self) -> "GaussianPair":
        """Symmetric."""
        return self


@dataclass(frozen=True, slots=True)
class LaplacePair:
    """Laplace laws of scale 1 at distance ``epsilon``: atoms at both ends of the loss, a density between them."""

    epsilon: float

    @property
    def support(self) -> tuple[float, float]:
        """From ``-epsilon`` to ``epsilon``."""
        return -self.epsilon, self.epsilon

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Integrals of ``exp((l - epsilon) / 2) / 4`` and ``exp(-(l + epsilon) / 2) / 4``, and atoms on no edge."""
        e = self.epsilon
        low, high = np.clip(edges[:-1], -e, e), np.clip(edges[1:], -e, e)
        rise = np.expm1((high - low) / 2)
        p = np.exp((low - e) / 2) * rise / 2
        q = np.exp(-(high + e) / 2) * rise / 2
        inside = self._ends().cells(edges)
        return p + inside[0], q + inside[1]

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """The two ends."""
        return self._ends().atoms(edges)

    def _ends(self) -> "Atoms":
        small, e = math.exp(-self.epsilon) / 2, self.epsilon
        return Atoms(np.array([-e, e]), np.array([small, 0.5]), np.array([0.5, small]))

    def span(self, tail: float, /) -> tuple[float, float]:
        """The whole support."""
        return self.support

    def reversed(self) -> "LaplacePair":
        """Symmetric."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Finitely many losses with their masses under P and under Q, in rising order of the loss."""

    losses: Floats
    p: Floats
    q: Floats

    @property
    def support(self) -> tuple[float, float]:
        """The first and the last loss."""
        return float(self.losses[0]), float(self.losses[-1])

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Sum the atoms of each cell."""
        _, on_edge = self._places(edges)
        where = np.searchsorted(edges, self.losses, side="left") - 1
        inside = ~on_edge & (where >= 0) & (where < edges.size - 1)
        return _sums(where[inside], self.p[inside], self.q[inside], edges.size - 1)

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """Sum the atoms on each edge."""
        nearest, on_edge = self._places(edges)
        return _sums(nearest[on_edge], self.p[on_edge], self.q[on_edge], edges.size)

    def _places(self, edges: Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the nearest edge of each atom and whether it lies on it, up to a small part of a cell."""
        after = np.clip(np.searchsorted(edges, self.losses), 1, edges.size - 1)
        left, right = edges[after - 1], edges[after]
        nearest = np.where(self.losses - left <= right - self.losses, after - 1, after)
        with np.errstate(invalid="ignore"):
            widths = np.diff(edges)
            width = float(np.min(widths[np.isfinite(widths) & (widths > 0)], initial=math.inf))
            return nearest, np.abs(self.losses - edges[nearest]) <= (ON_EDGE * width if math.isfinite(width) else 0.0)

    def span(self, tail: float, /) -> tuple[float, float]:
        """Cut off what weighs less than the tail at each end."""
        if min(self.p[0], self.p[-1]) > tail:
            return self.support
        below, above = np.cumsum(self.p), np.cumsum(self.p[::-1])[::-1]
        kept = np.flatnonzero((below > tail) & (above > tail))
        first, last = (int(kept[0]), int(kept[-1])) if kept.size else (0, self.losses.size - 1)
        return float(self.losses[first]), float(self.losses[last])

    def reversed(self) -> "Atoms":
        """Exchange the two laws; the losses change sign."""
        back = Atoms(-self.losses[::-1], self.q[::-1], self.p[::-1])
        same = np.array_equal(back.losses, self.losses) and np.array_equal(back.p, self.p)
        return self if same else back


@dataclass(frozen=True, slots=True)
class Sampled:
    """Poisson sampling under add_remove: ``(1 - rate) Q + rate P`` against Q, or Q against it.

    Zhu, Dong and Wang, AISTATS 2022, Theorem 11: if (P, Q) dominates the mechanism with a record against without, this
    pair dominates the sampled mechanism. Its loss is ``log(1 - rate + rate e^L)``, a rising function of the loss L.
    """

    base: Pair
    rate: float
    removed: bool = True

    @property
    def support(self) -> tuple[float, float]:
        """The image of the base's support."""
        low, high = (self._loss(end) for end in self.base.support)
        return (low, high) if self.removed else (-high, -low)

    def cells(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """The base's masses of the cells that map here."""
        p, q = self.base.cells(self._base_loss(edges if self.removed else -edges[::-1]))
        mixed = (1 - self.rate) * q + self.rate * p
        return (mixed, q) if self.removed else (q[::-1], mixed[::-1])

    def atoms(self, edges: Floats, /) -> tuple[Floats, Floats]:
        """The base's atoms that map here."""
        p, q = self.base.atoms(self._base_loss(edges if self.removed else -edges[::-1]))
        mixed = (1 - self.rate) * q + self.rate * p
        return (mixed, q) if self.removed else (q[::-1], mixed[::-1])

    def span(self, tail: float, /) -> tuple[float, float]:
        """The image of losses that hold the mass of both laws of the base."""
        under_q = tuple(-end for end in self.base.reversed().span(tail))[::-1]
        low, high = (under_q[0], max(self.base.span(tail)[1], under_q[1]))
        if self.removed:
            return max(self._loss(low), self.support[0]), self._loss(high)
        return -self._loss(under_q[1]), min(-self._loss(low), self.support[1])

    def reversed(self) -> "Sampled":
        """The other direction."""
        return Sampled(self.base, self.rate, not self.removed)

    def _loss(self, base: float) -> float:
        if base > 700:
            return (
                base + math.log(self.rate) + (1 - self.rate) / self.rate * math.exp(-base) if base < math.inf else base
            )
        return math.log1p(self.rate * math.expm1(base))

    def _base_loss(self, edges: Floats) -> Floats:
        """Return the base's losses; an edge at an end of the support, up to rounding, is that end exactly."""
        low, high = self.base.support
        first, last = self._loss(low), self._loss(high)
        with np.errstate(invalid="ignore"):
            width = float(np.nanmin(np.diff(edges)))
        near = min(ON_EDGE * width if math.isfinite(width) else 1e-12, 1e-3 * min(abs(first), abs(last)))
        with np.errstate(divide="ignore", invalid="ignore"):
            base = np.log1p(np.maximum(np.expm1(edges) / self.rate, -1.0))
            if first < -0.5:  # a rate close to 1: near the end log1p would cancel
                gap = -np.expm1(np.minimum(math.log1p(-self.rate) - edges, 0.0))
                base = np.where(edges < -0.5, edges + np.log(gap) - math.log(self.rate), base)
        base = np.where(edges < first - near, -np.inf, np.where(edges > last + near, np.inf, base))
        with np.errstate(invalid="ignore"):  # where an end is infinite nothing lies near it
            base = np.where(np.abs(edges - first) <= near, low, base)
            return np.where(np.abs(edges - last) <= near, high, base)


def _sums(where: npt.NDArray[np.intp], p: Floats, q: Floats, count: int) -> tuple[Floats, Floats]:
    return (
        np.asarray(np.bincount(where, weights=p, minlength=count), dtype=np.float64),
        np.asarray(np.bincount(where, weights=q, minlength=count), dtype=np.float64),
    )
