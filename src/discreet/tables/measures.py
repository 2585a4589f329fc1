"""What an engine is asked for: whole numbers for each group, each with the most that one person can change it by.

An aggregate of a query is computed from a few measures, and several aggregates may share one: a count and a mean need
the same number of rows.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from discreet.tables.grid import Grid
from discreet.tables.kinds import Value
from discreet.tables.lattice import Lattice
from discreet.tables.typed import Typed

__all__ = ["Additive", "Cells", "Count", "Distinct", "Measure", "Persons", "Sum"]


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are, or how many in which a value is not missing; ``summed`` is a sum over the same rows."""

    name: str
    value: Typed | None = None
    summed: str | None = None

    def range(self, rows: int) -> tuple[int, int]:
        """Where the part of one person in one group lies."""
        return 0, rows

    @property
    def step(self) -> Fraction:
        """What one stands for."""
        return Fraction(1)


@dataclass(frozen=True, slots=True)
class Persons:
    """How many persons there are."""

    name: str

    def range(self, rows: int) -> tuple[int, int]:
        """Where the part of one person in one group lies."""
        return 0, 1

    @property
    def step(self) -> Fraction:
        """What one stands for."""
        return Fraction(1)


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a number on a grid; the mean of a person's rows, times the rows that count, if there are too many."""

    name: str
    value: Typed
    grid: Grid

    def range(self, rows: int) -> tuple[int, int]:
        """Where the part of one person in one group lies."""
        return rows * min(self.grid.lowest, 0), rows * max(self.grid.highest, 0)

    @property
    def step(self) -> Fraction:
        """What one stands for."""
        return self.grid.step


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many different values there are."""

    name: str
    value: Typed

    def range(self, rows: int) -> tuple[int, int]:
        """Where the part of one person in one group lies: each of their values may be nobody else's."""
        return 0, rows

    @property
    def step(self) -> Fraction:
        """What one stands for."""
        return Fraction(1)


@dataclass(frozen=True, slots=True)
class Cells:
    """How much of each group lies in each cell, for quantiles and top lists.

    Weights are counted in ``UNIT``-ths of a row: a person with too many rows in a group has each of them weigh less.
    """

    name: str
    value: Typed
    grid: Grid | Lattice | None = None
    values: tuple[Value, ...] | None = None
    kind: Literal["cells"] = "cells"


UNIT = 2**16
"""The weight of a row that counts in full."""

Additive = Count | Persons | Sum | Distinct

Measure = Additive | Cells
