"""The database behind a ledger: SQLite in a file, or PostgreSQL by URL.

A transaction that writes is alone: SQLite lets one writer in at a time, and on PostgreSQL the account's row is locked.
Writers commit in line and sync together: a commit lets the next one in at once, and then waits until the write-ahead
log is on the disk up to and beyond it. One sync covers all commits before it, so that many writers share the time that
a disk takes, and nobody goes on before what they wrote, and all that they have seen, survives a power cut.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from discreet.errors import LedgerError, MissingExtra

__all__ = ["Store"]

HEAD = "first"
"""The migration that this version stands on."""

PATIENCE = 60
"""Seconds that a writer waits for others before it gives up."""

MIGRATING = 4711
"""The lock of PostgreSQL under which tables and accounts are made."""

SYNCHRONOUS = "SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'discreet', '')"
"""A transaction that waits for the disk: it flushes the log up to its own end, which is beyond every earlier commit."""


class Store:
    """Connections to one database, and the two kinds of transactions that a ledger uses."""

    def __init__(self, place: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path, url = _place(place)
        self.told = str(self.path) if self.path is not None else url.render_as_string(hide_password=True)
        self.read_only = read_only
        self._queue: int | None = None
        self._threads = threading.Lock()
        if self.path is not None:
            self._look_at_file(self.path)
        try:
            if self.path is not None:
                self._engine = create_engine(
                    "sqlite://", creator=self._connect_sqlite, poolclass=QueuePool, pool_size=1, max_overflow=8
                )
            else:
                self._engine = create_engine(
                    url, isolation_level="AUTOCOMMIT", connect_args={"options": "-c synchronous_commit=off"}
                )
        except ModuleNotFoundError as missing:
            raise MissingExtra(str(missing.name), "postgres") from None
        except (ArgumentError, SQLAlchemyError) as error:
            raise LedgerError(f"{self.told} is no place for a ledger: {_first_line(error)}.") from None
        self._migrate()

    @property
    def is_sqlite(self) -> bool:
        """Whether the ledger is a file."""
        return self.path is not None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the ledger."""
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with _translated(self.told), self._engine.connect() as connection:
            connection.exec_driver_sql(begin)
            try:
                yield connection
            finally:
                connection.exec_driver_sql("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are committed, durably, when the block ends, and undone if it fails."""
        if self.read_only:
            raise LedgerError(f"{self.told} was opened for reading alone.")
        with _translated(self.told), self._engine.connect() as connection:
            with self._turn():
                connection.exec_driver_sql("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
                try:
                    yield connection
                    connection.exec_driver_sql("COMMIT")
                except BaseException:
                    connection.exec_driver_sql("ROLLBACK")
                    raise
            self._sync(connection)

    def _sync(self, connection: Connection) -> None:
        """Wait until everything that was committed so far is on the disk."""
        if self.path is None:
            connection.exec_driver_sql(SYNCHRONOUS)
            return
        try:
            file = os.open(f"{self.path}-wal", os.O_RDWR)
        except FileNotFoundError:  # all of it is in the database itself, which is synced before the log goes
            return
        try:
            _flush(file)
        finally:
            os.close(file)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None

    # SQLite -------------------------------------------------------------------------------------------------------

    def _look_at_file(self, path: Path) -> None:
        if path.is_dir():
            raise LedgerError(f"{path} is a folder. Name a file in it: {path / 'ledger.sqlite'}.")
        if not path.exists():
            if self.read_only:
                raise LedgerError(f"there is no ledger at {path}.")
            if not path.parent.is_dir():
                raise LedgerError(f"there is no folder {path.parent} for a ledger. Make it first.")
            try:
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
                folder = os.open(path.parent, os.O_RDONLY)
                os.fsync(folder)
                os.close(folder)
            except OSError as error:
                raise LedgerError(f"no ledger can be written at {path}: {error.strerror}.") from None
            return
        try:
            with path.open("rb") as file:
                head = file.read(16)
        except OSError as error:
            raise LedgerError(f"the ledger {path} cannot be read: {error.strerror}.") from None
        if head and head != b"SQLite format 3\x00":
            raise LedgerError(f"{path} is no ledger: it is a file of another kind. Name another one.")
        if not self.read_only and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            raise LedgerError(
                f"the ledger {path} cannot be written, nor a log beside it. Nothing can be charged here; to look at "
                "it, use discreet ledger."
            )

    def _connect_sqlite(self) -> Any:  # noqa: ANN401  a connection of the standard library
        import sqlite3

        assert self.path is not None  # noqa: S101  only for files
        mode = "rw" if not self.read_only else "ro" if os.access(self.path.parent, os.W_OK) else "ro&immutable=1"
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        if not self.read_only:
            for setting in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {setting}")
        return connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait in line. SQLite's own lock is what protects; asking it again and again is what this avoids."""
        if self.path is None:
            yield
            return
        try:
            import fcntl
        except ImportError:  # no such lock on this system: SQLite's own is enough
            yield
            return
        with self._threads:
            if self._queue is None:
                self._queue = os.open(f"{self.path}-queue", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._queue, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._queue, fcntl.LOCK_UN)

    # Migrations ---------------------------------------------------------------------------------------------------

    def _migrate(self) -> None:
        with self.reading() as connection:
            version = self._version(connection)
        if version == HEAD:
            return
        if version is not None or self.read_only:
            raise LedgerError(
                f"{self.told} "
                + ("holds no ledger yet." if version is None else "was written by a newer discreet. Update to open it.")
            )
        try:
            from alembic import command
            from alembic.config import Config
        except ImportError as missing:
            raise MissingExtra("alembic", "ledger") from missing
        with self.writing() as connection:
            if not self.is_sqlite:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")
            if self._version(connection) == HEAD:
                return
            config = Config()
            config.set_main_option("script_location", "discreet.ledger:migrations")
            config.attributes["connection"] = connection
            command.upgrade(config, HEAD)

    @staticmethod
    def _version(connection: Connection) -> str | None:
        if not inspect(connection).has_table("discreet_version"):
            return None
        found = connection.exec_driver_sql("SELECT version_num FROM discreet_version").first()
        return None if found is None else str(found[0])


def _place(place: object) -> tuple[Path | None, Any]:
    """Return the path of a file, or the URL of a database."""
    if isinstance(place, os.PathLike):
        return Path(place), None
    if not isinstance(place, str) or not place.strip():
        raise LedgerError("a ledger is a path such as ledger.sqlite, or a URL such as postgresql+psycopg://host/base.")
    if "://" not in place:
        return Path(place), None
    text = place.replace("postgresql://", "postgresql+psycopg://", 1)
    try:
        url = make_url(text)
    except ArgumentError:
        raise LedgerError("this is no URL of a database. Write postgresql+psycopg://user@host/base.") from None
    if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
        return Path(url.database), None
    if url.get_backend_name() != "postgresql":
        raise LedgerError(f"ledgers are kept in SQLite or PostgreSQL, not in {url.get_backend_name()}.")
    return None, url


def _flush(file: int) -> None:
    """Sync a file; where the system has a call that reaches through the cache of the drive, use that."""
    try:
        from fcntl import F_FULLFSYNC, fcntl  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        os.fsync(file)
    else:
        fcntl(file, F_FULLFSYNC)


SAYINGS = (
    (
        "locked",
        "the ledger {place} is busy: another process has been writing for a minute. Nothing was charged. Retry.",
    ),
    ("readonly", "the ledger {place} cannot be written. Nothing was charged. Make the file and its folder writable."),
    ("unable to open", "the ledger {place} cannot be opened. Nothing was charged. Check the path and the rights."),
    ("full", "there is no room left on the disk for the ledger {place}. Nothing was charged. Make room and retry."),
    (
        "disk i/o",
        "the disk of the ledger {place} failed. Whether the last charge was written is found by opening it again.",
    ),
    (
        "malformed",
        "the ledger {place} is damaged. Nothing more is spent from it. Restore the newest copy that verifies.",
    ),
    ("not a database", "{place} is no ledger: it is a file of another kind. Name another one."),
    ("only grows", "the ledger {place} only grows: entries are neither changed nor removed."),
    ("connection", "the database of the ledger {place} cannot be reached. Nothing was released. Check that it runs."),
)


@contextmanager
def _translated(place: str) -> Iterator[None]:
    """Turn what a driver says into one sentence; its own words stay out of sight."""
    said = ""
    try:
        yield
    except DBAPIError as error:
        words = str(error.orig).lower()
        said = next((text for sign, text in SAYINGS if sign in words), "")
        said = said or "the database of the ledger {place} refused: " + type(error.orig).__name__ + "."
    if said:
        raise LedgerError(said.format(place=place))


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
