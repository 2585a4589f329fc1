"""From a file to a session: the table is looked for, and every query is planned. No row is read."""

import glob
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

from discreet.accounting import Account
from discreet.errors import BudgetExceeded, DiscreetError, InvalidParameter, MissingExtra, NoTheorem
from discreet.publishing.mistake import Mistake, Mistakes, nearest
from discreet.publishing.reading import Source
from discreet.publishing.refusals import in_words_of_the_file
from discreet.publishing.shape import Headless, Shape, files_of, shape_of
from discreet.publishing.sharing import requests_of
from discreet.session import Request, Session
from discreet.session.plan import Plan
from discreet.session.progress import Bar
from discreet.tables.engines import UnlikeFiles

__all__ = ["Opened", "opened"]

HERE = ("", "localhost", "127.0.0.1", "::1")
"""Names of this host."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file joined to its table: the session, and what will be asked of it."""

    source: Source
    session: Session
    requests: tuple[Request, ...]
    epsilon: Fraction
    delta: Fraction
    groups: tuple[float | None, ...] = ()
    """How many rows the groups of each release have by what is declared; None where nobody can say."""


@contextmanager
def opened(source: Source, account: Account, progress: Bar | None = None) -> Iterator[Opened]:
    """Join a file to its table and an account, or raise the mistakes that only the table shows."""
    file = source.file
    _check_apart(source)
    shape = _shape(source)
    _check_columns(source, shape)
    session = _session(source, account, progress)
    try:
        groups = _check_queries(source, session, shape)
        requests, epsilon = requests_of(file, groups)
        _check_together(source, session, requests, epsilon)
        yield Opened(source, session, tuple(requests), epsilon, file.delta, tuple(groups))
    finally:
        session.close()


def _check_apart(source: Source) -> None:
    """Refuse a file that names something private as something else.

    Files are the same by what they are, not by their names: links lead to what they link to. A copy is not found out.
    """
    if found := list(_confused(source)):
        raise Mistakes(found)


def _confused(source: Source) -> Iterator[Mistake]:
    file, mistake = source.file, source.marked.mistake
    place = source.beside(file.dataset.source)
    try:
        private = _known(files_of(place))
    except InvalidParameter as error:
        yield mistake(("dataset", "source"), str(error), "Write the path of a file that holds the table.")
        return
    for name, written in file.tables.items():
        public = source.beside(written)
        try:
            same = private & _known(files_of(public))
        except InvalidParameter as error:
            yield mistake(("public", name), str(error), "Write the path of a file that holds the table.")
            continue
        if same or ("://" in place and _address(public) == _address(place)):
            wrong = f"the public table {name} is the private data, or holds a file of it."
            yield mistake(("public", name), wrong, "Write the path of a table that everybody may see.")
    for part, where in (("ledger", file.ledger), ("anchor", file.anchor)):
        if where is None or "://" in where:
            continue
        kept = Path(source.beside(where))
        if private & _known([kept]):
            wrong = f"the {part} is a file of the private data."
            yield mistake((part,), wrong, f"Write a path of its own, such as {part}: ledger.sqlite.")
        elif kept.exists() and not (kept.is_file() or kept.is_dir()):
            yield mistake((part,), f"{where} is no regular file.", "Write the path of a file.")


def _known(files: Iterable[Path]) -> set[tuple[int, int]]:
    """Return what tells files apart, whatever they are called."""
    found = set()
    for one in files:
        try:
            state = os.stat(one)  # noqa: PTH116  links are followed
        except OSError:
            continue
        found.add((state.st_dev, state.st_ino))
    return found


def _address(place: str) -> tuple[str, int, str, str]:
    """Return the host, port, database and table of an address.

    >>> _address("postgresql://me@localhost/base#public.visits") == _address("postgresql://127.0.0.1:5432/base#visits")
    True
    """
    try:
        parts = urlsplit(place)
        host, port = (parts.hostname or "").casefold(), parts.port or 5432
    except ValueError:
        return place, 0, "", ""
    return "" if host in HERE else host, port, parts.path.strip("/"), parts.fragment.removeprefix("public.")


def _shape(source: Source) -> Shape:
    dataset, place = source.file.dataset, source.beside(source.file.dataset.source)
    if "://" not in place and not glob.glob(place, recursive=True):  # noqa: PTH207  a pattern may be absolute
        wrong = f"there is no file {dataset.source}."
        raise source.marked.mistake(("dataset", "source"), wrong, "Write its path, relative to this file.")
    try:
        return shape_of(place, dataset.name)
    except MissingExtra:
        raise
    except (Headless, UnlikeFiles) as error:
        raise source.marked.mistake(("dataset", "source"), str(error)) from None
    except InvalidParameter as error:
        fix = "Write the path of a Parquet, CSV or JSON file, or postgresql://host/base#schema.table."
        raise source.marked.mistake(("dataset", "source"), str(error), fix) from None


