"""The columns of an answer: which measures each needs, and how it is computed from noisy ones.

A formula works on boxes, so that a mean, a variance or a correlation has an interval that holds whatever the joint
noise of its parts is. ``corners`` are true values at which the error is foretold: the worst of them is promised.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.exact import show
from discreet.session.boxes import Box, Floats
from discreet.tables.aggregates import Aggregate
from discreet.tables.expressions import Call, Expression, Name, lit, when
from discreet.tables.grid import Grid
from discreet.tables.kinds import Interval
from discreet.tables.lattice import Lattice
from discreet.tables.measures import Additive, Cells, Count, Distinct, Persons, Sum
from discreet.tables.typed import Scope, Typed

__all__ = ["Column", "Formula", "Ranked", "Workshop"]

Formula = Callable[[Mapping[str, Box]], Box]

CELLS = 16
"""Quantiles choose among about two to this many values."""

TREE = (16, 3)
"""The branching and the levels of the tree of a histogram: 4096 leaves."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column computed by a formula from noisy counts and sums."""

    name: str
    told: str
    inputs: tuple[str, ...]
    formula: Formula
    corners: Callable[[float], list[dict[str, float]]] | None
    whole: bool = False
    widest: float | None = None

    def estimate(self, noisy: Mapping[str, Floats], error: Callable[[str, float], float], beta: float) -> Box:
        """Return the column, each of its inputs being off by more than its error with a share of beta at most."""
        share = beta / len(self.inputs)
        return self.formula({name: Box.around(noisy[name], error(name, share)) for name in self.inputs})

    def expected(self, error: Callable[[str, float], float], beta: float, size: float) -> float | None:
        """Return the error that is promised for a group of so many rows; None if it depends on more than that."""
        if self.corners is None:
            return None
        worst = 0.0
        for corner in self.corners(size):
            box = self.estimate({name: np.array([corner[name]]) for name in self.inputs}, error, beta)
            worst = max(worst, box.error)
        return worst if self.widest is None else min(worst, self.widest)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A column that a mechanism chooses from a histogram: quantiles, least and greatest values, top lists."""

    name: str
    told: str
    function: str
    cells: Cells
    options: tuple[Fraction, ...] = ()
    method: str = "exponential"
    whole: bool = False

    @property
    def grid(self) -> Grid | Lattice:
        """The public points that it is chosen from."""
        assert self.cells.grid is not None  # noqa: S101  top lists alone have none
        return self.cells.grid

    @property
    def discrete(self) -> bool:
        """Whether each point stands for itself alone: whole numbers, and numbers with a declared step."""
        return isinstance(self.grid, Lattice) or (self.whole and self.grid.step == 1)

    def value(self, place: float) -> float:
        """Return the number at a place of the grid, within the bounds."""
        return min(max(self.grid.value(place), self.grid.low), self.grid.high)

    def ends(self, first: float, last: float) -> tuple[float, float]:
        """Return the least and the greatest number that counts at one of these places."""
        half = 0.0 if self.discrete else 0.5
        low, high = self.value(first - half), self.value(last + half)
        return (float(math.ceil(low)), float(math.floor(high))) if self.whole and not self.discrete else (low, high)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it makes."""
        if self.function == "top_k":
            return tuple(f"{self.name}_{place + 1}" for place in range(int(self.options[0])))
        if len(self.options) < 2:
            return (self.name,)
        return tuple(f"{self.name}_{show(float(100 * share))}" for share in self.options)


