"""Several operators on the same histogram, stacked."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, plain, positive
from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import HELD, Array, Operator

__all__ = ["Union"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Union(Operator):
    """Operators one above the other, each times a public positive ``weight``.

    A heavier operator is measured more accurately, and a record moves it further. Norms of columns add up.

    >>> from discreet.synthetic.operators import Identity, Total
    >>> both = Union(of=(Total(size=2), Identity(size=2)), weights=(Fraction(1, 2), 1))
    >>> both.matvec([3, 4])
    array([3.5, 3. , 4. ])
    >>> both.sensitivity(1, relation="add_remove"), both.sensitivity(1, relation="replace_one")
    (Fraction(3, 2), Fraction(2, 1))
    """

    of: tuple[Operator, ...]
    weights: tuple[Real, ...] = field(default=())

    def __post_init__(self) -> None:
        given = tuple(self.of)
        if not given or not all(isinstance(part, Operator) for part in given):
            raise InvalidParameter("a union is of operators, at least one: Union(of=(a, b)).")
        if len({part.shape[1] for part in given}) > 1:
            raise InvalidParameter("the operators of a union are on the same cells: as many columns in each.")
        weights = tuple(self.weights) or (1,) * len(given)
        if len(weights) != len(given):
            raise InvalidParameter(f"a union of {len(given)} operators has as many weights, got {len(weights)}.")
        object.__setattr__(self, "of", given)
        object.__setattr__(self, "weights", tuple(plain(positive(weight, "a weight")) for weight in weights))

    @property
    def parts(self) -> tuple[tuple[Fraction, Operator], ...]:
        """The operators and their weights, unions among them taken apart."""
        return tuple(
            (Fraction(weight) * inner, part)
            for weight, operator in zip(self.weights, self.of, strict=True)
            for inner, part in operator.parts
        )

    @property
    def shape(self) -> tuple[int, int]:
        """All rows."""
        return sum(part.shape[0] for part in self.of), self.of[0].shape[1]

    @property
    def denominator(self) -> int:
        """The least common one."""
        each = zip(self.weights, self.of, strict=True)
        return math.lcm(*((Fraction(weight) / part.denominator).denominator for weight, part in each))

    @property
    def reach(self) -> int:
        """The largest among the operators."""
        return max(times * part.reach for times, part in self._multiples())

    @property
    def nonnegative(self) -> bool:
        """Whether all are."""
        return all(part.nonnegative for part in self.of)

    @property
    def determines_cells(self) -> bool:
        """Whether some operator does."""
        return any(part.determines_cells for part in self.of)

    def whole_matvec(self, x: Array, /) -> Array:
        """Stack what each gives."""
        return np.concatenate([times * part.whole_matvec(x) for times, part in self._multiples()])

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Add up what each transpose gives on its own rows."""
        ends = np.cumsum([part.shape[0] for part in self.of])
        pieces = np.split(y, ends[:-1])
        each = zip(self._multiples(), pieces, strict=True)
        return np.asarray(sum(times * part.whole_rmatvec(piece) for (times, part), piece in each))

    def column_norms(self, p: int, /) -> Array:
        """Sums of the operators' norms."""
        each = [(times**p, part.column_norms(p)) for times, part in self._multiples()]
        most = sum(times * int(norms.max()) for times, norms in each)
        kind: type = np.int64 if most < HELD else object
        return np.asarray(sum(times * norms.astype(kind) for times, norms in each))

    def gram(self) -> Floats:
        """Return the sum of the operators' Gram matrices."""
        each = zip(self.weights, self.of, strict=True)
        return np.asarray(sum(float(Fraction(weight)) ** 2 * part.gram() for weight, part in each), dtype=np.float64)

    def variances(self, covariance: Floats, /) -> Floats:
        """Stack the operators' variances."""
        each = zip(self.weights, self.of, strict=True)
        return np.concatenate([float(Fraction(weight)) ** 2 * part.variances(covariance) for weight, part in each])

    def _multiples(self) -> list[tuple[int, Operator]]:
        """Return what each whole matrix is multiplied by to be a part of the whole matrix of all."""
        common, each = self.denominator, zip(self.weights, self.of, strict=True)
        return [(int(Fraction(weight) * common / part.denominator), part) for weight, part in each]
