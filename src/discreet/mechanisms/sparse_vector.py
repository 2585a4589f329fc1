"""The sparse vector technique: which of many questions have a large answer, at the price of the few that do.

Dwork, Naor, Reingold, Rothblum and Vadhan, "On the Complexity of Differentially Private Data Release", STOC 2009, in
the version of Lyu, Su and Li, "Understanding the Sparse Vector Technique for Differential Privacy", VLDB 2017,
algorithm 1, which also tells what is wrong with four others. The threshold gets noise once, every answer gets noise of
its own, they are compared, and after ``above`` answers above the threshold the conversation ends.

Everything is a whole number of steps of a public grid, answers, threshold and noise, so that the proof is about what
runs. Let answers move by at most D steps between x and y. It needs of the noise that ``P[k] <= e^(j / s) P[k + j]`` for
all k and all j >= 0: this holds for integer Laplace noise of scale s, and for one-sided geometric noise, which is a
half of it with half the variance. Fix what was said, and shift the noise: on the threshold by D, from r to r + D, which
costs ``D / s_1``, and on each answer a that was above by ``D + a(x) - a(y)``, at least 0 and at most 2 D, which costs
``2 D / s_2``. Then for the same noise

- an answer that was below at x is below at y: it rose by at most D, as the threshold did;
- an answer that was above is above by exactly as much as before, so that the *gap* may be told as well (Wang, Ding,
  Zhang and Kifer, "Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms", VLDB
  2019).

So ``P_x <= e^(D / s_1 + above * 2 D / s_2) P_y``, for any number of questions, chosen in view of earlier replies too.
If all answers move the same way, the shift of an answer is at most D: where they rise it is ``D - (a(y) - a(x))``, and
where they fall the threshold need not be shifted, which leaves ``a(x) - a(y)``. Rounding may lower an answer that
rises, or raise one that falls, by a step. Then the shift is at most D + 1 where they rise; where they fall the
threshold is shifted by 1, and an answer by ``1 + a(x) - a(y)``, at most D + 1 again.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, finite, positive, probability, show
from discreet.mechanisms.comparisons import FAR, Comparisons, floor_of
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise import discrete_laplace, geometric, grid_for
from discreet.noise.fast import Floats
from discreet.noise.lazy import largest
from discreet.noise.shapes import Integers, Size
from discreet.units import Relation, check_relation

__all__ = ["SparseVector"]

Noise = Literal["laplace", "exponential"]
FINE = 512
"""Errors are computed with scales of up to so many steps, and rounded up."""
WIDEST = 1 << 50
"""Scales are at most so many steps: noise beyond 2^61 of them, which is cut off, has probability below 2^-2900."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SparseVector:
    """Tell of a stream of questions which have an answer above ``threshold``, until ``above`` of them had.

    With ``above=1`` this is the algorithm that is known as AboveThreshold.

    Satisfies ``epsilon``-DP, for any number of questions chosen in view of earlier replies, whenever each answer moves
    by at most ``sensitivity`` between neighbours under ``relation``. With ``monotone=True`` half the noise suffices for
    the answers, which needs questions that all move the same way: counts under add_remove, never under replace_one.

    A failure is not excused. A question that fails, or whose answer is no number, has the answer 0, which may move no
    further than any other: a count that fails where one record is None falls from 500 to 0, and breaks the promise.
    Questions must be written so that no record makes them fail, and must not change the data.

    - ``noise="exponential"`` takes one-sided noise instead of Laplace noise, less its mean: the same loss with half the
      variance.
    - ``gap=True`` tells of an answer above the threshold also by how much, for nothing.
    - ``values_epsilon`` is spent, on top, on fresh noise for the values of the answers above the threshold.
    - ``restart=True`` draws the noise of the threshold anew after each answer above it: that many conversations of
      ``epsilon / above`` each, which costs more noise on the threshold and composes like any ``above`` releases.
    - ``share`` is the part of epsilon for the threshold, by default the one of least variance, 1 to
      ``(2 above)^(2/3)``, or ``above^(2/3)`` if monotone.
    - With ``whole=True`` answers are whole numbers. Others are rounded to a grid of about a millionth of the
      sensitivity, which is taken a step larger, so that rounding in the answers up to half a step is covered.

    >>> busy = SparseVector(threshold=100, epsilon=1, relation="add_remove", monotone=True, whole=True)
    >>> talk = busy.open([3] * 500 + [7] * 20)
    >>> talk.answer(lambda rows: rows.count(7)).above, talk.answer(lambda rows: rows.count(3)).above, talk.exhausted
    (False, True, True)
    >>> round(busy.error(0.05, queries=1000), 1)
    22.0
    """

    threshold: Real
    sensitivity: Real = 1
    above: int = 1
    epsilon: Real
    relation: Relation
    monotone: bool = False
    noise: Noise = "laplace"
    gap: bool = False
    share: Real = NOT_GIVEN
    values_epsilon: Real = NOT_GIVEN
    restart: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        size = positive(self.sensitivity, "sensitivity")
        positive(self.epsilon, "epsilon")
        finite(self.threshold, "threshold")
        if type(self.above) is not int or self.above < 1:
            raise InvalidParameter(f"above must be a whole number of at least 1, got {self.above!r}.")
        for name in ("monotone", "gap", "restart", "whole"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(f"{name} must be True or False.")
        if self.noise not in ("laplace", "exponential"):
            raise InvalidParameter(f'noise must be "laplace" or "exponential", got {self.noise!r}.')
        if check_relation(self.relation) == "replace_one" and self.monotone:
            raise NoTheorem(
                "monotone answers all move the same way, and a replaced record may raise some and lower others. Write "
                'monotone=False, or relation="add_remove".'
            )
        if self.whole and size.denominator != 1:
            raise InvalidParameter(f"the sensitivity of whole numbers is a whole number, got {show(size)}.")
        if self.share is not NOT_GIVEN:
            probability(self.share, "share")
        if self.values_epsilon is not NOT_GIVEN:
            positive(self.values_epsilon, "values_epsilon")
        store(self, threshold=self.threshold, sensitivity=self.sensitivity, epsilon=self.epsilon, share=self.share)
        store(self, values_epsilon=self.values_epsilon)
        if max(self.scales) > WIDEST or (self.value_noise and self.value_noise.scale > WIDEST):
            raise InvalidParameter("epsilon must be larger: with so much noise no answer would tell anything.")
        if abs(finite(self.threshold, "threshold") / self.grid) > FAR:
            raise InvalidParameter("the threshold must lie within 2^60 steps of the grid, which follows sensitivity.")

    def __repr__(self) -> str:
        given: dict[str, object] = {
            "threshold": show(self.threshold),
            "sensitivity": show(self.sensitivity),
            "above": self.above,
            "epsilon": show(self.epsilon),
            "relation": repr(self.relation),
        }
        given |= {name: True for name in ("monotone", "gap", "restart", "whole") if getattr(self, name)}
        given |= {"noise": repr(self.noise)} if self.noise != "laplace" else {}
        given |= {n: show(v) for n in ("share", "values_epsilon") if (v := getattr(self, n)) is not NOT_GIVEN}
        return f"SparseVector({', '.join(f'{name}={value}' for name, value in given.items())})"

    @property
    def domain(self) -> Records:
        """Whatever the questions are about."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the whole conversation, however long, values included."""
        runs = self.above if self.restart else 1
        loss = runs * PrivacyLoss.pure(Fraction(self.epsilon) / runs)
        if self.value_noise:
            loss += self.above * self.value_noise.loss
        return loss.under(self.relation)

    @property
    def grid(self) -> Fraction:
        """The step of the grid that answers are rounded to."""
        return Fraction(1) if self.whole else grid_for(self.sensitivity)

    @property
    def moves(self) -> int:
        """By how many steps an answer may move between neighbours: one more than it should, unless it is whole."""
        return math.ceil(Fraction(self.sensitivity) / self.grid) + (0 if self.whole else 1)

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """The scales of the noise on the threshold and on each answer, in steps."""
        runs = self.above if self.restart else 1
        found, twice = self.above // runs, 1 if self.monotone else 2
        epsilon = Fraction(self.epsilon) / runs
        best = 1 / (1 + (twice * found) ** (2 / 3))
        first = epsilon * Fraction(best if self.share is NOT_GIVEN else self.share)
        shift = twice * self.moves + (1 if self.monotone and not self.whole else 0)
        return self.moves / first, found * shift / (epsilon - first)

    @property
    def value_noise(self) -> Geometric | None:
        """What the value of one answer above the threshold is released by, in steps; None if none is."""
        if self.values_epsilon is NOT_GIVEN:
            return None
        return Geometric(sensitivity=self.moves, epsilon=Fraction(self.values_epsilon) / self.above)

    @property
    def target(self) -> int:
        """The threshold in steps."""
        return floor_of(Fraction(self.threshold) / self.grid)

    def open(self, data: Any, /) -> Comparisons:  # noqa: ANN401 - what the questions are about
        """Start a conversation; each costs the whole ``loss``."""
        return Comparisons(self, data)

    def draw(self, scale: Fraction, size: Size = None) -> Integers | int:
        """Return noise in steps, less its public mean if it is one-sided."""
        if self.noise == "laplace":
            return discrete_laplace(scale, size)
        return geometric(scale, size) - _mean(scale)

    def error(self, beta: Real = 0.05, *, queries: int, bound: Literal["exact", "union"] = "exact") -> float:
        """Return how far from the threshold an answer may lie and be told wrongly, of ``queries``, but for ``beta``.

        With probability ``1 - beta`` every answer told to be above is at least ``threshold - error``, and every one
        told to be below at most ``threshold + error``. Exact, to a part in 250, for the event that all noise stays
        within it, whatever the questions; ``"union"`` is the textbook's ``2 s_2 log(2 queries / beta)`` (Dwork and
        Roth, "The Algorithmic Foundations of Differential Privacy", 2014, theorem 3.24). With ``restart`` each of the
        thresholds gets a share of beta.
        """
        failure = float(probability(beta, "beta")) / (self.above if self.restart else 1)
        if type(queries) is not int or queries < 1:
            raise InvalidParameter(f"queries must be a whole number of at least 1, got {queries!r}.")
        first, second = (float(scale) for scale in self.scales)
        slack = float(abs(Fraction(self.threshold) - self.target)) if self.whole else 1  # what was rounded
        if bound == "union":
            wide = 2 * max(first * math.log(2 / failure), second * math.log(2 * queries / failure))
            return float(self.grid) * (wide + slack)
        if bound != "exact":
            raise InvalidParameter(f"bound must be 'exact' or 'union', got {bound!r}.")
        coarse = 2.0 ** max(0, math.ceil(math.log2(first / FINE)))  # whose rounding is covered by two of them
        chance = _within(self.noise, first / coarse, second / coarse, queries, failure)
        reach = 1 + largest(int(second / coarse), lambda r: r < 0 or chance(r) < 1 - failure)
        steps = coarse * (reach + (2 if coarse > 1 else 0)) + slack
        return float(self.grid) * steps


def _mean(scale: Fraction) -> int:
    """Return the mean of geometric noise as a whole number: public, and free to choose."""
    return round(1 / math.expm1(1 / scale)) if scale > Fraction(1, 500) else 0


def _within(noise: Noise, first: float, second: float, queries: int, failure: float) -> Callable[[int], float]:
    """Return the probability, rounded down, that noise on all answers stays within a reach of that on the threshold."""
    a, b = math.exp(-1 / first), math.exp(-1 / second)
    tail = math.ceil(first * (math.log(1 / failure) + 20)) + 1
    if noise == "laplace":
        nodes = np.arange(-tail, tail + 1, dtype=np.float64)
        weights = (1 - a) / (1 + a) * np.exp(-np.abs(nodes) / first)
    else:
        nodes = np.arange(tail + 1, dtype=np.float64)
        weights = (1 - a) * np.exp(-nodes / first)
        nodes += _mean(Fraction(second)) - _mean(Fraction(first))

    def below(m: Floats) -> Floats:
        far = np.exp(-np.abs(np.where(m < 0, m, m + 1)) / second)
        if noise == "exponential":
            return np.where(m < 0, 0.0, 1 - far)
        return np.where(m < 0, far / (1 + b), 1 - far / (1 + b))

    return lambda reach: float(np.dot(weights, (below(nodes + reach) - below(nodes - reach - 1)) ** queries))
