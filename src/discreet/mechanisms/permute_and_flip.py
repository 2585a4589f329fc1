"""Permute-and-flip: never worse than the exponential mechanism.

McKenna and Sheldon, NeurIPS 2020. Drawn as a race with exponential noise, which gives the same law (Ding, Kifer,
Kamyar, Saghaian and Zhang, 2021), decided exactly.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.selection import Scores, Selection, choose, differences, read_scores
from discreet.noise.densities import Exponential as Density

__all__ = ["PermuteAndFlip"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PermuteAndFlip(Selection):
    """Go through the candidates in random order and take each with probability ``exp(rate * (score - best))``.

    Satisfies ``epsilon``-DP whenever neighbours change every score by at most ``sensitivity``. Unlike the exponential
    mechanism its loss has no bounded range, so the sharper zCDP bound of that mechanism does not hold here.

    >>> PermuteAndFlip(epsilon=50).release([1, 7, 3])
    1
    """

    def release(self, scores: Scores, /) -> int:
        """Return the index of the chosen candidate."""
        return choose(Density(), scores, self.rate)

    def log_probability(self, scores: Scores, index: int, /) -> float:
        """Return the log of ``p_r * integral over t in [0, 1] of prod over s != r of (1 - t p_s)``.

        The integrand is a polynomial, so Gauss-Legendre quadrature with enough nodes is exact but for rounding.

        >>> [round(math.exp(PermuteAndFlip(epsilon=1).log_probability([3, 1, 0], r)), 6) for r in range(3)]
        [0.731857, 0.170259, 0.097884]
        """
        p = np.exp(differences(read_scores(scores)) * float(self.rate))
        nodes, weights = np.polynomial.legendre.leggauss(min(200, p.size // 2 + 1))
        factors = 1 - np.outer((nodes + 1) / 2, np.delete(p, index))
        return math.log(float(p[index] * np.dot(weights / 2, factors.prod(axis=1))))
