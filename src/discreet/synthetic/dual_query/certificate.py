"""How good a response is: the same problem as a mixed-integer program, with a bound that no record exceeds.

Gaboardi et al. (ICML 2014) solve it by CPLEX in every round; local search finds records as good in a fraction of the
time, and this says so for a given draw. A binary variable for each value of each attribute, one of which is 1, and a
variable for each drawn query: at most each of its literals, or at least their sum less all but one where the complement
was drawn. A parity is the sum of its literals less twice a whole number.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.exact import positive
from discreet.synthetic.dual_query.queries import Queries
from discreet.synthetic.dual_query.response import Bits, Int64, satisfied

__all__ = ["Certificate", "certificate"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A record, how many draws it satisfies, and how many any record can satisfy at most."""

    record: Int64
    value: int
    bound: int


def certificate(queries: Queries, places: Int64, complements: Bits, *, seconds: float = 10.0) -> Certificate:
    """Return the best record that HiGHS finds within a deadline, and its bound.

    >>> asked = Queries(sizes=(2, 2), attributes=[[0, 1], [0, 1]], values=[[1, 1], [0, 1]])
    >>> found = certificate(asked, np.array([0, 1, 1]), np.array([False, False, True]))
    >>> found.value, found.bound
    (2, 2)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    rows = _Rows(queries, places, complements)
    matrix = coo_array((rows.entries, (rows.lines, rows.columns)), shape=(len(rows.low), rows.variables)).tocsr()
    high = np.ones(rows.variables)
    high[rows.cells + len(places) :] = queries.width
    solved = milp(
        rows.worth,
        integrality=rows.whole,
        bounds=Bounds(np.zeros(rows.variables), high),
        constraints=LinearConstraint(matrix, np.array(rows.low), np.array(rows.high)),
        options={"time_limit": float(positive(seconds, "seconds"))},
    )
    record = np.zeros(len(queries.sizes), dtype=np.int64)
    if solved.x is not None:
        for attribute, start, size in zip(rows.used.tolist(), rows.starts.tolist(), rows.sizes.tolist(), strict=True):
            record[attribute] = int(np.argmax(solved.x[start : start + size]))
    value = satisfied(queries, places, complements, record)
    bound = getattr(solved, "mip_dual_bound", None)
    most = len(places) if bound is None else int(np.floor(complements.sum() - bound + 1e-6))
    return Certificate(record, value, max(value, min(most, len(places))))


class _Rows:
    """The program, line by line: cells first, then a variable for each draw, then the whole numbers of parities."""

    def __init__(self, queries: Queries, places: Int64, complements: Bits) -> None:
        attributes, values, negated = (part[places] for part in queries.parts)
        self.used, compact = np.unique(attributes, return_inverse=True)
        self.sizes = np.array(queries.sizes)[self.used]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        self.cells, draws = int(self.sizes.sum()), len(places)
        odd = queries.kind == "parity"
        self.variables = self.cells + draws * (2 if odd else 1)
        self.worth = np.zeros(self.variables)
        self.worth[self.cells : self.cells + draws] = np.where(complements, 1.0, -1.0)
        self.whole: npt.NDArray[np.int64] = np.ones(self.variables, dtype=np.int64)
        if not odd:
            self.whole[self.cells :] = 0
        self.lines: list[int] = []
        self.columns: list[int] = []
        self.entries: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []
        for start, size in zip(self.starts.tolist(), self.sizes.tolist(), strict=True):
            self._line([(start + i, 1.0) for i in range(size)], 1.0, 1.0)
        cells = self.starts[compact.reshape(attributes.shape)] + values
        for draw in range(draws):
            own = self.cells + draw
            literals = [(int(cell), -1.0 if no else 1.0) for cell, no in zip(cells[draw], negated[draw], strict=True)]
            constant = float(negated[draw].sum())
            if odd:
                self._line([(own, 1.0), (own + draws, 2.0), *((c, -e) for c, e in literals)], constant, constant)
            elif complements[draw]:
                least = constant - (queries.width - 1)
                self._line([(own, 1.0), *((c, -e) for c, e in literals)], least, np.inf)
            else:
                for (cell, sign), no in zip(literals, negated[draw], strict=True):
                    self._line([(own, 1.0), (cell, -sign)], -np.inf, 1.0 if no else 0.0)

    def _line(self, entries: list[tuple[int, float]], low: float, high: float) -> None:
        for column, entry in entries:
            self.lines.append(len(self.low))
            self.columns.append(column)
            self.entries.append(entry)
        self.low.append(low)
        self.high.append(high)
