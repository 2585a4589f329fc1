"""Draws from weights ``exp(rate * score)`` over a million candidates, exactly: whole proposals, then coins.

A candidate's weight, divided by the largest, is bounded from above by ``units / 2^40`` with a whole number of units.
Draw a candidate with probability proportional to its units, which is exact on whole numbers, and keep it with
probability ``2^40 * weight / units``, a coin that is decided in ball arithmetic where float64 leaves a doubt. What is
kept follows the weights exactly (von Neumann, 1951). Units exceed weights by one each at most and the largest weight
is 2^40 units, so that nearly every proposal is kept.

Scores come with both signs, for a query and for its complement: candidate j has the weight ``exp(rate * score_j)`` and
candidate -j ``exp(-rate * score_j)``, and neither list is written twice.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.exact import ball
from discreet.noise import source, uniform_below
from discreet.noise.fast import SLACK, Floats
from discreet.noise.lazy import LazyUniform

__all__ = ["signed_draws", "signed_log_probabilities"]

Int64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]

SCALE = 2.0**40
BEYOND = 64.0
"""Exponents beyond this leave less than one unit of 2^40."""

MARGIN = 2.0**-36
"""More than the relative error of ``exp`` of an exponent up to ``BEYOND``: a rounding of the score, of the rate and of
their product, ``64 * 3 * 2^-53 < 2^-45``, and the trusted last places of the function itself."""

MOST_CANDIDATES = 1 << 21
"""Units of both signs then add up to less than 2^63."""


def signed_draws(scores: Int64, rate: Fraction, size: int) -> tuple[Int64, Bits]:
    """Return ``size`` independent draws: the place of a score, and whether its complement was drawn.

    >>> places, complements = signed_draws(np.array([0, -50]), Fraction(1), 4)
    >>> places.tolist(), complements.tolist()
    ([1, 1, 1, 1], [True, True, True, True])
    """
    top = int(np.abs(scores).max())
    units = np.concatenate([_units(scores, top, rate), _units(-scores, top, rate)])
    sums = np.cumsum(units)
    total, count = int(sums[-1]), len(scores)
    places, complements = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.bool_)
    filled = 0
    while filled < size:
        drawn = np.searchsorted(sums, np.asarray(uniform_below(total, size - filled)), side="right")
        below, signs = drawn % count, drawn >= count
        behind = top - np.where(signs, -scores[below], scores[below])
        kept = np.flatnonzero(_coins(behind, units[drawn], rate))
        places[filled : filled + kept.size] = below[kept]
        complements[filled : filled + kept.size] = signs[kept]
        filled += kept.size
    return places, complements


def signed_log_probabilities(scores: Int64, rate: Fraction) -> Floats:
    """Return the log of the probability of each score, and below of each complement, in float64."""
    weights = float(rate) * np.stack([scores, -scores]).astype(np.float64)
    top = weights.max()
    shown: Floats = weights - top - math.log(np.exp(weights - top).sum())
    return shown


def _units(scores: Int64, top: int, rate: Fraction) -> Int64:
    """Return whole numbers above ``2^40 * exp(rate * (score - top))``."""
    if not math.isfinite(SLACK):  # a machine whose exp cannot be trusted: every weight is at most 1
        return np.full(len(scores), int(SCALE), dtype=np.int64)
    exponents = np.minimum((top - scores).astype(np.float64) * float(rate), BEYOND)
    return (np.exp(-exponents) * (SCALE * (1 + MARGIN))).astype(np.int64) + 1


def _coins(behind: Int64, units: Int64, rate: Fraction) -> Bits:
    """Toss a coin of probability ``2^40 * exp(-rate * behind) / units`` for each proposal."""
    words = source().words(len(behind))
    exponents = np.minimum(behind.astype(np.float64) * float(rate), BEYOND)
    chances = np.exp(-exponents) * SCALE / units
    gaps = words * 2.0**-64 - chances
    tosses: Bits = gaps < 0
    unsure = np.abs(gaps) <= (MARGIN if math.isfinite(SLACK) else np.inf)
    for i in np.flatnonzero(unsure).tolist():
        chance = partial(_chance, int(behind[i]) * rate, int(units[i]))
        tosses[i] = LazyUniform(int(words[i]), 64).below(chance)
    return tosses


def _chance(exponent: Fraction, units: int) -> arb:
    return (-ball(exponent)).exp() * int(SCALE) / units
