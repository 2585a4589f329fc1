"""Public facts about a vector of counts, each with a name.

Totals that are known, cells that cannot hold anybody, parts that cannot exceed the whole: linear equalities and
inequalities over counts that are never negative. A fact is public: it must not be read off the data that the counts are
noisy versions of, unless it is meant to be published exactly (see ``invariants``).

Facts may contradict each other. Which ones do is then said by name, by a certificate of linear programming made
minimal: Chinneck and Dravnieks, "Locating Minimal Infeasible Constraint Sets in Linear Programs", ORSA Journal on
Computing 1991.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency.contradiction import contradiction

__all__ = ["Constraint", "Constraints"]

Floats = npt.NDArray[np.float64]
Cells = Sequence[int] | Mapping[int, float] | npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """``low <= sum of coefficient * cell <= high``."""

    name: str
    cells: tuple[int, ...]
    coefficients: tuple[float, ...]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Constraints:
    """Named linear facts about ``size`` counts, none of which is negative. Each method returns a longer list of them.

    >>> facts = Constraints(3).equal("everybody", [0, 1, 2], 10).at_most("children", [0], 4)
    >>> facts.violated([5, 4, 1])
    ('children',)
    >>> facts.at_least("adults", [1, 2], 11).check()
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: these facts contradict each other: 'everybody', 'adults', given that no count is
    negative. Drop or correct one.
    """

    size: int
    rows: tuple[Constraint, ...] = ()
    zeros: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise InvalidParameter("size must be a whole number of at least 1: how many counts are there?")

    def equal(self, name: str, cells: Cells, value: float) -> "Constraints":
        """Add that the cells sum to a value. ``cells`` lists places, or maps places to coefficients."""
        return self._with(name, cells, value, value)

    def at_most(self, name: str, cells: Cells, value: float) -> "Constraints":
        """Add that the cells sum to at most a value."""
        return self._with(name, cells, -math.inf, value)

    def at_least(self, name: str, cells: Cells, value: float) -> "Constraints":
        """Add that the cells sum to at least a value."""
        return self._with(name, cells, value, math.inf)

    def zero(self, name: str, cells: Sequence[int] | npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> "Constraints":
        """Add that cells hold nobody, by places or by a mask."""
        listed = np.asarray(cells)
        if listed.dtype == np.bool_ and listed.shape != (self.size,):
            raise InvalidParameter(f"{name!r}: a mask of zeros has one entry for each of {self.size} cells.")
        places = np.flatnonzero(listed) if listed.dtype == np.bool_ else listed
        return replace(self, zeros=(*self.zeros, (self._fresh(name), self._places(name, places.tolist()))))

    @property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """Which cells may hold somebody."""
        mask = np.ones(self.size, dtype=np.bool_)
        for _, cells in self.zeros:
            mask[list(cells)] = False
        return mask

    @property
    def matrix(self) -> sparse.csr_array:
        """The coefficients, one row for each constraint."""
        indptr = np.cumsum([0, *(len(row.cells) for row in self.rows)])
        indices = [cell for row in self.rows for cell in row.cells]
        data = np.array([c for row in self.rows for c in row.coefficients], dtype=np.float64)
        return sparse.csr_array((data, np.array(indices, dtype=np.int64), indptr), shape=(len(self.rows), self.size))

    @property
    def low(self) -> Floats:
        """The lower end of each constraint."""
        return np.array([row.low for row in self.rows], dtype=np.float64)

    @property
    def high(self) -> Floats:
        """The upper end of each constraint."""
        return np.array([row.high for row in self.rows], dtype=np.float64)

    def violated(self, values: npt.ArrayLike, *, tolerance: float = 0.0) -> tuple[str, ...]:
        """Return the names of the facts that a vector does not keep; ``"no negative counts"`` is one of them."""
        x = np.asarray(values, dtype=np.float64)
        sums = self.matrix @ x if self.rows else np.zeros(0)
        slack = tolerance * (1 + np.abs(x).max(initial=0.0))
        missed = [
            row.name
            for row, value in zip(self.rows, sums.tolist(), strict=True)
            if not row.low - slack <= value <= row.high + slack
        ]
        missed += [name for name, cells in self.zeros if np.any(np.abs(x[list(cells)]) > slack)]
        return (*missed, *(["no negative counts"] if np.any(x < -slack) else []))

    def check(self) -> None:
        """Raise, with the names of a smallest set of facts that no vector can keep together, if there is one.

        Equalities are checked exactly, as long as that takes no more than a second or so. Where inequalities, or that
        no count is negative, play a part, facts that miss each other by 1e-13 of the largest number may pass.
        """
        empty = tuple(
            Constraint(name=name, cells=cells, coefficients=(1.0,) * len(cells), low=-math.inf, high=0.0)
            for name, cells in self.zeros
        )
        every = replace(self, rows=(*self.rows, *empty))
        names = contradiction(every.matrix, every.low, every.high, [row.name for row in every.rows])
        if names is None:
            return
        raise InvalidParameter(
            f"these facts contradict each other: {', '.join(map(repr, names))}, given that no count is negative. "
            "Drop or correct one."
        )

    def _with(self, name: str, cells: Cells, low: float, high: float) -> "Constraints":
        listed = cells if isinstance(cells, Mapping) else dict.fromkeys(np.asarray(cells).tolist(), 1.0)
        places = self._places(name, list(listed))
        coefficients = tuple(float(c) for c in listed.values())
        if any(float(v) != v for v in (*listed.values(), low, high) if isinstance(v, int | np.integer)):
            raise InvalidParameter(f"{name!r}: a whole number must be one that a float holds, such as all up to 2**53.")
        if not all(map(math.isfinite, coefficients)) or not any(map(math.isfinite, (low, high))):
            raise InvalidParameter(f"{name!r}: coefficients and values must be finite numbers.")
        if math.isnan(low) or math.isnan(high):
            raise InvalidParameter(f"{name!r}: the value must be a number, got nan.")
        row = Constraint(
            name=self._fresh(name), cells=places, coefficients=coefficients, low=float(low), high=float(high)
        )
        return replace(self, rows=(*self.rows, row))

    def _places(self, name: str, cells: Sequence[int]) -> tuple[int, ...]:
        if not cells or any(type(c) is not int or not 0 <= c < self.size for c in cells):
            raise InvalidParameter(f"{name!r}: cells must be one or more places from 0 to {self.size - 1}.")
        return tuple(cells)

    def _fresh(self, name: str) -> str:
        if not name or type(name) is not str:
            raise InvalidParameter("a fact needs a name, so that it can be named when it contradicts another.")
        if name in {row.name for row in self.rows} | {known for known, _ in self.zeros}:
            raise InvalidParameter(f"there is already a fact named {name!r}; choose another name.")
        return name
