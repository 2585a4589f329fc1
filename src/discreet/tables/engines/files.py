"""Files that are one table: which they are when it is opened, and whether all have the same columns.

Columns are matched by their names. Files whose names differ are no one table: by position a person would be read from
another column, and a column that only some files have would be missing in the others without a word.
"""

import csv
import glob
import gzip
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from discreet.errors import InvalidParameter

__all__ = ["UnlikeFiles", "check_alike", "escaped", "files_of", "header", "one_order"]

LONGEST_HEADER = 1_000_000

NAME = r'(?:"(?:[^"]|"")*"|[^"{comma}\r\n]*)'
WHOLE_NAMES = {comma: re.compile(f"{NAME}(?:{{comma}}{NAME})*[\\r\\n]*".format(comma=comma)) for comma in (",", "\t")}
"""A first line in which quotation marks stand around whole names: of another one, each reader makes other columns."""


class UnlikeFiles(InvalidParameter):
    """Files of one table that have different columns; names may be values of a file without a header, and stay here."""


def files_of(source: str | Path) -> list[str]:
    """Return the files that a path or a pattern names, each once; files that are added later belong to no table.

    A ``Path`` of a file that exists is that file, whatever is in its name. A pattern may reach a file in several ways,
    twice through ``**`` or by a link: its rows are there once. Paths are absolute, so that nobody reads ``~`` or the
    working folder in another way.
    """
    pattern = str(source)
    if isinstance(source, Path) and source.exists():
        pattern = escaped(pattern)
    found: dict[tuple[int, int], str] = {}
    for path in sorted(set(glob.glob(pattern, recursive=True))):  # noqa: PTH207  a pattern may be absolute
        try:
            told = Path(path).stat()
        except OSError:
            raise InvalidParameter(f"{path} cannot be read. Where it is a link, it leads nowhere.") from None
        if stat.S_ISDIR(told.st_mode):
            ending = "".join(Path(pattern).suffixes[-1:])
            raise InvalidParameter(f"{path} is a folder. Name the files in it: {path}/*{ending}")
        found.setdefault((told.st_dev, told.st_ino), str(Path(path).absolute()))
    if not found:
        raise InvalidParameter(f"there is no file {source}.")
    return list(found.values())


def escaped(path: str) -> str:
    """Return the pattern that matches this file alone.

    >>> escaped("visits[1].csv")
    'visits[[]1].csv'
    """
    return glob.escape(path)


def header(path: str, comma: str) -> tuple[str, ...]:
    """Return the names in the first line of a CSV file: no quote may go on into the rows."""
    try:
        if path.endswith(".zst"):
            raise InvalidParameter("compressed CSV files are read as .gz: their first line holds the names.")
        with (
            gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
            if path.endswith(".gz")
            else Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as lines
        ):
            line = lines.readline(LONGEST_HEADER)
            names = next(csv.reader([line], delimiter=comma, strict=True), [])
    except (OSError, EOFError, csv.Error):
        raise InvalidParameter(f"{path} cannot be read as a CSV file.") from None
    if "\0" in line or "\N{REPLACEMENT CHARACTER}" in line:
        raise InvalidParameter(
            f"the first line of {path} is no text in UTF-8. Write the file in UTF-8; a compressed one ends in .csv.gz."
        )
    if WHOLE_NAMES[comma].fullmatch(line) is None:
        raise InvalidParameter(f"in the first line of {path}, quotation marks stand around whole names alone.")
    if not names or len({name.casefold() for name in names}) < len(names) or not all(names):
        raise InvalidParameter(f"the first line of {path} must name every column once, in whatever case.")
    return tuple(names)


def check_alike(columns: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse files of which one has other columns than the first, or the same under other types."""
    (first, wanted), *others = columns.items()
    for path, found in others:
        if set(found) != set(wanted):
            raise UnlikeFiles(
                f"{path} has other columns than {first}, and files of one table have the same. Give them the same "
                "names, or open them as several tables."
            )
        if differ := [name for name, kind in wanted.items() if found[name] != kind]:
            raise UnlikeFiles(
                f"the column {differ[0]} is stored as {found[differ[0]]} in {path} and as {wanted[differ[0]]} in "
                f"{first}. Write it with one type in all files."
            )


def one_order(headers: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    """Return files by the order of their columns, which all have the same names.

    >>> one_order({"a.csv": ["x", "y"], "b.csv": ["y", "x"], "c.csv": ["x", "y"]})
    {('x', 'y'): ['a.csv', 'c.csv'], ('y', 'x'): ['b.csv']}
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for path, names in headers.items():
        found.setdefault(tuple(names), []).append(path)
    return found
