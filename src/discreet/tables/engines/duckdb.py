"""DuckDB: files, frames and its own tables, in this process."""

import logging
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, InvalidInput, InvalidParameter, MissingExtra
from discreet.tables.dialects import DuckDB, Stored
from discreet.tables.engines.engine import Engine, Relation, interruptible
from discreet.tables.engines.equality import collated_columns, mixed_columns, usual_collation
from discreet.tables.engines.files import check_alike, escaped, files_of, header, one_order
from discreet.tables.engines.parquet import milliseconds, stored_columns
from discreet.tables.engines.stopping import stopped_after

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DuckDBEngine"]

LOG = logging.getLogger("discreet.curator")

TYPES: dict[str, Stored] = {
    "BOOLEAN": "bool",
    "DATE": "date",
    "DOUBLE": "float",
    "FLOAT": "float",
    "VARCHAR": "str",
    "UUID": "str",
    "UBIGINT": "decimal",
    "HUGEINT": "decimal",
    "UHUGEINT": "decimal",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "TINYINT": "int",
    "SMALLINT": "int",
    "INTEGER": "int",
    "BIGINT": "int",
    "UTINYINT": "int",
    "USMALLINT": "int",
    "UINTEGER": "int",
}

MOMENTS = {
    "TIMESTAMP_S": ("0001-01-01 00:00:00", "9999-12-31 23:59:59"),
    "TIMESTAMP_MS": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999"),
    "TIMESTAMP_NS": ("1677-09-22 00:00:00", "2262-04-11 23:47:16.854775806"),
    "TIMESTAMP WITH TIME ZONE": ("0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00"),
}
"""The first and the last moment that is read, of the types that do not count microseconds without a time zone."""

LARGEST_OBJECT = 2**27
"""How many bytes one record of a JSON file may have."""

PLAIN = "hive_partitioning = false"
"""The name of a folder is no column: ``user=7`` would stand in place of what the files in it say."""

DENSE = 2**21
"""So many groups named by whole numbers, over all threads, get places of their own instead of a hash table.

A place takes some tens of bytes, all of them are taken at once, and DuckDB does not count them as memory.
"""

YEARS = (-62_135_596_800, 253_402_300_799)
"""The first second of the year 1 and the last of the year 9999."""


