"""The parts that synthesizers are made of, each for a share of rho: noise of a table, and choice of a table.

All records of a person are in as many entries of a table at most, at worst in a single one. Under add_remove its
squared L2 norm changes by ``records^2`` at most, under replace_one by ``2 records^2``.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.exact import ball, up
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.exponential import Exponential
from discreet.units import Relation

__all__ = ["choice_of", "noise_of", "touched", "worst_pair"]


def touched(relation: Relation) -> int:
    """Return how many entries of a table may change between neighbours that differ by a record, each by one.

    >>> touched("add_remove"), touched("replace_one")
    (1, 2)
    """
    return 1 if relation == "add_remove" else 2


def noise_of(rho: Fraction, relation: Relation, records: int) -> DiscreteGaussian:
    """Return the noise of a whole table that is rho-zCDP.

    >>> float(noise_of(Fraction(1, 8), "add_remove", 1).sigma)
    2.0
    """
    squared = Fraction(touched(relation) * records**2)
    sigma = up(lambda: ball(squared / (2 * rho)).sqrt())
    return DiscreteGaussian(sensitivity=up(lambda: ball(squared).sqrt()), sigma=sigma)


def choice_of(rho: Fraction, sensitivity: int) -> Exponential:
    """Return the choice that is rho-zCDP: with a bounded range of epsilon it is ``epsilon^2 / 8``.

    >>> 0.999 < choice_of(Fraction(1, 8), 1).epsilon <= 1
    True
    """
    epsilon = Fraction(math.sqrt(8 * float(rho)) * (1 - 1e-12))
    return Exponential(epsilon=epsilon, sensitivity=sensitivity)


def worst_pair(
    sizes: tuple[int, ...], relation: Relation, records: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all records of a person in the first cell, which are gone, or in the last cell, on the other side."""
    one = np.zeros((records, len(sizes)), dtype=np.int64)
    return one, one[:0] if relation == "add_remove" else np.array([[size - 1 for size in sizes]] * records)
