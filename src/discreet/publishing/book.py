"""What a ledger has about a release: the entry that charged it, and the lines that a report shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.ledger import Purpose
from discreet.report.publication import Line
from discreet.session.digits import above

if TYPE_CHECKING:
    from discreet.ledger import Entry, Ledger

__all__ = ["entry_of", "existing", "lines_of"]

EMPTY = "holds no ledger yet"
"""What a ledger says of a database or a file without one."""

UNITS = 10**12
"""How many of a ledger's units make 1 of its currency."""


@contextmanager
def existing(place: str) -> "Iterator[Ledger | None]":
    """Give the ledger at a place for reading, or nothing where there is none yet."""
    from discreet.ledger import Ledger

    ledger = None
    if "://" in place or Path(place).exists():
        try:
            ledger = Ledger(place, read_only=True)
        except LedgerError as error:
            if EMPTY not in str(error):
                raise
    try:
        yield ledger
    finally:
        if ledger is not None:
            ledger.close()


def entry_of(ledger: "Ledger", name: str, purpose: Purpose) -> "Entry | None":
    """Return the newest charge for the very same, on the same version of the data, whose answer is stored."""
    wanted = purpose.fingerprint, purpose.version
    for entry in reversed(ledger.entries(name)):
        same = (entry.body.get("fingerprint"), entry.body.get("version")) == wanted
        if entry.kind == "charge" and same and ledger.answer(name, entry.number) is not None:
            return entry
    return None


def lines_of(ledger: "Ledger", name: str, currency: str, own: int | None = None) -> tuple[Line, ...]:
    """Return all charges of a data set; in words its own one alone, for what others were for is not told to readers."""
    return tuple(
        Line(
            number=entry.number,
            when=entry.time[:10],
            what=str(entry.body.get("why") or "this release") if entry.number == own else "another release",
            cost=f"{currency} {above(float(Fraction(entry.amount, UNITS)))}",
            hash=entry.hash,
        )
        for entry in ledger.entries(name)
        if entry.kind == "charge"
    )
