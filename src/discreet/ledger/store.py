"""The database behind a ledger: SQLite in a file, or PostgreSQL by URL.

A transaction that writes is alone: SQLite lets one writer in at a time, and on PostgreSQL a lock is taken before
anything is read, so that all of it is read as the writer before left it. Writers commit in line and sync together: a
commit lets the next one in at once, and then waits until the write-ahead log is on the disk up to and beyond it. One
sync covers all commits before it, so that many writers share the time that a disk takes, and nobody goes on before what
they wrote, and all that they have seen, survives a power cut.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool

from discreet.errors import LedgerError, MissingExtra
from discreet.ledger.file import LedgerFile
from discreet.ledger.forks import closed_before_forks, in_use

__all__ = ["Store", "url_of", "url_told"]

HEAD = "first"
"""The migration that this version stands on."""

PATIENCE = 60
"""Seconds that a writer waits for others before it gives up."""

LOCKS = 4711
"""The family of PostgreSQL's locks under which tables (lock 0) and accounts (locks by their place) are written."""

ALONE = """BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = off;
SET LOCAL lock_timeout = '{patience}s'; SET LOCAL idle_in_transaction_session_timeout = '{patience}s';
SELECT pg_advisory_xact_lock({family}, {place})"""
"""What is read after this is no older than the lock: each statement sees what was committed before it began."""

SYNCHRONOUS = "SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'discreet', '')"
"""A transaction that waits for the disk: it flushes the log up to its own end, which is beyond every earlier commit.

It is sent together with the commit before it, which has let the next writer in when this one begins to wait.
"""


