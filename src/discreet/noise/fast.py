"""The error bound of the fast path, in one place.

A fast sampler evaluates a formula in float64 on the 63-bit uniform ``v = m / 2^63`` and believes the result only where
every real number in the cell ``[m, m + 1) / 2^63`` gives the same answer. The bound has three parts:

- *the cell*: samples with ``m < 2^46`` (one in 2^17) are never believed, so the cell and the rounding of ``m`` to a
  double change ``v`` by a relative amount of at most ``2^-46 + 2^-53``;
- *the elementary functions*: numpy's ``log`` and ``exp`` are trusted to ``TRUSTED_ULPS`` units in the last place,
  several times what their authors state. On the believed range ``|log v| < 12``, so this is below ``2^-46``;
- *the arithmetic around them*: a handful of roundings of numbers below 16 in size, below ``2^-48``.

Together they stay below ``SLACK = 2^-44`` in the value of ``log v``. The trust in the library is tested when this
module is imported, against ball arithmetic on cells at the edges of the believed range and near 1, where cancellation
would show. On a machine that fails, the slack becomes infinite: no sample is
believed, every one is decided in ball arithmetic, slow and still exact.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from discreet.exact import Precision, ball

__all__ = ["BELIEVED", "CHUNK", "SLACK", "Floats", "agrees", "within_slack"]

Floats = npt.NDArray[np.float64]

CHUNK = 1 << 14
"""Samples per pass: the working arrays stay in the second-level cache."""

BELIEVED = 1 << 46
TRUSTED_ULPS = 8


def agrees(function: Callable[[Floats], Floats], truth: Callable[[arb], arb], points: Floats) -> bool:
    """Tell whether a float function is within ``TRUSTED_ULPS`` of the truth at all points.

    >>> agrees(np.log, lambda x: x.log(), np.array([0.5, 0.999]))
    True
    >>> agrees(lambda x: np.log(x) * (1 + 1e-14), lambda x: x.log(), np.array([0.5, 0.999]))
    False
    """
    values = function(points)
    with Precision():
        ctx.prec = 128
        return all(
            abs(arb(float(value)) - truth(ball(Fraction(float(point))))) <= TRUSTED_ULPS * arb(float(ulp))
            for point, value, ulp in zip(points, values, np.spacing(np.abs(values)), strict=True)
        )


def within_slack(
    inverse: Callable[[Floats], Floats], slack: Callable[[Floats], Floats], survival: Callable[[arb], arb]
) -> bool:
    """Tell whether an inverse survival function keeps its slack at the boundary points, as the survival judges.

    Half the slack is left to the width of the cells.
    """
    points = boundary_points()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = inverse(points)
    reach = slack(found) / 2
    with Precision():
        ctx.prec = 256
        return all(
            (z <= r or survival(arb(float(z)) - arb(float(r))) >= ball(float(v)))
            and survival(arb(float(z)) + arb(float(r))) <= ball(float(v))
            for z, r, v in zip(found, reach, points, strict=True)
        )


def boundary_points() -> Floats:
    """Return cells at the edges of the believed range, around powers of two and close to 1."""
    steps = np.array([-3, -1, 0, 1, 3])
    anchors = [BELIEVED + 3, 1 << 52, 1 << 55, 1 << 60, 3 << 60, (1 << 63) - (1 << 40), (1 << 63) - (1 << 12)]
    doubles = np.array(anchors, dtype=np.float64)[:, None]
    points: Floats = ((doubles + steps * np.spacing(doubles)) * 2.0**-63).ravel()
    return points[points < 1]


def libraries_can_be_trusted() -> bool:
    """Test the elementary functions that samplers and densities use."""
    points = boundary_points()
    angles = points[points <= 0.5] * (np.pi / 2)
    return (
        agrees(np.log, lambda v: v.log(), points)
        and agrees(np.exp, lambda v: v.exp(), np.concatenate([-points, -40 * points]))
        and agrees(np.log1p, lambda v: v.log1p(), -points)
        and agrees(np.expm1, lambda v: v.expm1(), np.concatenate([points, 120 * points]))
        and agrees(np.tan, lambda v: v.tan(), angles)
    )


SLACK = 2.0**-44 if libraries_can_be_trusted() else np.inf
"""Bound on the absolute error of ``log v`` on a believed cell, for every real number in that cell."""
