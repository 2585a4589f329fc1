"""An anchor: the heads of a ledger's accounts, kept on another store, so that an older copy is recognised.

A chain proves that nothing was changed in the middle; a backup of last week is a perfect chain as well, and would give
back what was spent since. An anchor remembers the newest head outside of what is backed up together with the ledger. A
file beside the ledger is restored with it and protects nothing, so it is refused.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, create_engine, select, text
from sqlalchemy.exc import SQLAlchemyError

from discreet.errors import LedgerError

__all__ = ["Anchor", "DatabaseAnchor", "FileAnchor", "anchor_of"]

TAIL = 1 << 16


class Anchor(Protocol):
    """Remembers how far an account had come."""

    def seen(self, ledger: str, account: str) -> tuple[int, str] | None:
        """Return the number and hash of the newest entry that was anchored."""
        ...

    def advance(self, ledger: str, account: str, number: int, head: str) -> None:
        """Remember an entry, unless a later one is remembered already."""
        ...


def anchor_of(place: str | os.PathLike[str], beside: Path | None) -> Anchor:
    """Return the anchor at a path or a database URL; one beside the ledger itself is refused."""
    if isinstance(place, str) and "://" in place:
        return DatabaseAnchor(place)
    path = Path(place)
    if beside is not None and path.absolute().parent == beside.absolute().parent:
        raise LedgerError(
            f"the anchor {path} is in the folder of the ledger: it would be restored together with it, and protect "
            "nothing. Keep it on another disk or host."
        )
    return FileAnchor(path)


class FileAnchor:
    """Heads in a file that only grows, on another disk or host."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.parent.is_dir():
            raise LedgerError(f"there is no folder {path.parent} for an anchor. Nothing can be charged without it.")

    def seen(self, ledger: str, account: str) -> tuple[int, str] | None:
        """Return the last line of an account, which is its farthest; a line that was cut off says nothing."""
        try:
            with self.path.open("rb") as file:
                return self._last(file, ledger, account)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(
                f"the anchor {self.path} cannot be read ({error.strerror}). Nothing was charged."
            ) from None

    def advance(self, ledger: str, account: str, number: int, head: str) -> None:
        """Add a line, unless a later one is there, and wait until it is on the disk."""
        line = json.dumps([ledger, account, number, head]) + "\n"
        try:
            with self.path.open("a+b") as file, _alone(file):
                before = self._last(file, ledger, account)
                if before is not None and before[0] >= number:
                    return
                file.seek(0, os.SEEK_END)
                if file.tell() and not self._ends_a_line(file):
                    line = "\n" + line
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise LedgerError(
                f"the anchor {self.path} cannot be written ({error.strerror}). What was charged stays spent, and "
                "nothing was released."
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
            for line in reversed(file.read().splitlines()):
                try:
                    one, name, number, head = json.loads(line)
                except ValueError:
                    continue
                if (one, name) == (ledger, account):
                    return int(number), str(head)
        return None


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

    def __init__(self, url: str) -> None:
        self._heads = Table(
            "discreet_anchor",
            MetaData(),
            Column("ledger", Text, primary_key=True),
            Column("account", Text, primary_key=True),
            Column("number", BigInteger, nullable=False),
            Column("head", Text, nullable=False),
        )
        try:
            self._engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
            self._heads.create(self._engine, checkfirst=True)
        except (SQLAlchemyError, ModuleNotFoundError):
            raise LedgerError("the anchor's database cannot be reached. Nothing can be charged without it.") from None

    def seen(self, ledger: str, account: str) -> tuple[int, str] | None:
        """Return the row of an account."""
        heads = self._heads
        try:
            with self._engine.connect() as connection:
                row = connection.execute(
                    select(heads.c.number, heads.c.head).where(heads.c.ledger == ledger, heads.c.account == account)
                ).first()
        except SQLAlchemyError:
            raise LedgerError("the anchor's database cannot be reached. Nothing was charged.") from None
        return None if row is None else (int(row[0]), str(row[1]))

    def advance(self, ledger: str, account: str, number: int, head: str) -> None:
        """Insert the row, or move it forward."""
        change = text(
            "INSERT INTO discreet_anchor (ledger, account, number, head) VALUES (:ledger, :account, :number, :head) "
            "ON CONFLICT (ledger, account) DO UPDATE SET number = excluded.number, head = excluded.head "
            "WHERE discreet_anchor.number < excluded.number"
        )
        try:
            with self._engine.begin() as connection:
                connection.execute(change, {"ledger": ledger, "account": account, "number": number, "head": head})
        except SQLAlchemyError:
            raise LedgerError(
                "the anchor's database cannot be written. What was charged stays spent, and nothing was released."
            ) from None