class Workshop:
    """Makes the columns of a query, and collects the measures that they share."""

    def __init__(self, scope: Scope, person: Typed | None, wanted: Sequence[tuple[str, Aggregate]]) -> None:
        self.scope = scope
        self.person = person
        self.measures: dict[str, Additive] = {}
        self._names: dict[str, str] = {}
        self._summed = {repr(one.arguments[0]) for _, one in wanted if one.function == "sum"}
        self.columns = [self._column(name, aggregate) for name, aggregate in wanted]

    def _column(self, name: str, aggregate: Aggregate) -> Column | Ranked:
        makers: dict[str, Callable[[str, Aggregate], Column | Ranked]] = {
            "count": self._count,
            "count_distinct": self._count_distinct,
            "sum": self._sum,
            "mean": self._mean,
            "variance": self._variance,
            "stddev": self._variance,
            "covariance": self._covariance,
            "correlation": self._covariance,
            "min": self._ranked,
            "max": self._ranked,
            "quantiles": self._ranked,
            "top_k": self._top,
        }
        return makers[aggregate.function](name, aggregate)

    # Measures, each made once.

    def _measure(self, told: str, make: Callable[[str], Additive]) -> str:
        if told not in self._names:
            name = f"m_{len(self.measures)}"
            self._names[told] = name
            self.measures[name] = make(name)
        return self._names[told]

    def rows(self, value: Expression | None = None) -> str:
        """Return the measure that counts rows, or those in which a value is not missing."""
        typed = None if value is None else self.scope.resolve(value)
        if typed is None or not typed.nullable:
            return self._measure("rows", lambda name: Count(name))
        sums = [m.name for m in self.measures.values() if isinstance(m, Sum) and m.value.sql == typed.sql]
        summed = sums[0] if sums else None
        return self._measure(f"rows of {value!r}", lambda name: Count(name, typed, summed))

    def total(self, value: Expression, *, centred: bool) -> tuple[str, Grid, Interval]:
        """Return the measure that adds up a number, its grid, and where the number lies."""
        typed, interval = self.number(value)
        grid = Grid.over(interval, whole=typed.kind == "int", centred=centred)
        name = self._measure(f"sum of {value!r}, {grid!r}", lambda name: Sum(name, typed, grid))
        return name, grid, interval

    def rounding(self, value: Expression, grid: Grid) -> float:
        """Return how far a mean of a number may be from that of its points on the grid."""
        exact = self.scope.resolve(value).kind == "int" and grid.step == 1
        return 0.0 if exact else float(grid.step) / 2

    def number(self, value: Expression) -> tuple[Typed, Interval]:
        """Return a bounded number, or say how to bound it."""
        typed = self.scope.resolve(value)
        if not typed.numeric:
            raise InvalidParameter(f"{value!r} is of type {typed.kind}, and a number is needed. Use .cast('float').")
        if not typed.declared:
            name = value.name if isinstance(value, Name) else None
            declare = f"Declare them in the schema ({name}: {{min: 0, max: 500}}) or write " if name else "Write "
            raise UnboundedSensitivity(
                f"{value!r} has no bounds. {declare}{value!r}.clip(0, 500) with your own numbers."
            )
        return typed, typed.bounds

    # Columns.

    def _count(self, name: str, aggregate: Aggregate) -> Column:
        value = aggregate.arguments[0] if aggregate.arguments else None
        if isinstance(value, Name) and value.name == "*":
            value = None
        rows = self.rows(value)
        told = "rows" if value is None else f"rows with {_told(value)}"
        return Column(name, f"count of {told}", (rows,), lambda b: b[rows], lambda n: [{rows: n}], whole=True)

    def _count_distinct(self, name: str, aggregate: Aggregate) -> Column:
        (value,) = aggregate.arguments
        typed = self.scope.resolve(value, stored=True)
        if self.person is not None and typed.sql == self.person.sql:
            persons = self._measure("persons", Persons)
            return Column(
                name, "count of persons", (persons,), lambda b: b[persons], lambda n: [{persons: n}], whole=True
            )
        if typed.kind in ("float", "timestamp", None):
            raise InvalidParameter(f"different values of {value!r} cannot be counted: round it, or turn it into text.")
        distinct = self._measure(f"distinct {value!r}", lambda name: Distinct(name, typed))
        told = f"different values of {_told(value)}"
        return Column(name, told, (distinct,), lambda b: b[distinct], lambda n: [{distinct: n}], whole=True)

    def _sum(self, name: str, aggregate: Aggregate) -> Column:
        (value,) = aggregate.arguments
        total, grid, _ = self.total(value, centred=False)
        whole = grid.step.denominator == 1 and self.scope.resolve(value).kind == "int"
        told = f"sum of {_told(value)}"
        return Column(name, told, (total,), lambda b: b[total], lambda _: [{total: 0.0}], whole=whole)

    def _mean(self, name: str, aggregate: Aggregate) -> Column:
        (value,) = aggregate.arguments
        total, grid, interval = self.total(value, centred=repr(value) not in self._summed)
        rows, origin, rounding = self.rows(value), float(grid.origin), self.rounding(value, grid)
        low, high = float(interval.low), float(interval.high)

        def formula(b: Mapping[str, Box]) -> Box:
            return (b[total] / b[rows] + origin).widened(rounding).clipped(low, high)

        def corners(n: float) -> list[dict[str, float]]:
            return [{rows: n, total: n * (x - origin)} for x in (low, (low + high) / 2, high)]

        return Column(name, f"mean of {_told(value)}", (total, rows), formula, corners, widest=high - low)

    def _variance(self, name: str, aggregate: Aggregate) -> Column:
        (value,) = aggregate.arguments
        _, interval = self.number(value)
        middle = _middle(interval)
        shifted = value - lit(middle)
        total, first, _ = self.total(shifted, centred=True)
        square, second, _ = self.total(Call("square", (shifted,)), centred=True)
        rounding = self.rounding(shifted, first), self.rounding(Call("square", (shifted,)), second)
        rows = self.rows(value)
        top = float(interval.width) ** 2 / 4

        def formula(b: Mapping[str, Box]) -> Box:
            mean = (b[total] / b[rows] + float(first.origin)).widened(rounding[0])
            moment = (b[square] / b[rows] + float(second.origin)).widened(rounding[1]).clipped(0.0, float("inf"))
            variance = (moment - mean.squared()).clipped(0.0, top)
            return variance.root() if aggregate.function == "stddev" else variance

        def corners(n: float) -> list[dict[str, float]]:
            half, mid = float(interval.width) / 2, float(second.origin)
            places = [(0.0, 0.0), (0.0, half**2), (half, half**2)]
            return [{rows: n, total: n * (m - float(first.origin)), square: n * (q - mid)} for m, q in places]

        widest = top**0.5 if aggregate.function == "stddev" else top
        told = f"{'standard deviation' if aggregate.function == 'stddev' else 'variance'} of {_told(value)}"
        known = corners if aggregate.function == "variance" else None  # a root of almost nothing may be far off
        return Column(name, told, (total, square, rows), formula, known, widest=widest)

    def _covariance(self, name: str, aggregate: Aggregate) -> Column:
        a, b = aggregate.arguments
        (_, first), (_, second) = self.number(a), self.number(b)
        both = ~(a.is_null() | b.is_null())
        x, y = (when(both, v - lit(_middle(i))).otherwise(None) for v, i in ((a, first), (b, second)))
        wanted = [x, y, x * y]
        if aggregate.function == "correlation":
            wanted += [Call("square", (value,)) for value in (x, y)]
        parts = [self.total(value, centred=True) for value in wanted]
        rounding = [self.rounding(value, grid) for value, (_, grid, _) in zip(wanted, parts, strict=True)]
        rows = self.rows(x)
        top = float(first.width * second.width) / 4

        def formula(boxes: Mapping[str, Box]) -> Box:
            means = [
                (boxes[part] / boxes[rows] + float(grid.origin)).widened(half)
                for (part, grid, _), half in zip(parts, rounding, strict=True)
            ]
            covariance = means[2] - means[0] * means[1]
            if aggregate.function == "covariance":
                return covariance.clipped(-top, top)
            spreads = [
                (means[3 + i].clipped(0.0, float("inf")) - means[i].squared()).clipped(0.0, float(side.width) ** 2 / 4)
                for i, side in enumerate((first, second))
            ]
            return covariance.over((spreads[0] * spreads[1]).root()).clipped(-1.0, 1.0)

        def corners(n: float) -> list[dict[str, float]]:
            x, y = float(first.width) / 2, float(second.width) / 2
            places = [(0.0, 0.0, 0.0), (x, y, x * y), (x, -y, -x * y)]
            return [
                {rows: n} | {part: n * (place[i] - float(grid.origin)) for i, (part, grid, _) in enumerate(parts)}
                for place in places
            ]

        told = f"{aggregate.function} of {_told(a)} and {_told(b)}"
        widest = 2.0 if aggregate.function == "correlation" else 2 * top
        known = corners if aggregate.function == "covariance" else None  # it is divided by spreads, which may be small
        return Column(name, told, (*(part for part, _, _ in parts), rows), formula, known, widest=widest)

    def _ranked(self, name: str, aggregate: Aggregate) -> Ranked:
        (value,) = aggregate.arguments
        typed, interval = self.number(value)
        if not interval.width:
            raise InvalidParameter(f"{value!r} is a constant: its bounds are equal.")
        method = aggregate.method or "tree"
        grid = self._lattice(value, tree=method == "tree") or _cell_grid(
            interval, whole=typed.kind == "int", tree=method == "tree"
        )
        told = {
            "min": f"least {_told(value)}",
            "max": f"greatest {_told(value)}",
            "quantiles": f"quantiles of {_told(value)}"
            if len(aggregate.options) > 1
            else f"quantile of {_told(value)}",
        }[aggregate.function]
        shares = tuple(Fraction(str(share)) for share in aggregate.options)
        if shares == (Fraction(1, 2),):
            told = f"median of {_told(value)}"
        cells = Cells(f"c_{name}", typed, grid)
        return Ranked(name, told, aggregate.function, cells, shares, method, typed.kind == "int")

    def _lattice(self, value: Expression, *, tree: bool) -> Lattice | None:
        """Return the points that a stored column has by declaration, if they are few enough to choose from."""
        origin = self.scope.columns.get((value.table, value.name)) if isinstance(value, Name) else None
        column = None if origin is None else origin.column
        if column is None or column.steps is None or column.interval is None:
            return None
        if column.steps >= (TREE[0] ** TREE[1] if tree else 2**CELLS):
            return None
        return Lattice(float(column.interval.low), float(column.interval.high), column.steps)

    def _top(self, name: str, aggregate: Aggregate) -> Ranked:
        (value,) = aggregate.arguments
        typed = self.scope.resolve(value, stored=True)
        if typed.domain is None or len(typed.domain) < 2:
            raise InvalidParameter(
                f"a top list chooses among declared values, and {value!r} has none. Declare them in the schema "
                "(values: [...]), or write GROUP BY with ORDER BY n DESC LIMIT k."
            )
        values = tuple(one for one in typed.domain if one is not None)
        cells = Cells(f"c_{name}", typed, values=values)
        options = (Fraction(min(int(aggregate.options[0]), len(values))),)  # type: ignore[arg-type]
        return Ranked(name, f"most frequent {_told(value)}", "top_k", cells, options)


def _cell_grid(interval: Interval, *, whole: bool, tree: bool) -> Grid:
    grid = Grid.over(interval, whole=whole, centred=True, fineness=CELLS - 1)
    if not tree:
        return grid
    leaves = TREE[0] ** TREE[1]
    fineness = CELLS - 1
    while grid.highest - grid.lowest >= leaves:
        fineness -= 1
        grid = Grid.over(interval, whole=whole, centred=True, fineness=fineness)
    return grid


def _middle(interval: Interval) -> float | int:
    middle = (interval.low + interval.high) / 2
    return int(middle) if middle.denominator == 1 else float(middle)


def _told(value: Expression) -> str:
    return value.name if isinstance(value, Name) else repr(value)
