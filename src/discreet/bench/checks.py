"""Two principles that an algorithm should have, measured: scale-epsilon exchangeability and consistency.

Hay, Machanavajjhala, Miklau, Chen and Zhang (SIGMOD 2016). Exchangeability: c times the persons in every cell and an
epsilon of one c-th leave the scaled error as it is, so that one of both needs to be varied. Consistency: the error
vanishes as epsilon grows, so that whatever error is left is noise and no bias. Of the algorithms here the authors find
all exchangeable, and Uniform and MWEM with a fixed number of rounds not consistent.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from discreet.bench.algorithms import Algorithm
from discreet.bench.measured import scaled_error
from discreet.bench.source import Source
from discreet.bench.workloads import workload
from discreet.datasets.size import whole
from discreet.errors import InvalidParameter
from discreet.exact import positive
from discreet.synthetic.operators import Operator
from discreet.units import Relation

__all__ = ["Consistency", "Exchangeability", "check_consistency", "check_exchangeability"]

TOLERANCE = 0.2
"""Errors whose ratio is within this part of 1 count as equal: whole noise is a little less than Laplace's."""

CONFIDENCE = 0.999
FIRST = 50
"""Releases before the first look."""

VANISHED = 1e-3
"""An error below this part of that of the even spread has vanished."""

STALLED = 0.5
"""An error that the last growth of epsilon leaves above this part of itself has come to rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchangeability:
    """Mean errors of both settings, their ratio, and where that lies in 999 of 1,000 cases."""

    algorithm: str
    errors: tuple[float, float]
    ratio: float
    interval: tuple[float, float]

    @property
    def verdict(self) -> str:
        """``holds`` or ``fails`` if the interval is within or outside a fifth around 1, and else ``undecided``."""
        low, high = self.interval
        if low >= 1 / (1 + TOLERANCE) and high <= 1 + TOLERANCE:
            return "holds"
        return "fails" if high < 1 / (1 + TOLERANCE) or low > 1 + TOLERANCE else "undecided"

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.algorithm}: {self.verdict}, the ratio of errors is {self.ratio:.3g} ({low:.3g} to {high:.3g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Mean errors at growing epsilons, over the error of spreading the persons evenly; and what was expected."""

    algorithm: str
    epsilons: tuple[float, ...]
    errors: tuple[float, ...]
    expected: bool

    @property
    def verdict(self) -> str:
        """``consistent`` if the error has vanished, ``inconsistent`` if it came to rest before, else ``undecided``."""
        last = self.errors[-1]
        if last < VANISHED:
            return "consistent"
        return "inconsistent" if last > STALLED * self.errors[-2] else "undecided"

    @property
    def surprising(self) -> bool:
        """Whether the verdict contradicts what is known of the algorithm."""
        return self.verdict == ("inconsistent" if self.expected else "consistent")

    def __str__(self) -> str:
        shown = ", ".join(
            f"{error:.3g} at {epsilon:g}" for error, epsilon in zip(self.errors, self.epsilons, strict=True)
        )
        return f"{self.algorithm}: {self.verdict}, {shown}"


def check_exchangeability(
    algorithm: Algorithm,
    source: Source,
    *,
    scale: int = 1000,
    epsilon: float = 0.5,
    factor: int = 10,
    questions: str = "ranges",
    trials: int = 1600,
    relation: Relation = "add_remove",
    seed: int = 0,
    deadline: float | None = None,
) -> Exchangeability:
    """Compare the scaled errors of a histogram at epsilon, and of ``factor`` times it at ``epsilon / factor``.

    Releases double until the verdict is clear, up to ``trials`` on each side or until ``deadline`` seconds are over.

    >>> from discreet.bench import algorithms, generated
    >>> check_exchangeability(*algorithms(["identity"]), generated("steps", (64,))).verdict
    'holds'
    """
    whole(trials, "trials", 2)
    whole(factor, "the factor", 2)
    asked = workload(questions, source.sizes, seed=seed)
    exact = source.draw(scale, seed=seed)
    spend = positive(epsilon, "epsilon")
    end = math.inf if deadline is None else time.monotonic() + float(positive(deadline, "deadline"))
    one = other = np.zeros(0)
    while True:
        more = min(max(FIRST, len(one)), trials - len(one))
        one = np.append(one, _errors(algorithm, asked, exact, float(spend), relation, scale, more))
        times = factor * exact, float(spend / factor), relation, factor * scale
        other = np.append(other, _errors(algorithm, asked, *times, more))
        found = _compared(algorithm.name, one, other)
        if found.verdict != "undecided" or len(one) >= trials or time.monotonic() > end:
            return found


def check_consistency(
    algorithm: Algorithm,
    source: Source,
    *,
    scale: int = 10_000,
    epsilons: Sequence[float] = (1.0, 10.0, 100.0, 1e6),
    questions: str = "ranges",
    trials: int = 5,
    relation: Relation = "add_remove",
    seed: int = 0,
) -> Consistency:
    """Measure the errors of one histogram as epsilon grows, beside the error of knowing the number of persons alone.

    >>> from discreet.bench import algorithms, generated
    >>> check_consistency(*algorithms(["identity"]), generated("zipf", (64,))).verdict
    'consistent'
    """
    rising = tuple(float(positive(epsilon, "epsilon")) for epsilon in epsilons)
    if len(rising) < 2 or list(rising) != sorted(set(rising)):
        raise InvalidParameter("consistency is seen at two or more epsilons that rise.")
    asked = workload(questions, source.sizes, seed=seed)
    exact = source.draw(scale, seed=seed)
    even = scaled_error(asked, exact, np.full(exact.shape, scale / exact.size), scale)
    if even == 0:
        raise InvalidParameter("this shape is even, and every algorithm looks consistent on it. Take another one.")
    errors = [_errors(algorithm, asked, exact, epsilon, relation, scale, trials).mean() / even for epsilon in rising]
    return Consistency(
        algorithm=algorithm.name,
        epsilons=rising,
        errors=tuple(float(error) for error in errors),
        expected=algorithm.consistent,
    )


def _compared(name: str, one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> Exchangeability:
    means = float(one.mean()), float(other.mean())
    if min(means) == 0:
        ratio = 1.0 if max(means) == 0 else math.inf
        return Exchangeability(algorithm=name, errors=means, ratio=ratio, interval=(ratio, ratio))
    count, ratio = len(one), means[1] / means[0]
    spread = math.sqrt(sum(float(each.var(ddof=1)) / count / float(each.mean()) ** 2 for each in (one, other)))
    reach = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * spread
    return Exchangeability(
        algorithm=name, errors=means, ratio=ratio, interval=(ratio * math.exp(-reach), ratio * math.exp(reach))
    )


def _errors(
    algorithm: Algorithm,
    asked: Operator,
    exact: npt.NDArray[np.int64],
    epsilon: float,
    relation: Relation,
    scale: int,
    trials: int,
) -> npt.NDArray[np.float64]:
    estimator = algorithm.make(exact.shape, asked, epsilon, relation)
    return np.array([scaled_error(asked, exact, estimator.release(exact), scale) for _ in range(trials)])
