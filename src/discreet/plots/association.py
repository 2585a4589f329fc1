"""How strongly columns go together: a field for each pair, with its number in it."""

from collections.abc import Sequence
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.theme import INK, altair, dress, same_length

__all__ = ["association_map"]

CELL, HEIGHT = 46, 28
GROUNDS = ((0.1, "#f4f7fb"), (0.2, "#dbe7f4"), (0.35, "#b9d0ea"), (0.55, "#8fb3db"), (1.0, "#6d9ccf"))
"""Up to which strength a field has which ground; dark ink stays readable on each."""


def association_map(
    names: Sequence[str], strengths: Sequence[Sequence[float]], *, title: str, subtitle: str = ""
) -> Any:  # noqa: ANN401
    """Draw a field for each pair of columns with a strength from 0 to 1 written in it; the diagonal stays empty.

    >>> chart = association_map(["age", "sex"], [[1.0, 0.3], [0.3, 1.0]], title="Association")
    """
    same_length(names=names, strengths=strengths)
    if len(names) < 2 or any(len(line) != len(names) for line in strengths) or len(set(names)) < len(names):
        raise InvalidParameter("a map needs two columns or more of different names, and a strength for each pair.")
    alt = altair()
    fields = [
        {"row": a, "column": b, "words": f"{strength:.2f}", "ground": _ground(strength)}
        for i, (a, line) in enumerate(zip(names, strengths, strict=True))
        for j, (b, strength) in enumerate(zip(names, line, strict=True))
        if i != j
    ]
    base = alt.Chart(alt.Data(values=fields)).encode(
        x=alt.X("column:N", sort=list(names), title=None,
                axis=alt.Axis(orient="top", labelAngle=-40, labelAlign="left", grid=False, domain=False, ticks=False)),
        y=alt.Y("row:N", sort=list(names), title=None, axis=alt.Axis(grid=False, domain=False, ticks=False)),
    )  # fmt: skip
    squares = base.mark_rect(stroke="white", strokeWidth=2).encode(color=alt.Color("ground:N", scale=None))
    words = base.mark_text(fontSize=12, color=INK).encode(text="words:N")
    size = {"width": max(CELL * len(names), 3 * CELL), "height": HEIGHT * len(names)}
    return dress(alt.layer(squares, words), title=title, subtitle=subtitle, **size)


def _ground(strength: float) -> str:
    return next((ground for limit, ground in GROUNDS if strength <= limit), GROUNDS[-1][1])
