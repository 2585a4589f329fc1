"""Too many answers that are too accurate give everything away.

Dinur and Nissim, "Revealing Information while Preserving Privacy", PODS 2003: a table of n secret bits, questions "how
many of these people have it?" about random subsets, and answers off by up to E. If E is small against the square root
of n, a linear program finds nearly all bits; any candidate that agrees with all answers does (``exhaustive``). Dwork,
McSherry and Talwar, STOC 2007, minimise the sum of the deviations, which also bears a few answers that are far off.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import plots
from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import Tick, best_guess, quiet
from discreet.errors import InvalidInput, InvalidParameter
from discreet.mechanisms import Geometric

__all__ = [
    "METHODS",
    "Reconstruction",
    "exhaustive",
    "least_absolute",
    "least_squares",
    "linear_program",
    "reconstruct",
    "subset_queries",
]

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.int64]

MOST_EXHAUSTIVE = 16
NOISES = (0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0)
"""How far answers are off, in square roots of the number of people."""

EPSILONS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def subset_queries(people: int, queries: int, generator: np.random.Generator) -> Bits:
    """Return questions about random subsets, one in each row: 1 where a person is asked about."""
    return generator.integers(0, 2, (queries, people))


def exhaustive(questions: Bits, answers: Floats) -> Bits:
    """Return, of all tables there are, the one whose worst deviation from the answers is least.

    >>> everybody, first = [1, 1, 1], [1, 0, 0]
    >>> exhaustive(np.array([everybody, first, [0, 1, 0]]), np.array([2.0, 1.0, 0.0])).tolist()
    [1, 0, 1]
    """
    n = questions.shape[1]
    if n > MOST_EXHAUSTIVE:
        raise InvalidParameter(
            f"all tables of {n} people are too many to try; take at most {MOST_EXHAUSTIVE}, or linear_program."
        )
    tables = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    worst = np.abs(tables @ questions.T - answers).max(axis=1)
    best: Bits = tables[int(np.argmin(worst))]
    return best


def least_squares(questions: Bits, answers: Floats) -> Bits:
    """Return the table of least squared deviation among real numbers, rounded to bits.

    >>> least_squares(np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0]]), np.array([2.2, 0.9, 0.1])).tolist()
    [1, 0, 1]
    """
    found = np.linalg.lstsq(questions.astype(np.float64), answers, rcond=None)[0]
    return (found > 0.5).astype(np.int64)


def linear_program(questions: Bits, answers: Floats) -> Bits:
    """Return the table of least worst deviation among numbers between 0 and 1, rounded to bits.

    >>> linear_program(np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0]]), np.array([2.2, 0.9, 0.1])).tolist()
    [1, 0, 1]
    """
    m, n = questions.shape
    asked, one = questions.astype(np.float64), np.ones((m, 1))
    return _solved(
        n,
        c=np.concatenate([np.zeros(n), [1.0]]),
        A_ub=np.block([[asked, -one], [-asked, -one]]),
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(0, 1)] * n + [(0, None)],
    )


def least_absolute(questions: Bits, answers: Floats) -> Bits:
    """Return the table of least absolute deviation among numbers between 0 and 1, rounded: likeliest for Laplace noise.

    >>> least_absolute(np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0]]), np.array([2.2, 0.9, 0.1])).tolist()
    [1, 0, 1]
    """
    m, n = questions.shape
    asked = questions.astype(np.float64)
    return _solved(
        n,
        c=np.concatenate([np.zeros(n), np.ones(2 * m)]),
        A_eq=np.hstack([asked, np.eye(m), -np.eye(m)]),  # the answer is what is there, and more or less
        b_eq=answers,
        bounds=[(0, 1)] * n + [(0, None)] * (2 * m),
    )


def _solved(people: int, **program: Any) -> Bits:  # noqa: ANN401  what scipy's linprog takes
    from scipy.optimize import linprog

    found = linprog(**program, method="highs-ipm")
    if found.x is None:
        raise InvalidInput("the linear program has no solution; the answers must be finite numbers.")
    return (found.x[:people] > 0.5).astype(np.int64)


METHODS: dict[str, Callable[[Bits, Floats], Bits]] = {
    "exhaustive": exhaustive,
    "least squares": least_squares,
    "linear program": linear_program,
    "least absolute": least_absolute,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction(Outcome):
    """The share of bits that was found, at each size of the noise, and of discreet's answers at each epsilon.

    ``noises`` are the largest errors of answers without privacy; ``deviations`` the standard deviations of discreet's
    noise. ``bound`` is the share that nobody can exceed on average, by epsilon.
    """

    people: int
    queries: int
    noises: tuple[float, ...]
    recovered: dict[str, tuple[float, ...]]
    epsilon: float
    protected: float
    epsilons: tuple[float, ...]
    deviations: tuple[float, ...]
    recovered_protected: tuple[float, ...]
    bound: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """What the attack found."""
        method = list(self.recovered)[-1]
        shares, root = self.recovered[method], math.sqrt(self.people)
        half = max(i for i, noise in enumerate(self.noises) if noise <= root / 2)
        return (
            f"{self.queries} questions about {self.people} people. If answers are off by up to "
            f"{self.noises[half]:.3g}, half the square root of {self.people}, the {method} attack finds "
            f"{shares[half]:.1%} of the secrets; off by up to {self.noises[-1]:.3g}, {shares[-1]:.1%}; a coin, 50%."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        allowed = self.bound[self.epsilons.index(self.epsilon)]
        return (
            f"Answers with noise for epsilon {self.epsilon:g} in all give {self.protected:.1%} of the secrets; nobody "
            f"can expect more than {allowed:.1%}."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of bits found against the noise, whose limit is near the square root of the people."""
        uniform = [noise / math.sqrt(3) for noise in self.noises]
        lines = [plots.Curve(name=name, xs=uniform, ys=shares) for name, shares in self.recovered.items()]
        lines.append(plots.Curve(name="discreet", xs=self.deviations, ys=self.recovered_protected, strong=True))
        lines.append(
            plots.Curve(name="bound for discreet", xs=self.deviations, ys=self.bound, dashed=True, markers=False)
        )
        root = math.sqrt(self.people)
        return plots.curves(
            lines,
            plots.Axis(title="standard deviation of the noise in each answer, in people", log=True),
            plots.Axis(title="share of the secret bits that are found", low=0.4, high=1.0),
            title="Reconstruction from counts",
            subtitle=f"{self.people} people, {self.queries} random questions; the dot marks the root of {self.people}",
            marks=[plots.Mark(x=root, y=0.5, text=f"root of n: {root:.3g}", place="foot")],
        )


