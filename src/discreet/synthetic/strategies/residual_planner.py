"""ResidualPlanner: marginals with the least total variance that Gaussian noise allows.

Xiao, He, Zhang and Kifer, "An Optimal and Scalable Matrix Mechanism for Noisy Marginals under Convex Loss Functions",
NeurIPS 2023. What a table of attributes A adds to the tables within it is its residual: what is left when every mean
over one of its attributes is taken out. Residuals of different A are orthogonal, so each is measured once, and every
table is a sum of residuals. A record moves the residual of A by ``prod of (1 - 1 / n_i)`` in squared L2 norm, and how
the noise is shared among the A is a closed formula: with noise s(A)^2 and total variance ``sum of v(A) s(A)^2`` at the
cost ``sum of p(A) / s(A)^2``, the best ``s(A)^2`` is proportional to ``sqrt(p(A) / v(A))``. Under add_remove this is
optimal among all matrix mechanisms.

Measured is ``prod of n_i`` times the residual, a table of whole numbers, under Gaussian noise rounded to a public grid:
post-processing of the ideal mechanism. The noise is then projected, which costs nothing.
"""

import html
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, positive, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaussian import analytic_sigma
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.noise import grid_for, on_grid
from discreet.noise.densities import Gaussian as Density
from discreet.noise.fast import Floats
from discreet.synthetic.coded import codes_of_rows
from discreet.synthetic.operators.marginals import Attributes, Marginals, attribute_sets, closed_below
from discreet.synthetic.operators.whole import clamped
from discreet.synthetic.records import check_records
from discreet.synthetic.strategies.expected import Expected
from discreet.units import Relation, check_relation

__all__ = ["NoisyMarginals", "ResidualPlanner"]

ENUMERATED = 16
"""Attributes up to which every way to differ between replace_one neighbours is looked at; above it is a bound."""

DIGITS = 64
"""Binary digits to which a share of the budget is rounded up."""

EXACT = 1 << 53
"""Residuals up to this are exact as floats."""

FAR = 1 << 62
CHUNK = 1 << 22
"""Rows that are counted at a time; ``FAR // CHUNK`` is more than any cell holds."""

