"""How often a test is right and how often it accuses falsely, and what privacy allows of both."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import plots
from discreet.accounting import PrivacyLoss
from discreet.accounting.tradeoff import tradeoff_curve
from discreet.auditing.evidence import chance_above, chance_below

__all__ = ["GRID", "Rate", "Roc", "Tick", "best_guess", "most_power", "quiet", "rate_of", "roc_of", "roc_picture"]

Floats = npt.NDArray[np.float64]
Tick = Callable[[str], object]
"""Called with a few words each time a piece of work is done; the command line draws its progress bar with it."""

GRID = tuple(sorted({round(float(x), 6) for x in (*np.geomspace(1e-3, 1, 46), 0.01, 0.1, *np.linspace(0.1, 1, 19))}))
"""The false positive rates at which a test is looked at."""

MOST_SHOWN = 0.1
"""Pictures end here: beyond it every test finds many, and all curves meet."""


def quiet(words: str, /) -> None:
    """Tell nobody about the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share that was counted, with its exact 95% confidence interval (Clopper and Pearson, Biometrika 1934)."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


def rate_of(hits: int, trials: int, confidence: float = 0.95) -> Rate:
    """Return the share of hits and where its true value lies, which is wrong in one of 20 experiments at most.

    >>> print(rate_of(95, 100))
    95.0% (88.7% to 98.4%)
    """
    count, tail = np.array([float(hits)]), (1 - confidence) / 2
    low, high = float(chance_below(count, trials, tail)[0]), float(chance_above(count, trials, tail)[0])
    return Rate(value=hits / trials, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roc:
    """The share of members that a test finds (``found``), at each share of others that it accuses (``rates``).

    ``advantage`` is the largest difference of the two, over all thresholds. ``members`` and ``others`` are how many
    independent tests there were: what the confidence intervals rest on.
    """

    rates: tuple[float, ...]
    found: tuple[float, ...]
    advantage: float
    members: int
    others: int

    @property
    def balanced_accuracy(self) -> float:
        """The best share of right answers where members and others are equally many: ``(1 + advantage) / 2``."""
        return (1 + self.advantage) / 2

    def at(self, false_positive_rate: float) -> Rate:
        """Return the share of members found at a false positive rate of the grid, or the next below it.

        >>> roc_of(np.array([3.0, 4.0, 5.0, 0.5]), np.array([0.0, 1.0, 2.0])).at(0.01).value
        0.75
        """
        place = max((i for i, rate in enumerate(self.rates) if rate <= false_positive_rate * (1 + 1e-9)), default=0)
        return rate_of(round(self.found[place] * self.members), self.members)


def roc_of(members: Sequence[float] | Floats, others: Sequence[float] | Floats, *, each: int = 1) -> Roc:
    """Return how well a threshold on scores tells members (high) from others.

    Where every record was tested several times (``each``), confidence intervals count it once.
    """
    inside, outside = np.sort(np.asarray(members, dtype=np.float64)), np.sort(np.asarray(others, dtype=np.float64))
    allowed = [min(math.floor(rate * outside.size + 1e-9), outside.size) for rate in GRID]
    bars = [outside[-1 - k] if k < outside.size else -math.inf for k in allowed]
    found = tuple(float((inside > bar).mean()) for bar in bars)
    cuts = np.unique(np.concatenate([inside, outside]))
    above = [1 - np.searchsorted(side, cuts, side="right") / side.size for side in (inside, outside)]
    advantage = max(0.0, float((above[0] - above[1]).max()))
    return Roc(rates=GRID, found=found, advantage=advantage, members=inside.size // each, others=outside.size // each)


def best_guess(loss: PrivacyLoss) -> float:
    """Return how often anybody can be right who must guess one of two equally likely records: at most this.

    For epsilon-DP it is ``e^epsilon / (1 + e^epsilon)``; in general ``(1 + advantage) / 2``.

    >>> best_guess(PrivacyLoss.pure(1))
    0.73105...
    """
    return (1 + loss.advantage()) / 2


def most_power(loss: PrivacyLoss, rates: Sequence[float] = GRID) -> tuple[float, ...]:
    """Return the largest share of members that any test can find at each false positive rate.

    For (epsilon, delta)-DP it is ``min(e^epsilon r + delta, 1 - e^-epsilon (1 - r - delta))``.

    >>> most_power(PrivacyLoss.approximate(1, 1e-5), [0.01])
    (0.02719281828...,)
    """
    return tuple(1 - missed for missed in tradeoff_curve(loss, list(rates)))


def roc_picture(
    tests: Sequence[tuple[str, Roc]],
    bound: tuple[str, Sequence[float]] | None,
    *,
    title: str,
    subtitle: str,
    strong: str = "",
) -> Any:  # noqa: ANN401  an altair chart
    """Draw the power of tests against their false positive rate, on logarithmic scales where leaks show."""
    shown = [place for place, rate in enumerate(GRID) if rate <= MOST_SHOWN]

    def curve(name: str, ys: Sequence[float], *, dashed: bool = False, markers: bool = True) -> plots.Curve:
        xs, kept = [GRID[i] for i in shown], [ys[i] for i in shown]
        return plots.Curve(name=name, xs=xs, ys=kept, strong=name == strong, dashed=dashed, markers=markers)

    lines = [curve(name, roc.found) for name, roc in tests]
    if bound is not None:
        lines.append(curve(bound[0], bound[1], dashed=True, markers=False))
    lines.append(curve("blind guessing", GRID, dashed=True))
    return plots.curves(
        lines,
        plots.Axis(title="share of others who are accused (false positives)", log=True, low=1e-3, high=MOST_SHOWN),
        plots.Axis(title="share of members who are found", log=True, low=5e-4, high=1),
        title=title,
        subtitle=subtitle,
        height=340,
    )
