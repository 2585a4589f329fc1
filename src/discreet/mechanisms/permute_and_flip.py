"""Permute-and-flip: never worse than the exponential mechanism.

McKenna and Sheldon, NeurIPS 2020. Drawn as a race with exponential noise, which gives the same law (Ding, Kifer,
Kamyar, Saghaian and Zhang, 2021), decided exactly.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.selection import Scores, Selection, choose, head_starts, read_scores
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

        The integrand falls like ``exp(-t sum of p)``, so the interval is cut into pieces that double in length from
        the inverse of that sum on, with 40 Gauss-Legendre nodes in each.

        >>> [round(math.exp(PermuteAndFlip(epsilon=1).log_probability([3, 1, 0], r)), 6) for r in range(3)]
        [0.731857, 0.170259, 0.097884]
        """
        weights = head_starts(read_scores(scores), self.rate)
        others = np.exp(np.delete(weights, index))
        cuts = [0.0]
        while cuts[-1] < 1:
            cuts.append(min(1.0, max(2 * cuts[-1], 1 / (1 + float(others.sum())))))
        nodes, shares = np.polynomial.legendre.leggauss(40)
        total = 0.0
        for low, high in itertools.pairwise(cuts):
            points = low + (high - low) * (nodes + 1) / 2
            survivals = [math.exp(float(np.sum(np.log1p(-t * others)))) for t in points]
            total += (high - low) / 2 * float(np.dot(shares, survivals))
        return float(weights[index]) + math.log(total)
