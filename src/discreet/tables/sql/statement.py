"""One SELECT: keys and aggregates, what they are of, and which of them are shown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import InvalidQuery
from discreet.tables.aggregates import Aggregate
from discreet.tables.expressions import Call, Constant, Expression, Name
from discreet.tables.query import Join, Query
from discreet.tables.sql.aggregates import aggregate, default_name, holds_aggregate, is_aggregate
from discreet.tables.sql.constants import constant, is_constant
from discreet.tables.sql.dialect import tree
from discreet.tables.sql.expressions import Reader
from discreet.tables.sql.lost import check_nothing_lost
from discreet.tables.sql.names import Rows, listed, spelled
from discreet.tables.sql.options import options
from discreet.tables.sql.refusals import named, refuse, understood
from discreet.tables.sql.released import Released, position
from discreet.tables.sql.shape import shape
from discreet.tables.sql.source import Catalog, Link, Source
from discreet.tables.sql.together import Grouped, together_of
from discreet.tables.sql.words import words

__all__ = ["query"]

LEVELS = 200

REFUSED = (exp.Aliases, exp.IgnoreNulls, exp.RespectNulls, exp.Subquery, exp.Window)
"""What is refused for itself, whatever aggregates it holds."""


def query(text: str, tables: Mapping[str, Sequence[str]]) -> Query:
    """Return the query that a text describes."""
    try:
        return _query(text, tables)
    except RecursionError:
        raise InvalidQuery("the text is nested too deeply to be read. Write it in fewer levels.") from None


def _query(text: str, tables: Mapping[str, Sequence[str]]) -> Query:
    told, rest = options(words(text))
    select = tree(rest, text)
    _check_depth(select)
    if not isinstance(select, exp.Select):
        refuse(select)
    understood(select, "expressions", "from_", "joins", "where", "with_", "group", "having", "order", "limit")
    catalog = Catalog(tables).extended(select.args.get("with_"))
    source, rows = catalog.read(select)
    items = _items(select, rows)
    grouped = _grouped(select.args.get("group"), items, rows)
    released = _released(items, grouped.groups, rows)
    for one in (*released.keys.values(), *(x for a in released.aggregates.values() for x in a.arguments)):
        catalog.sizes.checked(one)
    kept = released.condition(select.args.get("having"))
    final = _Final.of(source.tables, tables)
    check_nothing_lost(rest, select)
    return Query(
        source.table,
        joins=tuple(final.join(link, place, source) for place, link in enumerate(source.links)),
        filters=tuple(map(final.written, source.filters)),
        keys=tuple((name, final.written(key)) for name, key in released.keys.items()),
        aggregates=tuple((name, final.aggregate(one)) for name, one in released.aggregates.items()),
        together=together_of(grouped, told.words, released.keys, _rule),
        kept=None if kept is None else catalog.sizes.checked(kept),
        order=released.order(select.args.get("order")),
        most=_limit(select.args.get("limit")),
        epsilon=told.epsilon,
        delta=told.delta,
        text=text,
    )


@dataclass(frozen=True, slots=True)
class _Item:
    """A column of SELECT: its name, where it was given or is plain, and what it is."""

    name: str | None
    node: exp.Expr
    what: Expression | Aggregate


def _items(select: exp.Expr, rows: Rows) -> list[_Item]:
    items = []
    for node in select.expressions:
        name = None
        if isinstance(node, exp.Alias):
            understood(node, "this", "alias")
            name, node = spelled(node.args["alias"]), node.this  # noqa: PLW2901
        items.append(_item(name, node, rows))
    if not items:
        raise InvalidQuery("a query selects at least one aggregate. Write SELECT COUNT(*) AS n FROM table.")
    return items


def _item(name: str | None, node: exp.Expr, rows: Rows) -> _Item:
    reader = Reader(rows.leaf)
    if is_aggregate(node):
        return _Item(name or default_name(node), node, aggregate(node, reader))
    if holds_aggregate(node) and not isinstance(node, REFUSED):
        raise InvalidQuery(
            "calculating with aggregates inside SELECT is not supported. Write AVG(x) for SUM(x) / COUNT(*), or select "
            "the aggregates and calculate with the released columns."
        )
    if name is None and isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
        name = spelled(node.this)
    return _Item(name, node, reader.read(node))


def _rule(text: str, names: Sequence[str]) -> Expression:
    """Return a condition over keys."""
    made = _query(f"SELECT COUNT(*) AS n FROM cells WHERE {text}", {"cells": list(names)})
    others = (made.keys, made.joins, made.order, *(one is not None for one in (made.kept, made.most, made.epsilon)))
    if len(made.filters) != 1 or any(others):
        raise InvalidQuery("a rule is one condition over keys. Write rules = 'age >= 15 OR NOT married'.")
    return made.filters[0]


def _grouped(clause: exp.Expr | None, items: list[_Item], rows: Rows) -> Grouped:
    grouped = Grouped(lambda node: _group(node, items, rows))
    if clause is None:
        return grouped
    understood(clause, "expressions")
    if clause.args.get("all") is not None:
        raise InvalidQuery("GROUP BY takes columns alone, without ALL or DISTINCT. Leave the word out.")
    for node in clause.expressions:
        grouped.add(node)
    if not grouped.groups:
        raise InvalidQuery("GROUP BY names at least one column. Write GROUP BY city, or leave it out.")
    return grouped


def _group(node: exp.Expr, items: list[_Item], rows: Rows) -> Expression:
    place = position(node, "GROUP BY", len(items))
    if place is None and isinstance(node, exp.Column) and node.args.get("table") is None:
        place = _alias(node, items, rows)
    if place is not None:
        group = items[place].what
        if isinstance(group, Aggregate):
            raise InvalidQuery("an aggregate is of a group and cannot be grouped by. Group by columns of rows.")
    else:
        if is_constant(node):
            raise InvalidQuery("a constant makes one group of all rows. Leave GROUP BY out.")
        group = Reader(rows.leaf).read(node)
    if isinstance(group, Constant):
        raise InvalidQuery("a constant makes one group of all rows. Leave it out.")
    return group


def _alias(node: exp.Column, items: list[_Item], rows: Rows) -> int | None:
    """Return the place of the column of SELECT that a name in GROUP BY means, if it means one."""
    name, quoted = spelled(node.this), bool(node.this.args.get("quoted"))
    exact = [place for place, item in enumerate(items) if item.name == name]
    loose = [place for place, item in enumerate(items) if item.name and item.name.casefold() == name.casefold()]
    places = exact or ([] if quoted else loose)
    if not rows.has(node.this):
        if len(places) > 1:
            raise InvalidQuery(f"several columns of SELECT are called {named(name)}. Give each a name of its own.")
        return places[0] if places else None
    column = rows.column(node)
    for place in places:
        what = items[place].what
        if isinstance(what, Expression) and shape(what) != shape(column):
            raise InvalidQuery(
                f"{named(name)} is a column of the table and the name of another in SELECT. "
                "Group by the expression itself, or give it a new name."
            )
    return None


def _released(items: list[_Item], groups: list[Expression], rows: Rows) -> Released:
    keys: dict[str, Expression] = {}
    aggregates: dict[str, Aggregate] = {}
    wanted = [shape(group) for group in groups]
    seen = set()
    for item in items:
        if isinstance(item.what, Expression):
            told = shape(item.what)
            if told not in wanted:
                raise InvalidQuery(
                    "a column of SELECT that is no aggregate shows values of rows. Add it to GROUP BY, spelled as in "
                    "SELECT, or aggregate it: SELECT city, COUNT(*) AS n ... GROUP BY city."
                )
            if told in seen:
                raise InvalidQuery("the same key is selected twice. Leave one out.")
            seen.add(told)
        if item.name is None:
            raise InvalidQuery("a computed key has a name. Write AS name behind it.")
        if item.name in keys or item.name in aggregates:
            raise InvalidQuery(f"the answer would have two columns {named(item.name)}. Rename one with AS.")
        if isinstance(item.what, Aggregate):
            aggregates[item.name] = item.what
        else:
            keys[item.name] = item.what
    if len(seen) < len(wanted):
        raise InvalidQuery("every group is shown with its key. Add what stands in GROUP BY to SELECT.")
    if not aggregates:
        names = listed(keys)
        raise InvalidQuery(
            f"keys alone show names without protection. Add an aggregate: COUNT(*) AS n next to {names}."
        )
    return Released(keys, aggregates, tuple(item.name for item in items if item.name is not None), rows)


def _limit(clause: exp.Expr | None) -> int | None:
    if clause is None:
        return None
    if not isinstance(clause, exp.Limit):
        raise InvalidQuery("the first rows are shown with LIMIT. Write LIMIT 10.")
    understood(clause, "expression")
    node = clause.expression
    rows = constant(node) if isinstance(node, exp.Literal) else None
    if isinstance(rows, bool) or not isinstance(rows, int):
        raise InvalidQuery("LIMIT takes a whole number of rows. Write LIMIT 10.")
    return rows


@dataclass(frozen=True)
class _Final:
    """Writes columns as the builder does: with their table only where several tables of the query have the name."""

    count: Mapping[str, int]
    tables: Mapping[str, Sequence[str]]
    known: dict[int, tuple[Expression, Expression]]

    @classmethod
    def of(cls, used: Sequence[str], tables: Mapping[str, Sequence[str]]) -> "_Final":
        count = Counter(name for table in used for name in tables[table])
        for name in count:
            table, _, column = name.partition(".")
            if table in used and column in tables[table]:
                raise InvalidQuery(f"{named(name)} may mean a column with a dot in its name, or one of a table.")
        return cls(count, tables, {})

    def written(self, one: Expression) -> Expression:
        if id(one) not in self.known:
            self.known[id(one)] = (one, self._written(one))
        return self.known[id(one)][1]

    def _written(self, one: Expression) -> Expression:
        if isinstance(one, Name) and self.count[one.name] == 1:
            return Name(one.name)
        if isinstance(one, Call):
            return replace(one, arguments=tuple(map(self.written, one.arguments)))
        return one

    def aggregate(self, one: Aggregate) -> Aggregate:
        return replace(one, arguments=tuple(map(self.written, one.arguments)))

    def join(self, link: Link, place: int, source: Source) -> Join:
        left = Counter(name for table in source.tables[: place + 1] for name in self.tables[table])
        pairs = tuple((a.name if left[a.name] == 1 else f"{a.table}.{a.name}", b.name) for a, b in link.on)
        return Join(link.table, pairs, link.outer)


def _check_depth(root: exp.Expr) -> None:
    level, parts = 0, [root]
    while parts:
        level += 1
        if level > LEVELS:
            raise InvalidQuery("the text is nested too deeply to be read. Write it in fewer levels; use IN for values.")
        parts = [child for part in parts for child in part.iter_expressions()]
