"""An anchor: the heads of a ledger's accounts, kept on another store, so that an older copy is recognised.

A chain proves that nothing was changed in the middle; a backup of last week is a perfect chain as well, and would give
back what was spent since, and so would a new and empty ledger. An anchor remembers the newest head outside of what is
backed up together with the ledger. One beside the ledger is restored with it and protects nothing, so it is refused.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, create_engine, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from discreet.errors import LedgerError
from discreet.ledger.forks import closed_before_forks, in_use
from discreet.ledger.store import Store, url_of

__all__ = ["Anchor", "DatabaseAnchor", "FileAnchor", "anchor_of"]

TAIL = 1 << 16

FIRST = text(
    "INSERT INTO discreet_anchor (ledger, account, number, head) VALUES (:ledger, :account, :number, :head) "
    "ON CONFLICT (ledger, account) DO NOTHING"
)
NEXT = text(
    "UPDATE discreet_anchor SET number = :number, head = :head "
    "WHERE ledger = :ledger AND account = :account AND number = :old_number AND head = :old_head"
)


class Anchor(Protocol):
    """Remembers how far an account had come."""

    def seen(self, ledger: str, account: str) -> tuple[int, str] | None:
        """Return the number and hash of the newest entry that was anchored."""
        ...

    def was_charged(self, account: str) -> bool:
        """Whether more than the opening of an account of this name was anchored, by any ledger."""
        ...

    def move(self, ledger: str, account: str, seen: tuple[int, str] | None, number: int, head: str) -> bool:
        """Remember an entry instead of the one that was seen; False if another one is remembered by now."""
        ...

    def close(self) -> None:
        """Give back what is kept open."""
        ...


def anchor_of(place: str | os.PathLike[str], store: Store) -> Anchor:
    """Return the anchor at a path or a database URL; one that is kept together with the ledger is refused."""
    if isinstance(place, str) and "://" in place:
        url = url_of(place)
        if url.get_backend_name() == "sqlite" and url.database:
            _check_apart(Path(url.database), store)
        elif store.url is not None and _base(url) == _base(store.url):
            raise LedgerError(
                "the anchor is in the database of the ledger: it would be restored together with it, and protect "
                "nothing. Keep it in a database of another server."
            )
        return DatabaseAnchor(url)
    _check_apart(Path(place), store)
    return FileAnchor(Path(place))


def _check_apart(path: Path, store: Store) -> None:
    if store.path is not None and Path(os.path.realpath(path)).parent == store.path.parent:
        raise LedgerError(
            f"the anchor {path} is in the folder of the ledger: it would be restored together with it, and protect "
            "nothing. Keep it on another disk or host."
        )


def _base(url: Any) -> tuple[object, ...]:  # noqa: ANN401  a URL of SQLAlchemy
    return (url.host or url.query.get("host"), url.port or url.query.get("port"), url.database)


class FileAnchor:
    """Heads in a file that only grows, on another disk or host."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        if not self.path.parent.is_dir():
            raise LedgerError(f"there is no folder {path.parent} for an anchor. Nothing can be charged without it.")

    def seen(self, ledger: str, account: str) -> tuple[int, str] | None:
        """Return the last line of an account, which is its farthest; a line that was cut off says nothing."""
        with self._opened() as file:
            return None if file is None else self._last(file, ledger, account)

    def was_charged(self, account: str) -> bool:
        """Whether any line of an account of this name is about more than its opening."""
        with self._opened() as file:
            lines = () if file is None else file
            return any(one is not None and one[1] == account and one[2] > 1 for one in map(_line, lines))

    def move(self, ledger: str, account: str, seen: tuple[int, str] | None, number: int, head: str) -> bool:
        """Add a line, if the last one is still the one that was seen, and wait until it is on the disk."""
        line = json.dumps([ledger, account, number, head]) + "\n"
        try:
            with self.path.open("a+b") as file, _alone(file):
                if self._last(file, ledger, account) != seen:
                    return False
                new = not file.seek(0, os.SEEK_END)
                if not new and not self._ends_a_line(file):
                    line = "\n" + line
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
                if new:
                    _sync_folder(self.path.parent)
                return True
        except OSError as error:
            raise LedgerError(
                f"the anchor {self.path} cannot be written ({error.strerror}). What was charged stays spent, and "
                "nothing was released."
            ) from None

    def close(self) -> None:
        """Nothing is kept open."""

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        try:
            with self.path.open("rb") as file:
                yield file
        except FileNotFoundError:
            yield None
        except OSError as error:
            raise LedgerError(
                f"the anchor {self.path} cannot be read ({error.strerror}). Nothing was charged."
            ) from None

    @staticmethod
    def _ends_a_line(file: BinaryIO) -> bool:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"

    @staticmethod
    def _last(file: BinaryIO, ledger: str, account: str) -> tuple[int, str] | None:
        """Search the end of the file, then all of it."""
        size = file.seek(0, os.SEEK_END)
        for start in (max(0, size - TAIL), 0):
            file.seek(start)
            for one in map(_line, reversed(file.read().splitlines())):
                if one is not None and one[:2] == (ledger, account):
                    return one[2:]
        return None


