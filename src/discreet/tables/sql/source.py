"""What a SELECT reads: tables, joins, and queries in FROM and WITH, which are written into the query around them.

A query in FROM that computes and filters row by row needs no step of its own: its columns stand for expressions over
stored columns, and its conditions join those of the query around it. Where that would change the meaning, it is
refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.errors import InvalidQuery
from discreet.tables.expressions import Expression, Name
from discreet.tables.sql.aggregates import holds_aggregate
from discreet.tables.sql.expressions import Reader
from discreet.tables.sql.names import Rows, find, listed, spelled
from discreet.tables.sql.refusals import named, refuse, understood
from discreet.tables.sql.size import Sizes

__all__ = ["Catalog", "Link", "Source"]


@dataclass(frozen=True, slots=True)
class Link:
    """A joined table, and pairs of a column on the left side with one of its own."""

    table: str
    on: tuple[tuple[Name, Name], ...]
    outer: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Rows before they are grouped: a stored table, what is joined and filtered, and what its columns stand for."""

    table: str
    columns: Mapping[str, Expression]
    links: tuple[Link, ...] = ()
    filters: tuple[Expression, ...] = ()

    @property
    def tables(self) -> list[str]:
        """The stored tables that are read."""
        return [self.table, *(link.table for link in self.links)]


@dataclass(frozen=True)
class Catalog:
    """The tables that may be named: those of the session, and the queries that WITH names before this one."""

    tables: Mapping[str, Sequence[str]]
    queries: Mapping[str, Source] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=Sizes)

    def extended(self, clause: exp.Expr | None) -> "Catalog":
        """Return the catalog with the queries of a WITH clause."""
        if clause is None:
            return self
        understood(clause, "expressions")
        catalog, seen = self, set[str]()
        for query in clause.expressions:
            if not isinstance(query, exp.CTE):
                refuse(query)
            understood(query, "this", "alias")
            if query.args.get("materialized") is not None:
                raise InvalidQuery("MATERIALIZED is a hint to an engine. Leave it out.")
            name = _alias(query)
            if name is None or name.casefold() in seen:
                raise InvalidQuery("each query of WITH has a name of its own. Write WITH a AS (...), b AS (...).")
            seen.add(name.casefold())
            source = catalog.selected(query.this)
            kept = {other: one for other, one in catalog.queries.items() if other.casefold() != name.casefold()}
            catalog = replace(catalog, queries={**kept, name: source})
        return catalog

    def read(self, select: exp.Expr) -> tuple[Source, Rows]:
        """Return what a SELECT reads, filtered, and the columns that it sees."""
        if select.args.get("from_") is None:
            raise InvalidQuery(f"a query reads a table. There are: {listed(self.tables)}.")
        understood(select.args["from_"], "this")
        name, source = self._item(select.args["from_"].this)
        rows = Rows()
        rows.add(name, source.columns)
        for join in select.args.get("joins") or []:
            source = self._joined(source, rows, join)
        if where := select.args.get("where"):
            understood(where, "this")
            condition = self.sizes.checked(Reader(rows.leaf).read(where.this))
            source = replace(source, filters=(*source.filters, condition))
        return source, rows

    def selected(self, node: object) -> Source:
        """Return the rows of a query in FROM or WITH."""
        while isinstance(node, exp.Subquery):
            understood(node, "this")
            node = node.this
        if isinstance(node, exp.Table):
            raise InvalidQuery("brackets around a table are not supported. Leave them out.")
        if not isinstance(node, exp.Select):
            refuse(node)
        understood(node, "expressions", "from_", "joins", "where", "with_")
        if any(holds_aggregate(item) for item in node.expressions):
            raise InvalidQuery("a subquery that aggregates is not supported. Aggregate once, in the outermost SELECT.")
        source, rows = self.extended(node.args.get("with_")).read(node)
        columns: dict[str, Expression] = {}
        for item in node.expressions:
            for name, column in self._columns(item, rows):
                if name in columns:
                    raise InvalidQuery(f"a subquery has two columns {named(name)}. Rename one with AS.")
                columns[name] = self.sizes.checked(column)
        if not columns:
            raise InvalidQuery("a subquery selects at least one column. Write SELECT * or name them.")
        return replace(source, columns=columns)

    def _columns(self, item: exp.Expr, rows: Rows) -> list[tuple[str, Expression]]:
        if isinstance(item, exp.Star):
            understood(item)
            if several := [name for name, column in rows.plain.items() if column is None]:
                raise InvalidQuery(f"several tables have a column {listed(several)}. Name the columns instead of *.")
            return [(name, column) for name, column in rows.plain.items() if column is not None]
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            understood(item, "this", "table")
            understood(item.this)
            return list(rows.table(item.args.get("table")).items())
        reader = Reader(rows.leaf)
        if isinstance(item, exp.Alias):
            understood(item, "this", "alias")
            return [(spelled(item.args["alias"]), reader.read(item.this))]
        if isinstance(item, exp.Column):
            return [(spelled(item.this), reader.read(item))]
        reader.read(item)
        raise InvalidQuery("a computed column of a subquery has a name. Write AS name behind it.")

    def _item(self, node: object) -> tuple[str | None, Source]:
        if isinstance(node, exp.Subquery):
            understood(node, "this", "alias")
            return _alias(node), self.selected(node.this)
        if not isinstance(node, exp.Table):
            refuse(node)
        understood(node, "this", "alias")
        if not isinstance(node.this, exp.Identifier):
            raise InvalidQuery(f"FROM takes tables of this session, no functions. There are: {listed(self.tables)}.")
        query = find(node.this, self.queries)
        table = None if query is not None else find(node.this, self.tables)
        if query is not None:
            source = self.queries[query]
        elif table is not None:
            source = Source(table, {column: Name(column, table) for column in self.tables[table]})
        else:
            known = listed([*self.tables, *self.queries])
            raise InvalidQuery(f"there is no table {named(node.name)}. There are: {known}.")
        return _alias(node) or query or table, source

    def _joined(self, left: Source, rows: Rows, join: object) -> Source:
        if not isinstance(join, exp.Join):
            refuse(join)
        understood(join, "this", "on", "using", "side", "kind")
        outer = _outer(join)
        name, right = self._item(join.this)
        _check(left, right, outer=outer)
        if using := join.args.get("using"):
            pairs, shared = _using(using, rows, right)
            rows.add(name, right.columns, shared)
        else:
            rows.add(name, right.columns)
            pairs = _on(join.args.get("on"), Reader(rows.leaf))
        turned = tuple((b, a) if a.table == right.table else (a, b) for a, b in pairs)
        for a, b in turned:
            if a.table not in left.tables or b.table != right.table:
                raise InvalidQuery("a join compares a column of one table with one of the other. Write ON a.x = b.y.")
            if "." in a.name or "." in b.name:
                raise InvalidQuery("a join compares columns without a dot in their names. Rename them in the data.")
        if len({(a.table, a.name) for a, _ in turned}) < len(turned):
            raise InvalidQuery("a join compares each column once. Put a second comparison into WHERE.")
        link = Link(right.table, turned, outer)
        return replace(left, links=(*left.links, link), filters=(*left.filters, *right.filters))


