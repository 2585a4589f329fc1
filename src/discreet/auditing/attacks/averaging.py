"""The same question, asked again and again.

Fresh noise in every answer averages out: after k answers the average is off by the noise over the square root of k. So
privacy loss adds up, and what stops this attack is not the noise but the budget. Dwork, McSherry, Nissim and Smith, TCC
2006, state the composition that makes it so.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import plots
from discreet.accounting import Budget
from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import Tick, best_guess, quiet
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.exact import Real, positive
from discreet.mechanisms import Geometric

__all__ = ["Averaging", "average_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaging(Outcome):
    """How often the average of answers tells two neighbouring counts apart, without a budget and with one.

    ``admitted`` is how many answers the budget allowed; after them ``with_budget`` cannot change. The bounds hold for
    any use of as many answers.
    """

    epsilon: float
    budget: float
    admitted: int
    refusal: str
    answers: tuple[int, ...]
    without_budget: tuple[float, ...]
    with_budget: tuple[float, ...]
    bound: tuple[float, ...]
    budget_bound: float
    trials: int

    @property
    def verdict(self) -> str:
        """What the attack found."""
        return (
            f"A count is answered with epsilon {self.epsilon:g} each time. The average of {self.answers[-1]:,} answers "
            f"tells whether one person is in it in {self.without_budget[-1]:.1%} of the cases, a single answer in "
            f"{self.without_budget[0]:.1%}."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        return (
            f"With a budget of {self.budget:g} the answers stop after {self.admitted}: {self.with_budget[-1]:.1%}, and "
            f"no use of them can be right in more than {self.budget_bound:.1%}. The refusal: {self.refusal}"
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw how often the guess is right, against the number of questions."""
        lines = [
            plots.Curve(name="no budget", xs=self.answers, ys=self.without_budget),
            plots.Curve(name="bound without budget", xs=self.answers, ys=self.bound, dashed=True, markers=False),
            plots.Curve(name=f"discreet, budget {self.budget:g}", xs=self.answers, ys=self.with_budget, strong=True),
            plots.Curve(
                name="bound with budget",
                xs=self.answers,
                ys=[min(b, self.budget_bound) for b in self.bound],
                dashed=True,
                markers=False,
            ),
        ]
        return plots.curves(
            lines,
            plots.Axis(title="how often the question was asked", log=True),
            plots.Axis(title="share of right guesses", low=0.45, high=1),
            title="Averaging the noise away",
            subtitle=f"is one person counted? epsilon {self.epsilon:g} for each answer",
        )


def average_out(
    count: int = 1000,
    *,
    epsilon: Real = Fraction(1, 8),
    budget: Real = 1,
    most: int = 1500,
    trials: int = 10_000,
    tick: Tick = quiet,
) -> Averaging:
    """Ask the same count up to ``most`` times, average, and guess whether it is ``count`` or one more.

    The budget is spent before each answer, as in a real service; a refused question has no answer. For k answers no
    guess is right more often than ``(1 + advantage) / 2`` of their joint loss.

    >>> found = average_out(most=100, trials=50)
    >>> found.admitted, found.refusal[:48]
    (8, 'this loss costs epsilon 0.125, and 0 of 1 is lef')
    """
    if most < 1 or trials < 1:
        raise InvalidParameter("at least one question and one trial are needed.")
    mechanism = Geometric(sensitivity=1, epsilon=positive(epsilon, "epsilon"))
    account, admitted, refusal = Budget(budget).open(), 0, ""
    while admitted < most and not refusal:
        try:
            account.spend(mechanism.loss)
            admitted += 1
        except BudgetExceeded as stop:
            refusal = str(stop)
    marks = sorted({round(most ** (k / 12)) for k in range(13)} | ({admitted} if admitted else set()))
    right = np.zeros(len(marks))
    for secret in (0, 1):
        sums, done = np.zeros(trials), 0
        for place, k in enumerate(marks):
            tick("asking again")
            sums += mechanism.release(np.full((trials, k - done), count + secret)).sum(axis=1)
            done = k
            average = sums / k - count - 0.5
            hits = np.where(average == 0, 0.5, (average > 0) == bool(secret))  # a tie is decided by a coin
            right[place] += float(hits.mean()) / 2
    stopped = [right[marks.index(min(k, admitted))] if admitted else 0.5 for k in marks]
    return Averaging(
        epsilon=float(mechanism.epsilon),
        budget=float(budget),
        admitted=admitted,
        refusal=refusal or "none, all questions were answered.",
        answers=tuple(marks),
        without_budget=tuple(map(float, right)),
        with_budget=tuple(map(float, stopped)),
        bound=tuple(best_guess(k * mechanism.loss) for k in marks),
        budget_bound=best_guess(admitted * mechanism.loss),
        trials=trials,
    )
