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
from itertools import takewhile
from pathlib import Path

from discreet.errors import LedgerError
from discreet.publishing.reading import Source

__all__ = ["Marker", "check_marker", "marker_beside", "marker_of", "write_marker"]

KIND = "account-marker"
VERSION = 1
NOTE = "The privacy budget of the file beside this one is kept in this ledger. Spend it nowhere else."


@dataclass(frozen=True, slots=True)
class Marker:
    """The ledger and the account of a data set."""

    ledger: str
    dataset: str
    files: str = ""
    """Which files it is about, for a marker in the folder of several."""


def marker_of(source: Source) -> Path | None:
    """Return the place of the marker of a file's table; none for a database.

    It lies beside a file or a folder, and for a pattern of several files in the folder above all of them.
    """
    place = source.beside(source.file.dataset.source)
    if "://" in place:
        return None
    if not glob.has_magic(place):
        return Path(f"{place}.account")
    return _above(place) / f".{source.file.dataset.name}.account"


def _above(pattern: str) -> Path:
    """Return the folder that all files of a pattern are in.

    >>> _above("data/2026-*/visits.parquet").as_posix()
    'data'
    """
    fixed = list(takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts))
    return Path(*fixed)


def check_marker(source: Source, ledger: str | None) -> None:
    """Refuse a ledger that is not the one of the marker; ``ledger`` is the identity of one, None where it is new.

    For several files, markers of any of them count too, and markers in their folder that are about the same pattern.
    """
    own = marker_of(source)
    if own is None:
        return
    places, pattern = [own], source.beside(source.file.dataset.source)
    if glob.has_magic(pattern):
        places += [Path(f"{one}.account") for one in glob.glob(pattern, recursive=True)]  # noqa: PTH207
        places += [one for one in own.parent.glob(".*.account") if one != own and _read(one).files == _told(source)]
    for place in places:
        if os.path.lexists(place):
            _check(source, place, ledger)


def _told(source: Source) -> str:
    """Return the pattern of several files, as seen from the folder above them."""
    pattern = source.beside(source.file.dataset.source)
    return Path(pattern).relative_to(_above(pattern)).as_posix() if glob.has_magic(pattern) else ""


def _check(source: Source, place: Path, ledger: str | None) -> None:
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


def marker_beside(data: str) -> Marker | None:
    """Return the marker of a single file or folder of data, if it has one."""
    place = Path(f"{data}.account")
    return _read(place) if "://" not in data and os.path.lexists(place) else None


def write_marker(source: Source, ledger: str) -> str:
    """Write the marker unless it is there; return a note for the curator if that cannot be done."""
    place = marker_of(source)
    if place is None:
        return ""
    record = {"kind": KIND, "version": VERSION, "ledger": ledger, "dataset": source.file.dataset.name, "note": NOTE}
    record |= {"files": told} if (told := _told(source)) else {}
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
            return Marker(str(record["ledger"]), str(record["dataset"]), str(record.get("files", "")))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise LedgerError(
        f"{place} should name the ledger of the file beside it, and cannot be read. Restore it, or remove it if you "
        "know that there is no other ledger."
    )
