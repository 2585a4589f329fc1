"""How far a lesson moves weights, how much nearer that brings them, and how many lessons there can be.

Let p be the true distribution, w the weights and q a question with values in [0, 1], with ``q(p) - q(w) = g > 0``.
Multiplying by ``e^(eta q)`` lowers the divergence ``KL(p || w)`` by ``eta q(p) - log E_w[e^(eta q)]``, which by
Hoeffding's lemma is at least ``eta g - eta^2 / 8``: for ``eta = 4 g`` that is ``2 g^2``. The divergence is
``log |X|`` at most when weights are even, and never negative, so there are at most ``log |X| / (2 a^2)`` lessons with
gaps of at least a and steps of ``4 a``. Dwork and Roth ("The Algorithmic Foundations of Differential Privacy", 2014,
section 4.2) take ``eta = a / 2`` and count ``4 log |X| / a^2``, eight times as many.

If ``q(p) >= t`` is known, more is possible: the eta for which ``q(w) = t`` after the step. That is the projection of w
onto the distributions with ``q >= t``, of which p is one, so the divergence falls by that of the projection from w
(Csiszar, "I-Divergence Geometry of Probability Distributions and Minimization Problems", Annals of Probability 1975),
which is at least ``2 (t - q(w))^2``.
"""

import math
from typing import Literal

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats

__all__ = ["Step", "most_updates", "nudged", "step_length", "tilt"]

Step = Literal["measured", "fixed", "textbook"]

STEEPEST = 60.0
"""No step is longer: what is left of a weight is below any rounding."""


def step_length(least: float, step: Step = "fixed") -> float:
    """Return the eta for gaps of ``least`` or more.

    >>> step_length(0.05), step_length(0.05, "textbook")
    (0.2, 0.025)
    """
    return least / 2 if step == "textbook" else 4 * least


def most_updates(elements: int, least: float, step: Step = "fixed") -> int:
    """Return how many lessons with gaps of ``least`` or more there can be on a domain of so many elements.

    >>> most_updates(1024, 0.1), most_updates(1024, 0.1, "textbook")
    (347, 2773)
    """
    if elements < 1 or not 0 < least <= 1:
        raise InvalidParameter("a domain has an element at least, and a gap is above 0 and at most 1.")
    each = least**2 / 4 if step == "textbook" else 2 * least**2
    return max(1, math.ceil(math.log(elements) / each * (1 - 1e-12)))


def tilt(values: Floats, shares: Floats, target: float) -> float:
    """Return the eta with ``E[q e^(eta q)] / E[e^(eta q)] = target`` for a question with these values and shares.

    Where no eta of ordinary size serves, the longest step toward the target is returned.

    >>> eta = tilt(np.array([0.0, 1.0]), np.array([0.75, 0.25]), 0.5)
    >>> round(math.exp(eta), 9)
    3.0
    """
    kept = shares > 0
    logs, own = np.log(shares[kept]), values[kept]

    def reached(eta: float) -> float:
        weights = logs + eta * own
        weights = np.exp(weights - weights.max())
        return float(weights @ own / weights.sum())

    low, high = -STEEPEST, STEEPEST
    if not own.size or reached(high) <= target:
        return high if own.size else 0.0
    if reached(low) >= target:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < target else (low, middle)
    return (low + high) / 2


def nudged(weights: Floats, question: Floats, measured: float, total: float) -> Floats:
    """Return the weights after one update of MWEM: times ``exp(q (measured - q(weights)) / (2 total))``, normalised.

    >>> nudged(np.full(4, 0.25), np.array([1.0, 1, 0, 0]), 70, 100).round(6).tolist()
    [0.26249, 0.26249, 0.23751, 0.23751]
    """
    gap = measured - total * float(question.reshape(-1) @ weights.reshape(-1))
    moved = weights * np.exp(np.clip(question * (gap / (2 * total)), -STEEPEST, STEEPEST))
    return np.asarray(moved / moved.sum(), dtype=np.float64)
