"""How many records there are, or how many satisfy a condition."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.quietly import Silence
from discreet.sensitivity.norms import norm
from discreet.sensitivity.total import holds
from discreet.units import Relation, check_relation, records

__all__ = ["Count", "Predicate"]

Predicate = Callable[[Any], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Count the records, or those for which ``where`` holds; a record on which it fails is not counted.

    Has sensitivity 1 under both relations: a record enters, leaves or changes sides, and counts at most once.
    Dwork, McSherry, Nissim and Smith, TCC 2006.

    >>> blond = Count(where=lambda hair: hair == "blond")
    >>> blond(["blond", "brown", "blond"])
    2
    >>> blond.sensitivity(relation="add_remove"), blond.sensitivity(relation="replace_one")
    (Fraction(1, 1), Fraction(1, 1))
    """

    where: Predicate | None = None
    answers: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        if self.where is not None and not callable(self.where):
            raise InvalidParameter(f"where must be a function of one record, got {type(self.where).__name__}.")

    def __call__(self, data: Iterable[object], /) -> int:
        """Return the count."""
        rows = records(data)
        if self.where is None:
            return len(rows)
        with Silence():
            return sum(holds(self.where, row) for row in rows)

    def sensitivity(self, p: Real = 1, *, relation: Relation) -> Fraction | float:
        """Return 1; a single number changes by the same amount in every norm."""
        check_relation(relation)
        return norm([1], p)
