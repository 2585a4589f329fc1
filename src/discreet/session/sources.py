"""The tables of a session: where each is, what is declared about it, and whether it is private."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from discreet.errors import DiscreetError, InvalidInput, InvalidParameter
from discreet.process import check_process, process
from discreet.tables.dialects import Stored
from discreet.tables.engines import Engine, Relation, engine_for
from discreet.tables.engines.engine import interruptible
from discreet.tables.expressions import Expression, Name
from discreet.tables.kinds import Kind, Value
from discreet.tables.schema import Schema

__all__ = ["Table", "Tables"]

KINDS: dict[Stored, Kind | None] = {
    "bool": "bool",
    "date": "date",
    "decimal": "float",
    "float": "float",
    "int": "int",
    "milliseconds": "timestamp",
    "other": None,
    "str": "str",
    "timestamp": "timestamp",
}
"""What a column is, by how it is stored, if nothing else is declared."""


LOG = logging.getLogger("discreet.curator")

T = TypeVar("T")

CLOSED = "this session is closed, and this spent nothing. Open another one."


@dataclass(frozen=True, slots=True)
class Table:
    """A private table with a schema of its own, for sessions with several; ``key`` names the person in it.

    >>> Table("people.parquet", schema={"age": "int"}, key="id").key
    'id'
    """

    source: object
    schema: object = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """A table that the engine can read."""

    name: str
    relation: Relation
    schema: Schema
    private: bool
    key: str | None


class Tables:
    """All tables of a session, in one engine."""

    def __init__(
        self,
        data: object,
        *,
        schema: object,
        name: str | None,
        public: Mapping[str, object] | None,
        key: str | None,
        engine: object,
        settings: Mapping[str, Any],
    ) -> None:
        private = _named(data, schema, name, key)
        shared = {str(title): _table(source, None) for title, source in (public or {}).items()}
        if both := set(private) & set(shared):
            raise InvalidParameter(f"{', '.join(sorted(both))} is given as private and as public.")
        self._lock, self._users, self._closing = threading.Lock(), 0, False
        first = next(iter(private.values())).source
        self._process = process()
        self._engine = _or_refused("the engine cannot be opened", lambda: engine_for(first, settings, engine))
        self.attached = {
            title: self._attach(title, table, private=title in private) for title, table in (private | shared).items()
        }
        for table in self.attached.values():
            if table.private and table.key is not None and table.key not in table.relation.columns:
                raise InvalidParameter(
                    f"{table.name} has no column {table.key!r} to tell persons apart. "
                    f"It has: {', '.join(table.relation.columns) or 'none'}."
                )
            if table.private and (told := table.relation.alike.get(table.key or "")):
                raise InvalidParameter(f"{table.name}.{table.key} tells persons apart, and it {told}")

    @property
    def engine(self) -> Engine:
        """The engine, in the process that opened it: connections and threads of engines do not survive a fork."""
        self.check_process()
        if self._engine.closed:
            raise InvalidParameter(CLOSED)
        return self._engine

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the engine open for what is inside; refuse to begin with a closed one, before anything is charged."""
        self.check_process()
        with self._lock:
            if self._closing or self._engine.closed:
                raise InvalidParameter(CLOSED)
            self._users += 1
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            last = self._closing and not self._users
        if last:
            self._engine.close()

    def check_process(self) -> None:
        """Refuse a session that was copied by a fork, before anything is charged."""
        check_process(self._process, "this session", "Open a session in each process, on an account of one ledger.")

    def close(self) -> None:
        """Begin nothing any more, and close the engine, at once or with the end of the last who uses it.

        A process that was forked has a copy, and leaves it alone.
        """
        if self._process != process():
            return
        with self._lock:
            self._closing, idle = True, not self._users
        if idle:
            self._engine.close()

    def _attach(self, name: str, table: Table, *, private: bool) -> Attached:
        declared = Schema.read(table.schema)  # type: ignore[arg-type]
        relation = _or_refused(
            f"the table {name} cannot be opened",
            lambda: self.engine.attach(name, table.source, tuple(declared.columns)),
        )
        types = {column: KINDS[stored] for column, stored in relation.columns.items()}
        return Attached(name, relation, declared.completed(types), private, table.key if private else None)

    def __getitem__(self, name: str) -> Attached:
        if name not in self.attached:
            raise InvalidParameter(f"there is no table {name}. There are: {', '.join(self.attached)}.")
        return self.attached[name]

    def check_unique(self, table: Attached, alias: str, columns: list[str], values: list[str]) -> None:
        """Refuse a public table in which a key, as it is compared, occurs twice: a private row would count twice."""
        chosen = ", ".join(f"{value} AS v_{i}" for i, value in enumerate(values))
        names = [f"v_{i}" for i in range(len(values))]
        known = " AND ".join(f"{name} IS NOT NULL" for name in names)
        read = f"SELECT {chosen} FROM {table.relation.sql} {alias}"
        grouped = f"SELECT 1 AS one FROM ({read}) r WHERE {known} GROUP BY {', '.join(names)} HAVING COUNT(*) > 1"
        twice = self._public(table, f"SELECT COUNT(*) AS n FROM ({grouped}) d")[0]["n"]
        if twice:
            raise InvalidParameter(
                f"the public table {table.name} has the same {', '.join(columns)} in several rows, so that a private "
                "row would be counted several times. Keep one row for each."
            )

    def values(self, column: Name) -> tuple[Value, ...]:
        """Return the different values of a column of a public table, in order."""
        table = self[str(column.table)]
        if table.private:
            raise InvalidParameter(f"{table.name} is private: its values are no public keys.")
        if column.name not in table.relation.columns:
            raise InvalidParameter(f"{table.name} has no column {column.name}.")
        name, kind = self.engine.dialect.identifier(column.name), table.schema[column.name].type
        read = None if kind is None else self.engine.dialect.read(name, table.relation.columns[column.name], kind)
        if read is None or kind in ("float", "timestamp"):
            raise InvalidParameter(f"{table.name}.{column.name} is of a type that makes no keys.")
        rows = self._public(table, f"SELECT DISTINCT {read} AS v FROM {table.relation.sql} t")
        return tuple(sorted(row["v"] for row in rows if row["v"] is not None))

    def rows(self, name: str, columns: Sequence[Name]) -> list[tuple[Value, ...]]:
        """Return the different rows of some columns of a public table, in order."""
        table = self[name]
        if table.private:
            raise InvalidParameter(f"{table.name} is private: its rows are no public list.")
        read = []
        for place, column in enumerate(columns):
            if column.name not in table.relation.columns:
                raise InvalidParameter(f"{table.name} has no column {column.name}.")
            stored, kind = table.relation.columns[column.name], table.schema[column.name].type
            value = (
                None
                if kind is None
                else self.engine.dialect.read(self.engine.dialect.identifier(column.name), stored, kind)
            )
            if value is None or kind in ("float", "timestamp"):
                raise InvalidParameter(f"{table.name}.{column.name} is of a type that makes no keys.")
            read.append(f"{value} AS v_{place}")
        found = self._public(table, f"SELECT DISTINCT {', '.join(read)} FROM {table.relation.sql} t")
        listed = (tuple(row[f"v_{place}"] for place in range(len(columns))) for row in found)
        return sorted((row for row in listed if None not in row), key=repr)

    def values_of(self, value: Expression, names: list[str]) -> tuple[Value, ...] | None:
        """Return the values of an expression that is a column of a public table, and of no private one."""
        if not isinstance(value, Name):
            return None
        having = [name for name in names if value.name in self[name].relation.columns]
        if value.table is not None:
            having = [name for name in having if name == value.table]
        if len(having) != 1 or self[having[0]].private:
            return None
        kind = self[having[0]].schema[value.name].type
        return None if kind in ("float", "timestamp", None) else self.values(Name(value.name, having[0]))

    def _public(self, table: Attached, sql: str) -> list[dict[str, Any]]:
        rows = _or_refused(f"the public table {table.name} cannot be read", lambda: self.engine.run(sql).to_pylist())
        return cast("list[dict[str, Any]]", rows)

    @property
    def protected(self) -> str:
        """Who is protected, by the columns that tell persons apart."""
        keys = {table.name: table.key for table in self.private}
        if None in keys.values():
            return "rows"
        if len(set(keys.values())) == 1:
            return f"persons by {next(iter(keys.values()))}"
        return f"persons by {', '.join(f'{name}.{key}' for name, key in sorted(keys.items()))}"

    @cached_property
    def fingerprint(self) -> list[object]:
        """What is declared of every table, and what public ones hold: the same for sessions that answer alike."""
        told: list[object] = []
        for name, table in sorted(self.attached.items()):
            content = None if table.private else self._digest(table)
            told.append([name, table.private, table.key, repr(table.schema), content])
        return told

    def _digest(self, table: Attached) -> str:
        """Return a hash of the rows of a public table, in whatever order an engine gives them."""
        rows = self._public(table, f"SELECT * FROM {table.relation.sql} t")
        total = sum(int.from_bytes(sha256(repr(sorted(row.items())).encode()).digest()) for row in rows)
        return f"{len(rows)}:{total % 2**256:x}"

    @property
    def private(self) -> list[Attached]:
        """The private tables."""
        return [table for table in self.attached.values() if table.private]


