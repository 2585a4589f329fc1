"""The classic bad design: publish one random person."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.noise import uniform_below

__all__ = ["RandomRecord"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomRecord(Faces):
    """Publish the whole record of one person out of ``size``, chosen at random.

    Satisfies ``(0, 1 / size)``-DP under replace_one and yet ruins somebody every time: this is why delta must be far
    below one over the number of people.

    >>> RandomRecord(size=1000).loss.delta(0), RandomRecord(size=1000).loss.epsilon()
    (0.001, inf)
    """

    size: int

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise InvalidParameter(f"size must be a whole number of at least 1, got {self.size!r}.")

    @property
    def domain(self) -> Records:
        """A data set of public size."""
        return Records(relation="replace_one", size=self.size)

    @property
    def loss(self) -> PrivacyLoss:
        """All or nothing, for one person in ``size``."""
        return PrivacyLoss.approximate(0, Fraction(1, self.size)).under("replace_one")

    def release(self, records: Sequence[Any], /) -> Any:  # noqa: ANN401 - a record, as it is
        """Return one record."""
        if len(records) != self.size:
            raise InvalidInput("the number of records is not the public size that was declared.")
        index = uniform_below(self.size)
        assert isinstance(index, int)  # noqa: S101 - no size was given
        return records[index]

    def log_probability(self, records: Sequence[Any], record: Any, /) -> float:  # noqa: ANN401
        """Return the log of the share of records that equal this one."""
        share = sum(other == record for other in records) / self.size
        return math.log(share) if share else -math.inf

    def worst_case(self) -> tuple[list[int], list[int]]:
        """One record replaced."""
        return [0] * self.size, [0] * (self.size - 1) + [1]
