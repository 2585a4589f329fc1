"""A loss drawn: its delta at every epsilon, what a test can tell, how the loss is distributed.

Curves show proven bounds. A curve of delta needs many evaluations, so it is computed once and read by two pictures.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import plots
from discreet.accounting.histogram import loss_histogram
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.numerical.pairs import Floats
from discreet.errors import InvalidParameter
from discreet.exact import Real, probability

__all__ = ["Profile", "density_chart", "draw", "profile_chart", "profile_of", "tradeoff_chart"]

LEAST = 1e-10
"""The smallest delta drawn, unless a smaller one is asked for."""

POINTS = 36


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Proven deltas at some epsilons, from 0 upwards."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    def missed(self, false_alarms: Floats) -> Floats:
        """Return the least share of true records that a test must miss at some rates of false alarm.

        Satisfies ``1 - delta - e^epsilon a`` and ``e^-epsilon (1 - delta - a)`` for each pair (Kairouz, Oh and
        Viswanath, ICML 2015); the larger of many such bounds is shown.
        """
        alarms = np.asarray(false_alarms, dtype=np.float64)
        least = np.zeros_like(alarms)
        for epsilon, delta in zip(self.epsilons, self.deltas, strict=True):
            least = np.maximum(least, 1 - delta - math.exp(min(epsilon, 700.0)) * alarms)
            least = np.maximum(least, math.exp(-epsilon) * (1 - delta - alarms))
        return least


def draw(loss: PrivacyLoss, kind: str, delta: Real) -> Any:  # noqa: ANN401  an altair chart
    """Return the picture of a kind: what ``PrivacyLoss.plot`` shows."""
    makers: dict[str, Callable[[], Any]] = {
        "profile": lambda: profile_chart(profile_of(loss, delta), loss, delta),
        "tradeoff": lambda: tradeoff_chart(profile_of(loss, delta)),
        "density": lambda: density_chart(loss, delta),
    }
    if kind not in makers:
        raise InvalidParameter(f"kind must be one of {', '.join(makers)}, got {kind!r}.")
    if not loss.terms:
        raise InvalidParameter("this loss is always 0: there is nothing to draw.")
    return makers[kind]()


def profile_of(loss: PrivacyLoss, delta: Real, *, step: Callable[[], object] = lambda: None) -> Profile:
    """Return delta at some epsilons, up to where it is smaller than anyone cares; ``step`` is called for each.

    >>> profile_of(PrivacyLoss.laplace(1), 1e-6).deltas[-1] <= 1e-10
    True
    """
    asked = float(_above_zero(delta))
    last = math.inf
    for least in (min(LEAST, asked / 100), asked / 10, asked):  # a failure may leave no epsilon at the smallest delta
        if math.isinf(last):
            last = loss.epsilon(least)
    if not math.isfinite(last) or last <= 0:
        raise InvalidParameter(f"epsilon is infinite or 0 at delta {asked:g}: there is no curve to draw.")
    epsilons = tuple(last * k / (POINTS - 1) for k in range(POINTS))
    deltas = []
    for epsilon in epsilons:
        deltas.append(loss.delta(epsilon))
        step()
    return Profile(epsilons, tuple(deltas))


def profile_chart(profile: Profile, loss: PrivacyLoss, delta: Real) -> Any:  # noqa: ANN401
    """Draw delta against epsilon, delta on a logarithmic scale, with the asked point marked."""
    asked, epsilon = float(_above_zero(delta)), loss.epsilon(delta)
    inside = [(e, d) for e, d in zip(profile.epsilons, profile.deltas, strict=True) if d > 0]
    inside = sorted([*inside, (epsilon, asked)]) if 0 < epsilon < math.inf else inside
    marks = []
    if 0 <= epsilon < math.inf:
        words = f"epsilon {epsilon:.4g} at delta {asked:.3g}"
        marks = [plots.Mark(x=epsilon, y=asked, text=words, place="right" if epsilon < 0.7 * inside[-1][0] else "left")]
    curve = plots.Curve(name="this plan", xs=[e for e, _ in inside], ys=[d for _, d in inside], strong=True)
    return plots.curves(
        [curve],
        plots.Axis(title="epsilon", low=0.0, high=inside[-1][0]),
        plots.Axis(title="delta", log=True, power=True, low=10.0 ** math.floor(math.log10(inside[-1][1])), high=1.0),
        title="The guarantee, at every epsilon",
        subtitle="the delta that is proven with each epsilon; lower is more private",
        marks=marks,
    )


def tradeoff_chart(profile: Profile) -> Any:  # noqa: ANN401
    """Draw what a membership test must miss against its rate of false alarms."""
    alarms = np.unique(np.concatenate([np.geomspace(1e-5, 0.1, 60), np.linspace(0, 1, 101)]))
    missed = profile.missed(alarms)
    lines = [
        plots.Curve(name="perfect privacy", xs=[0.0, 1.0], ys=[1.0, 0.0], dashed=True, markers=False),
        plots.Curve(name="this plan", xs=alarms.tolist(), ys=missed.tolist(), strong=True),
    ]
    at = 0.05
    least = float(profile.missed(np.array([at]))[0])
    caught = f"the dot: {at:.0%} false alarms, at least {math.floor(least * 1000) / 10:.4g}% missed"
    return plots.curves(
        lines,
        plots.Axis(title="false alarms: people accused who are not in the data", low=0.0, high=1.0),
        plots.Axis(title="missed: people in the data not found", low=0.0, high=1.0),
        title="What an attacker's test can do",
        subtitle="no test for one person's presence gets below the line",
        marks=[plots.Mark(x=at, y=least, text=caught, place="corner")],
    )


def density_chart(loss: PrivacyLoss, delta: Real) -> Any:  # noqa: ANN401
    """Draw how the privacy loss is distributed, with the epsilon of delta marked."""
    found = loss_histogram(loss)
    epsilon = loss.epsilon(delta)
    shown = plots.Slices(
        name="",
        edges=found.edges.tolist(),
        probabilities=found.probabilities.tolist(),
        line=epsilon if 0 < epsilon < math.inf else None,
        words=f"epsilon {epsilon:.4g} at delta {float(delta):.3g}",
    )
    return plots.slices(
        [shown],
        title="How the privacy loss is distributed",
        subtitle=f"mean {found.mean:.3g}, standard deviation {found.deviation:.3g}",
        axis="privacy loss: logarithm of how much likelier the answers are with the record than without",
    )


def _above_zero(delta: Real) -> Real:
    return probability(delta, "delta")
