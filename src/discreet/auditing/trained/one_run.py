"""``audit_training``: one training with canaries, and what guesses about them prove.

Steinke, Nasr and Jagielski, "Privacy Auditing with One (1) Training Run", NeurIPS 2023. Training is too slow to be
repeated thousands of times. So many canaries are put into one run, each by a fair coin of its own; afterwards those
with the highest scores are guessed to have been in, those with the lowest not, and for the others no guess is made. How
many of each is said beforehand, in a few sizes that share alpha.

What it cannot see: a claim with a large delta allows that one coin, tossed for all, gives everybody away, so one run
refutes nothing with more certainty than that delta. Mistakes that are small, or that hide behind a large delta, need
many runs of something small: ``discreet.audit`` on single steps.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.auditing.trained.guesses import chance_of_guesses, epsilon_from_guesses
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, probability
from discreet.noise import bernoulli

__all__ = ["Guesses", "TrainingAudit", "audit_training"]

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
"""Of how many canaries a guess is made, unless it is said."""

LEAST = 20

STEPS = (-3, -2, -1, 0, 1)
"""A claim is read at its epsilon for delta times these powers of ten."""

FAR = 50.0

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Guesses:
    """So many guesses, how many of them were right, and what follows.

    ``chance`` is how likely that many can be at most if the claim is true, ``limit`` how many would have refuted it
    (one more than there are guesses if none would), ``epsilon`` what is certified at delta.
    """

    count: int
    correct: int
    chance: float
    limit: int
    epsilon: float

    @property
    def refutes(self) -> bool:
        """Whether the claim is false, at its part of alpha."""
        return self.correct >= self.limit


@dataclass(frozen=True, slots=True)
class TrainingAudit:
    """What one training with canaries proved: an epsilon that it certainly exceeds, and whether the claim stands."""

    claims: PrivacyLoss
    delta: float
    alpha: float
    canaries: int
    tries: tuple[Guesses, ...]
    seconds: float

    @property
    def refuted(self) -> bool:
        """Whether the claim is false, at the stated confidence."""
        return any(one.refutes for one in self.tries)

    @property
    def epsilon(self) -> float:
        """The largest epsilon that was certified, at delta."""
        return max(one.epsilon for one in self.tries)

    @property
    def claimed(self) -> float:
        """The epsilon that is claimed, at delta."""
        return self.claims.epsilon(self.delta)

    @property
    def evidence(self) -> Guesses:
        """The guesses that say most: against the claim if it was refuted, else for the largest epsilon."""
        if self.refuted:
            return min(self.tries, key=lambda one: (not one.refutes, one.chance))
        return max(self.tries, key=lambda one: one.epsilon)

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of right guesses against how many were made, and the share that would refute the claim."""
        from discreet.plots import Axis, Curve, curves

        counts = [float(one.count) for one in self.tries]
        limits = [(float(one.count), one.limit / one.count) for one in self.tries if one.limit <= one.count]
        lines = [
            Curve(name="right guesses", xs=counts, ys=[one.correct / one.count for one in self.tries], strong=True),
            Curve(name="blind guessing", xs=counts, ys=[0.5] * len(counts), dashed=True, markers=False),
        ]
        if limits:
            xs, ys = zip(*limits, strict=True)
            lines.append(Curve(name="would refute the claim", xs=xs, ys=ys, dashed=True))
        return curves(
            lines,
            Axis(title="guesses, the most certain first", log=True),
            Axis(title="share that is right", low=0.0, high=1.0),
            title="Which canaries was it trained on?",
            subtitle=f"{self.canaries:,} canaries in one run, claim epsilon {self.claimed:.3g} at delta {self.delta:g}",
        )

    def __str__(self) -> str:
        at = f" at delta {self.delta:g}" if self.delta else ""
        best = self.evidence
        seen = f"{best.correct:,} of {best.count:,} guesses right, {self.canaries:,} canaries in one run"
        if self.refuted:
            more = f"it is at least {_down(self.epsilon)}" if self.epsilon > self.claimed else "too many are right"
            return (
                f"claim epsilon {self.claimed:.3g}{at}: REFUTED, {more} (wrongly so with probability below "
                f"{self.alpha:g}; {seen})."
            )
        return f"claim epsilon {self.claimed:.3g}{at}: not refuted, lower bound {_down(self.epsilon)} ({seen})."