class Store:
    """Connections to one database, and the two kinds of transactions that a ledger uses."""

    def __init__(self, place: str | os.PathLike[str], *, read_only: bool = False) -> None:
        path, url = _place(place)
        self.told = str(path) if path is not None else url_told(url)
        self.url = url
        self.read_only = read_only
        self._file: LedgerFile | None = None
        try:
            if path is not None:
                self._file = LedgerFile(path, read_only=read_only, patience=PATIENCE)
                self._engine = create_engine(
                    "sqlite://",
                    creator=self._file.connect,
                    poolclass=QueuePool,
                    pool_size=1,
                    max_overflow=15,
                    pool_timeout=PATIENCE,
                )
            else:
                self._engine = create_engine(
                    url, isolation_level="AUTOCOMMIT", pool_size=4, max_overflow=4, pool_timeout=PATIENCE
                )
        except ModuleNotFoundError as missing:
            raise MissingExtra(str(missing.name), "postgres") from None
        except SQLAlchemyError as error:
            raise LedgerError(f"{self.told} is no place for a ledger: {_first_line(error)}.") from None
        closed_before_forks(self)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path | None:
        """The file, with links followed; None for a database."""
        return None if self._file is None else self._file.path

    @property
    def is_sqlite(self) -> bool:
        """Whether the ledger is a file."""
        return self._file is not None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees one state of the ledger."""
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with _translated(self.told), in_use(), self._engine.connect() as connection:
            connection.exec_driver_sql(begin)
            try:
                yield connection
            finally:
                _undo(connection)

    @contextmanager
    def writing(self, place: int = 0) -> Iterator[Connection]:
        """Give a connection whose changes are committed, durably, when the block ends, and undone if it fails.

        ``place`` is the account that is written; accounts of a PostgreSQL ledger are written side by side.
        """
        if self.read_only:
            raise LedgerError(f"{self.told} was opened for reading alone.")
        with _translated(self.told), in_use(), self._engine.connect() as connection:
            with nullcontext() if self._file is None else self._file.turn():
                try:
                    self._begin(connection, place)
                    yield connection
                    connection.exec_driver_sql("COMMIT" if self.is_sqlite else f"COMMIT; {SYNCHRONOUS}")
                except BaseException:
                    _undo(connection)
                    raise
            self._sync(connection)

    def _begin(self, connection: Connection, place: int) -> None:
        if self._file is None:
            connection.exec_driver_sql(ALONE.format(patience=PATIENCE, family=LOCKS, place=place))
            return
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        self._file.check(_driver(connection))

    def _sync(self, connection: Connection) -> None:
        """Wait until everything that was committed so far is on the disk; PostgreSQL has done so already."""
        if self._file is not None:
            self._file.sync(_driver(connection))

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()
        if self._file is not None:
            self._file.close()

    # Migrations ---------------------------------------------------------------------------------------------------

    def _migrate(self) -> None:
        with self.reading() as connection:
            self._check_schemas(connection)
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
            if self._version(connection) == HEAD:
                return
            config = Config()
            config.set_main_option("script_location", "discreet.ledger:migrations")
            config.attributes["connection"] = connection
            command.upgrade(config, HEAD)

    def _check_schemas(self, connection: Connection) -> None:
        """Refuse a database that has a ledger in another schema than the one that is meant here: it would have two."""
        if self.url is None or "search_path" in str(self.url.query.get("options", "")):
            return
        where = "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'discreet_version'"
        found = connection.exec_driver_sql(f"SELECT n.nspname {where} AND c.relkind = 'r'").scalars().all()
        here = connection.exec_driver_sql("SELECT current_schema()").scalar()
        if found and list(found) != [here]:
            raise LedgerError(
                f"{self.told} has a ledger in the schema {', '.join(sorted(map(str, found)))}, and this user would use "
                f"{here}. One budget must not be kept in two ledgers: add ?options=-csearch_path%3DSCHEMA to the "
                "address, with the schema that is meant."
            )

    @staticmethod
    def _version(connection: Connection) -> str | None:
        if not inspect(connection).has_table("discreet_version"):
            return None
        found = connection.exec_driver_sql("SELECT version_num FROM discreet_version").first()
        return None if found is None else str(found[0])


def _driver(connection: Connection) -> Any:  # noqa: ANN401  a connection of the standard library
    return connection.connection.dbapi_connection


def _undo(connection: Connection) -> None:
    """Roll back, where there is still something to roll back; a connection that cannot is given up."""
    try:
        connection.exec_driver_sql("ROLLBACK")
    except SQLAlchemyError:
        connection.invalidate()


def _place(place: object) -> tuple[Path | None, Any]:
    """Return the path of a file, or the URL of a database."""
    if isinstance(place, os.PathLike):
        return Path(place), None
    if not isinstance(place, str) or not place.strip() or "\x00" in place:
        raise LedgerError("a ledger is a path such as ledger.sqlite, or a URL such as postgresql+psycopg://host/base.")
    if "://" not in place:
        return Path(place), None
    url = url_of(place)
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise LedgerError("a ledger outlives its process, so it needs a file. Write sqlite:///ledger.sqlite.")
        return Path(url.database), None
    if url.get_backend_name() != "postgresql":
        raise LedgerError(f"ledgers are kept in SQLite or PostgreSQL, not in {url.get_backend_name()}.")
    return None, url


def url_of(place: str) -> Any:  # noqa: ANN401  a URL of SQLAlchemy
    """Read the URL of a database."""
    try:
        return make_url(place.replace("postgresql://", "postgresql+psycopg://", 1))
    except (ArgumentError, ValueError):
        pass
    raise LedgerError("this is no URL of a database. Write postgresql+psycopg://user@host/base.")


def url_told(url: Any) -> str:  # noqa: ANN401
    """Write a URL without what may be secret: passwords can stand among its settings too."""
    shown = {name: value for name, value in url.query.items() if name in ("host", "port", "dbname")}
    return str(url.set(query=shown).render_as_string(hide_password=True))


DAMAGED = "the ledger {place} is damaged. Nothing more is spent from it. Restore the newest copy that verifies."

SAYINGS = (
    (
        ("locked", "lock timeout"),
        "the ledger {place} is busy: others have been writing for long. Nothing was charged. Retry.",
    ),
    (
        ("readonly", "read-only"),
        "the ledger {place} cannot be written. Nothing was charged. Make the file and its folder writable.",
    ),
    (
        ("unable to open",),
        "the ledger {place} cannot be opened. Nothing was charged. Check the path and the rights.",
    ),
    (
        ("is full", "no space"),
        "there is no room left on the disk for the ledger {place}. Nothing was charged. Make room and retry.",
    ),
    (
        ("disk i/o",),
        "the disk of the ledger {place} is full or failed. Nothing was released; open it again to see what was spent.",
    ),
    (
        ("connect", "server closed", "terminating", "resolve host", "host name"),
        "the database of the ledger {place} cannot be reached. Nothing was released. Check that it runs.",
    ),
    (("malformed", "decode", "no such", "does not exist"), DAMAGED),
    (("not a database",), "{place} is no ledger: it is a file of another kind. Name another one."),
    (
        ("unique constraint", "foreign key"),
        "the ledger {place} keeps one answer for each charge; this one has it, or is no charge. Nothing changed.",
    ),
    (("only grows",), "the ledger {place} only grows: entries are neither changed nor removed."),
)


@contextmanager
def _translated(place: str) -> Iterator[None]:
    """Turn what a driver says into one sentence; its own words stay out of sight."""
    said = ""
    try:
        yield
    except PoolTimeout:
        said = SAYINGS[0][1]
    except DBAPIError as error:
        words = str(error.orig).lower()
        said = next((text for signs, text in SAYINGS if any(sign in words for sign in signs)), "")
        said = said or "the database of the ledger {place} refused: " + type(error.orig).__name__ + "."
    except SQLAlchemyError as error:
        said = "the database of the ledger {place} failed: " + type(error).__name__ + ". Nothing was released."
    except UnicodeError:  # a damaged text, perhaps in what the driver wanted to say
        said = DAMAGED
    except OSError as error:
        said = (
            "the disk of the ledger {place} failed: " + (error.strerror or "no reason was given") + ". Nothing was "
            "released; open it again to see what was charged."
        )
    if said:
        failed = LedgerError(said.format(place=place))
        try:
            raise failed
        finally:
            failed.__context__ = None  # what ends a with statement is chained to what the driver said


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
