"""PostgreSQL as an engine: one connection that only reads.

A source is ``PostgresTable(url, "schema.table")``, or a URL with the table after a hash; without one the table has the
name that it is attached under.
"""

import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidInput, InvalidParameter, MissingExtra
from discreet.tables.dialects import PostgreSQL, Stored
from discreet.tables.engines.engine import Engine, Relation, interruptible
from discreet.tables.engines.equality import folding

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

__all__ = ["PostgresEngine", "PostgresTable"]

SCHEMES = ("postgresql://", "postgres://")

SETTINGS = {
    "DateStyle": "ISO, YMD",
    "extra_float_digits": "1",
    "search_path": "pg_catalog",
    "standard_conforming_strings": "on",
    "TimeZone": "UTC",
    "transform_null_equals": "off",
}
"""What gives SQL its meaning, set for each transaction. Nobody else's functions are found under the names of built-in
ones."""

STORED: dict[str, Stored] = {
    "bool": "bool",
    "bpchar": "str",
    "date": "date",
    "float4": "float",
    "float8": "float",
    "int2": "int",
    "int4": "int",
    "int8": "int",
    "name": "str",
    "numeric": "decimal",
    "text": "str",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "uuid": "str",
    "varchar": "str",
}

COLUMNS = """
WITH RECURSIVE stored (place, name, type, compared) AS (
    SELECT attnum, attname, atttypid, attcollation FROM pg_catalog.pg_attribute
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT place, name, typbasetype, compared FROM stored JOIN pg_catalog.pg_type ON oid = type WHERE typtype = 'd'
)
SELECT name, typname, typtype, nspname,
    (SELECT collname FROM pg_catalog.pg_collation WHERE oid = compared AND NOT collisdeterministic) FROM stored
JOIN pg_catalog.pg_type ON pg_type.oid = type JOIN pg_catalog.pg_namespace ON pg_namespace.oid = typnamespace
WHERE typtype <> 'd' ORDER BY place
"""
"""Names and types of columns, of a domain the type below it; and collations that take different texts for the same."""


