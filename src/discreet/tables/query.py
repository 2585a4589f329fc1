"""Queries: descriptions of what to release. Nothing happens until a session previews or releases one.

A query reads one table, perhaps joined with others, computes and filters row by row, groups, and aggregates. What comes
after (``having``, ``order_by``, ``limit``) looks at released values alone.

>>> Query("visits").where(col("day") >= "2026-01-01").group_by("city").agg(n=count())
Query('visits').where((col('day') >= '2026-01-01')).group_by(city=col('city')).agg(n=count())
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.tables.aggregates import Aggregate, count
from discreet.tables.expressions import Call, Expression, Name, col, expression
from discreet.tables.kinds import Value
from discreet.tables.schema import keys_of
from discreet.tables.synthetic import Synthetic
from discreet.tables.together import Asked, Margins, Ranges, Spread, Together, distinct_sets, levels_of

__all__ = ["Join", "Order", "Query"]


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Another table, matched where columns are equal: ``on`` pairs those of the left side with those of this table."""

    table: str
    on: tuple[tuple[str, str], ...]
    outer: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """A column of the answer to sort by."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Query:
    """A description of one release. Each method returns a new query.

    ``derived`` are columns computed by ``with_columns``; they are written into the expressions that use them, so
    everything else speaks of stored columns alone.
    """

    table: str
    joins: tuple[Join, ...] = ()
    derived: Mapping[str, Expression] = field(default_factory=dict)
    filters: tuple[Expression, ...] = ()
    keys: tuple[tuple[str, Expression], ...] = ()
    public: Mapping[str, "tuple[Value, ...] | Name"] = field(default_factory=dict)
    aggregates: tuple[tuple[str, Aggregate], ...] = ()
    together: Together | None = None
    kept: Expression | None = None
    order: tuple[Order, ...] = ()
    most: int | None = None
    epsilon: Real | None = None
    delta: Real | None = None
    text: str | None = None

    def where(self, *conditions: Expression) -> "Query":
        """Keep the rows for which all conditions are true."""
        self._before_aggregates("where")
        if not all(isinstance(condition, Expression) for condition in conditions):
            raise InvalidParameter("where takes conditions, such as dp.col('age') >= 18.")
        return replace(self, filters=(*self.filters, *map(self._written, conditions)))

    def with_columns(self, **columns: object) -> "Query":
        """Add or rewrite columns. A rewritten column has the bounds of its new expression, not those declared."""
        self._before_aggregates("with_columns")
        new = {name: self._written(expression(value)) for name, value in columns.items()}
        return replace(self, derived={**self.derived, **new})

    def join(self, table: str, *, on: str | Sequence[str] | Mapping[str, str], how: str = "inner") -> "Query":
        """Match with another table of the session: a public one, or a private one on the privacy key.

        ``on`` names columns that both have, or maps those on the left to those of the table. ``how="left"`` keeps rows
        without a match.
        """
        self._before_aggregates("join")
        if how not in ("inner", "left"):
            raise InvalidParameter(f"a join is 'inner' or 'left', got {how!r}.")
        if isinstance(on, str):
            on = [on]
        pairs = tuple(on.items()) if isinstance(on, Mapping) else tuple((name, name) for name in on)
        if not pairs:
            raise InvalidParameter("a join needs at least one pair of columns that must be equal.")
        return replace(self, joins=(*self.joins, Join(table, pairs, how == "left")))

    def group_by(
        self, *names: str, keys: Mapping[str, Iterable[Value] | Expression] | None = None, **groups: object
    ) -> "Query":
        """Group by columns and expressions. ``keys`` declares which groups there are, with or without rows.

        Keys are listed, or are those of a public table's column: ``keys={"city": dp.col("cities.name")}``.

        >>> Query("visits").group_by("city", keys={"city": ["Oslo", "Bergen"]}, month=col("day").month()).keys[1]
        ('month', col('day').month())
        """
        self._before_aggregates("group_by")
        wanted = {name: self._written(col(name)) for name in names}
        wanted |= {name: self._written(expression(value)) for name, value in groups.items()}
        public = {name: _declared(values) for name, values in (keys or {}).items()}
        if unknown := [name for name in public if name not in wanted]:
            raise InvalidParameter(f"keys are declared for {', '.join(unknown)}, which the query does not group by.")
        return replace(self, keys=(*self.keys, *wanted.items()), public={**self.public, **public})

    def agg(self, **aggregates: Aggregate) -> "Query":
        """Say which columns the answer has."""
        for name, aggregate in aggregates.items():
            if not isinstance(aggregate, Aggregate):
                raise InvalidParameter(f"{name} is no aggregate: write {name}=dp.count() or {name}=dp.mean('column').")
        taken = {name for name, _ in (*self.keys, *self.aggregates)}
        if twice := taken & set(aggregates):
            raise InvalidParameter(f"the answer would have two columns {', '.join(sorted(twice))}.")
        written = tuple(
            (name, replace(one, arguments=tuple(map(self._written, one.arguments)))) for name, one in aggregates.items()
        )
        return replace(self, aggregates=(*self.aggregates, *written))

    def histogram(self, column: str, bins: Sequence[int | float], *, name: str = "n") -> "Query":
        """Count rows in bins of a column: one group for each bin, also where it is empty.

        >>> Query("people").histogram("age", [0, 18, 65, 120])
        Query('people').group_by(age=col('age').bin([0, 18, 65, 120])).agg(n=count())
        """
        binned = self.group_by(keys=None, **{column: col(column).bin(bins)})
        return binned.agg(**{name: count()})

    def margins(self, *sets: Sequence[str], order: int | None = None) -> "Query":
        """Count by several choices among the keys together: ``()`` is the total; ``order=2`` means all pairs.

        What each grouping tells of the others is used, so all of them agree and are more accurate than one by one.

        >>> Query("people").group_by("age", "sex").agg(n=count()).margins(("age",), ("sex",), ())
        Query('people').group_by(age=col('age'), sex=col('sex')).agg(n=count()).margins(('age',), ('sex',), ())
        """
        names = [name for name, _ in self.keys]
        if (order is None) == (not sets):
            raise InvalidParameter("margins are listed, as in .margins(('age', 'sex'), ()), or of an order=2.")
        if order is not None and (type(order) is not int or not 0 <= order <= len(names)):
            raise InvalidParameter(f"the order of margins is a number from 0 to {len(names)}, that of the keys.")
        if any(isinstance(one, str) for one in sets):
            raise InvalidParameter("a margin is by a list of keys: write ('age',) for one of them.")
        wanted = sets if order is None else tuple(combinations(names, order))
        return replace(self, together=Margins(distinct_sets([tuple(one) for one in wanted], names)))

    def ranges(self, asked: Asked = "ranges") -> "Query":
        """Count bins in a row such that sums over many of them are accurate: all ranges, or prefixes.

        >>> Query("people").histogram("age", [0, 18, 65, 120]).ranges("prefixes").together
        Ranges(asked='prefixes')
        """
        if asked not in ("prefixes", "ranges"):
            raise InvalidParameter(f"sums are over 'prefixes' or 'ranges', got {asked!r}.")
        return replace(self, together=Ranges(asked))

    def adaptive(self) -> "Query":
        """Count in bins that are small where many rows are; the one or two keys are numbers with declared bounds.

        >>> Query("people").group_by("income").agg(n=count()).adaptive()
        Query('people').group_by(income=col('income')).agg(n=count()).adaptive()
        """
        return replace(self, together=Spread("tree"))

    def cumulative(self) -> "Query":
        """Count the rows below each edge of a fine grid, all edges together; the key is a number with declared bounds.

        >>> Query("people").group_by("income").agg(n=count()).cumulative().together
        Spread(asked='cdf')
        """
        return replace(self, together=Spread("cdf"))

    def hierarchy(
        self,
        levels: Sequence[str],
        *,
        tables: Sequence[Sequence[str]],
        exact: Mapping[str, Sequence[str]] | None = None,
        rules: Mapping[str, Expression] | None = None,
        areas: str | None = None,
        shares: Sequence[Sequence[Real]] | None = None,
    ) -> "Query":
        """Count in areas within areas, by tables of the other keys, as whole numbers that add up on every level.

        ``exact={"state": ()}`` publishes the number of rows in every state as it is, outside the guarantee. ``Levels``
        explains the rest.

        >>> people = Query("people").group_by("state", "county", "sex").agg(n=count())
        >>> people.hierarchy(["state", "county"], tables=[(), ("sex",)]).together.sets[-1]
        ('state', 'county', 'sex')
        """
        names = [name for name, _ in self.keys]
        return replace(self, together=levels_of(levels, tables, exact, rules, areas, shares, names))

    def having(self, condition: Expression) -> "Query":
        """Keep groups by their released values; this costs nothing."""
        return replace(self, kept=condition if self.kept is None else self.kept & condition)

    def order_by(self, *columns: str, descending: bool = False) -> "Query":
        """Sort the answer by released values or keys."""
        return replace(self, order=(*self.order, *(Order(column, descending) for column in columns)))

    def limit(self, rows: int) -> "Query":
        """Show the first rows of the answer only."""
        if type(rows) is not int or rows < 0:
            raise InvalidParameter("limit takes a whole number of rows.")
        return replace(self, most=rows)

    def _written(self, value: Expression) -> Expression:
        """Return an expression with derived columns replaced by what they stand for."""
        if isinstance(value, Name) and value.table is None and value.name in self.derived:
            return self.derived[value.name]
        if isinstance(value, Call):
            return replace(value, arguments=tuple(map(self._written, value.arguments)))
        return value

    def _before_aggregates(self, method: str) -> None:
        if self.aggregates:
            raise InvalidParameter(f"{method} comes before agg: after it there are only released values.")

    def __repr__(self) -> str:
        parts = [f"Query({self.table!r})"]
        for join in self.joins:
            how = ", how='left'" if join.outer else ""
            parts.append(f".join({join.table!r}, on={dict(join.on)!r}{how})")
        parts += [f".where({condition!r})" for condition in self.filters]
        if self.keys:
            public = f", keys={dict(self.public)!r}" if self.public else ""
            parts.append(f".group_by({', '.join(f'{name}={value!r}' for name, value in self.keys)}{public})")
        if self.aggregates:
            parts.append(f".agg({', '.join(f'{name}={one!r}' for name, one in self.aggregates)})")
        if self.together is not None:
            parts.append(_told(self.together))
        if self.kept is not None:
            parts.append(f".having({self.kept!r})")
        parts += [f".order_by({o.column!r}{', descending=True' if o.descending else ''})" for o in self.order]
        if self.most is not None:
            parts.append(f".limit({self.most})")
        return "".join(parts)


def _told(together: Together) -> str:
    if isinstance(together, Margins):
        return f".margins({', '.join(map(repr, together.sets))})"
    if isinstance(together, Ranges):
        return f".ranges({together.asked!r})"
    if isinstance(together, Spread):
        return ".adaptive()" if together.asked == "tree" else ".cumulative()"
    if isinstance(together, Synthetic):
        return f".synthetic({together!r})"
    said = {
        "tables": list(together.tables),
        "exact": dict(together.exact),
        "rules": dict(together.rules),
        "areas": together.areas,
        "shares": together.shares,
    }
    given = "".join(f", {name}={value!r}" for name, value in said.items() if value)
    return f".hierarchy({list(together.levels)!r}{given})"


def _declared(values: Iterable[Value] | Expression) -> tuple[Value, ...] | Name:
    if isinstance(values, Name) and values.table is not None:
        return values
    if isinstance(values, Expression):
        raise InvalidParameter("keys are a list of values, or a column of a public table: dp.col('cities.name').")
    return keys_of(values)
