"""What an estimator is: an exact histogram in, a noisy histogram out.

Every estimator measures parts of the histogram by mechanisms whose losses add up, and what it does with what they told
is free. A record adds 1 to one cell. Counts are clamped to 0 and 2^40, which a record never makes larger: under
add_remove one cell changes by at most 1; under replace_one a record leaves one cell and comes into another, and where
one of both is full only the other changes. So a histogram changes by at most 1 or 2 in L1 norm, and what is charged
under replace_one is never less than under add_remove.

The number of records is measured under add_remove, where an estimator needs it. Under replace_one it is public, and
taken from the counts before they are clamped: the sum of these is the same for all neighbours, whatever is full.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, positive, show
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import Operator
from discreet.synthetic.operators.whole import clamped
from discreet.units import Relation, check_relation

__all__ = ["LARGEST", "Counted", "Estimator", "Int64", "Part", "Pure", "fraction"]

Int64 = npt.NDArray[np.int64]

LARGEST = 1 << 40
"""A count is clamped to this, so that sums of a few million cells are exact in 64 bits."""

MOST_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted:
    """A histogram that was read: as secret as the data, so that no text shows it.

    >>> "7" in repr(Counted(np.array([7]), 7)).rpartition(" at ")[0]
    False
    """

    cells: Int64
    """The clamped counts, in the shape of the estimator."""
    persons: int
    """The sum of the counts before they were clamped: public under replace_one, secret under add_remove."""

    @property
    def line(self) -> Int64:
        """The cells one after the other, the last axis fastest."""
        return self.cells.reshape(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pure:
    """A part of pure ``epsilon``-DP: what it runs depends on earlier parts, or its proof is written where it is run.

    >>> Pure(epsilon=0.5).loss.epsilon()
    0.5
    """

    epsilon: Real

    @property
    def loss(self) -> PrivacyLoss:
        """Pure differential privacy."""
        return PrivacyLoss.pure(self.epsilon)


Part = Geometric | Laplace | Exponential | Pure


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimator(Faces, ABC):
    """The parameters that all estimators share, how they read a histogram and what they cost.

    An author writes ``parts``, the mechanisms that touch the data, and ``_estimate``, which runs each of them once.
    """

    shape: tuple[int, ...]
    epsilon: Real
    relation: Relation

    def __post_init__(self) -> None:
        check_relation(self.relation)
        positive(self.epsilon, "epsilon")
        store(self, epsilon=self.epsilon)
        object.__setattr__(self, "shape", _shape(self.shape))

    def __repr__(self) -> str:
        said = [f"{f.name}={_said(getattr(self, f.name))}" for f in dataclasses.fields(self) if self._tells(f)]
        return f"{type(self).__name__}({', '.join(said)})"

    def _tells(self, field: "dataclasses.Field[Any]") -> bool:
        """Whether a field is one that was given and is not its default."""
        default = field.default
        return field.init and (default is dataclasses.MISSING or getattr(self, field.name) != default)

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """The mechanisms that touch the data, each as often as it is run on the same records."""

    @abstractmethod
    def _estimate(self, counted: Counted) -> Floats:
        """Return the estimated cells, in any shape that holds as many."""

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def touched(self) -> int:
        """How far one record changes the clamped counts in L1 norm."""
        return 2 if self.relation == "replace_one" and self.cells > 1 else 1

    @property
    def domain(self) -> Records:
        """Histograms of records."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The sum of the losses of all parts, by adaptive composition."""
        return PrivacyLoss.total(part.loss for part in self.parts).under(self.relation)

    def release(self, histogram: npt.ArrayLike, /) -> Floats:
        """Return the estimated histogram, in the shape of the estimator."""
        return np.asarray(self._estimate(self.read(histogram)), dtype=np.float64).reshape(self.shape)

    def worst_case(self) -> tuple[Int64, Int64]:
        """A record in the first cell, which is gone or, under replace_one, in the last."""
        one, other = np.zeros(self.cells, dtype=np.int64), np.zeros(self.cells, dtype=np.int64)
        one[0] = 1
        if self.relation == "replace_one":
            other[-1] = 1
        return one.reshape(self.shape), other.reshape(self.shape)

    # What estimators are made of -------------------------------------------------------------------------------

    def read(self, histogram: npt.ArrayLike) -> Counted:
        """Return the clamped counts and their sum before; a histogram of another form is refused."""
        refusal = f"a histogram here has whole counts in the shape {self.shape}."
        cells = clamped(histogram, 0, LARGEST, otherwise=refusal)
        if cells.shape not in (self.shape, (self.cells,)):
            raise InvalidInput(refusal)
        return Counted(cells.reshape(self.shape), _sum(histogram))

    def budget(self, share: Real) -> Fraction:
        """Return a public share of epsilon, exactly."""
        return Fraction(share) * Fraction(self.epsilon)

    def count_noise(self, share: Real = 1) -> Geometric:
        """Return the noise of a histogram, of any parts of the cells that do not overlap, for a share of epsilon."""
        return Geometric(sensitivity=self.touched, epsilon=self.budget(share))

    def total_noise(self, share: Real) -> Geometric | None:
        """Return the noise of the number of records: none under replace_one, where it is public."""
        return Geometric(sensitivity=1, epsilon=self.budget(share)) if self.relation == "add_remove" else None

    def public_total(self, counted: Counted) -> float | None:
        """Return the number of records where it is public: under replace_one."""
        if self.relation == "add_remove":
            return None
        return float(min(max(counted.persons, 0), LARGEST * self.cells))

    def measured_total(self, counted: Counted, share: Real) -> float:
        """Return the number of records, not below 0: noisy under add_remove, exact under replace_one."""
        public, noise = self.public_total(counted), self.total_noise(share)
        if public is not None or noise is None:
            return public or 0.0
        return float(min(max(noise.release(int(counted.cells.sum())), 0), LARGEST * self.cells))

    def _check_workload(self, workload: Operator | None, dimensions: tuple[int, ...] = ()) -> None:
        """Refuse a shape of other dimensions, where these are said, and a workload on other cells."""
        if dimensions and len(self.shape) not in dimensions:
            allowed = " or ".join(map(str, dimensions))
            raise InvalidParameter(
                f"{type(self).__name__} works on histograms of {allowed} dimension(s), got the shape {self.shape}."
            )
        given: object = workload
        if given is not None and not isinstance(given, Operator):
            raise InvalidParameter("a workload is an operator: AllRanges(size=...), Prefix(size=...), ...")
        if workload is not None and workload.shape[1] != self.cells:
            raise InvalidParameter(
                f"the workload is on {workload.shape[1]} cells and the histogram has {self.cells}; they must agree."
            )