def reconstruct(
    people: int = 64,
    *,
    queries: int | None = None,
    methods: tuple[str, ...] = ("least squares", "linear program"),
    epsilon: float = 1.0,
    repetitions: int = 5,
    generator: np.random.Generator | None = None,
    tick: Tick = quiet,
) -> Reconstruction:
    """Ask about random subsets and compute everybody's secret; four questions for each person unless said otherwise.

    The noise without privacy is uniform within its largest error. discreet adds geometric noise with one epsilon for
    all questions together, for neighbours that differ in one person's bit, and is met by ``least_absolute``. Of random
    bits at most ``e^epsilon / (1 + e^epsilon)`` can then be found on average, whoever computes whatever; the bound
    drawn is that of this noise, which is a little lower.

    >>> found = reconstruct(32, generator=np.random.default_rng(1))
    >>> found.recovered["linear program"][0]
    1.0
    """
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        raise InvalidParameter(f"methods are {', '.join(METHODS)}, got {', '.join(unknown) or 'none'}.")
    m = 4 * people if queries is None else queries
    if people < 2 or m < 1 or repetitions < 1:
        raise InvalidParameter("a reconstruction needs at least 2 people, 1 question and 1 repetition.")
    chance = np.random.default_rng() if generator is None else generator
    epsilons = tuple(sorted({*EPSILONS, float(epsilon)}))
    mechanisms = [Geometric(sensitivity=m, epsilon=e) for e in epsilons]
    sizes = tuple(factor * math.sqrt(people) for factor in NOISES)
    plain = {name: np.zeros(len(sizes)) for name in methods}
    private = np.zeros(len(epsilons))
    for _ in range(repetitions):
        secret, asked = chance.integers(0, 2, people), subset_queries(people, m, chance)
        counts = asked @ secret
        for place, size in enumerate(sizes):
            answers = counts + chance.uniform(-size, size, m)
            for name in methods:
                tick(f"{name}, answers within {size:.3g}")
                plain[name][place] += (METHODS[name](asked, answers) == secret).mean() / repetitions
        for place, mechanism in enumerate(mechanisms):
            tick(f"discreet, epsilon {epsilons[place]:g}")
            noisy = np.asarray(mechanism.release(counts), dtype=np.float64)
            private[place] += (least_absolute(asked, noisy) == secret).mean() / repetitions
    return Reconstruction(
        people=people,
        queries=m,
        noises=sizes,
        recovered={name: tuple(map(float, shares)) for name, shares in plain.items()},
        epsilon=float(epsilon),
        protected=float(private[epsilons.index(float(epsilon))]),
        epsilons=epsilons,
        deviations=tuple(_deviation(float(mechanism.scale)) for mechanism in mechanisms),
        recovered_protected=tuple(map(float, private)),
        bound=tuple(best_guess(mechanism.loss) for mechanism in mechanisms),
    )


def _deviation(scale: float) -> float:
    """Return the standard deviation of two-sided geometric noise."""
    return math.sqrt(0.5) / math.sinh(1 / (2 * scale)) if scale > 1e-3 else 0.0
