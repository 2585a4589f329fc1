"""Two innocent averages, one salary.

An average before and after one person leaves tells what that person earns: ``n a - (n - 1) a'``. Neither average is
about anybody; the pair is. Rules that look at one answer at a time ("at least five people in every group") do not see
it. Denning, Denning and Schwartz, "The Tracker", ACM TODS 1979, is the early account.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import plots
from discreet.accounting import PrivacyLoss
from discreet.auditing.attacks.outcome import Outcome
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, finite, positive
from discreet.mechanisms import Laplace
from discreet.noise.fast import Floats

__all__ = ["SALARIES", "Differencing", "difference", "salary_of_one"]

SALARIES = (*range(25_250, 75_250, 500), 100_500)
"""A hundred people who earn 50,000 on average, and one who earns 100,500."""

CLOSE = tuple(0.01 * k for k in (0, 1, 2, 5, 10, 15, 20, 25))
"""How near a guess must come, in parts of the range of salaries, to be called right."""


def salary_of_one(people: int, before: Real, after: Real) -> Fraction:
    """Return what the one person has who left: from the average of ``people`` and of all but one of them, exactly.

    >>> salary_of_one(101, 50_500, 50_000)
    Fraction(100500, 1)
    """
    if type(people) is not int or people < 2:
        raise InvalidParameter(f"an average before and after needs at least 2 people, got {people!r}.")
    return people * finite(before, "before") - (people - 1) * finite(after, "after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Differencing(Outcome):
    """What a subtraction finds in exact averages, and in the same averages with noise.

    ``right`` is the share of ``trials`` in which the guess came within a part (``close``) of the range of salaries, for
    a salary anywhere in it; ``bound`` is what epsilon-DP allows, ``blind`` what a guess without any release achieves.
    """

    people: int
    before: float
    after: float
    found: float
    truth: float
    epsilon: float
    bounds: tuple[float, float]
    noisy_guess: float
    typical_error: float
    average_error: float
    close: tuple[float, ...]
    right: tuple[float, ...]
    bound: tuple[float, ...]
    blind: tuple[float, ...]
    trials: int

    @property
    def verdict(self) -> str:
        """What the attack found."""
        return (
            f"Two averages, {self.before:,.2f} of {self.people} people and {self.after:,.2f} of {self.people - 1}, "
            f"give one salary: {self.found:,.2f}; the truth is {self.truth:,.2f}."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        return (
            f"With noise for epsilon {self.epsilon:g} in all, the same subtraction says {self.noisy_guess:,.0f}: half "
            f"of such guesses are off by more than {self.typical_error:,.0f}, however many people there are. The "
            f"averages stay within {self.average_error:,.0f} in 19 of 20 releases, the nearer the more people."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw how often a guess comes near, against how near."""
        lines = [
            plots.Curve(name="exact averages", xs=self.close, ys=[1.0] * len(self.close)),
            plots.Curve(name="discreet", xs=self.close, ys=self.right, strong=True),
            plots.Curve(
                name=f"bound, epsilon {self.epsilon:g}", xs=self.close, ys=self.bound, dashed=True, markers=False
            ),
            plots.Curve(name="without any release", xs=self.close, ys=self.blind, dashed=True),
        ]
        return plots.curves(
            lines,
            plots.Axis(title="how near is near, as a part of the range of salaries", low=0, high=0.25),
            plots.Axis(title="share of guesses that come near", low=0, high=1),
            title="One salary from two averages",
            subtitle=f"{self.people} people, {self.trials:,} releases with noise",
        )


def difference(
    salaries: Sequence[float] = SALARIES,
    *,
    bounds: tuple[float, float] = (0, 200_000),
    epsilon: Real = 1,
    trials: int = 4000,
    generator: np.random.Generator | None = None,
) -> Differencing:
    """Learn the last person's salary from the averages of all and of all others, without noise and with it.

    Each of the two noisy averages has half of epsilon, for neighbours that differ in one person's salary. Nobody can
    come within a part p of the range more often than ``p e^epsilon / (p e^epsilon + 1 - p)``, whatever he computes
    and knows of the others, if the salary may lie anywhere in the range.

    >>> found = difference()
    >>> found.found, found.before, found.after
    (100500.0, 50500.0, 50000.0)
    """
    low, high = (float(finite(end, "a bound")) for end in bounds)
    if not low < high:
        raise InvalidParameter(f"bounds must run from low to high, got {bounds!r}.")
    exact = [finite(salary, "a salary") for salary in salaries]
    n, width = len(exact), high - low
    if n < 2 or not all(low <= salary <= high for salary in exact):
        raise InvalidInput("the attack needs at least two salaries, all of them within the bounds.")
    before, after = sum(exact) / n, sum(exact[:-1]) / (n - 1)
    e = positive(epsilon, "epsilon")
    first, second = (Laplace(sensitivity=Fraction(width) / size, epsilon=e / 2) for size in (n, n - 1))
    chance = np.random.default_rng() if generator is None else generator
    secret = chance.uniform(low, high, trials)
    others = float(sum(exact[:-1]))
    noisy = n * first.release((others + secret) / n) - (n - 1) * second.release(np.full(trials, others / (n - 1)))
    guesses = np.array([_nearest(noisy, low, high, part * width) for part in CLOSE])
    right = (np.abs(guesses - secret) <= np.array(CLOSE)[:, None] * width).mean(axis=1)
    mine = n * first.release(float(before)) - (n - 1) * second.release(float(after))
    part = [min(2 * c, 1.0) for c in CLOSE]
    factor = math.exp(PrivacyLoss.total([first.loss, second.loss]).epsilon())
    return Differencing(
        people=n,
        before=float(before),
        after=float(after),
        found=float(salary_of_one(n, before, after)),
        truth=float(exact[-1]),
        epsilon=float(e),
        bounds=(low, high),
        noisy_guess=float(mine),
        typical_error=float(np.median(np.abs(noisy - secret))),
        average_error=max(first.error(0.05), second.error(0.05)),
        close=CLOSE,
        right=tuple(map(float, right)),
        bound=tuple(p * factor / (p * factor + 1 - p) for p in part),
        blind=tuple(part),
        trials=trials,
    )


def _nearest(guess: Floats, low: float, high: float, slack: float) -> Floats:
    """Return the guess that wins most often: moved to where a slack on both sides lies inside the range."""
    middle = (low + high) / 2
    return np.clip(guess, min(low + slack, middle), max(high - slack, middle))
