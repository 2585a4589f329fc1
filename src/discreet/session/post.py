"""What comes after a release: HAVING, ORDER BY and LIMIT on released values. It costs nothing."""

from collections.abc import Callable, Mapping

from discreet.errors import InvalidParameter
from discreet.session.answer import Answer
from discreet.tables.expressions import Call, Constant, Expression, Name
from discreet.tables.query import Query

__all__ = ["after", "check", "holds"]

COMPARE: dict[str, Callable[[object, object], bool]] = {
    "equal": lambda a, b: a == b,
    "unequal": lambda a, b: a != b,
    "less": lambda a, b: a < b,  # type: ignore[operator]
    "at_most": lambda a, b: a <= b,  # type: ignore[operator]
    "greater": lambda a, b: a > b,  # type: ignore[operator]
    "at_least": lambda a, b: a >= b,  # type: ignore[operator]
}


def after(query: Query, answer: Answer) -> Answer:
    """Return an answer as its query wants it shown."""
    if query.kept is not None:
        kept = query.kept
        answer = answer.where(lambda row: holds(kept, row) is True)
    for order in reversed(query.order):
        answer = answer.sort(order.column, descending=order.descending)
    return answer if query.most is None else answer.head(query.most)


def check(query: Query, names: tuple[str, ...]) -> None:
    """Refuse a query that looks at values which are not released, before anything is spent."""
    for order in query.order:
        if order.column not in names:
            raise InvalidParameter(
                f"ORDER BY looks at released columns, and {order.column} is none: {', '.join(names)}."
            )
    if query.kept is not None:
        _check(query.kept, names)


def _check(value: Expression, names: tuple[str, ...]) -> None:
    if isinstance(value, Name) and value.name not in names:
        raise InvalidParameter(f"HAVING looks at released columns, and {value.name} is none: {', '.join(names)}.")
    if isinstance(value, Call):
        if value.function not in (*COMPARE, "and", "or", "not", "is_null", "is_in"):
            raise InvalidParameter(f"HAVING compares released columns with values; it has no {value.function}.")
        for argument in value.arguments:
            _check(argument, names)


def holds(value: Expression, row: Mapping[str, object]) -> object:
    """Return what an expression is for a released row, with null as in SQL."""
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, Name):
        return row[value.name]
    assert isinstance(value, Call)  # noqa: S101  there are no other expressions
    parts = [holds(argument, row) for argument in value.arguments]
    if value.function == "and":
        return False if False in parts else None if None in parts else True
    if value.function == "or":
        return True if True in parts else None if None in parts else False
    if value.function == "not":
        return None if parts[0] is None else not parts[0]
    if value.function == "is_null":
        return parts[0] is None
    if value.function == "is_in":
        return None if parts[0] is None else parts[0] in value.options
    if None in parts:
        return None
    try:
        return COMPARE[value.function](*parts)
    except TypeError:
        return None
