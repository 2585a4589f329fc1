"""Expressions with their meaning: kind, bounds, whether they may be missing, and SQL.

Resolving an expression against the columns of a query gives a ``Typed``. Its interval is where the value lies, and it
counts as *declared* only if it follows from bounds that somebody wrote: a sum needs that. Rewriting a column gives a
new expression with an interval of its own, so no bound outlives the value it was declared for.

Every expression can be read in two ways. As a *value*, which sums, means and quantiles are made of, a column is clamped
to its declared bounds. As it is *stored*, which is what conditions, bins and keys look at, it is not: a sentinel such
as 99 stays 99, and can be filtered. Arithmetic on stored values is limited to what doubles hold exactly, as all
arithmetic is, so both ways are total.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.tables.dialects import Dialect, Stored
from discreet.tables.expressions import Call, Constant, Expression, Name
from discreet.tables.kinds import LIMIT, LONGEST, WHOLE, Interval, Kind, Value, check_kind, plain_value
from discreet.tables.schema import Column

__all__ = ["CONDITIONS", "Origin", "Scope", "Typed"]

CONDITIONS = frozenset(
    {
        "at_least",
        "at_most",
        "bin",
        "contains",
        "ends_with",
        "equal",
        "greater",
        "is_in",
        "less",
        "like",
        "starts_with",
        "unequal",
    }
)
"""Functions that look at values as they are stored, wherever they stand: they tell rows apart, and add nothing up.

Whether a value is missing is asked of the value that is meant: of a quotient that is added up, after clamping.
"""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value of each row, as an engine computes it.

    ``sql`` may be used from stage ``level`` on. ``enforced`` says that the engine's value certainly lies in the
    interval; only whole numbers as they are stored do not. A text has at most ``length`` characters. ``origin`` is the
    stored column, where it is one.
    """

    kind: Kind | None
    sql: str
    level: int = 0
    interval: Interval | None = None
    declared: bool = False
    enforced: bool = True
    nullable: bool = True
    domain: tuple[Value, ...] | None = None
    origin: "Origin | None" = None
    length: int = LONGEST

    @property
    def numeric(self) -> bool:
        """Whether it is a number."""
        return self.kind in ("int", "float")

    @property
    def bounds(self) -> Interval:
        """Where the number lies."""
        return self.interval or WHOLE


@dataclass(frozen=True, slots=True)
class Origin:
    """A column as it is stored: its name in the query, where it comes from, how it is stored, and what was declared.

    ``key`` says that it tells persons apart.
    """

    sql: str
    source: str
    stored: Stored
    column: Column
    key: bool = False


