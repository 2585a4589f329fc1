"""What the mechanisms that choose a candidate share: exact scores, exact races."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, positive, probability, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Shift
from discreet.mechanisms.scale import store
from discreet.noise import race
from discreet.noise.densities import Racing
from discreet.noise.fast import Floats
from discreet.noise.grid import read_reals

__all__ = ["Scores", "Selection", "choose", "head_starts", "read_scores"]

Scores = Sequence[Real] | npt.NDArray[np.generic]

FLOOR = -1e300


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Selection(Faces):
    """The parameters of a mechanism that picks the index of a good candidate from a vector of scores.

    ``sensitivity`` bounds the change of every single score between neighbours. With ``monotone`` all scores move in the
    same direction, as counts do when a record is added; that halves the noise and never holds under replace_one.
    """

    epsilon: Real
    sensitivity: Real = 1
    monotone: bool = False

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        positive(self.sensitivity, "sensitivity")
        store(self, epsilon=self.epsilon, sensitivity=self.sensitivity)
        if not isinstance(self.monotone, bool):
            raise InvalidParameter(f"monotone must be True or False, got {type(self.monotone).__name__}.")

    def __repr__(self) -> str:
        monotone = ", monotone=True" if self.monotone else ""
        return f"{type(self).__name__}(epsilon={show(self.epsilon)}, sensitivity={show(self.sensitivity)}{monotone})"

    @property
    def rate(self) -> Fraction:
        """How strongly scores count: ``epsilon / (2 sensitivity)``, or twice that for monotone scores."""
        return Fraction(self.epsilon) / (Fraction(self.sensitivity) * (1 if self.monotone else 2))

    @property
    def domain(self) -> Shift:
        """Vectors of scores, each of which changes by at most the sensitivity."""
        return Shift(sensitivity=self.sensitivity, norm=math.inf, monotone=self.monotone, several=True)

    @property
    def loss(self) -> PrivacyLoss:
        """Pure differential privacy."""
        return PrivacyLoss.pure(self.epsilon)

    def error(self, beta: Real = 0.05, *, candidates: int) -> float:
        """Return how far below the best score the choice stays, with probability ``1 - beta`` at least.

        McSherry and Talwar, FOCS 2007: ``log(candidates / beta) / rate``.
        """
        if type(candidates) is not int or candidates < 1:
            raise InvalidInput("candidates must be a whole number of at least 1.")
        return math.log(candidates / float(probability(beta, "beta"))) / float(self.rate)

    def worst_case(self) -> tuple[list[Real], list[Real]]:
        """Two score vectors that move in opposite directions, or in one if scores are monotone."""
        up, down = Fraction(self.sensitivity), Fraction(0) if self.monotone else -Fraction(self.sensitivity)
        return [0, 0], [up, down]


def choose(density: Racing, scores: Scores, rate: Fraction) -> int:
    """Return the winner of a race in which candidate i starts at ``rate * score_i``."""
    values = read_scores(scores)
    starts = head_starts(values, rate)
    numbers = values.tolist()
    best = max(Fraction(x) for x in numbers) if values.dtype == object else Fraction(max(numbers))

    def exact(i: int) -> arb:
        return ball(rate * (Fraction(numbers[i]) - best))

    return race(density, starts, np.abs(starts) * 2.0**-49, exact)


def read_scores(scores: Scores) -> npt.NDArray[np.generic]:
    """Return a vector of exact scores."""
    if not isinstance(scores, np.ndarray):
        if not isinstance(scores, Iterable):
            raise InvalidInput("scores must be a vector with at least one candidate.")
        scores = list(scores)
    values = read_reals(scores)
    if values.ndim != 1 or not values.size:
        raise InvalidInput("scores must be a vector with at least one candidate.")
    return values


def head_starts(values: npt.NDArray[np.generic], rate: Fraction) -> Floats:
    """Return ``rate * (score - best)`` for each score, with a relative error below ``2^-51``.

    What is below ``FLOOR`` is set to it: nothing that far back is told apart in float64, and exact scores decide.
    """
    if values.dtype == object:
        best = max(values.tolist())
        return np.array([float(max(rate * (x - best), Fraction(FLOOR))) for x in values.tolist()])
    halves = values.astype(np.float64) / 2
    with np.errstate(over="ignore"):
        starts: Floats = np.maximum((halves - halves.max()) * (2 * float(rate)), FLOOR)
    return starts
