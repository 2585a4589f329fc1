"""Measured levels of a tree of blocks, each with a share of epsilon.

A record is in one block of each level. So the blocks of a level change by 1 in L1 norm under add_remove, by 2 under
replace_one or, if one of two cells is full, by 1; the levels compose, and their shares add up to the budget. The block
of all cells is the number of records, which under replace_one is public and costs nothing.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.mechanisms.geometric import Geometric
from discreet.noise.fast import Floats
from discreet.synthetic.matrix_mechanism import noise_variance
from discreet.synthetic.operators.operator import Array

__all__ = ["KNOWN", "exact_shares", "level_noises", "measured_levels", "released_variance"]

FINE = 1 << 24
"""Shares are whole numbers of this fineness over their sum."""

KNOWN = 1e-9
"""The variance of what is known exactly: least squares needs one above 0."""


FARTHEST = 2.0**126
"""A released count is at most 2^63 in size, so that its variance is at most this, however wide the noise."""


def released_variance(noise: Geometric) -> float:
    """Return the variance of a released count, in numbers whose sums and inverses are finite and above 0.

    >>> released_variance(Geometric(sensitivity=1, epsilon=1e-300)) == 2.0**126
    True
    """
    return min(max(noise_variance(noise), KNOWN), FARTHEST)


def exact_shares(shares: npt.ArrayLike) -> tuple[Fraction, ...]:
    """Return shares as rationals whose sum is 1.

    >>> exact_shares([0.5, 0.25, 0.25])
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    """
    whole = [round(float(share) * FINE) for share in np.asarray(shares, dtype=np.float64).tolist()]
    return tuple(Fraction(share, sum(whole)) for share in whole)


def level_noises(shares: Sequence[Fraction], epsilon: Fraction, touched: int) -> tuple[Geometric | None, ...]:
    """Return the noise of each level, from the top; none where a level has no share."""
    return tuple(Geometric(sensitivity=touched, epsilon=share * epsilon) if share else None for share in shares)


def measured_levels(
    levels: Sequence[Array], noises: Sequence[Geometric | None], total: float | None
) -> tuple[list[Floats], list[float]]:
    """Return the noisy sums of all levels and their variances, infinite where nothing was measured.

    ``total`` is the number of records where that is public.
    """
    values: list[Floats] = []
    variances: list[float] = []
    for exact, noise in zip(levels, noises, strict=True):
        if noise is None:
            values.append(np.zeros(len(exact)))
            variances.append(float("inf"))
        else:
            values.append(noise.release(exact.astype(np.int64)).astype(np.float64))
            variances.append(released_variance(noise))
    if total is not None:
        values[0], variances[0] = np.array([total]), KNOWN
    return values, variances