def _or_refused(words: str, ask: Callable[[], T]) -> T:
    """Return what an engine answers before anything is charged; what it raises becomes an error of fixed words.

    An engine's own text may hold values, SQL or a password, and so may the errors that led to one of ours.
    """
    found = None
    try:
        with interruptible():
            found = ask()
    except DiscreetError as error:
        error.__cause__ = error.__context__ = None
        raise
    except Exception:
        LOG.exception("%s", words)
    if found is None:  # raised here, the error holds no trace of the engine's own
        raise InvalidInput(f"{words}. The curator's log says why.")
    return found


def _named(data: object, schema: object, name: str | None, key: str | None) -> dict[str, Table]:
    if isinstance(data, Mapping):
        if not data or name is not None:
            raise InvalidParameter("give at least one table; several are named by their keys, without name=.")
        schemas = schema if isinstance(schema, Mapping) else {}
        if unknown := set(schemas) - set(data):
            raise InvalidParameter(
                "with several tables a schema maps each of them to its columns; "
                f"there is no table {', '.join(map(str, unknown))}."
            )
        return {str(title): _table(source, schemas.get(title), key) for title, source in data.items()}
    table = _table(data, schema, key)
    return {name or _stem(table.source): table}


def _table(source: object, schema: object, key: str | None = None) -> Table:
    if isinstance(source, Table):
        return Table(source.source, source.schema if source.schema is not None else schema, source.key or key)
    return Table(source, schema, key)


def _stem(source: object) -> str:
    """Return the name of a file or database table, and of a frame the word data."""
    if isinstance(source, Path):
        return source.stem.partition(".")[0]
    if isinstance(source, str):
        if "://" in source:
            return source.rpartition("#")[2].rpartition(".")[2] or "data"
        text = source
        stem = Path(text).stem.partition(".")[0] if "/" in text or Path(text).suffix else text.rpartition(".")[2]
        return "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in stem) or "data"
    return "data"
