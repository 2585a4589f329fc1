"""Sensitivity of a factorisation: how far one record moves ``C X`` when row t of X is what step t adds up.

Denisov, McMahan, Rush, Smith and Thakurta, NeurIPS 2022; for several participations Choquette-Choo, McMahan, Rush and
Thakurta, ICML 2023. A record changes each of its rows by a vector of length at most 1. With Gaussian noise the release
is private even if later rows depend on earlier outputs, as long as each output depends on rows already there.
"""

import math

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import FLOAT_LIMIT

__all__ = ["strategy_sensitivity"]

ROUNDING = 2.0**-51


def strategy_sensitivity(strategy: npt.ArrayLike, *, epoch: int | None = None) -> float:
    """Return the largest norm of ``sum over t of C[:, t] g_t^T``, ``|g_t| <= 1``, over the steps t of one record.

    A record takes part in one step, or with ``epoch`` in those of one rest modulo it. In the first case this is the
    largest column norm. In the second, where these columns have no negative inner product, equal g are the worst, and
    it is the norm of their sum; otherwise the sum of their norms is returned, which is never less. Rounded up.

    >>> strategy_sensitivity([[1, 0, 0], [1, 1, 0], [1, 1, 1]]) ** 2
    3.0000000000000...
    >>> round(strategy_sensitivity([[1, 0], [0, 1]], epoch=1) ** 2, 9)
    2.0
    """
    try:
        c = np.asarray(strategy, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("a strategy is a matrix of numbers, one column for each step.") from None
    if c.ndim != 2 or not c.size or not np.isfinite(c).all():
        raise InvalidParameter("a strategy is a matrix of finite numbers, one column for each step.")
    if epoch is not None and (type(epoch) is not int or epoch < 1):
        raise InvalidParameter(f"epoch must be a whole number of steps, at least 1, got {epoch!r}.")
    if not (largest := float(np.abs(c).max())):
        return 0.0
    exponent = math.frexp(largest)[1]
    if abs(exponent) > FLOAT_LIMIT:
        raise InvalidParameter(f"the entries of a strategy must lie between 2^-{FLOAT_LIMIT} and 2^{FLOAT_LIMIT}.")
    c = np.ldexp(c, -exponent)  # squares of what is small beside the largest entry may vanish: rounding covers them
    rows, steps = c.shape
    if epoch is None or epoch >= steps:
        found = _up(float(np.sqrt(np.max(np.sum(c * c, axis=0)))), rows)
    else:
        found = max(_together(c[:, start::epoch]) for start in range(epoch))
    return math.ldexp(found, exponent)


def _together(columns: npt.NDArray[np.float64]) -> float:
    rows, count = columns.shape
    norms = np.sqrt(np.sum(columns * columns, axis=0))
    apart = _up(float(norms.sum()), rows + count)
    products = columns.T @ columns
    # An inner product that rounding may have made 0 or more does not count as such, unless all its terms are.
    certain = products - rows * ROUNDING * np.outer(norms, norms) >= 0
    alike = (columns.min(axis=1) >= 0) | (columns.max(axis=1) <= 0)
    if not (certain.all() or alike.all()):
        return apart
    whole = columns.sum(axis=1)
    size = np.abs(columns).sum(axis=1) * count * ROUNDING + np.abs(whole)
    return min(apart, _up(float(np.sqrt(np.sum(size * size))), rows))


def _up(value: float, terms: int) -> float:
    return math.nextafter(value * (1 + terms * ROUNDING), math.inf) if value else 0.0