def _check_columns(source: Source, shape: Shape) -> None:
    """Refuse declarations about columns that the table does not have."""
    file, found = source.file, []
    if not shape.listed:
        return
    wanted = {("columns", name): name for name in file.declared}
    if not isinstance(file.unit, str) and file.unit.person_column is not None:
        wanted["unit", "person"] = file.unit.person_column
    for place, name in wanted.items():
        if name not in shape.columns:
            meant = nearest(name, shape.columns)
            fix = f"Did you mean {meant}?" if meant else f"There are: {', '.join(shape.columns)}."
            found.append(source.marked.mistake(place, f"the table has no column {name}.", fix))
    for name, (low, _) in file.bounds.items():
        stored, declared = shape.columns.get(name), file.declared[name]
        kind = getattr(declared, "type", None) or stored
        if kind not in (None, "int", "float") and low is not None:
            wrong = f"{name} is of type {kind}, and bounds are for numbers."
            found.append(source.marked.mistake(("columns", name), wrong, "Remove min and max, or declare type: float."))
    if found:
        raise Mistakes(found)


def _session(source: Source, account: Account, progress: Bar | None) -> Session:
    file = source.file
    try:
        return Session(
            _data(source),
            name=file.dataset.name,
            schema=file.schema_of_table,
            unit=file.protected,
            budget=account,
            public={name: source.beside(one) for name, one in file.tables.items()},
            version=file.dataset.version,
            about=json.dumps([file.dataset.source, file.tables], sort_keys=True),
            exact=[entry.sql(file.dataset.name, file.bounds) for entry in file.releases if entry.publishes_exactly],
            progress=progress,
            size=file.dataset.size,
            timeout=None if file.dataset.timeout is None else float(file.dataset.timeout),
        )
    except MissingExtra:
        raise
    except InvalidParameter as error:
        raise source.marked.mistake(_place(source, str(error)), str(error)) from None
    except DiscreetError:
        raise
    except Exception:  # what an engine says may hold values
        wrong = "the table or a public one cannot be read."
        raise source.marked.mistake(("dataset", "source"), wrong, "Look at the files and addresses.") from None


def _data(source: Source) -> str:
    return source.beside(source.file.dataset.source)


def _place(source: Source, words: str) -> tuple[str, ...]:
    """Return the part of the file that an error of opening is about."""
    for name, written in source.file.tables.items():
        if written in words or name in words:
            return "public", name
    return next((("columns", name) for name in source.file.declared if words.startswith(f"{name} ")), ("dataset",))


def _check_queries(source: Source, session: Session, shape: Shape) -> list[float | None]:
    """Plan every release by itself, and refuse all that cannot be; return how many rows their groups may have."""
    file, found = source.file, []
    groups: list[float | None] = []
    for place, entry in enumerate(file.releases):
        try:
            request = entry.request(file.dataset.name, file.bounds, file.level, epsilon=None, weight=Fraction(1))
            plan = session.planned(replace(request, epsilon=Fraction(1), error=None))
            groups.append(_rows(file.dataset.size, plan))
            if request.error:
                session.planned(replace(request, group_size=entry.group_of(groups[-1])))
        except MissingExtra:
            raise
        except DiscreetError as error:
            (inner, wrong, fix), word = in_words_of_the_file(error, entry, shape.columns or file.declared)
            found.append(source.marked.mistake(("releases", place, *inner), wrong, fix, word=word))
    if found:
        raise Mistakes(found)
    return groups


def _rows(size: int | None, plan: Plan) -> float | None:
    """Return the rows of a group if the declared number of people is spread evenly over declared groups, one for each.

    Nobody knows beforehand how many private groups there are.
    """
    groups = plan.declared if plan.key_names else 1
    return max(1.0, size / groups) if size is not None and groups else None


def _check_together(source: Source, session: Session, requests: list[Request], epsilon: Fraction) -> None:
    try:
        loss = session.planned_loss(requests, epsilon=epsilon, delta=source.file.delta)
        with suppress(BudgetExceeded):  # whether it fits is another question
            session.account.cost(loss)
    except NoTheorem:
        wrong = f"the filter {source.file.budget.filter} is not proven for the noise that tables have."
        raise source.marked.mistake(("budget", "filter"), wrong, "Write filter: zcdp or filter: renyi.") from None
    except DiscreetError as error:
        place = ("spend",) if source.file.spend is not None else ("budget",)
        raise _together(source, place, str(error)) from None


def _together(source: Source, place: tuple[str, ...], words: str) -> Mistake:
    if "take more than" in words or "used up" in words:
        wrong = "the releases take more than this together."
        return source.marked.mistake(place, wrong, "Write larger errors, less epsilon for some, or more here.")
    return source.marked.mistake(place, words)
