"""What noise must tell of itself so that its scale may follow a smooth bound.

Nissim, Raskhodnikova and Smith, "Smooth Sensitivity and Sampling in Private Data Analysis", STOC 2007. A mechanism
releases ``f(x) + factor * S(x) * Z`` where S is beta-smooth: neighbours move the value by at most the smaller of
``S(x)`` and ``S(y)``, and the scale by a factor of at most ``e^beta``. In units of the scale at x, the law at y lies at
a place D with a log-scale l, where ``|l| <= beta`` and ``|D| <= kappa min(1, e^l)``, ``kappa = 1 / factor``.
"""

from fractions import Fraction
from typing import Protocol, overload, runtime_checkable

from discreet.accounting import PrivacyLoss
from discreet.exact import Real
from discreet.noise.fast import Floats
from discreet.noise.grid import Array

__all__ = ["Admissible"]


@runtime_checkable
class Admissible(Protocol):
    """Noise that hides a move of the value and of its own scale together. It is frozen and public."""

    @property
    def beta(self) -> Real:
        """The smoothness of the bounds it is fitted to."""
        ...

    @property
    def loss(self) -> PrivacyLoss:
        """What one release costs, for neighbours of any relation."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers are released together; each gets noise of its own."""
        ...

    @property
    def norm(self) -> float:
        """The norm in which the smooth bound must hold: 1 or 2."""
        ...

    @property
    def factor(self) -> Fraction:
        """The scale of the noise for each unit of the smooth bound, rounded up."""
        ...

    @overload
    def draw(self, value: Real, bound: Real, *, grid: Real) -> float: ...
    @overload
    def draw(self, value: Array, bound: Real, *, grid: Real) -> Floats: ...
    def draw(self, value: Real | Array, bound: Real, *, grid: Real) -> float | Floats:
        """Return the point of a public grid nearest to the value plus noise of scale ``bound * factor``."""
        ...

    def reach(self, beta: Real = 0.05, /) -> float:
        """Return what all noises of a release stay below, in units of the bound, with probability ``1 - beta``."""
        ...

    def log_density(self, z: Floats, /) -> Floats:
        """Return the log of the density of Z, the noise of scale 1."""
        ...

    def log_cell(self, low: Real | None, high: Real | None, /) -> float:
        """Return ``log P[low <= Z < high]``; None stands for infinity."""
        ...
