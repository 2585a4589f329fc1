"""DuckDB: files, frames and its own tables, in this process."""

import csv
import glob
import gzip
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, InvalidInput, InvalidParameter, MissingExtra
from discreet.tables.dialects import DuckDB, Stored
from discreet.tables.engines.engine import Engine, Relation, interruptible

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


LARGEST_OBJECT = 2**27
"""How many bytes one record of a JSON file may have."""

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
        self._connection = duckdb.connect() if connection is None else connection.cursor()
        self._lock = threading.Lock()
        self._held: list[object] = []
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
        names in the first line; a JSON file has the columns that are declared.
        """
        readable, found, arrow = True, None, None
        try:
            with interruptible():
                if isinstance(source, str | Path):
                    sql = self._file(source, declared)
                else:
                    view = f"discreet_{len(self._held)}_{name}"
                    self._held.append(source)
                    arrow = self._arrow(source)
                    self._connection.register(view, arrow)
                    sql = self.dialect.identifier(view)
                sql = self._timed(sql)
                described = self._connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
                found = Relation(sql, {str(row[0]): _stored(str(row[1])) for row in described})
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
        """Return a relation whose moments are counted in microseconds: those of seconds may have years far away."""
        described = self._connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
        replaced = []
        for name, kind in ((self.dialect.identifier(str(row[0])), str(row[1])) for row in described):
            if kind in ("TIMESTAMP_S", "TIMESTAMP_MS"):
                start, end = (f"CAST('{day}' AS {kind})" for day in ("0001-01-01", "9999-12-31"))
                replaced.append(
                    f"CAST(CASE WHEN {name} BETWEEN {start} AND {end} THEN {name} END AS TIMESTAMP) AS {name}"
                )
        return f"(SELECT * REPLACE ({', '.join(replaced)}) FROM {sql})" if replaced else sql

    def run(self, sql: str) -> "pa.Table":
        """Return the result; one query at a time."""
        with self._lock, interruptible():
            try:
                return self._connection.execute(sql).to_arrow_table()
            except RuntimeError:  # Ctrl-C; without this the query goes on, and the next one waits for it
                self._connection.interrupt()
                raise

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
            self._connection.close()

    def _file(self, source: str | Path, declared: Sequence[str]) -> str:
        text = str(source)
        suffixes = [suffix.lower() for suffix in Path(text).suffixes]
        ending = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in (".gz", ".zst") else "".join(suffixes[-1:])
        path = self.dialect.string(text)
        if ending not in (".parquet", ".pq", ".csv", ".tsv", ".json", ".jsonl", ".ndjson"):
            if not isinstance(source, Path) and not self._own and "/" not in text:
                return ".".join(self.dialect.identifier(part) for part in text.split("."))
            raise InvalidParameter(
                f"{text} is not a Parquet, CSV or JSON file. Give a path with such an ending, a frame, an Arrow table, "
                "or a table of a database."
            )
        found = sorted(glob.glob(text, recursive=True))  # noqa: PTH207  a pattern may be absolute
        if not found:
            raise InvalidParameter(f"there is no file {text}.")
        if ending in (".parquet", ".pq"):
            return f"read_parquet({path})"
        if ending in (".csv", ".tsv"):
            comma = "," if ending == ".csv" else "\t"
            columns = self._texts(_header(found[0], comma))
            return (
                f"read_csv({path}, auto_detect = false, header = true, delim = '{comma}', quote = '\"', escape = '\"', "
                f"strict_mode = false, parallel = false, ignore_errors = true, columns = {columns})"
            )
        if not declared:
            raise InvalidParameter("a JSON file has no list of columns: declare those that are used in the schema.")
        lines = "array" if ending == ".json" else "newline_delimited"
        columns, skip = self._texts(declared), str(ending != ".json").lower()
        size = f"maximum_object_size = {LARGEST_OBJECT}"
        options = f"format = '{lines}', records = true, ignore_errors = {skip}, {size}"
        return f"read_json({path}, {options}, columns = {columns})"

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


LONGEST_HEADER = 1_000_000


def _header(path: str, comma: str) -> list[str]:
    """Return the names in the first line of a CSV file: no quote may go on into the rows."""
    try:
        if path.endswith(".zst"):
            raise InvalidParameter("compressed CSV files are read as .gz: their first line holds the names.")
        with (
            gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
            if path.endswith(".gz")
            else Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as lines
        ):
            names = next(csv.reader([lines.readline(LONGEST_HEADER)], delimiter=comma, strict=True), [])
    except (OSError, EOFError, csv.Error):
        raise InvalidParameter(f"{path} cannot be read as a CSV file.") from None
    if not names or len({name.casefold() for name in names}) < len(names) or not all(names):
        raise InvalidParameter(f"the first line of {path} must name every column once, in whatever case.")
    return names


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