def fraction(value: object, name: str) -> Fraction:
    """Return a public share of a budget: above 0 and below 1.

    >>> fraction(0.25, "share")
    Fraction(1, 4)
    """
    exact = positive(value, name)
    if exact >= 1:
        raise InvalidParameter(f"{name} must be above 0 and below 1, got {show(exact)}.")
    return exact


def _shape(shape: object) -> tuple[int, ...]:
    listed = tuple(shape) if isinstance(shape, tuple | list) else ()
    whole = all(isinstance(side, int | np.integer) and not isinstance(side, bool) and side >= 1 for side in listed)
    if not listed or not whole:
        raise InvalidParameter(f"shape must be a tuple of whole numbers of at least 1, as (4096,), got {shape!r}.")
    sides = tuple(int(side) for side in listed)
    if math.prod(sides) > MOST_CELLS:
        raise InvalidParameter(f"an estimator works on up to {MOST_CELLS} cells, got the shape {sides}.")
    return sides


def _sum(histogram: object) -> int:
    """Return the exact sum of whole numbers of any size."""
    array = np.asarray(histogram, dtype=None if hasattr(histogram, "__array__") else object)
    if array.dtype.kind == "O":
        return sum(int(value) for value in array.reshape(-1).tolist())
    wide = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
    high, low = wide >> wide.dtype.type(32), wide & wide.dtype.type((1 << 32) - 1)
    return (int(high.sum()) << 32) + int(low.sum())


def _said(value: object) -> str:
    return show(value) if isinstance(value, int | float | Fraction) and not isinstance(value, bool) else repr(value)
