"""The error of one algorithm in one setting, over several releases."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from discreet.noise.fast import Floats
from discreet.synthetic.operators import Operator

__all__ = ["Measured", "Setting", "geometric_mean", "scaled_error", "worse"]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Setting:
    """What was released: a shape on a domain, at a scale, for an epsilon; and how many queries were answered."""

    data: str
    sizes: tuple[int, ...]
    scale: int
    epsilon: float
    queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Errors of single releases; what is told of them is their mean, its uncertainty and their 95th percentile.

    >>> where = Setting(data="steps", sizes=(4,), scale=10, epsilon=1.0, queries=4)
    >>> one = Measured(algorithm="identity", setting=where, errors=(0.1, 0.2, 0.3), seconds=0.001)
    >>> round(one.mean, 6), [round(end, 3) for end in one.interval]
    (0.2, [-0.048, 0.448])
    >>> round(one.persons, 6)
    4.0
    """

    algorithm: str
    setting: Setting
    errors: tuple[float, ...]
    seconds: float
    """How long a release took, in the mean."""

    @property
    def mean(self) -> float:
        """The mean error."""
        return float(np.mean(self.errors))

    @property
    def persons(self) -> float:
        """The root of the mean square error of a query, in persons, in the mean over the releases."""
        return self.mean * self.setting.scale * math.sqrt(self.setting.queries)

    @property
    def high(self) -> float:
        """The 95th percentile of the errors, for those who must not be unlucky."""
        return float(np.percentile(self.errors, 95))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean of all possible releases lies, by Student's t at 95 percent; all numbers for one release."""
        count = len(self.errors)
        if count < 2:
            return -math.inf, math.inf
        reach = float(stdtrit(count - 1, 0.975)) * float(np.std(self.errors, ddof=1)) / math.sqrt(count)
        return self.mean - reach, self.mean + reach


def scaled_error(workload: Operator, exact: npt.NDArray[np.int64], estimate: Floats, scale: int) -> float:
    """Return the scaled average error per query: ``||W x - W x'||_2 / (scale * queries)``.

    Hay, Machanavajjhala, Miklau, Chen and Zhang (SIGMOD 2016), definition of the scaled average per-query error with
    the L2 loss: an error of 1 person in 1,000 is as large as one of 1,000 in a million.

    >>> from discreet.synthetic.operators import Prefix
    >>> round(scaled_error(Prefix(size=2), np.array([3, 1]), np.array([0.0, 5.0]), 4), 9)
    0.395284708
    """
    difference = np.asarray(estimate, dtype=np.float64).reshape(-1) - exact.reshape(-1)
    answers = np.asarray(workload.matvec(difference), dtype=np.float64)
    return float(np.linalg.norm(answers)) / (scale * workload.shape[0])


def worse(one: Measured, best: Measured, alpha: float) -> bool:
    """Return whether the mean error of one is above that of the best, by Welch's test at level alpha."""
    a, b = np.asarray(one.errors), np.asarray(best.errors)
    if min(len(a), len(b)) < 2:
        return one.mean > best.mean
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    if va + vb == 0:
        return one.mean > best.mean
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return bool(2 * stdtr(freedom, -abs(a.mean() - b.mean()) / math.sqrt(va + vb)) < alpha) and one.mean > best.mean


def geometric_mean(values: list[float]) -> float:
    """Return the mean for ratios; 0 if one of them is 0.

    >>> round(geometric_mean([1, 100]), 9)
    10.0
    """
    return math.exp(float(np.mean(np.log(values)))) if min(values) > 0 else 0.0