def audit_training(
    train: Callable[[Mask], Any],
    canaries: int,
    *,
    claims: PrivacyLoss,
    delta: Real | None = None,
    alpha: Real = 1e-4,
    guesses: Sequence[int] | None = None,
) -> TrainingAudit:
    """Train once with canaries and try to break the claim that the training costs no more than a loss.

    ``train(included)`` gets a coin for each canary, trains on those that are in (and on other data, always the same),
    and returns a score for each, higher where the canary seems to have been in. Scores are made of what the training
    releases and of the canaries, never of ``included``. For claims about replaced records the others are replaced by
    something harmless; for add_remove they are left out.

    Satisfies: a true claim is called false with probability at most ``alpha``, and ``epsilon`` exceeds the true one at
    ``delta`` with probability at most ``alpha``, whatever the training and the scores are.

    >>> from discreet import RandomizedResponse
    >>> answer = RandomizedResponse(epsilon=1)
    >>> found = audit_training(lambda included: answer.release(included.astype(int)), 500, claims=answer.loss)
    >>> found.refuted, found.claimed
    (False, 1.0)
    """
    if not isinstance(claims, PrivacyLoss):
        raise InvalidParameter("say what is claimed: claims=parts.run.plan.loss, or PrivacyLoss.approximate(1, 1e-9).")
    if type(canaries) is not int or canaries < LEAST:
        raise InvalidParameter(f"an audit needs at least {LEAST} canaries, got {canaries!r}.")
    level = float(probability(alpha, "alpha"))
    at = _usual(claims, level / (10 * canaries)) if delta is None else float(probability(delta, "delta", zero=True))
    counts = sorted({_even(round(share * canaries)) for share in SHARES} if guesses is None else set(guesses))
    if not counts or any(type(count) is not int or not 2 <= count <= canaries for count in counts):
        raise InvalidParameter("guesses are numbers from 2 to that of the canaries.")
    begun = time.monotonic()
    included = np.asarray(bernoulli(0.5, size=canaries), dtype=np.bool_)
    scores = np.asarray(train(included.copy()), dtype=np.float64)
    if scores.shape != (canaries,) or np.isnan(scores).any():
        raise InvalidInput(f"training must return one score for each of {canaries} canaries.")
    ordered, points = included[np.argsort(scores, kind="stable")], _points(claims, at)
    tries = tuple(_judged(ordered, count, points, at, level / len(counts)) for count in counts)
    return TrainingAudit(claims, at, level, canaries, tries, time.monotonic() - begun)


def _usual(claims: PrivacyLoss, small: float) -> float:
    """Return 0 for pure claims, a delta that costs a small part of alpha, or one at which the claim says anything."""
    if claims.is_pure:
        return 0.0
    found = small if math.isfinite(claims.epsilon(small)) else claims.delta(FAR)
    if found >= 1:
        raise InvalidParameter("this claim has delta 1 at every epsilon: it rules nothing out.")
    return found


def _even(count: int) -> int:
    return max(2, count - count % 2)


def _points(claims: PrivacyLoss, delta: float) -> Points:
    """Return epsilons and deltas of the claim; larger deltas than these, times so many canaries, allow everything."""
    deltas = {0.0, *(delta * 10.0**step for step in STEPS)}
    found = ((claims.epsilon(d), d) for d in sorted(deltas) if d < 1)
    return tuple((epsilon, d) for epsilon, d in found if math.isfinite(epsilon))


def _judged(ordered: Mask, count: int, points: Points, delta: float, alpha: float) -> Guesses:
    """Guess that the last were in and the first were not, and count."""
    low, size = count // 2, len(ordered)
    correct = int(np.count_nonzero(~ordered[:low]) + np.count_nonzero(ordered[size - (count - low) :]))

    def chance(right: int) -> float:
        """Return the least of what all points of the claim's curve allow: each of them holds, so the least does."""
        return min((chance_of_guesses(right, count, size, e, d) for e, d in points), default=1.0)

    bottom, top = 0, count + 1
    while top - bottom > 1:
        middle = (bottom + top) // 2
        bottom, top = (bottom, middle) if chance(middle) <= alpha else (middle, top)
    return Guesses(
        count, correct, chance(correct), top, epsilon_from_guesses(correct, count, size, alpha=alpha, delta=delta)
    )


def _down(epsilon: float) -> str:
    return f"{math.floor(epsilon * 1000) / 1000:g}"
