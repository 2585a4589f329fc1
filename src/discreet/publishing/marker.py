"""The marker beside a data file: which ledger its budget is in.

Two ledgers for one data set would spend its budget twice. The marker guards against doing so by mistake, and against
nothing else: whoever can copy the file can copy it without its marker.
"""

import glob
import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import LedgerError
from discreet.publishing.reading import Source

__all__ = ["Marker", "check_marker", "marker_of", "write_marker"]

KIND = "account-marker"
VERSION = 1
NOTE = "The privacy budget of the file beside this one is kept in this ledger. Spend it nowhere else."


@dataclass(frozen=True, slots=True)
class Marker:
    """The ledger and the account of a data set."""

    ledger: str
    dataset: str


def marker_of(source: Source) -> Path | None:
    """Return the place of the marker of a file's table; none for a database or several files."""
    place = source.beside(source.file.dataset.source)
    return None if "://" in place or glob.has_magic(place) else Path(f"{place}.account")


def check_marker(source: Source, ledger: str | None) -> None:
    """Refuse a ledger that is not the one of the marker; ``ledger`` is the identity of one, None where it is new."""
    place = marker_of(source)
    if place is None or not os.path.lexists(place):
        return
    found, name = _read(place), source.file.dataset.name
    if found.ledger != ledger:
        here = "a new one" if ledger is None else ledger
        raise LedgerError(
            f"the budget of {source.file.dataset.source} is kept in the ledger {found.ledger} under {found.dataset}, "
            f"and {source.file.ledger} is {here}: two ledgers would spend it twice. Name the first one under ledger in "
            f"{source.path.name}; if it is lost for ever and everybody concerned agrees, remove {place.name}."
        )
    if found.dataset != name:
        raise LedgerError(
            f"{source.file.dataset.source} has its account under {found.dataset}, and {source.path.name} calls it "
            f"{name}: two accounts would spend its budget twice. Write dataset: name: {found.dataset}."
        )


def write_marker(source: Source, ledger: str) -> str:
    """Write the marker unless it is there; return a note for the curator if that cannot be done."""
    place = marker_of(source)
    if place is None:
        return ""
    record = {"kind": KIND, "version": VERSION, "ledger": ledger, "dataset": source.file.dataset.name, "note": NOTE}
    beside = place.with_name(f".{place.name}.{secrets.token_hex(8)}.part")
    try:
        if not os.path.lexists(place):
            beside.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
            beside.replace(place)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        return f"{place} could not be written ({error.strerror or error}): see to it that nobody opens a second ledger."
    return ""


def _read(place: Path) -> Marker:
    try:
        record = json.loads(place.read_text(encoding="utf-8"))
        if record["kind"] == KIND and record["version"] == VERSION:
            return Marker(str(record["ledger"]), str(record["dataset"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise LedgerError(
        f"{place} should name the ledger of the file beside it, and cannot be read. Restore it, or remove it if you "
        "know that there is no other ledger."
    )
