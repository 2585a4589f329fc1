"""Lines of equal height on a grid, by marching squares (Lorensen and Cline, SIGGRAPH 1987, in two dimensions)."""

from collections.abc import Sequence

from discreet.errors import InvalidParameter

__all__ = ["contours"]

Edge = tuple[int, int, int]
"""Row and column of a grid point, and whether the edge goes right (0) or up (1) from it."""
Line = list[tuple[float, float]]


def contours(xs: Sequence[float], ys: Sequence[float], values: Sequence[Sequence[float]], level: float) -> list[Line]:
    """Return the lines along which values, a row for each y, pass a level. Closed ones end where they begin.

    >>> contours([0, 1], [0, 1], [[0, 1], [0, 1]], 0.25)
    [[(0.25, 0.0), (0.25, 1.0)]]
    """
    if len(values) != len(ys) or any(len(row) != len(xs) for row in values):
        raise InvalidParameter("values must have a row for each y and a column for each x.")
    ends: dict[Edge, list[Edge]] = {}
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            for first, second in _through(values, row, column, level):
                ends.setdefault(first, []).append(second)
                ends.setdefault(second, []).append(first)
    lines = []
    for start in sorted(ends, key=lambda edge: len(ends[edge])):  # open lines first, from their ends
        while ends[start]:
            walk = [start]
            while following := ends[walk[-1]]:
                step = following.pop()
                ends[step].remove(walk[-1])
                walk.append(step)
            lines.append([_place(xs, ys, values, level, edge) for edge in walk])
    return lines


def _through(values: Sequence[Sequence[float]], row: int, column: int, level: float) -> list[tuple[Edge, Edge]]:
    """Return which edges of one square a line joins; where two lines meet, its middle says which way they turn."""
    corners = [values[row][column], values[row][column + 1], values[row + 1][column + 1], values[row + 1][column]]
    above = [corner > level for corner in corners]
    edges: list[Edge] = [(row, column, 0), (row, column + 1, 1), (row + 1, column, 0), (row, column, 1)]
    crossed = [edges[k] for k in range(4) if above[k] != above[(k + 1) % 4]]
    if len(crossed) == 4:
        turned = (sum(corners) / 4 > level) == above[0]
        return [(edges[0], edges[1]), (edges[2], edges[3])] if turned else [(edges[3], edges[0]), (edges[1], edges[2])]
    return [(crossed[0], crossed[1])] if crossed else []


def _place(
    xs: Sequence[float], ys: Sequence[float], values: Sequence[Sequence[float]], level: float, edge: Edge
) -> tuple[float, float]:
    row, column, up = edge
    a, b = values[row][column], values[row + up][column + 1 - up]
    part = (level - a) / (b - a)
    x = xs[column] if up else xs[column] + part * (xs[column + 1] - xs[column])
    y = ys[row] + part * (ys[row + 1] - ys[row]) if up else ys[row]
    return float(x), float(y)
