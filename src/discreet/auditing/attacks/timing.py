"""How long the answer took tells how large the noise was.

A textbook sampler tosses coins until one falls tails; its running time is its result. Whoever sees the answer and the
time knows the noise and takes it away. Jin, McMurtry, Rubinstein and Ohrimenko, "Are We There Yet? Timing and
Floating-Point Attacks on Differential Privacy Systems", S&P 2022. discreet reads a sample off one random word, whatever
its size.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import plots
from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import Rate, Tick, best_guess, quiet, rate_of
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["Timing", "naive_geometric", "time_the_sampler"]

Floats = npt.NDArray[np.float64]
Sampler = Callable[[], int]
Clock = Callable[[], float]

WARM_UP = 50
BINS = 8


def naive_geometric(scale: float, toss: Callable[[], float] = random.random) -> int:
    """Draw two-sided geometric noise as textbooks do: toss a coin until it falls tails. Not private, by its time.

    >>> tosses = iter([0.1, 0.1, 0.9, 0.2])
    >>> naive_geometric(1.0, lambda: next(tosses))                                  # heads, heads, tails, and plus
    2
    """
    stay = float(np.exp(-1 / scale))
    while True:
        size = 0
        while toss() < stay:
            size += 1
        if toss() < 0.5:
            return size
        if size:  # there is one zero, not two
            return -size


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Outcome):
    """What the duration of one draw says about its noise, for a sampler that tosses coins and for discreet's.

    ``correlation`` is Spearman's, between duration and size of the noise. ``right`` is how often answer and duration
    together tell two neighbouring values apart; ``allowed`` is what the privacy loss of the noise permits.
    """

    epsilon: float
    sensitivity: int
    draws: int
    correlation: float
    correlation_protected: float
    right: Rate
    right_protected: Rate
    allowed: float
    sizes: tuple[float, ...]
    durations: tuple[float, ...]
    sizes_protected: tuple[float, ...]
    durations_protected: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """What the attack found."""
        return (
            f"{self.draws:,} draws, noise for epsilon {self.epsilon:g} at sensitivity {self.sensitivity}. Tossing "
            f"coins, the duration follows the size of the noise: rank correlation {self.correlation:.3f}. An answer "
            f"and its duration tell two neighbours apart in {self.right}."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        return (
            f"From discreet the correlation is {self.correlation_protected:.3f}, and an answer and its duration tell "
            f"in {self.right_protected}; the noise allows {self.allowed:.1%}."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw how long draws take, against the size of the noise, each over the sampler's own median."""
        lines = [
            plots.Curve(name="tossing coins", xs=self.sizes, ys=self.durations),
            plots.Curve(name="discreet", xs=self.sizes_protected, ys=self.durations_protected, strong=True),
        ]
        return plots.curves(
            lines,
            plots.Axis(title="size of the noise that was drawn"),
            plots.Axis(title="median duration, over that of all draws", low=0),
            title="How long did the noise take?",
            subtitle=f"medians of {BINS} equal groups of {self.draws:,} draws; level is what privacy asks for",
        )


def time_the_sampler(
    *,
    epsilon: float = 0.2,
    sensitivity: int = 20,
    draws: int = 4000,
    clock: Clock = time.perf_counter_ns,
    naive: Sampler | None = None,
    protected: Sampler | None = None,
    tick: Tick = quiet,
) -> Timing:
    """Time single draws of a sampler that tosses coins and of ``Geometric``, and guess the value below the noise.

    The attacker knows the value to be 0 or the sensitivity. On half of the draws he learns how long noise of each size
    takes; on the other half he sees an answer and its duration, and takes the value for which the two agree better.
    ``clock`` may count operations instead of time; samplers of your own may be put in place of the two.
    """
    if draws < 4 * BINS:
        raise InvalidParameter(f"at least {4 * BINS} draws are needed, got {draws}.")
    mechanism = Geometric(sensitivity=sensitivity, epsilon=epsilon)
    scale = float(mechanism.scale)
    samplers = naive or (lambda: naive_geometric(scale)), protected or (lambda: int(mechanism.release(0)))
    found = []
    for sampler in samplers:
        tick("timing draws")
        noises, times = _measure(sampler, draws, clock)
        right = _tell_apart(noises, times, sensitivity, scale)
        found.append((_rank_correlation(np.abs(noises), times), right, _medians(np.abs(noises), times)))
    (first, first_right, first_line), (second, second_right, second_line) = found
    tested = draws - draws // 2
    return Timing(
        epsilon=float(epsilon),
        sensitivity=sensitivity,
        draws=draws,
        correlation=first,
        correlation_protected=second,
        right=rate_of(first_right, tested),
        right_protected=rate_of(second_right, tested),
        allowed=best_guess(mechanism.loss),
        sizes=first_line[0],
        durations=first_line[1],
        sizes_protected=second_line[0],
        durations_protected=second_line[1],
    )


def _measure(sampler: Sampler, draws: int, clock: Clock) -> tuple[Floats, Floats]:
    """Return noises and durations, after some draws that only warm the caches."""
    for _ in range(WARM_UP):
        sampler()
    pairs: list[tuple[int, float]] = []
    for _ in range(draws):
        start = clock()
        noise = sampler()
        pairs.append((noise, clock() - start))
    return np.array([n for n, _ in pairs], dtype=np.float64), np.array([t for _, t in pairs], dtype=np.float64)


def _tell_apart(noises: Floats, times: Floats, gap: int, scale: float) -> int:
    """Return how many values are guessed rightly: odd draws had the value 0, even ones the gap."""
    half = len(noises) // 2
    sizes, learnt = np.abs(noises[:half]), times[:half]
    slope, start = _line(sizes, learnt)
    spread = max(float(np.median(np.abs(learnt - start - slope * sizes))) * 1.4826, 1e-9)
    values = np.where(np.arange(half, len(noises)) % 2, 0, gap)
    answers, seen = noises[half:] + values, times[half:]

    def evidence(value: int) -> Floats:
        size = np.abs(answers - value)
        surprise = np.minimum(np.abs(seen - start - slope * size) / spread, 6.0)  # interrupted draws prove nothing
        found: Floats = -size / scale - surprise**2 / 2
        return found

    zero, other = evidence(0), evidence(gap)
    near = np.abs(answers - gap) < np.abs(answers)
    guess = np.where(zero == other, near, other > zero)
    return int((guess == (values == gap)).sum())


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Return slope and start of a line through the medians of equal groups, which outliers do not bend."""
    xs, ys = _groups(x, y)
    if np.ptp(xs) == 0:
        return 0.0, float(np.median(y))
    slope, start = np.polyfit(xs, ys, 1)
    return float(slope), float(start)


def _groups(sizes: Floats, times: Floats) -> tuple[Floats, Floats]:
    order = np.array_split(np.argsort(sizes, kind="stable"), BINS)
    return np.array([np.median(sizes[part]) for part in order]), np.array([np.median(times[part]) for part in order])


def _medians(sizes: Floats, times: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    xs, ys = _groups(sizes, times)
    middle = float(np.median(times)) or 1.0
    return tuple(map(float, xs)), tuple(float(y) / middle for y in ys)


def _rank_correlation(x: Floats, y: Floats) -> float:
    """Return Spearman's correlation; 0 where one side never changes."""
    from scipy.stats import spearmanr

    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(spearmanr(x, y).statistic)
