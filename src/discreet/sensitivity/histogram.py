"""How many records fall into each of several disjoint bins."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.quietly import Silence
from discreet.sensitivity.norms import norm
from discreet.sensitivity.total import safely
from discreet.units import Relation, check_relation, records
from discreet.units.labels import check_labels

__all__ = ["Histogram"]

NOWHERE: list[object] = []
"""The label of a record whose bin cannot be told: it cannot be hashed, so it is no bin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Count the records in each public bin; ``by`` says which bin a record belongs to (by default: itself).

    Has sensitivity 1 in every norm under ``add_remove``, since a record lies in at most one bin, and
    ``2 ** (1 / p)`` under ``replace_one``, since it may leave one bin for another (1 if there is only one).
    A record that belongs to no bin is counted nowhere. The bins must be known without looking at the data.
    Dwork, McSherry, Nissim and Smith, TCC 2006.

    >>> hair = Histogram(bins=("black", "blond", "brown", "red"))
    >>> hair(["blond", "brown", "blond", "green"])
    array([0, 2, 1, 0])
    >>> hair.sensitivity(relation="add_remove"), hair.sensitivity(relation="replace_one")
    (Fraction(1, 1), Fraction(2, 1))
    """

    bins: tuple[Hashable, ...]
    by: Callable[[Any], object] | None = None
    answers: ClassVar[str] = "counts"

    def __post_init__(self) -> None:
        bins: object = self.bins
        if not isinstance(bins, tuple) or not bins or not all(isinstance(label, Hashable) for label in bins):
            raise InvalidParameter("bins must be a tuple of one or more labels.")
        if len(set(self.bins)) < len(self.bins):
            raise InvalidParameter("bins must be disjoint, and one of them is there twice. List every bin once.")
        check_labels(self.bins, "bins")
        if self.by is not None and not callable(self.by):
            raise InvalidParameter(f"by must be a function of one record, got {type(self.by).__name__}.")

    def __call__(self, data: Iterable[object], /) -> npt.NDArray[np.int64]:
        """Return one count for each bin, in the order of the bins."""
        rows = records(data)
        position = {label: i for i, label in enumerate(self.bins)}
        counts = [0] * len(self.bins)
        with Silence():
            for label in rows if self.by is None else (safely(self.by, row, otherwise=NOWHERE) for row in rows):
                place = safely(position.get, label, otherwise=None)
                if place is not None:  # else another label, or one that cannot be looked up: counted nowhere
                    counts[place] += 1
        return np.array(counts, dtype=np.int64)

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return the p-norm of the largest change: one bin gains a record, or also another loses it."""
        moves = check_relation(relation) == "replace_one" and len(self.bins) > 1
        return norm([1, -1] if moves else [1], p)
