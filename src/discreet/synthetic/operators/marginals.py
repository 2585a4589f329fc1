"""Marginals of a product domain: the tables of some attributes, summed over the others.

The Gram matrix of a marginal is a product of identities and ones, and all of these commute: on the space of functions
of exactly the attributes A, sums over each being 0, the table of attributes B has the eigenvalue ``prod of n_i, i not
in B`` if A is within B and 0 otherwise. So inverses, errors and least squares have closed forms of one number for each
A (McKenna, Miklau, Hay and Machanavajjhala, "Optimizing Error of High-Dimensional Statistical Queries Under
Differential Privacy", VLDB 2018).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import Real, plain, positive
from discreet.noise.fast import Floats
from discreet.synthetic.operators.identity import Identity
from discreet.synthetic.operators.kronecker import Kronecker
from discreet.synthetic.operators.operator import HELD, Array, Operator, positive_size
from discreet.synthetic.operators.total import Total

__all__ = ["Marginals", "attribute_sets", "closed_below"]

Attributes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals(Operator):
    """Tables of the attribute sets ``of``, by their numbers, each times a public positive ``weight``.

    A record is in one cell of each table, and one that changes in all attributes moves in every table: the sensitivity
    in L1 norm is the sum of the weights under add_remove, and under replace_one twice that of the tables that are not
    constant.

    >>> tables = Marginals(sizes=(2, 3), of=((0,), (1,)))
    >>> tables.matvec([1, 2, 3, 10, 20, 30])
    array([ 6, 60, 11, 22, 33])
    >>> tables.sensitivity(1, relation="add_remove"), tables.sensitivity(1, relation="replace_one")
    (Fraction(2, 1), Fraction(4, 1))
    """

    sizes: tuple[int, ...]
    of: tuple[Attributes, ...]
    weights: tuple[Real, ...] = field(default=())

    def __post_init__(self) -> None:
        sizes = tuple(positive_size(size, "an attribute's size") for size in self.sizes)
        if not sizes:
            raise InvalidParameter("a product domain has at least one attribute.")
        of = attribute_sets(self.of, len(sizes))
        weights = tuple(self.weights) or (1,) * len(of)
        if len(weights) != len(of):
            raise InvalidParameter(f"{len(of)} tables have as many weights, got {len(weights)}.")
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "weights", tuple(plain(positive(weight, "a weight")) for weight in weights))

    @classmethod
    def of_order(cls, sizes: Iterable[int], order: int) -> "Marginals":
        """Return all tables of ``order`` attributes.

        >>> Marginals.of_order((2, 2, 2), 2).of
        ((0, 1), (0, 2), (1, 2))
        """
        domain = tuple(sizes)
        if type(order) is not int or not 0 <= order <= len(domain):
            raise InvalidParameter(f"the order of a marginal lies between 0 and {len(domain)}, got {order!r}.")
        return cls(sizes=domain, of=tuple(combinations(range(len(domain)), order)))

    @property
    def shape(self) -> tuple[int, int]:
        """One row for each cell of each table."""
        return sum(self.cells(attributes) for attributes in self.of), math.prod(self.sizes)

    @property
    def denominator(self) -> int:
        """The least common one of the weights."""
        return math.lcm(*(Fraction(weight).denominator for weight in self.weights))

    @property
    def reach(self) -> int:
        """The largest number of cells that are summed, with its weight."""
        cells = self.shape[1]
        each = zip(self._whole_weights(), self.of, strict=True)
        return max(weight * cells // self.cells(attributes) for weight, attributes in each)

    @property
    def nonnegative(self) -> bool:
        """Weights are."""
        return True

    @property
    def parts(self) -> tuple[tuple[Fraction, Operator], ...]:
        """Each table as a product of identities and totals."""
        return tuple(
            (
                Fraction(weight),
                Kronecker(
                    of=tuple(
                        Identity(size=size) if i in attributes else Total(size=size)
                        for i, size in enumerate(self.sizes)
                    )
                ),
            )
            for weight, attributes in zip(self.weights, self.of, strict=True)
        )

    def cells(self, attributes: Attributes) -> int:
        """Return how many cells a table has."""
        return math.prod(self.sizes[i] for i in attributes)

    def whole_matvec(self, x: Array, /) -> Array:
        """Sum over the other attributes, table by table."""
        table = x.reshape(*self.sizes, *x.shape[1:])
        return np.concatenate(
            [
                weight * table.sum(axis=self._others(attributes)).reshape(-1, *x.shape[1:])
                for weight, attributes in zip(self._whole_weights(), self.of, strict=True)
            ]
        )

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Spread every table over the cells, and add up."""
        total = np.zeros((*self.sizes, *y.shape[1:]), dtype=y.dtype)
        ends = np.cumsum([self.cells(attributes) for attributes in self.of])
        for weight, attributes, piece in zip(self._whole_weights(), self.of, np.split(y, ends[:-1]), strict=True):
            kept = (size if i in attributes else 1 for i, size in enumerate(self.sizes))
            total += weight * piece.reshape(*kept, *y.shape[1:])
        return total.reshape(-1, *y.shape[1:])

    def column_norms(self, p: int, /) -> Array:
        """All alike."""
        largest = self.largest_column(p)
        return np.full(self.shape[1], largest, dtype=np.int64 if largest < HELD else object)

    def largest_column(self, p: int, /) -> int:
        """The sum of the weights, or of their squares."""
        return sum(weight**p for weight in self._whole_weights())

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """Twice that of the tables with more than one cell, by a record that changes in all attributes."""
        each = zip(self._whole_weights(), self.of, strict=True)
        return 2 * sum(weight**p for weight, attributes in each if self.cells(attributes) > 1), True

    def eigenvalues(self) -> dict[Attributes, float]:
        """Return the eigenvalue of ``A.T A`` on the functions of exactly each attribute set; 0 for those left out.

        >>> Marginals(sizes=(2, 3), of=((0,),)).eigenvalues()
        {(): 3.0, (0,): 3.0}
        """
        cells, values = self.shape[1], dict.fromkeys(closed_below(self.of), 0.0)
        for weight, attributes in zip(self.weights, self.of, strict=True):
            for inner in closed_below((attributes,)):
                values[inner] += float(weight) ** 2 * cells / self.cells(attributes)
        return values

    def gram(self) -> Floats:
        """Return the sum of products of identities and ones."""
        each = [float(weight) ** 2 * part.gram() for weight, part in self.parts]
        return np.asarray(sum(each), dtype=np.float64)

    def solve(self, y: npt.ArrayLike, /) -> Floats:
        """Return the shortest least squares estimate, by dividing each component by its eigenvalue."""
        right = np.asarray(self.rmatvec(np.asarray(y, dtype=np.float64)), dtype=np.float64)
        values, many = self.eigenvalues(), right.shape[1:]
        table = _divided(right.reshape(*self.sizes, *many), 0, (), self.sizes, values)
        return np.broadcast_to(table, (*self.sizes, *many)).reshape(-1, *many).copy()

    def _whole_weights(self) -> list[int]:
        common = self.denominator
        return [int(Fraction(weight) * common) for weight in self.weights]

    def _others(self, attributes: Attributes) -> tuple[int, ...]:
        return tuple(i for i in range(len(self.sizes)) if i not in attributes)


