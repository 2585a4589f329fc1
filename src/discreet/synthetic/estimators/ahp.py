"""Clusters of like counts, wherever they are, each measured as one.

Zhang, Chen, Xu, Meng and Xie, "Towards Accurate Histogram Publication under Differential Privacy", SDM 2014. A part of
epsilon gives noisy counts; those below ``threshold * log(cells) / epsilon_1`` are set to 0, all are sorted, and taken
greedily into clusters as long as what a count adds to the squared deviation is less than the noise it saves. The sum of
each cluster is then measured with the rest and shared evenly.

The proof. The clusters are made from the noisy counts alone. A record is in one cell and in one cluster, so cells and
clusters each change by 1 in L1 norm under add_remove and by at most 2 under replace_one. Both parts compose adaptively.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.estimator import Counted, Estimator, Int64, fraction
from discreet.synthetic.matrix_mechanism import noise_variance

__all__ = ["AHP"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AHP(Estimator):
    """Find clusters of cells with like counts, measure the sum of each and share it evenly.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``: ``cluster_share`` of epsilon finds the clusters, the rest measures them.

    >>> plan = AHP(shape=(6,), epsilon=1, relation="add_remove")
    >>> [float(part.epsilon) for part in plan.parts], plan.loss.epsilon()
    ([0.85, 0.15], 1.0)
    """

    cluster_share: Real = Fraction(17, 20)
    threshold: Real = Fraction(7, 20)

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        if finite(self.threshold, "threshold") < 0:
            raise InvalidParameter("threshold must be at least 0.")
        store(self, cluster_share=fraction(self.cluster_share, "cluster_share"), threshold=self.threshold)

    @property
    def parts(self) -> tuple[Geometric, Geometric]:
        """The noise of all cells, and that of the clusters."""
        share = Fraction(self.cluster_share)
        return self.count_noise(share), self.count_noise(1 - share)

    def _estimate(self, counted: Counted) -> Floats:
        first, second = self.parts
        noisy = first.release(counted.line).astype(np.float64)
        least = float(self.threshold) * math.log(self.cells) * self.touched / float(first.epsilon)
        labels = clusters(np.where(noisy < least, 0.0, noisy), noise_variance(second))
        sums = np.zeros(labels.max() + 1, dtype=np.int64)
        np.add.at(sums, labels, counted.line)
        return np.asarray((second.release(sums) / np.bincount(labels))[labels])


def clusters(values: Floats, noise: float) -> Int64:
    """Return for each value the number of its cluster, found greedily from the largest value down.

    A cluster of k cells has the squared deviation of its values plus ``noise / k``; the next value comes in where that
    is less than leaving it alone.

    >>> clusters(np.array([0.0, 9.0, 0.0, 10.0]), 2.0).tolist()
    [1, 0, 1, 0]
    """
    order = np.argsort(-values, kind="stable")
    labels, number = [], -1
    size, mean = 0, 0.0
    for value in values[order].tolist():
        added = size / (size + 1) * (value - mean) ** 2
        if size and added + noise / (size + 1) <= noise / size + noise:
            mean = (mean * size + value) / (size + 1)
            size += 1
        else:
            number, size, mean = number + 1, 1, value
        labels.append(number)
    found = np.empty(len(values), dtype=np.int64)
    found[order] = labels
    return found
