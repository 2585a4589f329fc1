"""What a function's sensitivity looks like near a data set: drawn for whoever may see the data.

A picture shows the local sensitivity, which is as secret as the data it comes from: it is no release.
"""

import math
from collections.abc import Sequence
from typing import Any

from discreet.errors import InvalidParameter
from discreet.exact import Real, positive
from discreet.sensitivity.smooth.distance import FARTHEST
from discreet.sensitivity.smooth.function import Function

__all__ = ["sensitivity_against_beta", "sensitivity_against_distance"]

POINTS = 60
HEIGHT = "how far one record can move the value"


def sensitivity_against_beta(
    function: Function,
    records: Any,  # noqa: ANN401 - what the function takes
    *,
    betas: Sequence[Real] | None = None,
    beta: Real | None = None,
) -> Any:  # noqa: ANN401  an altair chart
    """Draw the smooth bound at every beta, between the local and the global sensitivity, and mark one beta.

    As beta falls to 0 the bound rises to the largest level there is, and as beta grows it falls to the local
    sensitivity of the data set itself.

    >>> from discreet.sensitivity.smooth.order import Median
    >>> chart = sensitivity_against_beta(Median(bounds=(0, 6)), [1, 2, 3, 5, 6], beta=0.1)
    """
    from discreet import plots

    vicinity = function.at(records)
    lowest, highest = vicinity.local(), vicinity.local(FARTHEST)
    if betas is None:
        ends = (-4.0, 1.0) if beta is None else (math.log10(float(beta)) - 2, math.log10(float(beta)) + 2)
        betas = [10 ** (ends[0] + (ends[1] - ends[0]) * i / (POINTS - 1)) for i in range(POINTS)]
    rates = [float(positive(rate, "beta")) for rate in betas]
    if not rates:
        raise InvalidParameter("a picture needs at least one beta.")
    bounds = [vicinity.smooth(rate) for rate in rates]
    ends_of_axis = [min(rates), max(rates)]
    lines = [
        plots.Curve(name="largest anywhere", xs=ends_of_axis, ys=[highest] * 2, dashed=True, markers=False),
        plots.Curve(name="smooth bound", xs=rates, ys=bounds, strong=True),
        plots.Curve(name="local, at the data", xs=ends_of_axis, ys=[lowest] * 2, dashed=True, markers=False),
    ]
    marks = []
    if beta is not None:
        at = vicinity.smooth(float(positive(beta, "beta")))
        marks = [plots.Mark(x=float(beta), y=at, text=f"{at:,.4g} at beta {float(beta):g}")]
    return plots.curves(
        lines,
        plots.Axis(title="beta: how fast far data sets count less", log=True),
        plots.Axis(title=HEIGHT, log=lowest > 0),
        title="Between the local and the global sensitivity",
        marks=marks,
    )


def sensitivity_against_distance(function: Function, records: Any, *, farthest: int, beta: Real | None = None) -> Any:  # noqa: ANN401  an altair chart
    """Draw the levels: the largest local sensitivity within each distance, and what of it the smooth bound counts.

    With a beta, a second line is every level times ``e^(-beta k)``; the smooth bound is its highest point.

    >>> from discreet.sensitivity.smooth.order import Median
    >>> chart = sensitivity_against_distance(Median(bounds=(0, 6)), [1, 2, 3, 5, 6], farthest=6, beta=0.1)
    """
    from discreet import plots

    if farthest < 1:
        raise InvalidParameter(f"farthest must be at least 1 record, got {farthest}.")
    vicinity = function.at(records)
    shown = sorted({round(farthest * i / 240) for i in range(241)})
    levels = [vicinity.local(k) for k in shown]
    lines = [plots.Curve(name="largest within it", xs=shown, ys=levels, strong=beta is None)]
    marks, axis = [], plots.Axis(title=HEIGHT, low=0.0)
    if beta is not None:
        rate = float(positive(beta, "beta"))
        counted = [level * math.exp(-rate * k) for k, level in zip(shown, levels, strict=True)]
        lines.append(plots.Curve(name="as it counts", xs=shown, ys=counted, strong=True))
        top = max(range(len(shown)), key=counted.__getitem__)
        bound = vicinity.smooth(rate)
        marks = [plots.Mark(x=shown[top], y=counted[top], text=f"smooth bound {bound:,.4g}")]
        if levels[0] > 0:
            axis = plots.Axis(title=HEIGHT, log=True, low=min(levels[0], bound) / 10)
    return plots.curves(
        lines,
        plots.Axis(title="distance from the data, in records", whole=True),
        axis,
        title="What happens nearby",
        marks=marks,
    )
