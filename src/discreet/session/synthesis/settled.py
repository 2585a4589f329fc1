"""Which columns a synthetic copy has, and how each is cut: from what was asked and what the schema declares.

What is declared settles a column at once. What is not has to be found privately first, and is charged: the values of a
column that nobody listed, and bins of about equal mass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from math import floor, log10
from typing import Literal
from unicodedata import normalize

from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.session.answer import Answer
from discreet.session.sources import Attached
from discreet.tables.aggregates import count, quantiles
from discreet.tables.expressions import Expression, Name
from discreet.tables.kinds import LIMIT, Interval, Kind, Value
from discreet.tables.query import Query
from discreet.tables.schema import Column
from discreet.tables.synthetic import Coding, Cut, Synthetic, even_edges

__all__ = ["BINS", "CATEGORIES", "Pending", "left_out", "settle", "settled"]

BINS = 20
"""Bins of a number where nobody said how many; a whole number with fewer values keeps all of them."""

CATEGORIES = 100
"""Values of a column that are found privately, at most, where nobody said how many."""

FOUND = ("str", "int", "date")
COUNTED = "n of rows"


@dataclass(frozen=True, slots=True)
class Pending:
    """A column whose values or bins a private query finds."""

    name: str
    kind: Kind
    how: Literal["categories", "quantiles"]
    most: int
    nulls: bool
    interval: Interval | None = None

    def query(self, table: str, filters: Sequence[Expression] = ()) -> Query:
        """Return what is asked: the values that enough people have, or quantiles."""
        start = Query(table, filters=tuple(filters))
        if self.how == "categories":
            return replace(start, keys=((self.name, Name(self.name)),), aggregates=((COUNTED, count()),))
        shares = [place / self.most for place in range(1, self.most)]
        return start.agg(**{COUNTED: quantiles(Name(self.name), shares, method="tree")})

    @property
    def told(self) -> str:
        """What the step finds, in words."""
        what = "its values, privately" if self.how == "categories" else f"edges of {self.most} bins of equal mass"
        return f"{self.name}: {what}"

    @property
    def placeholder(self) -> Cut:
        """A cut into as many values as there may be, for what must be known before the step: no cost depends on it."""
        if self.interval is not None:
            whole = self.kind == "int"
            return Cut(edges=even_edges(self.interval, self.most, whole=whole), nulls=self.nulls)
        return Cut(values=tuple(_stand_in(self.kind, place) for place in range(self.most)), nulls=self.nulls)

    def found(self, answer: Answer) -> Coding:
        """Return the column as the answer settles it."""
        if self.interval is not None:
            return Coding(self.name, self.kind, edges=self._edges(answer), nulls=self.nulls, source="released")
        counts = answer.columns[COUNTED].value
        pairs = [(value, n) for value, n in zip(answer.keys[self.name], counts, strict=True) if _askable(value)]
        first = sorted(pairs, key=lambda pair: (-float(pair[1] or 0), str(pair[0])))
        alike = {normalize("NFC", value) if isinstance(value, str) else value: value for value, _ in reversed(first)}
        kept = [value for value, _ in first if value in alike.values()][: self.most]
        values = tuple(sorted(kept, key=lambda value: (str(type(value)), value)))
        return Coding(self.name, self.kind, values=values, nulls=self.nulls or not values, source="released")

    def _edges(self, answer: Answer) -> tuple[Fraction, ...]:
        assert self.interval is not None  # noqa: S101  it has quantiles
        low, high = self.interval.low, self.interval.high
        told = [one.value[0] for one in answer.columns.values()]
        numbers = [Fraction(one) for one in told if isinstance(one, int | float)]
        inside = {Fraction(round(one)) if self.kind == "int" else _short(one, high - low) for one in numbers}
        return (low, *sorted(one for one in inside if low < one < high), high)


def settle(asked: Synthetic, table: Attached) -> list[Coding | Pending]:
    """Return all columns of a copy, or say which cannot be in it."""
    columns = asked.columns if asked.columns is not None else tuple((name, Cut()) for name in _usual(table))
    names = [name for name, _ in columns]
    if not names:
        raise InvalidParameter(
            f"no column of {table.name} is declared, so none can be copied. Declare bounds or values in the schema, or "
            "name the columns."
        )
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidParameter(f"{twice[0]} is named twice.")
    return [_column(name, cut, table) for name, cut in columns]


def settled(asked: Synthetic, table: Attached) -> tuple[Coding, ...]:
    """Return all columns where nothing has to be found privately."""
    found = settle(asked, table)
    for one in found:
        if isinstance(one, Pending):
            raise InvalidParameter(
                f"the values of {one.name} are not declared. Declare them ({one.name}: {{values: [...]}}), or let a "
                "session find them privately: session.synthesize(...)."
                if one.how == "categories"
                else f"bins of {one.name} by quantiles are found by a session: session.synthesize(...)."
            )
    return tuple(one for one in found if isinstance(one, Coding))


def left_out(asked: Synthetic, table: Attached) -> list[str]:
    """Return the columns that are not in the copy because nothing is declared about them."""
    if asked.columns is not None:
        return []
    usual = _usual(table)
    return [name for name in table.relation.columns if name not in usual and name != table.key]


def _usual(table: Attached) -> list[str]:
    schema = table.schema
    return [
        name
        for name in table.relation.columns
        if name != table.key
        and (schema[name].values is not None or schema[name].bounds is not None or schema[name].type == "bool")
    ]


def _column(name: str, cut: Cut, table: Attached) -> Coding | Pending:
    if name not in table.relation.columns:
        raise InvalidParameter(f"there is no column {name!r}. There are: {', '.join(table.relation.columns)}.")
    if name == table.key:
        raise InvalidParameter(f"{name} tells persons apart: a synthetic copy has no persons. Leave it out.")
    column = table.schema[name]
    kind = column.type
    if kind is None:
        raise InvalidParameter(f"{name} has no type in the file's metadata. Declare it: schema={{{name!r}: 'float'}}.")
    if kind == "timestamp":
        raise InvalidParameter(f"{name} is a timestamp, and a copy has days: declare it as a date, with its values.")
    nulls = _has_missing(cut, column)
    if cut.values is not None:
        return _listed(name, kind, cut.values, nulls=nulls)
    if cut.edges is not None:
        _numeric(name, kind)
        return Coding(name, kind, edges=cut.edges, nulls=nulls)
    if cut.quantiles is not None:
        return Pending(name, kind, "quantiles", cut.quantiles, nulls, _bounds(name, column))
    if cut.categories is not None:
        return _found(name, kind, cut.categories, nulls=nulls)
    return _usual_cut(name, kind, column, cut, nulls=nulls)


def _has_missing(cut: Cut, column: Column) -> bool:
    """Whether a missing value, or one that was not declared, is a value of the copy: if not, its rows are left out."""
    if cut.nulls is not None or column.nulls not in ("skip", None):
        return bool(cut.nulls) and column.nulls in ("skip", None)
    if column.nulls is None:
        return True
    values = column.values if cut.values is None else cut.values
    if values is not None:
        return None in values
    return column.bounds is None


def _usual_cut(name: str, kind: Kind, column: Column, cut: Cut, *, nulls: bool) -> Coding | Pending:
    if column.values is not None and cut.bins is None:
        return _listed(name, kind, column.values, nulls=nulls)
    if kind == "bool":
        return Coding(name, kind, values=(False, True), nulls=nulls)
    if column.bounds is None and cut.bins is None and kind in FOUND and kind != "int":
        return _found(name, kind, CATEGORIES, nulls=nulls)
    interval, bins = _bounds(name, column), cut.bins or BINS
    if kind == "int" and interval.width < bins:
        values = tuple(range(int(interval.low), int(interval.high) + 1))
        return Coding(name, kind, values=values, nulls=nulls)
    return Coding(name, kind, edges=even_edges(interval, bins, whole=kind == "int"), nulls=nulls)


def _listed(name: str, kind: Kind, values: Sequence[Value], *, nulls: bool) -> Coding:
    known = tuple(value for value in values if value is not None)
    return Coding(name, kind, values=known, nulls=nulls or not known)


def _found(name: str, kind: Kind, most: int, *, nulls: bool) -> Pending:
    if kind not in FOUND:
        raise InvalidParameter(f"{name} is a {kind}: declare bounds, and cut it into bins.")
    return Pending(name, kind, "categories", most, nulls)


def _bounds(name: str, column: Column) -> Interval:
    _numeric(name, str(column.type))
    if column.interval is None:
        raise UnboundedSensitivity(
            f"{name} has no bounds to cut. Declare them in the schema ({name}: {{min: 0, max: 500}}), or give its "
            f"edges or values: columns={{{name!r}: {{'edges': [0, 10, 100]}}}}."
        )
    if not column.interval.width:
        raise InvalidParameter(f"the bounds of {name} are equal: it is a constant. Leave it out, or widen them.")
    return column.interval


def _numeric(name: str, kind: str) -> None:
    if kind not in ("int", "float"):
        raise InvalidParameter(f"{name} is a {kind}, and bins are for numbers. Give its values, or leave bins out.")


def _stand_in(kind: Kind, place: int) -> Value:
    if kind == "date":
        return date(2000, 1, 1) + timedelta(days=place)
    return place if kind == "int" else f"value {place}"


def _short(number: Fraction, width: Fraction) -> Fraction:
    """Return a number to about a thousandth of a width, in few decimal digits: nobody needs more of a noisy edge.

    >>> float(_short(Fraction(4619.426666460349), Fraction(60_000))), float(_short(Fraction(1, 3), Fraction(1)))
    (4620.0, 0.333)
    """
    step = Fraction(10) ** (floor(log10(width)) - 3)
    return Fraction(float(round(number / step) * step))


def _askable(value: Value) -> bool:
    """Tell whether an engine can be asked for a value that was found; any other stays missing, as rare ones do."""
    if isinstance(value, str):
        return "\0" not in value
    return value is not None and (type(value) is not int or abs(value) <= LIMIT)
