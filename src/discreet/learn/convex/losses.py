"""Losses of a linear model: convex functions of a prediction and a target, with bounded slope and curvature.

What privacy needs of a loss is how fast it rises (``lipschitz``) and how fast its slope turns (``smoothness``), both in
the prediction. Chaudhuri, Monteleoni and Sarwate, JMLR 2011, for logistic regression and the Huberised hinge.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.exact import Real, ball, positive, show
from discreet.learn.convex.rows import within_range
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats

__all__ = ["SLOPE_ERROR", "Huber", "HuberHinge", "Logistic", "Loss"]

SLOPE_ERROR: float = 2.0**-46
"""How far a computed slope may be from the true one at the same prediction, as a part of the Lipschitz constant."""

Kept = tuple[Floats, npt.NDArray[np.bool_]]


class Loss(Protocol):
    """A convex loss of one record, by its derivative in the prediction."""

    @property
    def lipschitz(self) -> Fraction:
        """The largest absolute slope."""
        ...

    @property
    def smoothness(self) -> Fraction:
        """The largest curvature, where there is one: the slope changes at most so fast."""
        ...

    def read(self, targets: Floats, /) -> Kept:
        """Return the targets as the loss takes them, and which records have one."""
        ...

    def value(self, predictions: Floats, targets: Floats, /) -> Floats:
        """Return the loss itself; it guides a solver and proves nothing."""
        ...

    def slope(self, predictions: Floats, targets: Floats, /) -> Floats:
        """Return the derivative in the prediction."""
        ...

    def curvature(self, predictions: Floats, targets: Floats, /) -> Floats:
        """Return the second derivative in the prediction; it speeds a solver up and proves nothing."""
        ...

    def slope_ball(self, prediction: arb, target: float, /) -> arb:
        """Return the derivative in ball arithmetic."""
        ...


def _signs(targets: Floats) -> Kept:
    """Keep targets of -1 and 1; a record with any other does not count."""
    return targets, np.abs(targets) == 1


@dataclass(frozen=True, slots=True)
class Logistic:
    """``log(1 + exp(-t p))`` for targets t of -1 and 1: Lipschitz constant 1, smoothness 1/4.

    >>> Logistic().slope(np.array([0.0]), np.array([1.0]))
    array([-0.5])
    """

    lipschitz: ClassVar[Fraction] = Fraction(1)
    smoothness: ClassVar[Fraction] = Fraction(1, 4)

    def read(self, targets: Floats, /) -> Kept:
        """Targets of -1 and 1 count."""
        return _signs(targets)

    def value(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``log(1 + exp(-t p))``."""
        return np.logaddexp(0.0, -targets * predictions)

    def slope(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``-t / (1 + exp(t p))``."""
        return -targets * _expit(-targets * predictions)

    def curvature(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``s (1 - s)`` with ``s = 1 / (1 + exp(-t p))``."""
        share = _expit(targets * predictions)
        return np.asarray(share * (1 - share))

    def slope_ball(self, prediction: arb, target: float, /) -> arb:
        """The same in balls."""
        return -ball(target) / (1 + (ball(target) * prediction).exp())


@dataclass(frozen=True, slots=True)
class HuberHinge:
    """The hinge ``max(0, 1 - t p)`` with its corner rounded on ``width`` to either side: smoothness 1 / (2 width).

    >>> HuberHinge(0.5).slope(np.array([0.0, 1.0, 2.0]), np.ones(3)) + 0.0
    array([-1. , -0.5,  0. ])
    """

    width: Real = Fraction(1, 2)
    lipschitz: ClassVar[Fraction] = Fraction(1)

    def __post_init__(self) -> None:
        within_range(positive(self.width, "width"), "width")
        store(self, width=self.width)

    def __repr__(self) -> str:
        return f"HuberHinge({show(self.width)})"

    @property
    def smoothness(self) -> Fraction:
        """The curvature of the rounded corner."""
        return 1 / (2 * Fraction(self.width))

    def read(self, targets: Floats, /) -> Kept:
        """Targets of -1 and 1 count."""
        return _signs(targets)

    def value(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``1 - t p`` left of the corner, 0 right of it and a parabola between."""
        h = float(self.width)
        inner = np.clip(1 + h - targets * predictions, 0.0, 2 * h)
        return np.asarray(inner**2 / (4 * h) + np.maximum(1 - h - targets * predictions, 0.0))

    def slope(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``-t`` left of the corner, 0 right of it and a straight line between."""
        h = float(self.width)
        return np.asarray(-targets * np.clip((1 + h - targets * predictions) / (2 * h), 0.0, 1.0))

    def curvature(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``1 / (2 width)`` on the corner."""
        h = float(self.width)
        return np.asarray((np.abs(1 - targets * predictions) <= h) / (2 * h))

    def slope_ball(self, prediction: arb, target: float, /) -> arb:
        """The same in balls."""
        h = Fraction(self.width)
        part = (ball(1 + h) - ball(target) * prediction) / ball(2 * h)
        return -ball(target) * part.max(arb(0)).min(arb(1))


@dataclass(frozen=True, slots=True)
class Huber:
    """Half the squared error, going on as a straight line where the error exceeds ``width``, for targets within bounds.

    >>> Huber(bounds=(0, 10), width=2).slope(np.array([0.0, 9.0]), np.array([1.0, 1.0])).tolist()
    [-1.0, 2.0]
    """

    bounds: tuple[Real, Real]
    width: Real = 1
    smoothness: ClassVar[Fraction] = Fraction(1)

    def __post_init__(self) -> None:
        within_range(positive(self.width, "width"), "width")
        low, high = (within_range(end, "an end of the bounds") for end in self.bounds)
        positive(high - low, "the width of the bounds")
        store(self, width=self.width)

    @property
    def lipschitz(self) -> Fraction:
        """The slope of the straight parts."""
        return Fraction(self.width)

    def read(self, targets: Floats, /) -> Kept:
        """Targets are drawn into the bounds; a record without a finite one does not count."""
        kept = np.isfinite(targets)
        return np.clip(np.where(kept, targets, 0.0), float(self.bounds[0]), float(self.bounds[1])), kept

    def value(self, predictions: Floats, targets: Floats, /) -> Floats:
        """A parabola within the width and a straight line beyond."""
        error, h = np.abs(predictions - targets), float(self.width)
        return np.asarray(np.where(error <= h, error**2 / 2, h * error - h * h / 2))

    def slope(self, predictions: Floats, targets: Floats, /) -> Floats:
        """The error, clipped."""
        h = float(self.width)
        return np.clip(predictions - targets, -h, h)

    def curvature(self, predictions: Floats, targets: Floats, /) -> Floats:
        """1 where the error is small."""
        return np.asarray((np.abs(predictions - targets) <= float(self.width)).astype(np.float64))

    def slope_ball(self, prediction: arb, target: float, /) -> arb:
        """The same in balls."""
        h = ball(Fraction(self.width))
        return (prediction - ball(target)).min(h).max(-h)


def _expit(x: Floats) -> Floats:
    """Return ``1 / (1 + exp(-x))`` without overflow, to a few units in the last place."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))
