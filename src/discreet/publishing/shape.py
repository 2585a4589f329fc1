"""The shape of a table: names and types of its columns, from metadata alone."""

import csv
import glob
import gzip
import re
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InvalidParameter, MissingExtra
from discreet.tables.engines import engine_for

__all__ = ["Headless", "Shape", "files_of", "shape_of"]

TEXT_FILES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")

LONGEST_LINE = 1_000_000
LONGEST_NAME = 200

VALUE = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ].*"  # a moment
    r"|\d{1,2}[. -]+[^\W\d_]+[. -]+\d{2,4}"  # a day with the name of its month
    r"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|\S+@\S+\.\S+"
)
"""What stands in a row rather than above one."""


class Headless(InvalidParameter):
    """A text file whose first line may be a row: it must not be shown."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table with their types; of a text file, whose types nobody states, the names alone.

    ``columns`` is empty for a file that does not even list its names; ``headed`` says that the names are the first line
    of a text file, which nobody else vouches for.
    """

    columns: dict[str, str | None]
    listed: bool = True
    headed: bool = False


def files_of(source: str) -> list[Path]:
    """Return all files of a path, a glob or a folder; none for the address of a database.

    What is no file or folder (a pipe, a device) is refused: reading it may never end.
    """
    if "://" in source:
        return []
    found: list[Path] = []
    for place in map(Path, sorted(glob.glob(source, recursive=True))):  # noqa: PTH207  a pattern may be absolute
        inside = sorted(one for one in place.rglob("*") if not one.is_dir()) if place.is_dir() else [place]
        found += inside
    if not all(one.is_file() for one in found):
        raise InvalidParameter(f"{Path(source).name} is no regular file.")
    return found


def shape_of(source: str, name: str) -> Shape:
    """Return the shape of a source; no row is read, and of a CSV file its first line alone."""
    suffixes = [suffix.lower() for suffix in Path(source.partition("#")[0]).suffixes]
    texts = "://" not in source and any(ending in suffixes[-2:] for ending in TEXT_FILES)
    files = files_of(source)
    if texts and any(ending in suffixes[-2:] for ending in TEXT_FILES[2:]):
        return Shape({}, listed=False)
    for file in files if texts else ():
        _check_header(file, "," if ".csv" in suffixes[-2:] else "\t")
    engine = engine_for(source, {})
    try:
        stored = engine.attach(name, source).columns
    except (InvalidParameter, MissingExtra):
        raise
    except Exception:  # what an engine says may hold values
        kind = "reached" if "://" in source else "read as a table"
        raise InvalidParameter(f"{_shown(source)} cannot be {kind}.") from None
    finally:
        engine.close()
    types = {"decimal": "float", "milliseconds": "timestamp", "other": None}
    columns = {column: None if texts else types.get(kind, kind) for column, kind in stored.items()}
    return Shape(columns, headed=texts)


def _check_header(path: Path, comma: str) -> None:
    """Refuse a first line that may be a row, or that goes on below: it would be shown as names."""
    try:
        packed = path.name.endswith(".gz")
        with gzip.open(path, "rb") if packed else path.open("rb") as lines:
            start = lines.read(4 * LONGEST_LINE).decode("utf-8-sig", errors="replace")
    except (OSError, EOFError):
        raise InvalidParameter(f"{path.name} cannot be read.") from None
    line = re.split(r"[\r\n]", start, maxsplit=1)[0]
    try:
        names = next(csv.reader([line], delimiter=comma, strict=True), [])
    except csv.Error:  # a quotation mark is open
        names = []
    if len(line) > LONGEST_LINE or not names or len(set(names)) < len(names) or not all(map(_is_name, names)):
        raise Headless(
            f"the first line of {path.name} does not look like names of columns: each has letters in it, stands there "
            "once, and is no number, no day and no value. Put a line with the names above the data."
        )


def _is_name(text: str) -> bool:
    """Whether a text may name a column.

    >>> [_is_name(text) for text in ("city", "Fødselsår", "q1", "17", "", "2026-01-31", "1e5", "3 Mar 2026")]
    [True, True, True, False, False, False, False, False]
    """
    if not text.isprintable() or len(text) > LONGEST_NAME or not any(letter.isalpha() for letter in text):
        return False
    try:
        float(text)
    except ValueError:
        return VALUE.fullmatch(text.strip()) is None
    return False


def _shown(source: str) -> str:
    """Return a source without the password that an address may hold."""
    return "the database" if "://" in source else source
