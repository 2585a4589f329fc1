"""What a function must tell of itself so that noise may be fitted to the data at hand.

The *local sensitivity* ``LS(x)`` is how far one record can move the value at a data set x. Noise of that size would
tell neighbours apart, so Nissim, Raskhodnikova and Smith ("Smooth Sensitivity and Sampling in Private Data Analysis",
STOC 2007) use a bound that neighbours nearly share: S is *beta-smooth* if ``S(x) >= LS(x)`` and ``S(x) <= e^beta S(y)``
for all neighbours x and y. With ``A(x, k)`` the largest local sensitivity within k records of x, the least such bound
is ``max_k e^(-beta k) A(x, k)``.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from discreet.exact import Real
from discreet.units import Relation

__all__ = ["ROUNDING", "Function", "Vicinity"]

ROUNDING = 2.0**-30
"""What float64 may add to the logarithm of a smooth bound: ``smooth(beta)`` lies between a bound that is exactly
beta-smooth and ``1 + ROUNDING`` times that bound. Noise is therefore fitted to ``beta + ROUNDING``."""


class Vicinity(Protocol):
    """A data set as a function sees it: its value there, and how far the value moves nearby. It is as secret as data.

    ``local`` rises with the distance, and moves by at most one step of it between neighbours: ``local(k)`` at x is at
    most ``local(k + 1)`` at y. Hence every bound that is made from it as ``max_k e^(-beta k) local(k)`` is smooth.
    """

    @property
    def value(self) -> Real | npt.NDArray[np.float64]:
        """The value of the function: a number, or a vector of ``dimension`` numbers."""
        ...

    def local(self, distance: int = 0, /) -> float:
        """Bound the local sensitivity of all data sets within a distance: ``A(x, distance)``, or more, as a float64."""
        ...

    def smooth(self, beta: Real, /) -> float:
        """Return a number above 0 that bounds the local sensitivity and is beta-smooth up to ``ROUNDING``.

        For beta 0 it is the global sensitivity, as far as any data set is within reach.
        """
        ...

    def distance(self, bound: Real, /) -> int | None:
        """Return the least distance at which the local sensitivity exceeds a bound; None if it never does."""
        ...


@runtime_checkable
class Function(Protocol):
    """A function of records whose local sensitivity is known everywhere.

    It is frozen and public: nothing in it comes from data. Records of any kind are accepted, as an error would tell
    what they are: missing values count as the lower bound, and values outside the bounds as the nearer one.
    """

    @property
    def relation(self) -> Relation:
        """What neighbours are."""
        ...

    @property
    def size(self) -> int | None:
        """The number of records, where it is public and fixed."""
        ...

    @property
    def range(self) -> tuple[Real, Real]:
        """The least and the greatest value there is (of any entry of a vector)."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers the value is."""
        ...

    @property
    def norm(self) -> float:
        """The norm in which moves are measured: 1 or 2."""
        ...

    def at(self, records: Any, /) -> Vicinity:  # noqa: ANN401 - rows, numbers or a graph
        """Look at a data set."""
        ...