SPARE = 1 + 1e-12
LARGEST_NOISE = 2.0**800
"""Variances beyond this, or below its inverse, are refused: floats could not hold all that is computed from them."""


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMarginals:
    """Noisy residuals, from which every table within those asked for is put together; all tables agree.

    >>> noisy = NoisyMarginals((2,), {(): np.array(10.0), (0,): np.array([1.0, -1.0])}, {(): 1.0, (0,): 1.0})
    >>> noisy.table((0,)), noisy.variance((0,))
    (array([6., 4.]), 0.75)
    """

    sizes: tuple[int, ...]
    residuals: Mapping[Attributes, Floats]
    noise: Mapping[Attributes, float]

    def table(self, attributes: Attributes) -> Floats:
        """Return the noisy table of some attributes, one axis for each in the order of their numbers."""
        wanted = self._known(attributes)
        total = np.zeros(tuple(self.sizes[i] for i in wanted))
        for inner in closed_below((wanted,)):
            spread = math.prod(self.sizes[i] for i in wanted if i not in inner)
            kept = tuple(self.sizes[i] if i in inner else 1 for i in wanted)
            total += self.residuals[inner].reshape(kept) / spread
        return total

    def variance(self, attributes: Attributes) -> float:
        """Return the variance of every cell of a table."""
        return _cell_variance(self.sizes, self._known(attributes), self.noise)

    def _known(self, attributes: Attributes) -> Attributes:
        wanted = attribute_sets((attributes,), len(self.sizes))[0]
        if wanted not in self.residuals:
            raise InvalidParameter("this table was not measured: it is not within one that was asked for.")
        return wanted


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ResidualPlanner(Faces):
    """Release marginals of coded records; under add_remove with the least total squared error for Gaussian noise.

    Satisfies ``rho``-zCDP, or (epsilon, delta)-DP by the exact curve of the Gaussian mechanism, whenever neighbours
    differ by one record in the sense of ``relation``. Codes outside an attribute's size are clamped to it, whatever
    their size, and what is no whole number is the code 0: no record is refused. The weights of the workload say which
    tables shall be more accurate. Under replace_one the number of records is public, and released as it is; more than
    ``largest_count`` are refused. With ``partial`` it is not: somebody may be counted nowhere, and the number of those
    who are counted is measured like the rest. Then, as under add_remove, the counts of a table are clamped so that its
    residual is exact, at ``largest_count`` or above. Where neighbours differ by a person who has up to ``records``
    records, the noise is so many times as large.

    >>> planner = ResidualPlanner(workload=Marginals.of_order((4, 4, 4), 2), rho=0.5, relation="add_remove")
    >>> round(planner.loss.rho, 9)
    0.5
    >>> noisy = planner.release(np.array([[0, 1, 2], [3, 3, 3]]))
    >>> noisy.table((0, 2)).shape
    (4, 4)
    """

    workload: Marginals
    relation: Relation
    rho: Real | None = None
    epsilon: Real | None = None
    delta: Real | None = None
    partial: bool = False
    records: int = 1
    noise: Mapping[Attributes, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        if not isinstance(self.workload, Marginals):
            raise InvalidParameter("ResidualPlanner is for marginals: workload=Marginals(sizes=..., of=...).")
        if type(self.partial) is not bool:
            raise InvalidParameter("partial is True where somebody may be counted nowhere, and else False.")
        store(self, rho=self.rho, epsilon=self.epsilon, delta=self.delta, records=check_records(self.records))
        if self.records > 1 and self.relation == "replace_one" and not self.partial:
            raise InvalidParameter("where persons have several records their number is not public: say partial=True.")
        budget = self._budget() / self.records**2
        costs = {inner: _cost(self.workload.sizes, inner) for inner in closed_below(self.workload.of)}
        if self._size_is_public:
            costs[()] = Fraction(0)
        if not any(costs.values()):
            raise InvalidParameter("no table changes between replace_one neighbours: there is nothing to protect.")
        try:
            shares = _shares(self.workload, costs)
            ratio = float(self._cost_of(shares) / budget) * SPARE
        except (OverflowError, ZeroDivisionError):
            raise _too_extreme() from None
        noise = {inner: share * ratio for inner, share in shares.items()}
        if not all(1 / LARGEST_NOISE < value < LARGEST_NOISE for inner, value in noise.items() if costs[inner]):
            raise _too_extreme()
        object.__setattr__(self, "noise", MappingProxyType(noise))
        if self._cost_of(self.noise) > budget:
            raise _too_extreme()

    def __repr__(self) -> str:
        given = {"rho": self.rho, "epsilon": self.epsilon, "delta": self.delta}
        noise = ", ".join(f"{name}={show(value)}" for name, value in given.items() if value is not None)
        noise += ", partial=True" if self.partial else ""
        noise += "" if self.records == 1 else f", records={self.records}"
        return f"ResidualPlanner(workload={self.workload!r}, relation={self.relation!r}, {noise})"

    def __reduce__(self) -> "tuple[Callable[..., ResidualPlanner], tuple[object, ...]]":
        settings = (self.rho, self.epsilon, self.delta, self.partial, self.records)
        return _planned, (self.workload, self.relation, *settings)

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """Gaussian, with the squared mu of all residuals together."""
        mu_squared = self._cost_of(self.noise) * self.records**2
        return PrivacyLoss.gaussian(mu_squared=mu_squared).under(self.relation)

    @property
    def largest_count(self) -> int:
        """A count of all tables whose residuals are exact."""
        return min(_largest(self.workload.sizes, inner) for inner in self.noise)

    def release(self, records: npt.ArrayLike, /) -> NoisyMarginals:
        """Return noisy marginals of records: an array of whole numbers, a row for each and a column per attribute."""
        return self._noisy(self._counted(records))

    def release_cells(self, cells: npt.ArrayLike, counts: npt.ArrayLike, /) -> NoisyMarginals:
        """Return noisy marginals of records that somebody has counted: ``counts[i]`` of them lie in the cell of row i.

        Cells outside the attributes' sizes are moved to the nearest within, counts below 0 to 0.

        >>> planner = ResidualPlanner(workload=Marginals.of_order((4, 4), 2), rho=0.5, relation="add_remove")
        >>> planner.release_cells([[0, 1], [3, 3]], [1000, 20]).table((0,)).shape
        (4,)
        """
        weights = clamped(counts, 0, FAR // CHUNK, otherwise="counts are whole numbers, one for each row of cells.")
        if self._size_is_public:
            raise InvalidParameter("counts of cells are released where the number of records is not public: partial=.")
        return self._noisy(self._counted(cells, weights))

    def _noisy(self, tables: Mapping[Attributes, npt.NDArray[np.int64]]) -> NoisyMarginals:
        residuals = {}
        for inner, table in tables.items():
            factor = math.prod(self.workload.sizes[i] for i in inner)
            whole = _taken_out(np.minimum(table, _largest(self.workload.sizes, inner))).astype(np.float64)
            sigma = math.sqrt(self.noise[inner]) * factor
            if sigma:
                whole = np.asarray(on_grid(Density(), whole, sigma, grid=grid_for(sigma)))
            residuals[inner] = _projected(whole) / factor
        return NoisyMarginals(self.workload.sizes, residuals, dict(self.noise))

    def error(self) -> Expected:
        """Return the expected total squared error, and the standard deviation of the cells of each table.

        >>> planner = ResidualPlanner(workload=Marginals(sizes=(2,), of=((0,),)), rho=0.5, relation="add_remove")
        >>> round(planner.error().total, 6)
        2.0
        """
        sizes, of = self.workload.sizes, self.workload.of
        weights = [float(weight) for weight in self.workload.weights]
        variances = [w**2 * _cell_variance(sizes, b, self.noise) for w, b in zip(weights, of, strict=True)]
        total = sum(v * self.workload.cells(attributes) for v, attributes in zip(variances, of, strict=True))
        return Expected(total, np.sqrt(np.array(variances)))

    def worst_case(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """A record in the first cell, which is gone, or in the last cell, on the other side."""
        one = np.zeros((self.records, len(self.workload.sizes)), dtype=np.int64)
        gone = self.relation == "add_remove"
        return one, one[:0] if gone else one + np.array([[size - 1 for size in self.workload.sizes]])

    def _repr_html_(self) -> str:
        error = self.error()
        return (
            f"<div><code>{html.escape(repr(self))}</code><br>"
            f"cells have standard deviations up to {error.largest:.6g}</div>"
        )

    def _budget(self) -> Fraction:
        """Return the squared mu that may be spent."""
        if self.rho is not None and self.epsilon is None and self.delta is None:
            return 2 * positive(self.rho, "rho")
        if self.rho is None and self.epsilon is not None and self.delta is not None:
            return 1 / Fraction(analytic_sigma(Fraction(1), self.epsilon, self.delta)) ** 2
        raise InvalidParameter("ResidualPlanner takes rho=, or epsilon= and delta=: how much noise shall there be?")

    def _cost_of(self, noise: Mapping[Attributes, float]) -> Fraction:
        """Return the squared mu of all residuals, each rounded up."""
        sizes = self.workload.sizes
        if self.relation == "add_remove":
            each = ((cost, value) for inner, value in noise.items() if (cost := _cost(sizes, inner)))
            return sum((_up(cost / Fraction(_variance(value))) for cost, value in each), Fraction(0))
        return _replaced_cost(sizes, noise, partial=self.partial)

    @property
    def _size_is_public(self) -> bool:
        return self.relation == "replace_one" and not self.partial

    def _counted(
        self, records: npt.ArrayLike, weights: npt.NDArray[np.int64] | None = None
    ) -> dict[Attributes, npt.NDArray[np.int64]]:
        """Return the exact table of every attribute set: those asked for by counting, those within them by summing."""
        sizes = self.workload.sizes
        coded = codes_of_rows(records, len(sizes), FAR)
        if weights is not None and weights.shape != (len(coded),):
            raise InvalidInput("counts are whole numbers, one for each row of cells.")
        if self._size_is_public and len(coded) > self.largest_count:
            raise InvalidInput(
                f"under replace_one tables of so many cells are measured for up to {self.largest_count} records, whose "
                f"number is public, got {len(coded)}. Ask for smaller tables, or use relation='add_remove'."
            )
        codes = [np.clip(coded[:, i], 0, size - 1) for i, size in enumerate(sizes)]
        tables: dict[Attributes, npt.NDArray[np.int64]] = {}
        for attributes in sorted(closed_below(self.workload.of), key=len, reverse=True):
            if attributes not in tables:
                place = np.zeros(len(coded), dtype=np.int64)
                for i in attributes:
                    place = place * sizes[i] + codes[i]
                counts = _added_up(place, weights, self.workload.cells(attributes))
                tables[attributes] = counts.reshape(tuple(sizes[i] for i in attributes))
            for axis in range(len(attributes)):
                inner = attributes[:axis] + attributes[axis + 1 :]
                if inner not in tables:
                    tables[inner] = np.asarray(tables[attributes].sum(axis=axis))
        return tables


def _added_up(
    places: npt.NDArray[np.int64], weights: npt.NDArray[np.int64] | None, cells: int
) -> npt.NDArray[np.int64]:
    """Return the count of each cell, none so large that all together go beyond 64 bits."""
    total = np.zeros(cells, dtype=np.int64)
    for start in range(0, len(places), CHUNK):
        part = places[start : start + CHUNK]
        if weights is None:
            total += np.bincount(part, minlength=cells)
        else:
            np.add.at(total, part, weights[start : start + CHUNK])
        np.minimum(total, FAR // max(cells, CHUNK), out=total)
    return total


def _variance(value: float) -> float:
    """Return the variance that noise of ``sqrt(value)``, a float, really has: a little less counts as less."""
    return math.sqrt(value) ** 2 * (1 - 1e-14)


def _up(value: Fraction) -> Fraction:
    """Return a number with few digits that is at least as large, and hardly larger however small it is."""
    fine = Fraction(2) ** (DIGITS - value.numerator.bit_length() + value.denominator.bit_length())
    return math.ceil(value * fine) / fine


def _planned(workload: Marginals, relation: Relation, *settings: Any) -> ResidualPlanner:  # noqa: ANN401
    rho, epsilon, delta, partial, records = settings
    return ResidualPlanner(
        workload=workload, relation=relation, rho=rho, epsilon=epsilon, delta=delta, partial=partial, records=records
    )


def _too_extreme() -> InvalidParameter:
    return InvalidParameter(
        "the noise for this budget and the weights of these tables does not fit floats; move them closer to 1."
    )


def _largest(sizes: tuple[int, ...], attributes: Attributes) -> int:
    """Return the largest count of a table that leaves its whole residual exact.

    A cell of the whole residual is a sum of all counts, with factors ``n_i - 1`` or -1 for each attribute. So the
    positive ones, like the negative ones, add up to half of ``prod of 2 (n_i - 1)``.

    >>> _largest((2, 3), (0, 1)) == 2**53 // 4
    True
    """
    return EXACT // max(1, math.prod(2 * (sizes[i] - 1) for i in attributes) // 2)


def _cost(sizes: tuple[int, ...], attributes: Attributes) -> Fraction:
    """Return the squared L2 norm of what a record adds to a residual."""
    return math.prod((1 - Fraction(1, sizes[i]) for i in attributes), start=Fraction(1))


def _replaced_cost(sizes: tuple[int, ...], noise: Mapping[Attributes, float], *, partial: bool) -> Fraction:
    """Return the largest squared distance, in units of the noise, of two cells: by the attributes in which they differ.

    Residuals of two cells have the inner product of a product over the attributes, of ``1 - 1 / n`` where they agree
    and ``-1 / n`` where they differ. With very many attributes each residual is taken at its own worst. If a record may
    be counted nowhere, or in a table that is full, any residual may change by one cell alone instead.
    """
    wide = [i for i, size in enumerate(sizes) if size > 1]
    terms = {inner: value for inner, value in noise.items() if (inner or partial) and _cost(sizes, inner)}
    used = [i for i in wide if any(i in inner for inner in terms)]
    if len(used) > ENUMERATED:
        return sum((_up(4 * _cost(sizes, inner) / Fraction(_variance(v))) for inner, v in terms.items()), Fraction(0))
    differ = np.array(list(product((False, True), repeat=len(used)))).reshape(2 ** len(used), len(used))
    factor = {i: np.where(differ[:, k], -1.0 / sizes[i], 1 - 1.0 / sizes[i]) for k, i in enumerate(used)}
    total = np.zeros(len(differ))
    for inner, value in terms.items():
        own = float(_cost(sizes, inner))
        moved = 2 * (own - np.prod([factor[i] for i in inner], axis=0)) * np.ones(len(differ))
        total += (np.maximum(moved, own) if partial else moved) / _variance(value)
    return _up(Fraction(float(total.max()) * (1 + 1e-12)))


def _shares(workload: Marginals, costs: Mapping[Attributes, Fraction]) -> dict[Attributes, float]:
    """Return the best variances of the noise, up to a common factor."""
    worth = dict.fromkeys(costs, 0.0)
    for weight, attributes in zip(workload.weights, workload.of, strict=True):
        cells = workload.cells(attributes)
        for inner in closed_below((attributes,)):
            spread = math.prod(workload.sizes[i] for i in attributes if i not in inner)
            worth[inner] += float(weight) ** 2 * cells * float(_cost(workload.sizes, inner)) / spread**2
    return {
        inner: math.sqrt(float(cost) / worth[inner]) if cost and worth[inner] else float(bool(cost))
        for inner, cost in costs.items()
    }


def _cell_variance(sizes: tuple[int, ...], attributes: Attributes, noise: Mapping[Attributes, float]) -> float:
    return math.fsum(
        noise[inner] * float(_cost(sizes, inner)) / math.prod(sizes[i] for i in attributes if i not in inner) ** 2
        for inner in closed_below((attributes,))
    )


def _taken_out(table: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return ``prod of n_i`` times the residual of a table: ``n I - J`` along each axis, in whole numbers.

    What goes beyond 64 bits on the way comes back, since the result fits.
    """
    for axis in range(table.ndim):
        table = table * table.shape[axis] - table.sum(axis=axis, keepdims=True)
    return table


def _projected(table: Floats) -> Floats:
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
