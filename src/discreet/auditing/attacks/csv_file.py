"""A CSV file as it comes: with or without a byte order mark, by commas, semicolons, tabs or bars, in any encoding."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from discreet.errors import InvalidInput

__all__ = ["Opened", "open_csv"]

DELIMITERS = (",", ";", "\t", "|")
HEAD = 65_536
MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
OTHERS = {
    b"PK\x03\x04": "a zip archive, such as an Excel file",
    b"\xd0\xcf\x11\xe0": "an Excel file",
    b"\x1f\x8b": "compressed by gzip",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF",
}


class Opened:
    """A file that is read row by row; ``share`` says how much of it has been read."""

    def __init__(self, path: Path, encoding: str) -> None:
        self.name = path.name
        self._size = max(path.stat().st_size, 1)
        self._bytes = path.open("rb")
        self._text = io.TextIOWrapper(self._bytes, encoding=encoding, newline="")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._text.close()

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows, cells parted by what parts them best in the beginning of the file."""
        head = list(islice(self._text, 200))
        best = max(DELIMITERS, key=lambda delimiter: _fit(head, delimiter))
        yield from csv.reader(_chain(head, self._text), delimiter=best)

    def share(self) -> float:
        """Return how much of the file has been read, at most 1."""
        return min(self._bytes.tell() / self._size, 1.0)


def open_csv(path: Path, *, encoding: str | None = None) -> Opened:
    """Open a file, or say why it cannot be one; without an encoding, UTF-8 unless a byte order mark says otherwise."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {path}. Check the name, and the folder you are in.") from None
    except IsADirectoryError:
        raise InvalidInput(f"{path} is a folder. Name a CSV file inside it.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror or error}). Check who may read it.") from None
    for mark, words in OTHERS.items():
        if head.startswith(mark):
            raise InvalidInput(f"{path.name} is {words}, not CSV. Save the table as CSV first.")
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), None)
    if marked is None and b"\x00" in head:
        raise InvalidInput(f"{path.name} holds zero bytes: it is not CSV text. Save the table as CSV first.")
    return Opened(path, marked or encoding or "utf-8-sig")


def _fit(head: list[str], delimiter: str) -> tuple[float, int]:
    """Say how evenly a delimiter cuts the first rows: the share of rows of the commonest width, then that width."""
    try:
        widths = [len(row) for row in csv.reader(head, delimiter=delimiter) if row]
    except csv.Error:
        return (0.0, 0)
    if len(widths) > 2:
        widths.pop()  # the last row may have been cut by the end of the head
    width, count = Counter(widths).most_common(1)[0] if widths else (1, 0)
    return (0.0, 0) if width < 2 else (round(count / len(widths), 1), width)


def _chain(head: list[str], rest: Iterator[str]) -> Iterator[str]:
    yield from head
    yield from rest