class DuckDBEngine(Engine):
    """A connection of its own, or one that it is given.

    ``memory`` is what DuckDB may hold (``"2GB"``) before it writes to disk.
    """

    def __init__(self, connection: Any = None, *, memory: str | None = None, threads: int | None = None) -> None:  # noqa: ANN401
        try:
            import duckdb
        except ImportError:
            raise MissingExtra("duckdb", "tables") from None
        self.dialect = DuckDB()
        self._own = connection is None
        try:
            self._usual = "" if connection is None else usual_collation(connection)
        except duckdb.Error:
            raise InvalidInput(
                "the DuckDB connection does not answer: roll its transaction back, or open it."
            ) from None
        self._connection = duckdb.connect() if connection is None else connection.cursor()
        self._connection.execute("SET SESSION default_collation = ''")  # texts are compared byte by byte
        self._lock = threading.RLock()
        self._held: list[object] = []
        self._headers: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._footers: dict[tuple[str, ...], list[tuple[str, str, bool]]] = {}
        self._tables: dict[str, tuple[list[tuple[str, str]], dict[str, str]]] = {}
        self._unread: set[str] = set()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET enable_progress_bar = true")  # without it nothing tells how far a query is
        self._connection.execute("SET enable_progress_bar_print = false")
        if memory is not None:
            self._connection.execute("SET memory_limit = $1", [str(memory)])
        if threads is not None:
            self._connection.execute("SET threads = $1", [int(threads)])
        if memory is None:
            self._widen()

    def _widen(self) -> None:
        """Let this connection, and no other, group by numbers of a wide range without hashing them: persons, mostly."""
        ((threads,),) = self._connection.execute("SELECT current_setting('threads')").fetchall()
        bits = (DENSE // int(threads)).bit_length() - 1
        self._connection.execute("SET SESSION perfect_ht_threshold = $1", [max(bits, 12)])

    def attach(self, name: str, source: object, declared: Sequence[str] = ()) -> Relation:
        """Attach a file, a glob, a frame, an Arrow table, or the name of one of DuckDB's own tables.

        The types of a text file would be guessed from its rows, so everything in it is read as text. A CSV file has its
        names in the first line; a JSON file has the columns that are declared. Several files have the same columns, in
        any order.
        """
        readable, found, arrow = True, None, None
        alike, self._unread = {}, set()
        try:
            with interruptible():
                if isinstance(source, str | Path):
                    sql = self._file(source, declared)
                    alike = {} if self._own else collated_columns(self._connection, sql, self._usual)
                    if sql.startswith('"'):
                        self._tables[sql] = self._described(sql)
                else:
                    view = f"discreet_{len(self._held)}_{name}"
                    self._held.append(source)
                    arrow = self._arrow(source)
                    self._connection.register(view, arrow)
                    sql = self.dialect.identifier(view)
                    alike = {} if self._own else collated_columns(self._connection, sql, self._usual)
                    if type(source).__module__.partition(".")[0] == "pandas":
                        alike |= mixed_columns(source)
                sql = self._timed(sql)
                described = self._connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
                columns = {str(row[0]): _stored(str(row[1])) for row in described}
                unread = self._unread & set(columns)
                found = Relation(sql, columns | dict.fromkeys(unread, "milliseconds"), alike)
        except DiscreetError:
            raise
        except Exception:  # what DuckDB says may hold values
            LOG.exception("%s cannot be opened", name)
            readable = False
        if not readable or found is None:
            raise InvalidInput(
                f"the table {name} cannot be opened{self._unreadable(arrow)}. The curator's log says why."
            )
        return found

    def _unreadable(self, arrow: "pa.Table | None") -> str:
        """Name the columns of a table whose types DuckDB does not read."""
        names = []
        for field in () if arrow is None else arrow.schema:
            try:
                self._connection.register("discreet_tried", _column_alone(field))
                self._connection.execute("DESCRIBE SELECT * FROM discreet_tried")
            except Exception:
                names.append(f"{field.name} ({field.type})")
        return f": it has columns of types that cannot be read, {', '.join(names)}; drop or cast them" if names else ""

    def _timed(self, sql: str) -> str:
        """Return a relation whose moments are counted in microseconds of UTC.

        A moment of a year far away is missing before its type is changed, which would fail.
        """
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        replaced = []
        for name, kind in ((self.dialect.identifier(str(row[0])), str(row[1])) for row in described):
            if kind in MOMENTS:
                start, end = (f"CAST('{moment}' AS {kind})" for moment in MOMENTS[kind])
                replaced.append(
                    f"CAST(CASE WHEN {name} BETWEEN {start} AND {end} THEN {name} END AS TIMESTAMP) AS {name}"
                )
        return f"(SELECT * REPLACE ({', '.join(replaced)}) FROM {sql})" if replaced else sql

    def run(self, sql: str, *, seconds: float | None = None) -> "pa.Table":
        """Return the result; one query at a time."""
        with self._lock, stopped_after(seconds, self.interrupt), interruptible():
            self._check_sources()
            try:
                answer = self._connection.execute(sql).to_arrow_table()
            except RuntimeError:  # Ctrl-C; without this the query goes on, and the next one waits for it
                self._connection.interrupt()
                raise
            self._check_sources()  # they may have changed while the rows were read
            return answer

    def turn(self) -> AbstractContextManager[object]:
        """Hold the connection."""
        return self._lock

    def interrupt(self) -> None:
        """Stop the query that runs."""
        self._connection.interrupt()

    def progress(self) -> float | None:
        """Return which part of the running query is done; DuckDB knows it of scans, after a moment."""
        percent = float(self._connection.query_progress())
        return percent / 100 if 0 <= percent <= 100 else None

    def close(self) -> None:
        """Close the connection, when nobody uses it any more."""
        with self._lock:
            self.closed = True
            self._connection.close()

    def _file(self, source: str | Path, declared: Sequence[str]) -> str:
        text = str(source)
        suffixes = [suffix.lower() for suffix in Path(text).suffixes]
        ending = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in (".gz", ".zst") else "".join(suffixes[-1:])
        if ending not in (".parquet", ".pq", ".csv", ".tsv", ".json", ".jsonl", ".ndjson"):
            if not isinstance(source, Path) and not self._own and "/" not in text:
                return ".".join(self.dialect.identifier(part) for part in text.split("."))
            raise InvalidParameter(
                f"{text} is not a Parquet, CSV or JSON file. Give a path with such an ending, a frame, an Arrow table, "
                "or a table of a database."
            )
        found = files_of(source)
        if ending in (".parquet", ".pq"):
            if len(found) > 1:
                check_alike({path: self._columns(path) for path in found})
            files = tuple(escaped(path) for path in found)
            self._footers[files] = stored_columns(self._connection, files)
            self._unread = milliseconds(self._footers[files])
            return f"read_parquet({self._listed(found)}, {PLAIN})"
        if ending in (".csv", ".tsv"):
            return self._separated(found, "," if ending == ".csv" else "\t")
        if not declared:
            raise InvalidParameter("a JSON file has no list of columns: declare those that are used in the schema.")
        lines = "array" if ending == ".json" else "newline_delimited"
        columns, skip = self._texts(declared), str(ending != ".json").lower()
        size = f"maximum_object_size = {LARGEST_OBJECT}"
        options = f"format = '{lines}', records = true, ignore_errors = {skip}, {size}, {PLAIN}"
        return f"read_json({self._listed(found)}, {options}, columns = {columns})"

    def _columns(self, path: str) -> dict[str, str]:
        """Return the names and types of the columns of a Parquet file itself."""
        one = f"read_parquet({self._listed([path])}, {PLAIN})"
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {one}").fetchall()
        return {str(row[0]): str(row[1]) for row in described}

    def _separated(self, found: Sequence[str], comma: str) -> str:
        """Return CSV files, those of each order of columns by themselves, put together by name."""
        headers = {path: header(path, comma) for path in found}
        check_alike({path: dict.fromkeys(names, "VARCHAR") for path, names in headers.items()})
        self._headers |= {path: (comma, names) for path, names in headers.items()}
        options = (
            f"auto_detect = false, header = true, delim = '{comma}', quote = '\"', escape = '\"', "
            f"strict_mode = false, parallel = false, ignore_errors = true, {PLAIN}"
        )
        parts = [
            f"read_csv({self._listed(paths)}, {options}, columns = {self._texts(names)})"
            for names, paths in one_order(headers).items()
        ]
        if len(parts) == 1:
            return parts[0]
        return f"({' UNION ALL BY NAME '.join(f'SELECT * FROM {part}' for part in parts)})"

    def _check_sources(self) -> None:
        """Refuse sources whose columns are others than when they were opened: they would be mixed up, or rounded."""
        for path, (comma, names) in self._headers.items():
            if header(path, comma) != names:
                raise InvalidInput(f"the first line of {path} has changed. Open a new session.")
        if any(stored_columns(self._connection, files) != told for files, told in self._footers.items()):
            raise InvalidInput("the columns of a Parquet file have changed. Open a new session.")
        if any(self._described(sql) != told for sql, told in self._tables.items()):
            raise InvalidInput("the columns of a table have changed. Open a new session.")

    def _described(self, sql: str) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Return names, types and collations that fold of one of DuckDB's own tables."""
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        return [(str(row[0]), str(row[1])) for row in described], collated_columns(self._connection, sql, self._usual)

    def _listed(self, paths: Sequence[str]) -> str:
        return f"[{', '.join(self.dialect.string(escaped(path)) for path in paths)}]"

    def _texts(self, names: Sequence[str]) -> str:
        return "{" + ", ".join(f"{self.dialect.string(name)}: 'VARCHAR'" for name in names) + "}"

    def _arrow(self, source: Any) -> object:  # noqa: ANN401  a frame of some library
        """Return a frame as Arrow, without a copy where it can be; columns of Python objects become texts."""
        module = type(source).__module__.partition(".")[0]
        if type(source).__name__ == "Series":
            module = ""  # one column is no table
        if module == "pyarrow" and type(source).__name__ == "Table":
            return _readable(source)
        if module == "polars":
            lazy = getattr(source, "collect", None)
            return _readable(_polars(lazy() if lazy is not None else source))
        if module == "pandas":
            return _readable(_pandas(source))
        raise InvalidParameter(
            f"a table is a path, a pandas or Polars frame, an Arrow table or a database table, got "
            f"{type(source).__name__}."
        )


def _stored(told: str) -> Stored:
    if told.startswith("DECIMAL"):
        return "decimal"
    if told.startswith("ENUM"):
        return "str"
    return TYPES.get(told, "other")


def _readable(table: "pa.Table") -> "pa.Table":
    """Return a table in which every value can be read: texts are UTF-8, and moments have years that exist.

    DuckDB trusts Arrow. A text that is none, or a moment it cannot count in microseconds, would stop every query that
    meets it, so the first is refused here, where the curator sees it, and the second is made missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    _check_names(table.column_names)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise InvalidInput(
            "the table holds texts that are not UTF-8, or is damaged otherwise. Repair it first."
        ) from None
    for place, column in enumerate(table.schema):
        if pa.types.is_float16(column.type):  # DuckDB has no such type; single precision holds each of them
            table = table.set_column(place, column.name, table.column(place).cast(pa.float32()))
        if not pa.types.is_timestamp(column.type):
            continue
        ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
        number = table.column(place).cast(pa.int64())
        low, high = (max(min(end * ticks, 2**63 - 1), -(2**63)) for end in YEARS)
        inside = pc.and_(pc.greater_equal(number, low), pc.less_equal(number, high))
        kept = pc.if_else(inside, number, pa.scalar(None, pa.int64())).cast(pa.timestamp(column.type.unit))
        table = table.set_column(place, column.name, kept.cast(pa.timestamp("us"), safe=False))
    return table


def _text(value: object) -> str | None:
    """Return an object as text; nothing for what pandas calls missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    return str(value).encode("utf-8", "replace").decode()  # half a surrogate pair is no text anywhere else


def _pandas(frame: Any) -> "pa.Table":  # noqa: ANN401  a pandas frame
    """Return a pandas frame as Arrow. Objects are written as text one by one: their type must not depend on others."""
    import pyarrow as pa

    names = [
        name if isinstance(name, str) else None if isinstance(name, tuple) else str(name) for name in frame.columns
    ]
    _check_names(names)
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        column, made = frame.iloc[:, place], None
        try:
            if _is_text(column.dtype):
                made = pa.array(map(_text, column.tolist()), type=pa.string())
            else:
                made = pa.Array.from_pandas(column)
        except Exception:  # what Arrow says holds the value that it stumbled on
            LOG.exception("a column cannot be read")
        if made is None:
            raise InvalidInput(
                f"the column {name} of type {type(column.dtype).__name__} cannot be read: its values are not of one "
                "type. Cast it to text or to numbers first."
            )
        columns[str(name)] = made
    return pa.table(columns)


def _is_text(kind: Any) -> bool:  # noqa: ANN401  a type of pandas
    """Whether values are written as texts: objects, and categories that are neither numbers, moments nor texts."""
    categories = getattr(kind, "categories", None)
    if categories is None:
        return str(kind) == "object"
    return categories.dtype.kind not in "iufbM" and not all(isinstance(one, str) for one in categories)


def _polars(frame: Any) -> "pa.Table":  # noqa: ANN401  a polars frame
    """Return a Polars frame as Arrow; columns of Python objects are none that Arrow has."""
    if objects := [name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if str(kind) == "Object"]:
        raise InvalidInput(f"columns of Python objects cannot be read: {', '.join(objects)}. Cast or drop them.")
    table: pa.Table = frame.to_arrow()
    return table


def _check_names(names: Sequence[str | None]) -> None:
    """Refuse names of columns that SQL could not tell apart, or that are none."""
    if not names:
        raise InvalidInput("a table has at least one column.")
    if any(not name or "\x00" in name for name in names):
        raise InvalidInput("every column has a name that is a text, not empty and not of several levels. Rename them.")
    seen = [str(name).casefold() for name in names]
    if twice := sorted({str(name) for name in names if seen.count(str(name).casefold()) > 1}):
        raise InvalidInput(
            f"columns must differ in more than upper and lower case, and each is there once: {', '.join(twice)}. "
            "Rename them."
        )


def _column_alone(field: "pa.Field") -> "pa.Table":
    """Return a table without rows that has one column."""
    import pyarrow as pa

    return pa.schema([field]).empty_table()
