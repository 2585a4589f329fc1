"""How strongly attributes hang together, pair by pair, as a map with the number in every field."""

from collections.abc import Sequence
from typing import Any

from discreet.errors import InvalidParameter
from discreet.plots.theme import INK, MUTED, altair, dress, same_length

__all__ = ["association_map"]

FIELD = 34
FIGURES = 26
"""With more attributes than this there is no room for numbers."""

GROUNDS = ((0.05, "#f1f4f8", MUTED), (0.15, "#cfdff0", INK), (0.4, "#8fb4dd", INK), (1.01, "#1f5fa8", "#ffffff"))
"""Up to which size, the ground and the ink: strong associations are strong in print, whatever their sign."""


def association_map(names: Sequence[str], values: Sequence[Sequence[float]], *, title: str, subtitle: str = "") -> Any:  # noqa: ANN401  an altair chart
    """Draw a field for each pair of different attributes, below the diagonal; differences carry their sign.

    >>> chart = association_map(["age", "sex"], [[1.0, 0.3], [0.3, 1.0]], title="Cramer's V")
    """
    same_length(names=names, values=values)
    if len(names) < 2 or any(len(line) != len(names) for line in values):
        raise InvalidParameter("a map needs two attributes or more, and a value for each pair of them.")
    if len(set(names)) < len(names) or any(not -1.001 <= v <= 1.001 for line in values for v in line):
        raise InvalidParameter("a map needs attributes with different names, and values from -1 to 1.")
    alt = altair()
    signed = any(v < 0 for line in values for v in line)
    fields = [
        {"row": names[i], "column": names[j], "words": _words(values[i][j], signed), "ground": ground, "ink": ink}
        for i in range(1, len(names))
        for j in range(i)
        for ground, ink in [_ground(values[i][j])]
    ]
    base = alt.Chart(alt.Data(values=fields)).encode(
        x=alt.X("column:N", sort=list(names[:-1]), title=None,
                axis=alt.Axis(orient="bottom", labelAngle=-40, grid=False, domain=False, ticks=False)),
        y=alt.Y("row:N", sort=list(names[1:]), title=None, axis=alt.Axis(grid=False, domain=False, ticks=False)),
    )  # fmt: skip
    layers = [base.mark_rect(stroke="white", strokeWidth=1).encode(color=alt.Color("ground:N", scale=None))]
    if len(names) <= FIGURES:
        layers.append(base.mark_text(fontSize=10).encode(text="words:N", color=alt.Color("ink:N", scale=None)))
    side = FIELD * (len(names) - 1)
    return dress(alt.layer(*layers), title=title, subtitle=subtitle, height=side, width=max(side, 4 * FIELD))


def _words(value: float, signed: bool) -> str:
    """Return a value in two digits.

    >>> _words(0.314, False), _words(-0.314, True), _words(0.001, True), _words(1.0, False)
    ('.31', '-.31', '0', '1')
    """
    rounded = round(value, 2)
    if rounded in (-1, 0, 1):
        return f"{rounded:.0f}" if rounded else "0"
    return (f"{rounded:+.2f}" if signed else f"{rounded:.2f}").replace("0.", ".")


def _ground(value: float) -> tuple[str, str]:
    return next((ground, ink) for limit, ground, ink in GROUNDS if abs(value) <= limit)