@dataclass(frozen=True, slots=True)
class PostgresTable:
    """A table or view of a PostgreSQL database; the URL may hold a password and is not shown.

    >>> PostgresTable("postgresql://reader:secret@localhost/shop", "sales.visits")
    PostgresTable(table='sales.visits')
    """

    url: str = field(repr=False)
    table: str

    @classmethod
    def read(cls, name: str, source: object) -> "PostgresTable":
        """Return the table that a source names, by default the one it is attached as.

        >>> PostgresTable.read("visits", "postgresql://localhost/shop#sales.visits")
        PostgresTable(table='sales.visits')
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, str) and source.startswith(SCHEMES):
            url, _, table = source.partition("#")
            return cls(url, table or name)
        raise InvalidParameter(
            "a PostgreSQL source is PostgresTable(url, table) or a URL such as "
            f"postgresql://localhost/shop#sales.visits, got {type(source).__name__}."
        )


class PostgresEngine(Engine):
    """Tables of one PostgreSQL database, read in transactions that cannot write.

    ``timeout`` is the longest that a query may run, in seconds; without one it may take as long as it needs.
    """

    def __init__(self, *, timeout: float | None = None) -> None:
        if timeout is not None and not 0.001 <= timeout < 2**31 / 1000:
            raise InvalidParameter("a timeout is a number of seconds, from 0.001 to 2147483.")
        self.dialect = PostgreSQL()
        self._settings, self._timeout = dict(SETTINGS), timeout
        self._url: str | None = None
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._lock = threading.RLock()
        self._tables: dict[str, list[tuple[Any, ...]]] = {}

    def attach(self, name: str, source: object, declared: Sequence[str] = ()) -> Relation:
        """Look a table up in the catalogue."""
        table = PostgresTable.read(name, source)
        if self._url not in (None, table.url):
            raise InvalidParameter("all PostgreSQL tables of one session come from one database, under the same URL.")
        _check_url(table.url)
        self._url = table.url
        quoted = ".".join(self.dialect.identifier(part) for part in table.table.split(".", 1))
        with self._lock, self._open().transaction(), self._open().cursor() as cursor:
            cursor.execute(
                "SELECT pg_class.oid, nspname, relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace "
                "ON pg_namespace.oid = relnamespace WHERE pg_class.oid = pg_catalog.to_regclass(%s)",
                (quoted,),
            )
            found = cursor.fetchone()
            if found is None:
                raise InvalidParameter(f"the database has no table {table.table}. Write it as schema.table.")
            columns = cursor.execute(COLUMNS, (found[0],)).fetchall()
        sql = f"{self.dialect.identifier(found[1])}.{self.dialect.identifier(found[2])}"
        self._tables[sql] = columns
        stored = {column: _stored(*types) for column, *types, _ in columns}
        return Relation(sql, stored, _alike((column, kind, collation) for column, kind, _, _, collation in columns))

    def run(self, sql: str, *, seconds: float | None = None) -> "pa.Table":
        """Return the result of one statement, sent so that there can be no second; the database itself stops it.

        One query at a time: a limit on seconds begins when it is its turn.
        """
        chosen = self._settings | _timeout(self._timeout, seconds)
        settings = ", ".join(["pg_catalog.set_config(%s, %s, true)"] * len(chosen))
        with self._lock, interruptible(), self._open().transaction(), self._open().cursor() as cursor:
            cursor.execute(f"SELECT {settings}", [word for pair in chosen.items() for word in pair])
            self._check_tables(cursor)
            cursor.execute(sql.encode(), binary=True)
            answer = _table(cursor)
        with self._lock, interruptible(), self._open().transaction(), self._open().cursor() as cursor:
            self._check_tables(cursor)  # a transaction sees the catalogue as it was when it began
        return answer

    def _check_tables(self, cursor: "psycopg.Cursor[tuple[Any, ...]]") -> None:
        """Refuse tables whose columns are others than when they were opened: values would be read in another type."""
        for sql, columns in self._tables.items():
            found = cursor.execute("SELECT pg_catalog.to_regclass(%s)::pg_catalog.oid", (sql,)).fetchone()
            if cursor.execute(COLUMNS, found).fetchall() != columns:
                raise InvalidInput("the columns of a table have changed. Open a new session.")

    def turn(self) -> AbstractContextManager[object]:
        """Hold the connection."""
        return self._lock

    def close(self) -> None:
        """Close the connection, when nobody uses it any more."""
        with self._lock:
            self.closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> "psycopg.Connection[tuple[Any, ...]]":
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if self.closed:
            raise InvalidParameter("the engine is closed. Make another one.")
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("psycopg", "postgres") from None
        if self._url is None:
            raise InvalidParameter("no table is attached yet: call attach first.")
        connection = psycopg.connect(self._url, autocommit=True, client_encoding="UTF8")
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        encoding, version = connection.info.parameter_status("server_encoding"), connection.info.server_version
        if encoding != "UTF8" or version < 140000:
            connection.close()
            raise InvalidParameter(
                "the database must be one of PostgreSQL 14 or later, encoded in UTF8, "
                f"got {version // 10000} and {encoding}."
            )
        self._connection = connection
        return connection


def _check_url(url: str) -> None:
    """Refuse a URL that is read in another way than it was meant: what psycopg says of it shows parts of a password."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    address = url.partition("://")[2].partition("?")[0]
    try:
        port = str(conninfo_to_dict(url).get("port", ""))
    except ProgrammingError:
        port = "none"
    whole = all(part.isdecimal() for part in port.split(",") if part)
    if not whole or address.count("@") > 1 or "@" in address.partition("/")[2]:
        raise InvalidParameter(
            "the URL of a PostgreSQL table cannot be read. Write postgresql://user:password@host:port/base#schema.table"
            " with %40 for @, %2F for /, %23 for #, %3A for : and %20 for a space in the user and the password."
        )


def _timeout(*limits: float | None) -> dict[str, str]:
    """Return the setting of the shortest time that was given, if any."""
    given = [limit for limit in limits if limit is not None]
    if not given:
        return {}
    return {"statement_timeout": f"{min(max(1, int(min(given) * 1000)), 2**31 - 1)}ms"}


def _stored(name: str, sort: str, schema: str) -> Stored:
    if sort == "e" or name == "citext":
        return "str"
    return STORED.get(name, "other") if schema == "pg_catalog" else "other"


def _alike(columns: Iterable[tuple[str, str, str | None]]) -> dict[str, str]:
    """Return the columns in which texts with different bytes are the same, from their types and collations."""
    fix = 'Read it through a view that writes it in one way, for example SELECT lower(key::text COLLATE "C") AS key.'
    return {
        column: folding("of citext" if kind == "citext" else str(collation), fix)
        for column, kind, collation in columns
        if kind == "citext" or collation is not None
    }


def _table(cursor: "psycopg.Cursor[tuple[Any, ...]]") -> "pa.Table":
    """Return all rows; types follow from the query and not from its rows, and decimals are whole numbers."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("pyarrow", "postgres") from None
    types = {
        16: pa.bool_(),
        20: pa.int64(),
        21: pa.int64(),
        23: pa.int64(),
        700: pa.float64(),
        701: pa.float64(),
        1082: pa.date32(),
        1114: pa.timestamp("us"),
        1184: pa.timestamp("us", "UTC"),
        1700: pa.decimal128(38, 0),
    }
    described = cursor.description or []
    rows = cursor.fetchall()
    arrays = [
        pa.array([row[place] for row in rows], type=types.get(column.type_code, pa.string()))
        for place, column in enumerate(described)
    ]
    return pa.Table.from_arrays(arrays, names=[column.name for column in described])
