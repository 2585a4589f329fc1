"""The file of a ledger: SQLite, its write-ahead log beside it, and a line in which writers wait.

SQLite's locks belong to the process and the file: closing *any* descriptor of the file lets all of them go, so nothing
here ever opens the database but SQLite itself. As long as a connection is open nobody may take its file or its log
away; if somebody did, what is written would be lost, so every transaction looks whether both are still in place.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import LedgerError

__all__ = ["LedgerFile"]

OPENING = threading.Lock()
"""Held while a file is made, which closes a descriptor of it, and while one is connected to."""

PAUSES = (0.0002, 0.0005, 0.001, 0.002)
"""Seconds between two looks at the line; the last is repeated."""

SMALLEST = 512
"""Bytes of the smallest database. SQLite takes less for nothing, and would write over it."""

Place = tuple[int, int]


class Connected(sqlite3.Connection):
    """A connection that knows which file and which log it has open."""

    places: tuple[Place, Place] | None = None


class LedgerFile:
    """One file: makes it, connects to it, lets writers in one by one, and waits for the disk."""

    def __init__(self, path: Path, *, read_only: bool, patience: float) -> None:
        # SQLite follows links and keeps its log beside the file that they lead to; so must whoever syncs that log.
        self.path = Path(os.path.realpath(path))
        self.log = Path(f"{self.path}-wal")
        self._read_only = read_only
        self._patience = patience
        self._queue: int | None = None
        self._threads = threading.Lock()
        self._look(path)

    def _look(self, told: Path) -> None:
        path = self.path
        if path.is_dir():
            raise LedgerError(f"{told} is a folder. Name a file in it: {told / 'ledger.sqlite'}.")
        if not path.exists():
            if self._read_only:
                raise LedgerError(f"there is no ledger at {told}.")
            if not path.parent.is_dir():
                raise LedgerError(f"there is no folder {told.parent} for a ledger. Make it first.")
            self._make(told)
        if not path.is_file() or not os.access(path, os.R_OK):
            raise LedgerError(f"the ledger {told} cannot be read. Check that it is a file, and the rights.")
        if 0 < path.stat().st_size < SMALLEST:
            raise LedgerError(f"{told} is no ledger: it is a file of another kind. Name another one.")
        if not self._read_only and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            raise LedgerError(
                f"the ledger {told} cannot be written, nor a log beside it. Nothing can be charged here; to look at "
                "it, use discreet ledger."
            )

    def _make(self, told: Path) -> None:
        try:
            with OPENING:
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._sync_folder()
        except FileExistsError:  # another one was faster
            return
        except OSError as error:
            raise LedgerError(f"no ledger can be written at {told}: {error.strerror}.") from None

    def connect(self) -> Connected:
        """Return a new connection."""
        # Without a log, a folder that cannot be written holds a file that nobody changes; SQLite must be told so.
        still = not os.access(self.path.parent, os.W_OK) and not self.log.exists()
        mode = "rw" if not self._read_only else "ro&immutable=1" if still else "ro"
        with OPENING:
            connection = sqlite3.connect(
                f"{self.path.as_uri()}?mode={mode}",
                uri=True,
                timeout=self._patience,
                isolation_level=None,
                check_same_thread=False,
                factory=Connected,
            )
        try:
            if not self._read_only:
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connected) -> None:
        if _asked(connection, "PRAGMA journal_mode") != "wal":
            with self.turn():  # SQLite does not wait for others here, it refuses
                mode = _asked(connection, "PRAGMA journal_mode=WAL")
            if mode != "wal":
                raise LedgerError(f"{self.path} is on a disk that cannot hold a ledger's log. Keep it on a local disk.")
        # SQLite still syncs what commits do not wait for: the head and the name of a new log, the log before it is
        # copied into the file, and the file before the log begins anew. The commits themselves are left to ``sync``.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        _asked(connection, "SELECT COUNT(*) FROM sqlite_master")  # opens the log
        connection.places = (_place(self.path), _place(self.log))

    def check(self, connection: Connected) -> None:
        """Refuse a connection whose file or log is not the one that others would open now."""
        try:
            same = connection.places == (_place(self.path), _place(self.log))
        except OSError:
            same = False
        if not same:
            raise LedgerError(
                f"the ledger {self.path} was moved, removed or replaced beneath this process. What is charged now "
                "would be lost, so nothing is released. Bring back the newest copy and start again."
            )

    def sync(self, connection: Connected) -> None:
        """Wait until everything that was committed so far is on the disk."""
        file = -1
        try:
            file = os.open(self.log, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
            _flush(file)
        except FileNotFoundError:
            pass  # it was taken away, which the check tells
        finally:
            if file >= 0:
                os.close(file)
        self.check(connection)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait in line. SQLite's own lock is what protects; asking it again and again is what this avoids."""
        until = time.monotonic() + self._patience
        if not self._threads.acquire(timeout=self._patience):
            raise LedgerError(self._busy)
        try:
            queue = self._line(until)
            try:
                yield
            finally:
                if queue is not None:
                    import fcntl

                    fcntl.flock(queue, fcntl.LOCK_UN)
        finally:
            self._threads.release()

    def _line(self, until: float) -> int | None:
        """Return the descriptor that is locked now; None where there is no such lock and SQLite's own must do."""
        try:
            import fcntl

            if self._queue is None:
                self._queue = os.open(f"{self.path}-queue", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except (ImportError, OSError):
            return None
        look = 0
        while True:
            try:
                fcntl.flock(self._queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise LedgerError(self._busy) from None
                time.sleep(PAUSES[min(look, len(PAUSES) - 1)])
                look += 1
            except OSError:
                return None
            else:
                return self._queue

    @property
    def _busy(self) -> str:
        return f"the ledger {self.path} is busy: others have been writing for long. Nothing was charged. Retry."

    def close(self) -> None:
        """Leave the line."""
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None

    def _sync_folder(self) -> None:
        """Have the names in the folder on the disk, where the system lets a folder be synced."""
        if os.name == "posix":
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _place(path: Path) -> Place:
    found = path.stat()
    return found.st_dev, found.st_ino


def _asked(connection: sqlite3.Connection, sql: str) -> str:
    return str(connection.execute(sql).fetchone()[0])


def _flush(file: int) -> None:
    """Sync a file; where the system has a call that reaches through the cache of the drive, use that."""
    try:
        from fcntl import F_FULLFSYNC, fcntl  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        os.fsync(file)
    else:
        fcntl(file, F_FULLFSYNC)
