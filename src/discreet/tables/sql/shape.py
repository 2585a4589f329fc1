"""Whether two expressions are the same: by their parts, since ``==`` between expressions makes a condition."""

from discreet.tables.aggregates import Aggregate
from discreet.tables.expressions import Call, Constant, Expression, Name

__all__ = ["Shape", "shape"]

Shape = tuple[object, ...]


def shape(one: Expression | Aggregate) -> Shape:
    """Return a value that is equal for equal expressions alone; 1, 1.0 and true differ.

    >>> from discreet.tables.expressions import col
    >>> shape(col("a") + 1) == shape(col("a") + 1), shape(col("a") + 1) == shape(col("a") + 1.0)
    (True, False)
    """
    if isinstance(one, Name):
        return "name", one.table, one.name
    if isinstance(one, Constant):
        return "constant", one.kind, repr(one.value)
    if isinstance(one, Call | Aggregate):
        kind, method = ("call", None) if isinstance(one, Call) else ("aggregate", one.method)
        return kind, one.function, tuple(map(shape, one.arguments)), tuple(map(repr, one.options)), method
    raise TypeError(type(one).__name__)
