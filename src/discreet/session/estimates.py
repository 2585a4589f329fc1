"""Estimates: one released column, with an interval for every number."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.session.values import Number, number

__all__ = ["Estimates", "column_names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Released values and the interval of each, in the order of the rows of their table.

    Values are all whole, all real or all text; None stands where there is no number, and NaN is refused. ``error`` is
    half the width that every interval has, where it is the same in all rows and known exactly. ``method`` says how the
    numbers were made and ``unit_note`` what they count.

    >>> n = Estimates(value=(1234,), low=(1228,), high=(1240,), method="geometric noise, scale 2", error=6)
    >>> n.is_whole
    True
    """

    value: tuple[Number | str | None, ...]
    low: tuple[Number | None, ...]
    high: tuple[Number | None, ...]
    method: str = ""
    unit_note: str = ""
    error: Number | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _column(tuple(self.value)))
        object.__setattr__(self, "low", _numbers(self.low))
        object.__setattr__(self, "high", _numbers(self.high))
        object.__setattr__(self, "error", number(self.error))
        if not len(self.value) == len(self.low) == len(self.high):
            raise InvalidParameter(
                "value, low and high must have the same length, "
                f"got {len(self.value)}, {len(self.low)} and {len(self.high)}."
            )
        for name in ("method", "unit_note"):
            if not isinstance(getattr(self, name), str):
                raise InvalidParameter(f"{name} is a text, got {type(getattr(self, name)).__name__}.")

    def __len__(self) -> int:
        return len(self.value)

    @property
    def is_text(self) -> bool:
        """Whether the values are words, chosen privately, and not numbers."""
        return any(isinstance(x, str) for x in self.value)

    @property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return any(isinstance(x, int) for x in self.value)

    def take(self, rows: Iterable[int]) -> "Estimates":
        """Return some rows, in the order given.

        >>> Estimates(value=(1, 2), low=(0, 1), high=(2, 3)).take([1]).value
        (2,)
        """
        chosen = list(rows)
        return Estimates(
            value=tuple(self.value[i] for i in chosen),
            low=tuple(self.low[i] for i in chosen),
            high=tuple(self.high[i] for i in chosen),
            method=self.method,
            unit_note=self.unit_note,
            error=self.error,
        )


def column_names(keys: Iterable[str], estimates: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a released table in order; names that would meet are refused.

    This depends on names alone, so it can be asked before anything is spent.

    >>> column_names(["city"], ["n"])
    ('city', 'n', 'n_low', 'n_high')
    >>> column_names(["n_low"], ["n"])
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: the table would have two columns 'n_low'. Rename one of them with AS.
    """
    names = [*keys]
    for name in estimates:
        names += [name, f"{name}_low", f"{name}_high"]
    for name in names:
        if not isinstance(name, str):
            raise InvalidParameter(f"names of columns are texts, got {type(name).__name__}.")
        if names.count(name) > 1:
            raise InvalidParameter(f"the table would have two columns {name!r}. Rename one of them with AS.")
    return tuple(names)


def _column(values: tuple[object, ...]) -> tuple[Number | str | None, ...]:
    if not any(isinstance(x, str) for x in values):
        return _numbers(values)
    if any(x is not None and not isinstance(x, str) for x in values):
        raise InvalidParameter("an estimate has numbers or texts, not both in one column.")
    return tuple(None if x is None else str(x) for x in values)


def _numbers(values: Iterable[object]) -> tuple[Number | None, ...]:
    """Return numbers of one type: where one is real, all are."""
    given = tuple(values)
    if set(map(type, given)) == {float} and all(map(math.isfinite, given)):  # type: ignore[arg-type]
        return given  # type: ignore[return-value]
    plain = tuple(map(number, given))
    if not any(isinstance(x, float) for x in plain):
        return plain
    try:
        return tuple(None if x is None else float(x) for x in plain)
    except OverflowError:
        raise InvalidParameter("a column of real numbers holds a whole number beyond all floats.") from None
