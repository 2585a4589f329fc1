"""How finely an engine counts the numbers whose spread is asked for: a public grid over their declared bounds."""

import math

from discreet.errors import InvalidParameter, UnboundedSensitivity
from discreet.tables.expressions import Expression, Name
from discreet.tables.fine import Fine
from discreet.tables.kinds import Interval
from discreet.tables.query import Query
from discreet.tables.together import Spread
from discreet.tables.typed import Scope

__all__ = ["DEEPEST", "MOST_CELLS", "cdf_grid", "fine_grids", "tree_grids"]

DEEPEST = {1: 16, 2: 10}
"""How often the bounds are halved at most, for one and for two numbers."""
MOST_CELLS = 1024


def fine_grids(query: Query, scope: Scope) -> tuple[Fine, ...]:
    """Return a grid for each key of a query, or say how to bound it."""
    if not isinstance(query.together, Spread):
        return ()
    if query.public:
        raise InvalidParameter(f"the keys of {next(iter(query.public))} are numbers between bounds: list none of them.")
    bounds = [_bounds(name, value, scope) for name, value in query.keys]
    if query.together.asked == "tree":
        return tree_grids(bounds)
    if len(bounds) != 1:
        raise InvalidParameter(f"counts below edges are of one number, got {len(bounds)} keys.")
    interval, whole = bounds[0]
    return (cdf_grid(interval, whole=whole),)


def tree_grids(bounds: list[tuple[Interval, bool]]) -> tuple[Fine, ...]:
    """Return grids of one depth for one or two numbers, the second part of each telling whether it is whole.

    >>> [grid.count for grid in tree_grids([(Interval.of(0, 100), True)])]
    [128]
    """
    if not 1 <= len(bounds) <= len(DEEPEST):
        raise InvalidParameter(f"a tree is of one or two numbers, got {len(bounds)} keys.")
    depth = DEEPEST[len(bounds)]
    if all(whole for _, whole in bounds):
        most = max(math.floor(one.high) - math.ceil(one.low) + 1 for one, _ in bounds)
        depth = max(1, min(depth, (most - 1).bit_length()))
    return tuple(Fine.over(one, whole=whole, count=2**depth) for one, whole in bounds)


def cdf_grid(interval: Interval, *, whole: bool) -> Fine:
    """Return the grid: a cell for each whole number where there are few, else so many of one width.

    >>> cdf_grid(Interval.of(0, 100), whole=True).count, cdf_grid(Interval.of(0, 100), whole=False).count
    (101, 1024)
    """
    found = Fine.over(interval, whole=whole, count=MOST_CELLS)
    few = found.values is not None and found.values < MOST_CELLS
    return Fine.over(interval, whole=whole, count=found.values or 1) if few else found


def _bounds(name: str, value: Expression, scope: Scope) -> tuple[Interval, bool]:
    typed = scope.resolve(value)
    if not typed.numeric:
        raise InvalidParameter(f"{name} is of type {typed.kind}, and numbers are spread. Use .cast('float').")
    if not typed.declared:
        own = value.name if isinstance(value, Name) else None
        declare = f"Declare them in the schema ({own}: {{min: 0, max: 500}}) or write " if own else "Write "
        raise UnboundedSensitivity(f"{name} has no bounds. {declare}{value!r}.clip(0, 500) with your own numbers.")
    if not typed.bounds.width:
        raise InvalidParameter(f"{name} is a constant: its bounds are equal.")
    return typed.bounds, typed.kind == "int"
