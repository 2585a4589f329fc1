"""SQL that bounds what one person can do, and aggregates.

Rows are cut to what a query needs, then bounded by functions of one person's own rows, then added up:

- a person stays in at most ``groups`` groups: those with the smallest numbers of ``discreet.tables.order``;
- in a group at most ``rows`` rows count: a count is cut, and a sum over more rows is scaled down to ``rows`` times the
  mean of all of them, which is what keeping ``rows`` of them at random gives on average.

Nothing of a person above the bounds survives and nothing within them is dropped. Removing a person therefore changes
at most ``groups`` groups, each by at most what ``Measure.range`` says. Wilson et al., "Differentially Private SQL with
Bounded User Contribution", PETS 2020, bound in the same two steps but sample rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.tables.dialects import Dialect, DuckDB
from discreet.tables.grid import FINE
from discreet.tables.kinds import Value
from discreet.tables.measures import UNIT, Cells, Count, Distinct, Persons, Sum
from discreet.tables.order import Salt, encoded
from discreet.tables.typed import Scope, Typed

__all__ = ["SAFE", "Bounding", "Rows"]

SLOTS = 63
"""How many slots the prefilter has: a set of them is a whole number of 64 bits without its sign."""

SAFE = 2 ** (53 - FINE)
"""So many whole numbers of the grid add up exactly as doubles, in any order."""

MOST_LISTED = 1000
"""Above this many groups DuckDB ranks them instead of listing the first ones."""

MOST_FILTERED = 8
"""Above this many groups the prefilter keeps nearly everything and is left out."""


@dataclass(frozen=True, slots=True)
class Bounding:
    """How much of a person counts; ``key`` is None where each row is protected by itself."""

    key: Typed | None
    groups: int
    rows: int
    salt: Salt
    fast: bool = True


@dataclass
class Rows:
    """The rows of a query before they are grouped: where they come from, filters, keys, and declared keys."""

    scope: Scope
    source: str
    filters: Sequence[Typed]
    keys: Sequence[Typed]
    public: Sequence[tuple[Value, ...] | None]
    bounding: Bounding
    ordered: bool = field(init=False)

    def __post_init__(self) -> None:
        person, most = self.bounding.key is not None, 1
        for values in self.public:
            most = most * len(values) if values is not None else 2**62
        self.ordered = person and bool(self.keys) and most > self.bounding.groups

    @property
    def dialect(self) -> Dialect:
        """The engine's words."""
        return self.scope.dialect

    # One query for all sums and counts.

    def totals(self, measures: Sequence[Count | Persons | Sum], *, wide: bool = False) -> str:
        """Return SQL for the measures of every group that has rows, with the number of persons (or rows) in it.

        Where rows are protected, sums are of whole numbers held in doubles, which is exact for ``SAFE`` rows in a
        group; ``wide`` adds them as whole numbers, for larger groups. Sums over persons always are whole numbers.
        """
        keys = self._key_names()
        if self.bounding.key is None:
            columns = [self._plain(measure, wide=wide) for measure in measures]
            rows = self._rows(measures, whole=wide)
            return self._grouped(["COUNT(*) AS units", *columns], rows, keys)
        kept = self._kept(self._parts(measures), keys)
        columns = [self._bounded(measure) for measure in measures]
        return self._grouped(["COUNT(*) AS units", *columns], kept, keys)

    def _plain(self, measure: Count | Persons | Sum, *, wide: bool) -> str:
        if isinstance(measure, Sum):
            total = self.dialect.exact_sum(measure.name) if wide else f"SUM({measure.name})"
            return f"COALESCE({total}, 0) AS {measure.name}"
        counted = (measure.summed or measure.name) if isinstance(measure, Count) and measure.value is not None else "*"
        return f"COUNT({counted}) AS {measure.name}"

    def _parts(self, measures: Sequence[Count | Persons | Sum]) -> str:
        """Return one row for each person and group."""
        columns = ["p", *self._key_names()]
        aggregates = [*columns, "COUNT(*) AS n"]
        if self._narrow:
            aggregates.append("MIN(o) AS o")
        for measure in measures:
            if isinstance(measure, Sum):
                aggregates += [f"COUNT({measure.name}) AS c_{measure.name}", f"SUM({measure.name}) AS {measure.name}"]
            elif isinstance(measure, Count) and measure.value is not None and measure.summed is None:
                aggregates.append(f"COUNT({measure.name}) AS {measure.name}")
        rows = self._rows(measures)
        return self._numbered(f"SELECT {', '.join(aggregates)} FROM ({rows}) r GROUP BY {', '.join(columns)}", rows)

    def _numbered(self, parts: str, rows: str) -> str:
        """Return the parts with the order of their groups, unless their rows had it already or none is needed.

        An engine in which digests are slow computes them once for each group and joins them.
        """
        if not self.ordered or self._narrow or self.bounding.key is None:
            return parts
        scope = Scope(self.dialect, {})
        keys = [Typed(key.kind, f"k_{i}", nullable=key.nullable) for i, key in enumerate(self.keys)]
        person = Typed(self.bounding.key.kind, "p", nullable=False)
        digest = self.bounding.salt.digest(scope, encoded(scope, keys))
        if self.dialect.joins_digests:
            names = self._key_names()
            groups = self._chain(f"SELECT DISTINCT {', '.join(names)} FROM ({rows}) d", scope, digest, "g")
            same = " AND ".join(f"q.{name} IS NOT DISTINCT FROM g.{name}" for name in names)
            parts = f"SELECT q.*, g.g FROM ({parts}) q JOIN ({groups}) g ON {same}"
            scope, digest = Scope(self.dialect, {}), Typed("int", "g")
        return self._chain(parts, scope, self.bounding.salt.order(scope, person, digest), "o")

    def _chain(self, query: str, scope: Scope, value: Typed, name: str) -> str:
        """Return a query with one more column, which is computed in stages."""
        for level in range(1, value.level + 1):
            lets = {self.dialect.identifier(let): sql for let, sql in scope.stages.get(level, {}).items()}
            query = f"SELECT s.*{''.join(f', {sql} AS {let}' for let, sql in lets.items())} FROM ({query}) s"
            query += self.dialect.barrier
        return f"SELECT s.*, {value.sql} AS {name} FROM ({query}) s"

    def _bounded(self, measure: Count | Persons | Sum) -> str:
        """Return the sum over persons of what counts of each."""
        name, rows, whole = measure.name, self.bounding.rows, self.dialect.whole
        if isinstance(measure, Persons):
            return f"COUNT(*) AS {name}"
        if isinstance(measure, Count):
            counted = "n" if measure.value is None else name if measure.summed is None else f"c_{measure.summed}"
            part = f"CASE WHEN {counted} > {rows} THEN CAST({rows} AS {whole}) ELSE {counted} END"
        else:
            low, high = measure.range(rows)
            s, c = f"CAST({name} AS {whole})", f"c_{name}"
            times, rest = self.dialect.quotient(s, c), f"({s} % {c})"
            scaled = f"({times} * {rows} + {self.dialect.quotient(f'({rest} * {rows})', c)})"
            cut = f"CASE WHEN {scaled} < {low} THEN {low} WHEN {scaled} > {high} THEN {high} ELSE {scaled} END"
            part = f"CASE WHEN {c} > {rows} THEN {cut} WHEN {c} > 0 THEN {s} ELSE 0 END"
        most = max(map(abs, measure.range(rows)))
        return f"COALESCE({self.dialect.exact_sum(part, most)}, 0) AS {name}"

    def _kept(self, parts: str, keys: list[str]) -> str:
        """Return the parts of groups that a person may keep: fewer than all only if there are too many."""
        if not self.ordered:
            return parts
        groups = self.bounding.groups
        if self._fast:
            listed = f"MIN(o, {groups + 1})[{groups + 1}] AS t"
            limit = f"SELECT p, {listed} FROM parts GROUP BY p HAVING COUNT(*) > {groups}"
            return (
                f"WITH parts AS MATERIALIZED ({parts}) "
                f"SELECT parts.* FROM parts LEFT JOIN ({limit}) l ON parts.p = l.p WHERE l.t IS NULL OR parts.o < l.t"
            )
        ranked = f"SELECT q.*, COUNT(*) OVER (PARTITION BY p ORDER BY o) AS place FROM ({parts}) q"
        return f"SELECT * FROM ({ranked}) ranked WHERE place <= {groups}"

    # One query for each histogram of cells, and for each count of different values.

    def cells(self, measure: Cells) -> str:
        """Return SQL for the weight of every cell of every group."""
        keys = self._key_names()
        grouped = ", ".join([*keys, "v"])
        rows = self._rows([measure])
        if self.bounding.key is None:
            return (
                f"SELECT {grouped}, {self.dialect.exact_sum(f'CAST({UNIT} AS {self.dialect.whole})')} AS w "
                f"FROM ({rows}) r WHERE v IS NOT NULL GROUP BY {grouped}"
            )
        limit, columns = self.bounding.rows, ", ".join(["p", *keys, "v"])
        order = ", MIN(o) AS o" if self._narrow else ""
        parts = f"SELECT {columns}, COUNT(*) AS n{order} FROM ({rows}) r WHERE v IS NOT NULL GROUP BY {columns}"
        parts = self._first_groups(self._numbered(parts, rows), keys, "v")
        within = ", ".join(["p", *keys])
        totals = f"SELECT q.*, SUM(n) OVER (PARTITION BY {within}) AS total FROM ({parts}) q"
        whole = self.dialect.whole
        total = f"CAST(total AS {whole})"
        each = self.dialect.quotient(f"CAST({UNIT * limit} AS {whole})", total)
        weight = f"n * CASE WHEN total > {limit} THEN {each} ELSE CAST({UNIT} AS {whole}) END"
        total = self.dialect.exact_sum(weight, UNIT * limit)
        return f"SELECT {grouped}, {total} AS w FROM ({totals}) t GROUP BY {grouped}"

    def distinct(self, measure: Distinct) -> str:
        """Return SQL for the number of different values in every group."""
        keys = self._key_names()
        rows = self._rows([measure])
        counted = f"COUNT(DISTINCT v) AS {measure.name}"
        if self.bounding.key is None:
            return self._grouped([counted], f"SELECT * FROM ({rows}) r WHERE v IS NOT NULL", keys)
        columns = ", ".join(["p", *keys, "v"])
        order = ", MIN(o) AS o" if self._narrow else ""
        parts = f"SELECT {columns}, MIN(ov) AS ov{order} FROM ({rows}) r WHERE v IS NOT NULL GROUP BY {columns}"
        parts = self._first_groups(self._numbered(parts, rows), keys, "v")
        within = ", ".join(["p", *keys])
        ranked = f"SELECT q.*, COUNT(*) OVER (PARTITION BY {within} ORDER BY ov) AS spot FROM ({parts}) q"
        kept = f"SELECT * FROM ({ranked}) k WHERE spot <= {self.bounding.rows}"
        return self._grouped([counted], kept, keys)

    def _first_groups(self, parts: str, keys: list[str], inner: str) -> str:
        """Return the parts of a person's first groups, where a group has several parts."""
        if not self.ordered:
            return parts
        within = ", ".join(["p", *keys])
        first = f"SELECT q.*, ROW_NUMBER() OVER (PARTITION BY {within} ORDER BY {inner}) AS one FROM ({parts}) q"
        started = "CASE WHEN one = 1 THEN 1 ELSE 0 END"
        ranked = f"SELECT q.*, SUM({started}) OVER (PARTITION BY p ORDER BY o) AS place FROM ({first}) q"
        return f"SELECT * FROM ({ranked}) ranked WHERE place <= {self.bounding.groups}"

    # The rows themselves.

    def _rows(self, measures: Sequence[Count | Persons | Sum | Cells | Distinct], *, whole: bool = False) -> str:
        """Return the rows with their keys (k_0, ...), person (p), order (o) and measured values."""
        scope, dialect, bounding = self.scope, self.dialect, self.bounding
        columns: dict[str, Typed] = {f"k_{i}": key for i, key in enumerate(self.keys)}
        if bounding.key is not None:
            columns["p"] = bounding.key
            if self._narrow:
                digest = bounding.salt.digest(scope, encoded(scope, list(self.keys)))
                columns["o"] = bounding.salt.order(scope, bounding.key, digest)
        for measure in measures:
            if isinstance(measure, Sum):
                value = measure.grid.sql(scope, measure.value)
                sql = f"CAST({value.sql} AS {dialect.whole})" if whole else value.sql
                columns[measure.name] = Typed("float", sql, value.level)
            elif isinstance(measure, Count) and measure.value is not None and measure.summed is None:
                columns[measure.name] = measure.value
            elif isinstance(measure, Cells):
                value = measure.value if measure.grid is None else measure.grid.sql(scope, measure.value)
                cast = f"CAST({value.sql} AS {dialect.whole})" if measure.grid is not None else value.sql
                columns["v"] = Typed(value.kind, cast, value.level)
            elif isinstance(measure, Distinct):
                columns["v"] = measure.value
                if bounding.key is not None:
                    digest = bounding.salt.digest(scope, encoded(scope, [measure.value]))
                    columns["ov"] = bounding.salt.order(scope, bounding.key, digest)
        conditions = list(self.filters)
        if "v" in columns:  # before groups are chosen: one without values must not take the place of another
            conditions.append(Typed("bool", f"{columns['v'].sql} IS NOT NULL", columns["v"].level))
        if bounding.key is not None:
            conditions.append(Typed("bool", f"{bounding.key.sql} IS NOT NULL", bounding.key.level))
            declared = zip(self.keys, self.public, strict=True)
            conditions += [self._declared(key, values) for key, values in declared if values]
        return self._staged(columns, conditions)

    def _declared(self, key: Typed, values: tuple[Value, ...]) -> Typed:
        told = [self.dialect.constant(value, key.kind) for value in values if value is not None]
        sql = f"{key.sql} IN ({', '.join(told)})" if told else "FALSE"
        if None in values:
            sql = f"({sql} OR {key.sql} IS NULL)"
        return Typed("bool", sql, key.level)

    def _staged(self, columns: dict[str, Typed], conditions: list[Typed]) -> str:
        """Return a SELECT of columns, computing values that have names in stages, and filtering as early as it can."""
        select = ", ".join(f"{origin.source} AS {name}" for name, origin in self.scope.used.items()) or "1 AS nothing"
        query = f"SELECT {select} FROM {self.source}"
        top = max([value.level for value in (*columns.values(), *conditions)], default=0)
        for level in range(top + 1):
            if level:
                lets = self.scope.stages.get(level, {})
                quoted = {self.dialect.identifier(name): sql for name, sql in lets.items()}
                query = f"SELECT s.*{''.join(f', {sql} AS {name}' for name, sql in quoted.items())} FROM ({query}) s"
                query += self.dialect.barrier
            ready = [condition.sql for condition in conditions if condition.level == level]
            if ready:
                query = f"SELECT * FROM ({query}) w WHERE {' AND '.join(ready)}"
        if self._narrow:
            query = self._narrowed(query, columns["p"].sql, columns["o"].sql)
            columns = {**columns, "p": Typed(None, "p_"), "o": Typed("int", "o_")}
        chosen = ", ".join(f"{value.sql} AS {name}" for name, value in columns.items())
        return f"SELECT {chosen or '1 AS nothing'} FROM ({query}) s"

    def _narrowed(self, query: str, person: str, order: str) -> str:
        """Return the rows of groups that a person may keep, and of few others.

        Groups fall into slots by their order. One pass collects for each person which slots are taken; no group beyond
        the slot in which the person's last allowed group can lie needs to be looked at again.
        """
        rows = f"SELECT s.*, {person} AS p_, {order} AS o_ FROM ({query}) s"
        slot = f"(CAST(1 AS BIGINT) << ((o_ * {SLOTS}) >> 31))"
        taken = f"SELECT p_, BIT_OR({slot}) AS b FROM ({rows}) s GROUP BY p_"
        for _ in range(self.bounding.groups - 1):
            taken = f"SELECT p_, b & (b - 1) AS b FROM ({taken}) b"
        # The lowest slot that is left and all below it; if none is left, 0 - 1 has every bit and nothing is dropped.
        near = f"SELECT p_, (b & -b) | ((b & -b) - 1) AS near FROM ({taken}) b"
        # As a test of bits and not a comparison, which DuckDB would move into the join, where it costs more.
        return f"SELECT r.* FROM ({rows}) r JOIN ({near}) l ON r.p_ = l.p_ WHERE ({slot} & l.near) <> 0"

    @property
    def _narrow(self) -> bool:
        return self.ordered and self._fast and self.bounding.groups <= MOST_FILTERED

    @property
    def _fast(self) -> bool:
        return self.bounding.fast and isinstance(self.dialect, DuckDB) and self.bounding.groups <= MOST_LISTED

    def _grouped(self, columns: list[str], rows: str, keys: list[str]) -> str:
        grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join([*keys, *columns])} FROM ({rows}) g{grouped}"

    def _key_names(self) -> list[str]:
        return [f"k_{i}" for i in range(len(self.keys))]
