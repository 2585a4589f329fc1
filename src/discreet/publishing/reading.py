"""Reading the curator's file: YAML, then its shape, then whether its parts agree. No data is touched."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pydantic import ValidationError

from discreet.errors import InvalidParameter
from discreet.publishing.file import ColumnPart, ReleaseFile
from discreet.publishing.marked import Marked, read_yaml
from discreet.publishing.mistake import Mistake, Mistakes
from discreet.publishing.sentences import sentences
from discreet.publishing.spending import Amount
from discreet.publishing.text import decimal
from discreet.publishing.written import as_yaml

__all__ = ["Source", "read_release"]

PASSWORD = re.compile(
    r"""://[^\s/@:]{0,100}:[^\s"']{1,200}@|(?<![a-z0-9])(sslpassword|password|passwd|pwd)=""", re.IGNORECASE
)
LARGEST_BOUND = 2**53
LARGEST_FILE = 4_000_000
LONGEST_VERSION = 500
LEVELS = Fraction(1, 2), Fraction(9999, 10000)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read: where it is, what it holds, and on which lines."""

    path: Path
    file: ReleaseFile
    marked: Marked

    @property
    def folder(self) -> Path:
        """The folder that paths in the file are relative to."""
        return self.path.parent

    def beside(self, written: str) -> str:
        """Return a path of the file as seen from here; an address of a database stays as it is."""
        return written if "://" in written else str(self.folder / Path(written).expanduser())


def read_release(path: str | Path, text: str | None = None) -> Source:
    """Return what a file says, or raise all mistakes that can be seen without its table."""
    place = Path(path)
    if text is None:
        text = _text(place)
    if found := list(_passwords(text, place.name)):
        raise Mistakes(found)
    marked = read_yaml(text, place.name)
    if not isinstance(marked.value, dict):
        wrong = "the file holds a list or a text, and not settings by name."
        wrong = "the file says nothing." if marked.value is None else wrong
        raise Mistake(place.name, None, wrong, "Start with: discreet describe data.parquet > release.yaml")
    try:
        file = ReleaseFile.model_validate(marked.value)
    except ValidationError as error:
        raise Mistakes(sentences(error, marked)) from None
    if found := list(_disagreements(file, marked)):
        raise Mistakes(found)
    return Source(place, file, marked)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            data = opened.read(LARGEST_FILE + 1)
    except OSError as error:
        reason = "there is no such file." if isinstance(error, FileNotFoundError) else "the file cannot be read."
        fix = "Make one with: discreet describe data.parquet > release.yaml"
        raise Mistake(str(path), None, reason, fix) from None
    if len(data) > LARGEST_FILE:
        raise Mistake(path.name, None, "a file has at most a million characters.", "Declare fewer values.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Mistake(path.name, None, "the file is no text in UTF-8.", "Save it as plain UTF-8 text.") from None


def _disagreements(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    for check in (_secrets, _ledger, _anchor, _words, _columns, _protected, _budget, _names, _releases, _shares):
        yield from check(file, marked)


def _passwords(text: str, name: str) -> Iterator[Mistake]:
    """Find passwords anywhere, in comments too: the file is published beside what it releases."""
    for number, line in enumerate(text.split("\n"), 1):
        if PASSWORD.search(line):
            yield Mistake(name, number, *SECRET)


SECRET = (
    "an address holds a password, and this file is published.",
    "Leave it out, and put it into ~/.pgpass or the variable PGPASSWORD.",
)


def _secrets(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    """Find passwords that were written with escapes."""
    for place, text in _places(file).items():
        if PASSWORD.search(text):
            yield marked.mistake(place, *SECRET)


def _places(file: ReleaseFile) -> dict[tuple[str, ...], str]:
    """Return every path and address in the file."""
    written: dict[tuple[str, ...], str] = {("dataset", "source"): file.dataset.source, ("ledger",): file.ledger}
    written |= {("anchor",): file.anchor} if file.anchor is not None else {}
    return written | {("public", name): place for name, place in file.tables.items()}


def _ledger(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    for place, text in (("ledger", file.ledger), ("anchor", file.anchor or "")):
        scheme, _, path = text.partition("://")
        if path and scheme.partition("+")[0].casefold() == "sqlite":
            wrong = f"a {place} in SQLite is named by its path, relative to this file."
            yield marked.mistake((place,), wrong, f"Write {place}: {Path(path).name or 'ledger.sqlite'}.")


def _words(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    if len(file.dataset.version) > LONGEST_VERSION:
        wrong = f"a version has at most {LONGEST_VERSION} characters."
        yield marked.mistake(("dataset", "version"), wrong, 'Write one such as "2026-01".')
    levels: dict[tuple[str | int, ...], Fraction] = {("level",): file.level}
    levels |= {("releases", i, "level"): one.level for i, one in enumerate(file.releases) if one.level is not None}
    for place, level in levels.items():
        if not LEVELS[0] <= level <= LEVELS[1]:
            wrong = "a level lies between 0.5 and 0.9999: no error can be told that holds more or less often."
            yield marked.mistake(place, wrong, "Write one such as 0.95.")


def _anchor(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    files = file.anchor is not None and "://" not in file.anchor and "://" not in file.ledger
    if files and Path(str(file.anchor)).parent == Path(file.ledger).parent:
        wrong = "the anchor is in the folder of the ledger, and would be restored together with it."
        yield marked.mistake(("anchor",), wrong, "Write a path on another disk or host, or remove it.")


def _columns(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    for name, column in file.declared.items():
        if not isinstance(column, ColumnPart):
            continue
        place = ("columns", name)
        if (column.min is None) != (column.max is None):
            low = "0" if column.min is None else decimal(column.min)
            high = "500" if column.max is None else decimal(column.max)
            fix = f"Write {name}: {{min: {low}, max: {high}}} with your own numbers."
            yield marked.mistake(place, f"{name} has one bound, and both are needed.", fix)
        elif column.min is not None and column.max is not None and column.min > column.max:
            wrong = f"the bounds of {name} are in the wrong order."
            fix = f"Write {name}: {{min: {decimal(column.max)}, max: {decimal(column.min)}}}."
            yield marked.mistake((*place, "max"), wrong, fix)
        elif column.min is not None and column.max is not None and max(-column.min, column.max) > LARGEST_BOUND:
            wrong = f"the bounds of {name} are so wide that no answer would say anything, beyond plus or minus 9e15."
            yield marked.mistake(place, wrong, f"Write {name}: {{min: 0, max: 500}} with your own numbers.")
        elif column.min is not None and column.type not in (None, "int", "float"):
            wrong = f"{name} is of type {column.type}, and bounds are for numbers."
            yield marked.mistake((*place, "min"), wrong, "Write type: float, or remove min and max.")
        elif column.values is not None and len(set(map(_told_apart, column.values))) < len(column.values):
            twice = next(i for i, one in enumerate(column.values) if column.values.index(one) < i)
            yield marked.mistake((*place, "values", twice), f"a value of {name} is declared twice.", "Remove one.")
        else:
            try:
                _ = column.column
            except InvalidParameter as error:
                fix = f"Write {name}: {{min: 0, max: 500}} with your own numbers."
                fix = fix if column.values is None else "Write them all alike: texts in quotes."
                yield marked.mistake(place, f"{name}: {error}", fix)


def _told_apart(value: object) -> tuple[type, object]:
    return type(value), value


def _protected(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    try:
        _ = file.protected
    except InvalidParameter as error:
        if isinstance(file.unit, str) or file.unit.person_column is not None:
            yield marked.mistake(("unit",), str(error), "Write unit: {person: user_id, groups: 3, rows: 5}.")
            return
        wrong = "the number of rows is private under add_remove."
        yield marked.mistake(("unit", "size"), wrong, "Write unit: {row: replace_one, size: 20000}, or remove size.")


def _budget(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    budget, spend = file.budget, file.spend
    if not budget.delta and budget.filter not in (None, "basic"):
        fix = "Write delta: 1e-7 beside it, or remove filter."
        yield marked.mistake(("budget", "filter"), f"the filter {budget.filter} needs a delta above 0.", fix)
    if spend is not None and spend.epsilon > budget.epsilon:
        wrong = "this file would spend more than the budget of the data set."
        yield marked.mistake(
            ("spend", "epsilon"), wrong, f"Write spend: {{epsilon: {as_yaml(float(budget.epsilon))}}} or less."
        )
    if spend is not None and spend.delta is not None and spend.delta > budget.delta:
        wrong = "the delta of this file is larger than that of the budget."
        yield marked.mistake(("spend", "delta"), wrong, f"Write {as_yaml(float(budget.delta))} or less, or remove it.")


def _names(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for place, entry in enumerate(file.releases):
        taken = [name for name in entry.file_names if name.casefold() in seen]
        if taken:
            wrong = f"two releases are called {seen[taken[0].casefold()]}, and their files would be the same."
            yield marked.mistake(("releases", place, entry.kind), wrong, "Give one another name.")
        for name in entry.file_names:
            seen.setdefault(name.casefold(), name)
    if file.dataset.name in file.tables:
        wrong = f"{file.dataset.name} is the private table, and a public one has the same name."
        yield marked.mistake(("public", file.dataset.name), wrong, "Give the public table another name.")


def _releases(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    for place, entry in enumerate(file.releases):
        for inner, wrong, fix in entry.wrong(file.bounds):
            yield marked.mistake(("releases", place, *inner), wrong, fix)


def _shares(file: ReleaseFile, marked: Marked) -> Iterator[Mistake]:
    """Find releases that would spend more than the file together."""
    total = Fraction(0)
    for place, entry in enumerate(file.releases):
        if isinstance(entry.spend, Amount):
            total += entry.spend.epsilon / file.total
        elif entry.spend is not None:
            total += entry.spend
        if total > 1 and entry.spend is not None:
            wrong = f"the releases up to here spend {_percent(total)} of what the file may spend."
            yield marked.mistake(("releases", place, "spend"), wrong, "Write smaller parts: together at most 100%.")
            return
    rest = [place for place, entry in enumerate(file.releases) if entry.spend is None and entry.error is None]
    if total == 1 and rest:
        wrong = "the other releases spend everything, and nothing is left for this one."
        yield marked.mistake(("releases", rest[0]), wrong, "Write smaller parts for the others.")


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.6g}%"
