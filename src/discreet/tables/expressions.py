"""Expressions: what may be done with the values of one row.

An expression only describes. It is a column, a constant, or one of the functions of ``discreet.tables.functions``,
a closed list of which each is total (it answers for every row, with null if nothing else makes sense) and looks at one
row alone. Operators work as in Python, with ``&``, ``|`` and ``~`` for and, or and not.

>>> (col("amount") * 2 >= 100) & col("city").isin(["Oslo", "Bergen"])
(((col('amount') * 2) >= 100) & col('city').isin(['Oslo', 'Bergen']))
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NoReturn

from discreet.errors import InvalidParameter, InvalidQuery
from discreet.tables.kinds import Kind, Value, check_kind, kind_of, plain_value

__all__ = ["Call", "Constant", "Expression", "Name", "When", "col", "expression", "lit", "when"]

PARTS, DEPTH = 5_000, 100
"""How large an expression may be, with all that is written into it: doubled thirty times, one would fill memory."""

SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "equal": "==",
    "unequal": "!=",
    "less": "<",
    "at_most": "<=",
    "greater": ">",
    "at_least": ">=",
    "and": "&",
    "or": "|",
}


class Expression:
    """The methods that every expression has."""

    __slots__ = ()

    def __add__(self, other: object) -> "Expression":
        return Call("add", (self, expression(other)))

    def __radd__(self, other: object) -> "Expression":
        return Call("add", (expression(other), self))

    def __sub__(self, other: object) -> "Expression":
        return Call("subtract", (self, expression(other)))

    def __rsub__(self, other: object) -> "Expression":
        return Call("subtract", (expression(other), self))

    def __mul__(self, other: object) -> "Expression":
        return Call("multiply", (self, expression(other)))

    def __rmul__(self, other: object) -> "Expression":
        return Call("multiply", (expression(other), self))

    def __truediv__(self, other: object) -> "Expression":
        return Call("divide", (self, expression(other)))

    def __rtruediv__(self, other: object) -> "Expression":
        return Call("divide", (expression(other), self))

    def __neg__(self) -> "Expression":
        return Call("negate", (self,))

    def __abs__(self) -> "Expression":
        return Call("absolute", (self,))

    def __eq__(self, other: object) -> "Expression":  # type: ignore[override]
        return Call("equal", (self, expression(other)))

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]
        return Call("unequal", (self, expression(other)))

    def __lt__(self, other: object) -> "Expression":
        return Call("less", (self, expression(other)))

    def __le__(self, other: object) -> "Expression":
        return Call("at_most", (self, expression(other)))

    def __gt__(self, other: object) -> "Expression":
        return Call("greater", (self, expression(other)))

    def __ge__(self, other: object) -> "Expression":
        return Call("at_least", (self, expression(other)))

    def __and__(self, other: object) -> "Expression":
        return Call("and", (self, expression(other)))

    def __or__(self, other: object) -> "Expression":
        return Call("or", (self, expression(other)))

    def __invert__(self) -> "Expression":
        return Call("not", (self,))

    def __bool__(self) -> NoReturn:
        raise InvalidParameter("an expression is not true or false by itself: write & for and, | for or, ~ for not.")

    def __hash__(self) -> int:
        return hash(repr(self))

    def between(self, low: object, high: object) -> "Expression":
        """Whether it lies from low to high, both included."""
        return (self >= low) & (self <= high)

    def isin(self, values: Iterable[Value]) -> "Expression":
        """Whether it is one of the values."""
        return Call("is_in", (self,), tuple(values))

    def is_null(self) -> "Expression":
        """Whether it is missing."""
        return Call("is_null", (self,))

    def clip(self, low: float, high: float) -> "Expression":
        """Move numbers outside low to high to the nearer end: this declares bounds."""
        return Call("clip", (self,), (low, high))

    def cast(self, kind: str) -> "Expression":
        """Turn it into another type; what cannot be turned is null."""
        return Call("cast", (self,), (check_kind(kind),))

    def fill(self, value: object) -> "Expression":
        """Put another expression where it is missing."""
        return Call("coalesce", (self, expression(value)))

    def bin(self, edges: Sequence[int | float]) -> "Expression":
        """Name the bin of ascending edges that a number lies in, as ``"[0, 10)"``; null outside all of them."""
        return Call("bin", (self,), tuple(edges))

    def floor(self) -> "Expression":
        """The largest whole number not above it."""
        return Call("floor", (self,))

    def ceil(self) -> "Expression":
        """The smallest whole number not below it."""
        return Call("ceiling", (self,))

    def round(self) -> "Expression":
        """The nearest whole number; halves go up."""
        return Call("round", (self,))

    def sqrt(self) -> "Expression":
        """The square root; null for negative numbers."""
        return Call("square_root", (self,))

    def lower(self) -> "Expression":
        """Text with the letters A to Z in lower case."""
        return Call("lower", (self,))

    def upper(self) -> "Expression":
        """Text with the letters a to z in upper case."""
        return Call("upper", (self,))

    def trim(self) -> "Expression":
        """Text without spaces at its ends."""
        return Call("trim", (self,))

    def length(self) -> "Expression":
        """How many characters a text has."""
        return Call("length", (self,))

    def slice(self, start: int, length: int) -> "Expression":
        """Text of at most ``length`` characters from position ``start``, the first being 1."""
        return Call("substring", (self,), (start, length))

    def startswith(self, text: str) -> "Expression":
        """Whether a text begins so."""
        return Call("starts_with", (self,), (text,))

    def endswith(self, text: str) -> "Expression":
        """Whether a text ends so."""
        return Call("ends_with", (self,), (text,))

    def contains(self, text: str) -> "Expression":
        """Whether a text holds another one."""
        return Call("contains", (self,), (text,))

    def replace(self, old: str, new: str) -> "Expression":
        """Text with one part replaced by another wherever it occurs."""
        return Call("replace", (self,), (old, new))

    def concat(self, other: object) -> "Expression":
        """One text after another."""
        return Call("concat", (self, expression(other)))

    def year(self) -> "Expression":
        """The year of a date."""
        return Call("year", (self,))

    def month(self) -> "Expression":
        """The month of a date, 1 to 12."""
        return Call("month", (self,))

    def day(self) -> "Expression":
        """The day of the month, 1 to 31."""
        return Call("day", (self,))

    def weekday(self) -> "Expression":
        """The day of the week, from 1 for Monday to 7 for Sunday."""
        return Call("weekday", (self,))

    def hour(self) -> "Expression":
        """The hour of a timestamp, 0 to 23."""
        return Call("hour", (self,))

    def month_start(self) -> "Expression":
        """The first day of the month of a date."""
        return Call("month_start", (self,))

    def days_since(self, other: object) -> "Expression":
        """How many days lie between another date and this one."""
        return Call("days_between", (self, expression(other)))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Name(Expression):
    """A column; ``table`` says of which table where several have it."""

    name: str
    table: str | None = None

    def __repr__(self) -> str:
        return f"col({self.name if self.table is None else f'{self.table}.{self.name}'!r})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Constant(Expression):
    """A value that is the same in every row."""

    value: Value
    kind: Kind | None

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Call(Expression):
    """A function of other expressions, with public options."""

    function: str
    arguments: tuple[Expression, ...]
    options: tuple[Value, ...] = ()
    parts: int = field(init=False)
    levels: int = field(init=False)

    def __post_init__(self) -> None:
        sizes = [(one.parts, one.levels) if isinstance(one, Call) else (1, 1) for one in self.arguments]
        object.__setattr__(self, "parts", 1 + sum(parts for parts, _ in sizes))
        object.__setattr__(self, "levels", 1 + max((levels for _, levels in sizes), default=0))
        if self.parts > PARTS or self.levels > DEPTH:
            raise InvalidQuery(
                f"an expression has at most {PARTS} parts in {DEPTH} levels, with all that is written into it. "
                "Write a simpler one; many values go into IN, or isin."
            )

    def __repr__(self) -> str:
        if symbol := SYMBOLS.get(self.function):
            return f"({self.arguments[0]!r} {symbol} {self.arguments[1]!r})"
        if self.function in ("negate", "not"):
            return f"({'-' if self.function == 'negate' else '~'}{self.arguments[0]!r})"
        if self.function == "case":
            *pairs, last = self.arguments
            told = "".join(f".when({a!r}, {b!r})" for a, b in zip(pairs[::2], pairs[1::2], strict=True))
            return f"{told[1:]}.otherwise({last!r})"
        rest = [repr(argument) for argument in self.arguments[1:]]
        options = [repr(list(self.options))] if self.function in ("is_in", "bin") else [repr(o) for o in self.options]
        name = METHODS.get(self.function, self.function)
        return f"{self.arguments[0]!r}.{name}({', '.join(rest + options)})"


METHODS = {
    "is_in": "isin",
    "absolute": "__abs__",
    "coalesce": "fill",
    "ceiling": "ceil",
    "square_root": "sqrt",
    "substring": "slice",
    "starts_with": "startswith",
    "ends_with": "endswith",
    "days_between": "days_since",
}


@dataclass(frozen=True, slots=True)
class When:
    """Cases that are tried in order; complete with ``otherwise``."""

    pairs: tuple[Expression, ...]

    def when(self, condition: Expression, value: object) -> "When":
        """Add a case."""
        return When((*self.pairs, condition, expression(value)))

    def otherwise(self, value: object) -> Expression:
        """Say what holds where no case does."""
        return Call("case", (*self.pairs, expression(value)))


def col(name: str) -> Expression:
    """Return the column of that name; write ``"table.column"`` where several tables have it.

    >>> col("age") + 1
    (col('age') + 1)
    """
    if type(name) is not str or not name:
        raise InvalidParameter("a column is named by a text.")
    table, dot, column = name.partition(".")
    return Name(column, table) if dot and table and column else Name(name)


def lit(value: Value) -> Expression:
    """Return a constant.

    >>> lit(3) * col("age")
    (3 * col('age'))
    """
    value = plain_value(value)
    if value is None:
        return Constant(None, None)
    kind = kind_of(value)
    if isinstance(value, float) and value != value:
        raise InvalidParameter("NaN is no constant: write None for a missing value.")
    if isinstance(value, str) and "\x00" in value:
        raise InvalidParameter("a text must not hold the character 0: no engine stores it.")
    return Constant(value, kind)


def when(condition: Expression, value: object) -> When:
    """Start a choice: ``when(condition, value).when(...).otherwise(value)``.

    >>> when(col("age") < 18, "minor").otherwise("adult")
    when((col('age') < 18), 'minor').otherwise('adult')
    """
    return When((condition, expression(value)))


def expression(value: object) -> Expression:
    """Return an expression as it is, and a Python value as a constant."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, When):
        raise InvalidParameter("a choice must be completed: add .otherwise(value).")
    if value is None or isinstance(value, bool | int | float | str | date | datetime):
        return lit(value)
    raise InvalidParameter(f"an expression is made of columns and plain values, got {type(value).__name__}.")


def names_in(value: Expression) -> list[str]:
    """Return the columns that an expression looks at, each once.

    >>> names_in((col("age") >= 15) | (col("role") != "spouse"))
    ['age', 'role']
    """
    if isinstance(value, Name):
        return [value.name]
    parts = value.arguments if isinstance(value, Call) else ()
    return list(dict.fromkeys(name for part in parts for name in names_in(part)))
