"""How large expressions get when queries are written into one another: doubled thirty times, one would fill memory."""

from discreet.errors import InvalidQuery
from discreet.tables.expressions import DEPTH, PARTS, Call, Expression

__all__ = ["DEPTH", "Sizes"]


class Sizes:
    """Remembers how many parts and levels each expression has, so that none is counted twice.

    >>> from discreet.tables.expressions import col
    >>> Sizes().of(col("a") + col("b") * 2)
    (5, 3)
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Expression, int, int]] = {}

    def of(self, expression: Expression) -> tuple[int, int]:
        """Return the number of parts and of levels."""
        if id(expression) not in self._known:
            parts, levels = 1, 1
            if isinstance(expression, Call):
                sizes = [self.of(argument) for argument in expression.arguments]
                parts += sum(size for size, _ in sizes)
                levels += max((level for _, level in sizes), default=0)
            self._known[id(expression)] = (expression, parts, levels)
        return self._known[id(expression)][1:]

    def checked(self, expression: Expression) -> Expression:
        """Return an expression that is not too large."""
        parts, levels = self.of(expression)
        if parts > PARTS or levels > DEPTH:
            raise InvalidQuery(
                f"an expression has at most {PARTS} parts in {DEPTH} levels, with subqueries written into it. "
                "Write a simpler one; many values go into IN."
            )
        return expression
