"""What DualQuery is measured against: noise on each answer, and attributes taken as independent."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.noise import discrete_gaussian
from discreet.noise.fast import Floats
from discreet.synthetic.dual_query import Packed, Queries

__all__ = ["affordable_mu", "independent_noise", "product_of_singles"]

Int64 = npt.NDArray[np.int64]


@cache
def affordable_mu(epsilon: float, delta: float) -> float:
    """Return the largest ratio of sensitivity to deviation of Gaussian noise within (epsilon, delta).

    >>> 0.3 < affordable_mu(1, 1e-3) < 0.5
    True
    """
    return _largest(lambda mu: PrivacyLoss.gaussian(mu).epsilon(delta) <= epsilon)


def independent_noise(counts: Int64, size: int, epsilon: float, delta: float) -> Floats:
    """Return every answer with Gaussian noise of its own, forced into [0, 1].

    A record may change every one of m counts by one, so that their distance is the root of m. Laplace noise would be of
    scale ``m / epsilon``, which is worse for more than a few queries.
    """
    sigma = math.sqrt(len(counts)) / affordable_mu(epsilon, delta)
    noise = np.asarray(discrete_gaussian(Fraction(sigma), len(counts)), dtype=np.float64)
    return np.clip((counts + noise) / size, 0.0, 1.0)


def product_of_singles(table: Packed, queries: Queries, size: int, epsilon: float, delta: float) -> Floats:
    """Return answers as if attributes were independent, from a noisy table of each.

    Replacing a record changes two counts of each attribute by one.
    """
    attributes, values = queries.columns[:, :1], queries.columns[:, 1:]
    singles = Queries(sizes=queries.sizes, attributes=attributes, values=values)
    sigma = math.sqrt(2 * len(queries.sizes)) / affordable_mu(epsilon, delta)
    exact = Packed(singles.columns, table.words, table.valid, table.weights).answers(singles)
    noise = np.asarray(discrete_gaussian(Fraction(sigma), len(exact)), dtype=np.float64)
    shares = np.clip((exact + noise) / size, 0.0, 1.0)
    chances = np.stack([shares, 1 - shares], axis=1).reshape(-1)
    found = chances[queries.places]
    if queries.kind == "parity":
        answers: Floats = (1 - (1 - 2 * found).prod(axis=0)) / 2
        return answers
    products: Floats = found.prod(axis=0)
    return products


def _largest(fits: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    while fits(high):
        low, high = high, 2 * high
    while high - low > low / 1000 or not low:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