def _alias(node: exp.Expr) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    understood(alias, "this")
    return spelled(alias.this)


def _outer(join: exp.Join) -> bool:
    side, kind = join.args.get("side") or "", join.args.get("kind") or ""
    if (side, kind) in (("LEFT", ""), ("LEFT", "OUTER")):
        return True
    if (side, kind) in (("", ""), ("", "INNER")):
        return False
    raise InvalidQuery("a join is JOIN or LEFT JOIN: others show rows that have no person. Write JOIN table ON a = b.")


def _check(left: Source, right: Source, *, outer: bool) -> None:
    if right.links:
        raise InvalidQuery("a joined subquery has no joins of its own. Join its tables one after the other.")
    if right.table in left.tables:
        raise InvalidQuery(f"{named(right.table)} is joined with itself. Use each table once.")
    if outer and (right.filters or not all(isinstance(column, Name) for column in right.columns.values())):
        raise InvalidQuery(
            "a subquery behind LEFT JOIN may only choose and rename columns: rows without a match have none to compute "
            "with. Filter and compute in the outermost SELECT."
        )


def _using(using: Sequence[exp.Expr], rows: Rows, right: Source) -> tuple[list[tuple[Name, Name]], list[str]]:
    pairs, shared = [], []
    for identifier in using:
        mine = find(identifier, right.columns)
        if mine is None or not rows.has(identifier):
            raise InvalidQuery(f"USING names columns that both sides have, got {named(spelled(identifier))}.")
        pairs.append((_stored(rows.column(exp.Column(this=identifier.copy()))), _stored(right.columns[mine])))
        shared.append(mine)
    return pairs, shared


def _on(condition: object, reader: Reader) -> list[tuple[Name, Name]]:
    if isinstance(condition, exp.Paren):
        understood(condition, "this")
        return _on(condition.this, reader)
    if isinstance(condition, exp.And):
        understood(condition, "this", "expression")
        return _on(condition.this, reader) + _on(condition.expression, reader)
    if not isinstance(condition, exp.EQ):
        raise InvalidQuery("a join compares columns with =. Write ON a.x = b.y, and other conditions in WHERE.")
    understood(condition, "this", "expression")
    return [(_stored(reader.read(condition.this)), _stored(reader.read(condition.expression)))]


def _stored(column: Expression) -> Name:
    if not isinstance(column, Name):
        raise InvalidQuery("a join compares stored columns. Write ON a.x = b.y, and other conditions in WHERE.")
    return column