def _line(line: bytes) -> tuple[str, str, int, str] | None:
    """Read a line; one that was cut off says nothing."""
    try:
        ledger, account, number, head = json.loads(line)
        return str(ledger), str(account), int(number), str(head)
    except (ValueError, TypeError):
        return None


def _sync_folder(path: Path) -> None:
    if os.name == "posix":
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _alone(file: BinaryIO) -> Iterator[None]:
    """Keep other processes from the file; where the system has no such lock, lines are still written whole."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


class DatabaseAnchor:
    """Heads in a table of another database."""

    def __init__(self, url: Any) -> None:  # noqa: ANN401  a URL of SQLAlchemy
        self._heads = Table(
            "discreet_anchor",
            MetaData(),
            Column("ledger", Text, primary_key=True),
            Column("account", Text, primary_key=True),
            Column("number", BigInteger, nullable=False),
            Column("head", Text, nullable=False),
        )
        try:
            self._engine = create_engine(url)
            self._make()
        except (SQLAlchemyError, ModuleNotFoundError):
            raise LedgerError("the anchor's database cannot be reached. Nothing can be charged without it.") from None
        closed_before_forks(self)

    def _make(self) -> None:
        try:
            self._heads.create(self._engine, checkfirst=True)
        except SQLAlchemyError:
            if not inspect(self._engine).has_table("discreet_anchor"):  # another one did not make it meanwhile either
                raise

    def seen(self, ledger: str, account: str) -> tuple[int, str] | None:
        """Return the row of an account."""
        heads = self._heads
        return self._found((heads.c.ledger == ledger) & (heads.c.account == account))

    def was_charged(self, account: str) -> bool:
        """Whether any row of an account of this name is about more than its opening."""
        return self._found((self._heads.c.account == account) & (self._heads.c.number > 1)) is not None

    def _found(self, which: Any) -> tuple[int, str] | None:  # noqa: ANN401  a condition
        heads = self._heads
        try:
            with in_use(), self._engine.connect() as connection:
                row = connection.execute(select(heads.c.number, heads.c.head).where(which)).first()
        except SQLAlchemyError:
            raise LedgerError("the anchor's database cannot be reached. Nothing was charged.") from None
        return None if row is None else (int(row[0]), str(row[1]))

    def move(self, ledger: str, account: str, seen: tuple[int, str] | None, number: int, head: str) -> bool:
        """Insert the row, or move it on if it is still the one that was seen."""
        values = {"ledger": ledger, "account": account, "number": number, "head": head}
        if seen is not None:
            values |= {"old_number": seen[0], "old_head": seen[1]}
        try:
            with in_use(), self._engine.begin() as connection:
                return bool(connection.execute(FIRST if seen is None else NEXT, values).rowcount)
        except SQLAlchemyError:
            raise LedgerError(
                "the anchor's database cannot be written. What was charged stays spent, and nothing was released."
            ) from None

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()