@dataclass
class Scope:
    """The columns that a query may use, and the stages in which its values are computed.

    A value that is needed twice gets a name in a stage of its own, so that SQL grows with the expression and not
    exponentially.
    """

    dialect: Dialect
    columns: Mapping[tuple[str | None, str], Origin | None]
    used: dict[str, Origin] = field(default_factory=dict)
    stages: dict[int, dict[str, str]] = field(default_factory=dict)
    known: dict[tuple[str, bool], Typed] = field(default_factory=dict)

    def resolve(self, expression: Expression, *, stored: bool = False) -> Typed:
        """Return the meaning of an expression, or say what is wrong with it.

        ``stored`` is for conditions and keys: columns are not clamped to their declared bounds.
        """
        place = repr(expression), stored
        if place not in self.known:
            self.known[place] = self._resolve(expression, stored=stored)
        return self.known[place]

    def _resolve(self, expression: Expression, *, stored: bool) -> Typed:
        from discreet.tables.functions import FUNCTIONS

        if type(expression) is Constant:
            return self.constant(expression.value, expression.kind)
        if type(expression) is Name:
            return self.column(expression, stored=stored)
        if type(expression) is Call:
            if expression.function not in FUNCTIONS:
                known = ", ".join(sorted(FUNCTIONS))
                raise InvalidParameter(f"there is no function {expression.function}. There are: {known}.")
            seen = stored or expression.function in CONDITIONS
            arguments = [self.resolve(argument, stored=seen) for argument in expression.arguments]
            return FUNCTIONS[expression.function](self, arguments, expression.options)
        raise InvalidParameter(f"an expression is made of columns and plain values, got {type(expression).__name__}.")

    def constant(self, value: Value, kind: Kind | None) -> Typed:
        """Return a constant."""
        value = plain_value(value)
        if kind is not None:
            kind = check_kind(kind)
        sql = self.dialect.constant(value, kind)
        if value is None:
            return Typed(kind, sql)
        if kind in ("int", "float"):
            if abs(Fraction(value)) > LIMIT:  # type: ignore[arg-type]
                raise InvalidParameter("numbers in expressions lie within plus or minus 2^53.")
            point = Fraction(value)  # type: ignore[arg-type]
            return Typed(kind, sql, interval=Interval(point, point), declared=True, nullable=False)
        length = len(value) if isinstance(value, str) else LONGEST
        if length > LONGEST:
            raise InvalidParameter(f"a text has at most {LONGEST} characters.")
        return Typed(kind, sql, nullable=False, domain=(value,), length=length)

    def column(self, name: Name, *, stored: bool = False) -> Typed:
        """Return a column, cleaned, filled as declared and, unless it is read as it is stored, clamped to its bounds.

        The keys that follow from declared bounds are the same either way: what is stored outside is in none of them.
        """
        origin = self._origin(name)
        column = origin.column
        kind = column.type
        if kind is None:
            raise InvalidParameter(
                f"{name.name} has no type in the file's metadata. Declare it: schema={{{name.name!r}: 'float'}}."
            )
        length = column.max_length or LONGEST
        sql = self.dialect.read(origin.sql, origin.stored, kind, longest=length, whole=origin.key)
        if sql is None:
            raise InvalidParameter(_unread(name.name, origin.stored, kind))
        interval, declared, enforced = None, column.bounds is not None and not stored, True
        if kind in ("int", "float"):
            interval = (None if stored else column.interval) or WHOLE
            if declared:
                sql = self.clamped(sql, kind, interval)
            else:
                enforced = kind == "float"
        nullable = column.nulls == "skip"
        if column.nulls is None:
            nullable = True
        elif not nullable:
            fill = column.nulls
            if interval is not None:
                inside = min(max(Fraction(fill), interval.low), interval.high)  # type: ignore[arg-type]
                fill = int(inside) if kind == "int" else float(inside)
            sql = f"COALESCE({sql}, {self.dialect.constant(fill, kind)})"
        return Typed(
            kind,
            sql,
            interval=interval,
            declared=declared,
            enforced=enforced,
            nullable=nullable,
            domain=_domain(column),
            origin=origin if column.nulls == "skip" else None,
            length=length,
        )

    def _origin(self, name: Name) -> Origin:
        key = (name.table, name.name)
        if key not in self.columns:
            known = ", ".join(sorted({column for table, column in self.columns if table is None}))
            raise InvalidParameter(f"there is no column {name!r}. There are: {known or 'none'}.")
        origin = self.columns[key]
        if origin is None:
            raise InvalidParameter(f"several tables have a column {name.name}. Write table.{name.name}.")
        self.used[origin.sql] = origin
        return origin

    def clamped(self, sql: str, kind: Kind, interval: Interval) -> str:
        """Return a number moved to the nearer end of an interval."""
        low, high = (
            self.dialect.constant(int(end) if kind == "int" else float(end), kind)
            for end in (interval.low, interval.high)
        )
        return f"CASE WHEN {sql} < {low} THEN {low} WHEN {sql} > {high} THEN {high} ELSE {sql} END"

    def let(self, value: Typed) -> Typed:
        """Return the same value under a name, so that it may be written several times."""
        if value.sql.startswith('"x_') or value.sql.startswith("`x_"):
            return value
        level = value.level + 1
        stage = self.stages.setdefault(level, {})
        name = next((name for name, sql in stage.items() if sql == value.sql), f"x_{level}_{len(stage)}")
        stage[name] = value.sql
        return replace(value, sql=self.dialect.identifier(name), level=level)

    def as_double(self, value: Typed) -> Typed:
        """Return a number as a double within the limit."""
        if value.kind == "float":
            return value
        if value.kind != "int":
            raise InvalidParameter(f"a number is needed here, and this is of type {value.kind}.")
        if value.enforced:
            return replace(value, kind="float", sql=f"CAST({value.sql} AS {self.dialect.double})", origin=None)
        named = self.let(value)
        return replace(
            named, kind="float", sql=self.dialect.limited_whole(named.sql), interval=WHOLE, enforced=True, origin=None
        )


def _unread(name: str, stored: Stored, kind: Kind) -> str:
    if stored == "milliseconds":
        return (
            f"{name} holds timestamps in milliseconds, and DuckDB fails on a Parquet file with one of a year far away. "
            "Write the file with timestamps in microseconds, or read it as an Arrow table."
        )
    return f"{name} is stored as {stored} and cannot be read as {kind}. Declare another type."


def _domain(column: Column) -> tuple[Value, ...] | None:
    interval = column.interval
    if column.values is not None:
        return column.values
    if column.type == "bool":
        return (False, True)
    if column.type == "int" and interval is not None and interval.width < 1000:
        return tuple(range(int(interval.low), int(interval.high) + 1))
    return None
