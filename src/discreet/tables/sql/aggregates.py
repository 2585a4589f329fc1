"""Aggregates: functions of a group, with DISTINCT for counts, FILTER for all, and WITHIN GROUP for percentiles."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.errors import InvalidParameter, InvalidQuery
from discreet.tables import aggregates as build
from discreet.tables.aggregates import Aggregate
from discreet.tables.expressions import Expression, lit, when
from discreet.tables.sql.constants import value
from discreet.tables.sql.expressions import Reader
from discreet.tables.sql.functions import AGGREGATES, arguments_of
from discreet.tables.sql.refusals import refuse, understood

__all__ = ["aggregate", "default_name", "holds_aggregate", "is_aggregate"]

ONE: dict[str, Callable[[str | Expression], Aggregate]] = {
    "AVG": build.mean,
    "MAX": build.max,
    "MEDIAN": build.median,
    "MIN": build.min,
    "STDDEV": build.stddev,
    "STDDEV_POP": build.stddev,
    "SUM": build.sum,
    "VARIANCE": build.variance,
    "VAR_POP": build.variance,
}
TWO: dict[str, Callable[[str | Expression, str | Expression], Aggregate]] = {
    "CORR": build.correlation,
    "COVAR_POP": build.covariance,
}


def is_aggregate(node: object) -> bool:
    """Return whether a part of a tree is an aggregate and nothing around it."""
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.Paren):
        node = node.this
    return isinstance(node, exp.Anonymous) and isinstance(node.this, str) and node.this.upper() in AGGREGATES


def holds_aggregate(node: exp.Expr) -> bool:
    """Return whether there is an aggregate anywhere in a part of a tree."""
    return any(is_aggregate(part) for part in node.walk())


def aggregate(node: exp.Expr, reader: Reader) -> Aggregate:
    """Return the aggregate that a part of the tree describes."""
    if isinstance(node, exp.Paren):
        understood(node, "this")
        return aggregate(node.this, reader)
    if isinstance(node, exp.Filter):
        understood(node, "this", "expression")
        understood(node.expression, "this")
        return _filtered(aggregate(node.this, reader), reader.read(node.expression.this))
    if isinstance(node, exp.WithinGroup):
        return _percentile(node, reader)
    if not isinstance(node, exp.Anonymous):
        refuse(node)
    name, arguments = arguments_of(node)
    if name == "COUNT":
        return _count(arguments, reader)
    if any(isinstance(argument, exp.Star) for argument in arguments):
        raise InvalidQuery(f"* is for COUNT(*) alone. Name the column: {name}(x).")
    if any(isinstance(argument, exp.Distinct) for argument in arguments):
        raise InvalidQuery(f"DISTINCT is for COUNT(DISTINCT x) alone. Write {name}(x).")
    if any(isinstance(argument, exp.Kwarg | exp.PropertyEQ) for argument in arguments):
        raise InvalidQuery(f"named arguments are not supported. For bounds write {name}(CLIP(x, low, high)).")
    if name == "MEDIAN" and len(arguments) == 2:
        return _quantiles(reader.read(arguments[0]), exp.Literal.number("0.5"), arguments[1:])
    if name in ONE and len(arguments) == 1:
        return ONE[name](reader.read(arguments[0]))
    if name in TWO and len(arguments) == 2:
        return TWO[name](reader.read(arguments[0]), reader.read(arguments[1]))
    if name in ("QUANTILE_CONT", "APPROX_QUANTILE") and len(arguments) in (2, 3):
        return _quantiles(reader.read(arguments[0]), arguments[1], arguments[2:])
    if name == "PERCENTILE_CONT":
        raise InvalidQuery("PERCENTILE_CONT needs an order. Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x).")
    form = "(x, y)" if name in TWO else "(x)" if name in ONE else "(x, 0.5)"
    raise InvalidQuery(f"{name} does not take {len(arguments)} arguments. Write {name}{form}.")


def default_name(node: exp.Expr) -> str:
    """Return the name of a column that was given none: the function and, where they are plain, its columns.

    >>> default_name(exp.Anonymous(this="AVG", expressions=[exp.column("amount")]))
    'avg_amount'
    """
    arguments: list[object] = []
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.Paren):
        if isinstance(node, exp.WithinGroup):
            arguments = [one.this for one in node.expression.expressions]
        node = node.this
    parts = [str(node.this).lower()]
    for argument in [*arguments, *node.expressions]:
        if isinstance(argument, exp.Distinct):
            parts.append("distinct")
            argument = argument.expressions[0]  # noqa: PLW2901
        if isinstance(argument, exp.Column):
            parts.append(argument.name)
    return "_".join(parts)


def _count(arguments: Sequence[exp.Expr], reader: Reader) -> Aggregate:
    if len(arguments) != 1:
        raise InvalidQuery("COUNT takes * or one column. Write COUNT(*) or COUNT(x).")
    (argument,) = arguments
    if isinstance(argument, exp.Star):
        understood(argument)
        return build.count()
    if isinstance(argument, exp.Distinct):
        understood(argument, "expressions")
        if len(argument.expressions) != 1:
            raise InvalidQuery("COUNT(DISTINCT x) takes one column. Put several together first, with ||.")
        return build.count_distinct(reader.read(argument.expressions[0]))
    return build.count(reader.read(argument))


def _percentile(node: exp.Expr, reader: Reader) -> Aggregate:
    understood(node, "this", "expression")
    inner, order = node.this, node.expression
    if not isinstance(inner, exp.Anonymous) or not isinstance(order, exp.Order):
        refuse(node)
    name, arguments = arguments_of(inner)
    understood(order, "expressions")
    if name != "PERCENTILE_CONT" or len(arguments) not in (1, 2) or len(order.expressions) != 1:
        refuse(node)
    ordered = order.expressions[0]
    understood(ordered, "this")
    return _quantiles(reader.read(ordered.this), arguments[0], arguments[1:])


def _quantiles(column: Expression, node: exp.Expr, more: Sequence[exp.Expr]) -> Aggregate:
    """Return quantiles at one or several shares; after them may come the name of a method, as a text."""
    if isinstance(node, exp.Array):
        understood(node, "expressions")
        shares = [value(one, "a quantile") for one in node.expressions]
    else:
        shares = [value(node, "a quantile")]
    if any(isinstance(share, bool) or not isinstance(share, int | float) for share in shares):
        raise InvalidQuery("a quantile is at a number between 0 and 1. Write QUANTILE_CONT(x, 0.5).")
    try:
        method = value(more[0], "the method of a quantile") if more else None
        return build.quantiles(column, [float(share) for share in shares], method=method)  # type: ignore[arg-type]
    except InvalidParameter as error:
        raise InvalidQuery(str(error)) from None


def _filtered(one: Aggregate, condition: Expression) -> Aggregate:
    """Return an aggregate of the rows for which a condition is true: in the others, what it is of is missing."""
    arguments = one.arguments or (lit(1),)
    return replace(one, arguments=tuple(when(condition, argument).otherwise(None) for argument in arguments))
