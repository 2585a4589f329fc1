"""The records that DualQuery makes: every one an answer to drawn queries, all together like the data."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.coded import Tallied
from discreet.synthetic.dual_query.packed import packed
from discreet.synthetic.dual_query.queries import Queries
from discreet.synthetic.dual_query.transcript import Transcript

__all__ = ["SyntheticRecords"]

LARGEST_TABLE = 1 << 26


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SyntheticRecords:
    """Coded records that stand for ``total`` people, each for as many as every other.

    >>> made = SyntheticRecords((2, 3), np.array([[0, 2], [1, 2]], dtype=np.int32), 10)
    >>> made.marginal((1,)).tolist()
    [0.0, 0.0, 10.0]
    >>> made.answer(Queries(sizes=(2, 3), attributes=[[0, 1]], values=[[0, 2]])).tolist()
    [0.5]
    """

    sizes: tuple[int, ...]
    codes: npt.NDArray[np.int32]
    """One row for each record."""
    total: int
    transcript: Transcript | None = None
    """What a later run can go on from."""
    complete: bool = True
    """Whether all rounds were played."""

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<{len(self):,} synthetic records of {len(self.sizes):,} attributes for {self.total:,} people>"

    def answer(self, queries: Queries) -> Floats:
        """Return which part of the records satisfies each query: any queries over the same attributes."""
        if queries.sizes != self.sizes:
            raise InvalidParameter("these queries are over attributes of other sizes.")
        ones = packed(Tallied(self.codes.astype(np.int64), np.ones(len(self.codes), dtype=np.int64)), queries)
        shares: Floats = ones.answers(queries) / max(1, len(self.codes))
        return shares

    def marginal(self, attributes: tuple[int, ...]) -> Floats:
        """Return the table of some attributes, in people: one axis for each."""
        shape = tuple(self.sizes[i] for i in attributes)
        if np.prod(shape, dtype=np.float64) > LARGEST_TABLE:
            raise InvalidParameter(f"a table has at most {LARGEST_TABLE:,} cells; take fewer attributes.")
        counts = Tallied(self.codes.astype(np.int64), np.ones(len(self.codes), dtype=np.int64)).table(
            attributes, self.sizes
        )
        table: Floats = counts.astype(np.float64) * (self.total / max(1, len(self.codes)))
        return table