def attribute_sets(of: Iterable[Iterable[int]], attributes: int) -> tuple[Attributes, ...]:
    """Return attribute sets, each in order and none twice.

    >>> attribute_sets([(2, 0), ()], 3)
    ((0, 2), ())
    """
    sets = []
    for given in of:
        listed = tuple(given)
        if not all(type(i) is int and 0 <= i < attributes for i in listed) or len(set(listed)) < len(listed):
            raise InvalidParameter(f"a table is of different attributes, numbered from 0 to {attributes - 1}.")
        sets.append(tuple(sorted(listed)))
    if not sets or len(set(sets)) < len(sets):
        raise InvalidParameter("name at least one table, and none twice.")
    return tuple(sets)


def closed_below(of: Iterable[Attributes]) -> tuple[Attributes, ...]:
    """Return all subsets of the sets, smallest first.

    >>> closed_below([(0, 2)])
    ((), (0,), (2,), (0, 2))
    """
    found = {inner for outer in of for size in range(len(outer) + 1) for inner in combinations(outer, size)}
    return tuple(sorted(found, key=lambda inner: (len(inner), inner)))


def _divided(
    table: Floats, axis: int, inside: Attributes, sizes: tuple[int, ...], values: dict[Attributes, float]
) -> Floats:
    """Split a table, from this attribute on, into what depends on it and its mean, and divide each part."""
    if axis == len(sizes):
        value = values.get(inside, 0.0)
        return table / value if value > 0 else np.zeros_like(table)
    mean = table.mean(axis=axis, keepdims=True)
    constant = _divided(mean, axis + 1, inside, sizes, values)
    if sizes[axis] == 1:
        return constant
    return constant + _divided(table - mean, axis + 1, (*inside, axis), sizes, values)
