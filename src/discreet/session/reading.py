"""What a query reads: the columns of its tables, how they are joined, and whose row each is."""

import re
from collections.abc import Sequence
from itertools import count

from discreet.errors import InvalidParameter
from discreet.session.sources import Attached, Tables
from discreet.tables.dialects import Dialect
from discreet.tables.expressions import Name
from discreet.tables.order import PERSON_KINDS
from discreet.tables.query import Query
from discreet.tables.typed import Origin, Scope, Typed
from discreet.units import Person, Row

__all__ = ["scope_of"]

TOLD_APART = (("int", "int"), ("int", "str"), ("str", "str"), ("date", "date"))
"""How a key may be stored and read: no two persons are read as one. In a text file all of them are texts."""


def scope_of(query: Query, tables: Tables, unit: Row | Person) -> tuple[Scope, str, Typed | None]:
    """Return the columns of the joined tables, what stands after FROM, and the person of a row."""
    dialect = tables.engine.dialect
    first = tables[query.table]
    if not first.private:
        raise InvalidParameter(
            f"{first.name} is public: read it as it is, or start from a private table and join it. "
            f"Private: {_names(tables.private)}."
        )
    columns: dict[tuple[str | None, str], Origin | None] = {}
    _enter(columns, first, "t0", dialect)
    scope = Scope(dialect, columns)
    source = f"{first.relation.sql} t0"
    key = None
    if isinstance(unit, Person):
        key = scope.resolve(Name(_key_name(first), first.name))
        if key.kind not in PERSON_KINDS:
            raise InvalidParameter(f"persons are told apart by whole numbers, texts or dates, not by a {key.kind}.")
    for place, join in enumerate(query.joins):
        table = tables[join.table]
        alias = f"t{place + 1}"
        if join.table in (query.table, *(earlier.table for earlier in query.joins[:place])):
            raise InvalidParameter(f"{join.table} is in this query already: a table is joined once.")
        if table.private:
            _private_join(join.on, first, table, unit)
        left = [scope.resolve(_stored(name), stored=True) for name, _ in join.on]
        if any(one.level for one in left):
            raise InvalidParameter("a join compares stored columns.")
        _enter(columns, table, alias, dialect)
        own = Scope(
            dialect,
            {
                (None, name): Origin(
                    f"{alias}.{dialect.identifier(name)}", "", stored, table.schema[name], name == table.key
                )
                for name, stored in table.relation.columns.items()
            },
        )
        right = [own.resolve(Name(name), stored=True) for _, name in join.on]
        for a, b, (name, _) in zip(left, right, join.on, strict=True):
            if a.kind != b.kind or a.kind in ("float", None):
                raise InvalidParameter(
                    f"a join on {name} compares {a.kind} with {b.kind}: both must be of one type, no decimals."
                )
        relation, compared = table.relation.sql, [one.sql for one in right]
        if not table.private:
            tables.check_unique(table, alias, [name for _, name in join.on], compared)
            relation, compared = _once(table, alias, compared, dialect)
        conditions = " AND ".join(f"{_direct(a, scope)} = {b}" for a, b in zip(left, compared, strict=True))
        source += f" {'LEFT' if join.outer else 'INNER'} JOIN {relation} {alias} ON {conditions}"
    return scope, source, key


def _once(table: Attached, alias: str, values: Sequence[str], dialect: Dialect) -> tuple[str, list[str]]:
    """Return the rows of a public table whose key, as it is compared, no other row has; and where these keys stand.

    A table that is checked first and read later may have been replaced in between. Whatever this statement reads, a
    private row meets one row of it at most.
    """
    taken = [name.casefold() for name in table.relation.columns]
    free = next(f"key_{n}_" for n in count() if not any(name.startswith(f"key_{n}_") for name in taken))
    keys = [dialect.identifier(f"{free}{place}") for place in range(len(values))]
    times = dialect.identifier(f"{free}times")
    read = ", ".join(f"{value} AS {key}" for value, key in zip(values, keys, strict=True))
    keyed = f"SELECT {alias}.*, {read} FROM {table.relation.sql} {alias}"  # noqa: S608  all names are quoted
    counted = f"SELECT r.*, COUNT(*) OVER (PARTITION BY {', '.join(keys)}) AS {times} FROM ({keyed}) r"  # noqa: S608
    return f"(SELECT * FROM ({counted}) u WHERE {times} = 1)", [f"{alias}.{key}" for key in keys]  # noqa: S608


def _direct(typed: Typed, scope: Scope) -> str:
    """Return a value in terms of stored columns, for conditions that stand beside FROM."""
    places = "|".join(map(re.escape, scope.used))
    return re.sub(places, lambda place: scope.used[place[0]].source, typed.sql)


def _enter(columns: dict[tuple[str | None, str], Origin | None], table: Attached, alias: str, dialect: Dialect) -> None:
    for name, stored in table.relation.columns.items():
        place = dialect.identifier(f"c_{len(columns)}_")
        source = f"{alias}.{dialect.identifier(name)}"
        origin = Origin(place, source, stored, table.schema[name], name == table.key)
        columns[table.name, name] = origin
        columns[None, name] = None if (None, name) in columns else origin


def _private_join(on: Sequence[tuple[str, str]], first: Attached, table: Attached, unit: Row | Person) -> None:
    if not isinstance(unit, Person):
        raise InvalidParameter(
            "two private tables can be joined only where persons are protected: one row could match many others. "
            'Open the session with unit=dp.Person("key", groups=..., rows=...).'
        )
    wanted = (_key_name(first), _key_name(table))
    sides = [(*_split(left), right) for left, right in on]
    if wanted not in [(column, right) for name, column, right in sides if name in (None, first.name)]:
        raise InvalidParameter(
            f"private tables are joined on the person: on={{{wanted[0]!r}: {wanted[1]!r}}}, perhaps with more columns."
        )


def _key_name(table: Attached) -> str:
    """Return the column that tells persons apart, or refuse one that would be read so that two become the same."""
    if table.key is None:
        raise InvalidParameter(f"{table.name} has no privacy key.")
    column, stored = table.schema[table.key], table.relation.columns[table.key]
    changed = column.bounds is not None or column.nulls not in ("skip", None) or column.max_length is not None
    if changed or (stored, column.type) not in TOLD_APART:
        raise InvalidParameter(
            f"{table.key} tells persons apart, so it is a whole number of 64 bits, a text or a date, read as it is "
            f"stored ({stored}), without bounds or max_length and with nothing for a missing one: "
            "leave it out of the schema."
        )
    return table.key


def _split(name: str) -> tuple[str | None, str]:
    table, dot, column = name.partition(".")
    return (table, column) if dot else (None, name)


def _stored(name: str) -> Name:
    table, column = _split(name)
    return Name(column, table)


def _names(tables: Sequence[Attached]) -> str:
    return ", ".join(table.name for table in tables)
