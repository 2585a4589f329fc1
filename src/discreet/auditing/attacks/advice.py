"""What to do about a table whose rows are findable, and what that is worth."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.auditing.attacks.percent import percent
from discreet.auditing.attacks.tables import Column

if TYPE_CHECKING:
    from discreet.auditing.attacks.quasi_identifiers import QuasiIdentifiers

__all__ = ["FEW", "advise", "columns_of", "listed"]

FEW = 20
"""Below so many rows nearly everything is unique, and no column is to blame."""

NUMBERS = ("no", "one", "two", "three", "four")
LITTLE = 0.005
"""A column that adds less to the share of unique rows needs no advice."""


def advise(found: "QuasiIdentifiers", columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Return what to do, the most helpful first."""
    words = [f"Take out {name}: it is as good as a name." for name in found.identifiers]
    worst = found.worst
    if found.rows < FEW:
        words.append("With so few rows nearly everything is unique: publish none of them.")
    elif worst is not None:
        size = min(len(worst.columns), len(found.columns) - 1)
        for name, weight in list(found.weights.items())[:3]:
            if weight >= LITTLE:
                rest = found.best(size, without=name)
                words.append(_coarser(name, columns[name]))
                if rest is not None:
                    words[-1] += f" Without it, {percent(rest.share)} of rows are unique on {columns_of(size)}."
    if found.anonymity.known_for_certain:
        words.append(
            f"Classes in which everybody has the same {found.anonymity.sensitive} tell it without naming anybody. "
            "No grouping of the other columns repairs that for sure."
        )
    words.append(
        "Grouping protects only from people who know no more than these columns, and two grouped releases can undo "
        "each other. To publish statistics, release counts with noise instead, such as "
        "discreet.Geometric(sensitivity=1, epsilon=1)."
    )
    return tuple(words)


def _coarser(name: str, column: Column) -> str:
    if column.kind == "date":
        return f"Shorten {name} ({column.values:,} different dates) to the year, or to a decade."
    if column.kind == "number":
        return f"Round {name} ({column.values:,} different numbers), or put it into a few bands."
    return f"Put {name} ({column.values:,} different values) into fewer groups, or leave it out."


def columns_of(count: int) -> str:
    """Write a number of columns.

    >>> columns_of(1), columns_of(3), columns_of(7)
    ('one column', 'three columns', '7 columns')
    """
    return f"{NUMBERS[count] if count < len(NUMBERS) else count} {'column' if count == 1 else 'columns'}"


def listed(names: Sequence[str]) -> str:
    """Write names one after another.

    >>> listed(["id"]), listed(["id", "phone", "email"])
    ('id', 'id, phone and email')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
