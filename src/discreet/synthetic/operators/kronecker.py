"""Products of operators: queries of several attributes at once."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.operators.operator import HELD, Array, Operator

__all__ = ["Kronecker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kronecker(Operator):
    """The Kronecker product of operators, one for each attribute; the last attribute runs fastest.

    A column is the product of one column of each factor, so the norms of the largest multiply. Two cells that differ in
    an attribute whose columns share no row have disjoint columns, which gives the exact sensitivity under replace_one
    in L1 norm, and in L2 norm if no entry is negative.

    >>> from discreet.synthetic.operators import Identity, Prefix
    >>> both = Kronecker(of=(Prefix(size=2), Identity(size=3)))
    >>> both.shape, both.sensitivity(1, relation="add_remove"), both.sensitivity(1, relation="replace_one")
    ((6, 6), Fraction(2, 1), Fraction(4, 1))
    >>> both.matvec([1, 2, 3, 10, 20, 30])
    array([ 1,  2,  3, 11, 22, 33])
    """

    of: tuple[Operator, ...]

    def __post_init__(self) -> None:
        given = tuple(self.of)
        if not given or not all(isinstance(factor, Operator) for factor in given):
            raise InvalidParameter("a Kronecker product is of operators, at least one: Kronecker(of=(a, b)).")
        object.__setattr__(self, "of", tuple(inner for factor in given for inner in factor.factors))

    @property
    def factors(self) -> tuple[Operator, ...]:
        """The operators, products among them taken apart."""
        return self.of

    @property
    def shape(self) -> tuple[int, int]:
        """The products of the factors' shapes."""
        return math.prod(f.shape[0] for f in self.of), math.prod(f.shape[1] for f in self.of)

    @property
    def denominator(self) -> int:
        """The product."""
        return math.prod(f.denominator for f in self.of)

    @property
    def reach(self) -> int:
        """The product."""
        return math.prod(f.reach for f in self.of)

    @property
    def nonnegative(self) -> bool:
        """Whether all factors are."""
        return all(f.nonnegative for f in self.of)

    @property
    def separable(self) -> bool:
        """Whether some factor is."""
        return any(f.separable for f in self.of)

    @property
    def determines_cells(self) -> bool:
        """Whether all factors do."""
        return all(f.determines_cells for f in self.of)

    def whole_matvec(self, x: Array, /) -> Array:
        """Apply each factor to its own attribute."""
        return self._each(x, 1, lambda f, part: f.whole_matvec(part))

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Apply each factor's transpose to its own attribute."""
        return self._each(y, 0, lambda f, part: f.whole_rmatvec(part))

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Solve attribute by attribute: the pseudo-inverse of a product is the product of the pseudo-inverses."""
        return self._each(np.asarray(y, dtype=np.float64), 0, lambda f, part: f.solve(part))

    def column_norms(self, p: int, /) -> Array:
        """Products of the factors' norms."""
        each = [f.column_norms(p) for f in self.of]
        if self.largest_column(p) >= HELD:
            each = [norms.astype(object) for norms in each]
        return _kron(each)

    def largest_column(self, p: int, /) -> int:
        """The product of the largest."""
        return math.prod(f.largest_column(p) for f in self.of)

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """That of the one factor with several cells, if only one has; otherwise as for every operator."""
        wide = [f for f in self.of if f.shape[1] > 1]
        if len(wide) != 1:
            return Operator.whole_distance(self, p)
        distance, attained = wide[0].whole_distance(p)
        return distance * math.prod(f.largest_column(p) for f in self.of if f is not wide[0]), attained

    def gram(self) -> Floats:
        """Return the product of the factors' Gram matrices."""
        return _kron([f.gram() for f in self.of])

    def covariance(self) -> Floats:
        """Return the product of the factors' covariances."""
        if self.shape[1] > 1 << 13:
            return Operator.covariance(self)
        return _kron([f.covariance() for f in self.of])

    def _each(self, values: Array, side: int, apply: Callable[[Operator, Array], Array]) -> Array:
        many = values.shape[1:]
        table = values.reshape(*(f.shape[side] for f in self.of), *many)
        for axis, factor in enumerate(self.of):
            front = np.moveaxis(table, axis, 0)
            done = apply(factor, np.ascontiguousarray(front).reshape(front.shape[0], -1))
            table = np.moveaxis(done.reshape(done.shape[0], *front.shape[1:]), 0, axis)
        return np.ascontiguousarray(table).reshape(-1, *many)


def _kron(arrays: list[Array]) -> Array:
    return reduce(lambda a, b: np.asarray(np.kron(a, b)), arrays)
