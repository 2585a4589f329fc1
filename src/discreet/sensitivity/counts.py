"""Several counts of the same records, whose conditions may overlap."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.sensitivity.count import Predicate
from discreet.sensitivity.norms import norm
from discreet.sensitivity.size import check_size, require_public_size
from discreet.sensitivity.total import holds
from discreet.units import Relation, check_relation, records

__all__ = ["Counts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Count the records for which each of m conditions holds.

    Has sensitivity ``m ** (1 / p)`` in the norm p under both relations, since one record may satisfy all
    conditions or none; if conditions exclude each other, ``Histogram`` knows better. With a public ``size``
    the counts are divided by it, and so is the sensitivity, under ``replace_one`` alone. The divisor stays
    the declared size even if the data hold another number of records. Dwork, McSherry, Nissim and
    Smith, TCC 2006.

    >>> both = Counts(wheres=(lambda row: row["sex"] == "m", lambda row: row["hair"] == "blond"))
    >>> both([{"sex": "m", "hair": "blond"}, {"sex": "f", "hair": "blond"}])
    array([1, 2])
    >>> both.sensitivity(relation="add_remove"), both.sensitivity(2, relation="add_remove")
    (Fraction(2, 1), 1.4142135623730951)
    """

    wheres: tuple[Predicate, ...]
    size: int | None = None
    answers: ClassVar[str] = "counts"

    def __post_init__(self) -> None:
        wheres: object = self.wheres
        if not isinstance(wheres, tuple) or not wheres or not all(map(callable, wheres)):
            raise InvalidParameter("wheres must be a tuple of one or more functions, each of one record.")
        if self.size is not None:
            check_size(self.size)

    def __call__(self, data: Iterable[object], /) -> npt.NDArray[Any]:
        """Return the counts as int64, or as an array of fractions where they are divided by the size."""
        rows = records(data)
        counts = [sum(holds(where, row) for row in rows) for where in self.wheres]
        if self.size is None:
            return np.array(counts, dtype=np.int64)
        return np.array([Fraction(count, int(self.size)) for count in counts], dtype=object)

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return the p-norm of a change by one in every count."""
        check_relation(relation)
        if self.size is None:
            return norm([1] * len(self.wheres), p)
        require_public_size(relation, query="share", instead="the counts without size and a noisy number of records")
        return norm([Fraction(1, int(self.size))] * len(self.wheres), p)
