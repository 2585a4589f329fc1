"""What HAVING and ORDER BY speak of: columns of the answer, by name or spelled as they are in SELECT."""

from dataclasses import dataclass

from sqlglot import exp

from discreet.errors import InvalidParameter, InvalidQuery
from discreet.tables.aggregates import Aggregate
from discreet.tables.expressions import Expression, Name
from discreet.tables.query import Order
from discreet.tables.sql.aggregates import aggregate, is_aggregate
from discreet.tables.sql.expressions import Reader
from discreet.tables.sql.names import Rows, find, listed
from discreet.tables.sql.refusals import named, refuse, understood
from discreet.tables.sql.shape import Shape, shape

__all__ = ["Released", "position"]


@dataclass(frozen=True)
class Released:
    """The columns of an answer: keys first, then aggregates, each with its name and what it is."""

    keys: dict[str, Expression]
    aggregates: dict[str, Aggregate]
    places: tuple[str, ...]
    rows: Rows

    def condition(self, having: exp.Expr | None) -> Expression | None:
        """Return the condition of HAVING over columns of the answer."""
        if having is None:
            return None
        understood(having, "this")
        return Reader(self._leaf).read(having.this)

    def order(self, clause: exp.Expr | None) -> tuple[Order, ...]:
        """Return the columns that ORDER BY names."""
        if clause is None:
            return ()
        understood(clause, "expressions")
        orders = []
        for item in clause.expressions:
            if not isinstance(item, exp.Ordered):
                refuse(item)
            understood(item, "this", "desc")
            orders.append(Order(self._ordered(item.this), bool(item.args.get("desc"))))
        return tuple(orders)

    def _ordered(self, node: exp.Expr) -> str:
        if (place := position(node, "ORDER BY", len(self.places))) is not None:
            return self.places[place]
        if isinstance(node, exp.Paren):
            understood(node, "this")
            return self._ordered(node.this)
        found = self._leaf(node)
        if found is None:
            Reader(self._leaf).read(node)
            raise InvalidQuery(f"an answer is ordered by its columns. Order by one of {listed(self.places)}.")
        assert isinstance(found, Name)  # noqa: S101
        return found.name

    def _leaf(self, node: exp.Expr) -> Expression | None:
        if is_aggregate(node):
            return self._selected(shape(aggregate(node, Reader(self.rows.leaf))))
        if isinstance(node, exp.Column):
            return self._column(node)
        return self._key(node)

    def _selected(self, wanted: Shape) -> Expression:
        for name, one in self.aggregates.items():
            if shape(one) == wanted:
                return Name(name)
        raise InvalidQuery("HAVING and ORDER BY speak of released columns alone. Put this aggregate into SELECT too.")

    def _column(self, node: exp.Column) -> Expression:
        names = set()
        if node.args.get("table") is None and (name := find(node.this, self.places)) is not None:
            names.add(name)
        if (key := self._key(node)) is not None:
            names.add(key.name)
        if len(names) > 1:
            raise InvalidQuery(
                f"{named(node.name)} may mean {listed(names)}. Give the columns of the answer new names."
            )
        if not names:
            raise InvalidQuery(
                f"there is no column {named(node.name)} in the answer. There are: {listed(self.places)}. "
                "Conditions on rows go into WHERE."
            )
        return Name(names.pop())

    def _key(self, node: exp.Expr) -> Name | None:
        """Return the key that is spelled so, if one is."""
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null):
            return None
        try:
            wanted = shape(Reader(self.rows.leaf).read(node))
        except InvalidParameter:
            return None
        return next((Name(name) for name, key in self.keys.items() if shape(key) == wanted), None)


def position(node: exp.Expr, clause: str, columns: int) -> int | None:
    """Return the place that a whole number in GROUP BY or ORDER BY means, counted from 0."""
    if not isinstance(node, exp.Literal):
        return None
    text = str(node.this)
    if node.args.get("is_string") or not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= columns:
        raise InvalidQuery(f"{clause} takes names, or places from 1 to {columns}. Name the column.")
    return int(text[:9]) - 1
