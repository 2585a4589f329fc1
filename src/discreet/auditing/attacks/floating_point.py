"""The last bits of a float tell which number the noise was added to.

Mironov, "On Significance of the Least Significant Bits for Differential Privacy", CCS 2012. numpy's Laplace sampler
takes the logarithm of one of 2^53 uniforms, so it reaches some doubles and never the ones between. Added to 0 these are
other doubles than added to 1, and an output that cannot come from 0 came from 1, whatever epsilon was promised. The
attacker counts how many uniforms lead from each candidate to what he sees, which is its exact likelihood.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import plots
from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import Rate, Tick, best_guess, quiet, rate_of
from discreet.errors import InvalidParameter
from discreet.exact import positive
from discreet.mechanisms import Laplace

__all__ = ["Bits", "naive_laplace", "recover_from_bits", "ways_to_reach"]

REACH = 4
"""How many neighbours of the likeliest uniform are tried on each side."""

Likelihood = Callable[[float, float], float]
"""How likely an output is for a value, up to a factor that is the same for all values."""

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def naive_laplace(value: float, scale: float, size: int, generator: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return a value plus numpy's Laplace noise: what textbooks do, and what is not private."""
    return value + generator.laplace(0.0, scale, size)


def ways_to_reach(output: float, value: float, scale: float) -> int:
    """Return how many of numpy's draws lead from a value to exactly this output, up to ``2 REACH + 1``.

    >>> output = float(naive_laplace(0.0, 10.0, 2, np.random.default_rng(1))[1])
    >>> ways_to_reach(output, 0.0, 10.0) > 0, ways_to_reach(output, 1.0, 10.0)
    (True, 0)
    """
    difference = output - value
    tail = math.exp(-abs(difference) / scale) / 2
    likeliest = round((tail if difference < 0 else 1 - tail) * 2.0**53)
    tried = range(max(likeliest - REACH, 1), min(likeliest + REACH, 2**53 - 1) + 1)
    return sum(value + _numpy_noise(k * 2.0**-53, scale) == output for k in tried)


def _numpy_noise(uniform: float, scale: float) -> float:
    """Return what numpy makes of a uniform draw, rounding for rounding; ``2.0 - u - u`` is not ``2.0 - 2 u`` there."""
    if uniform >= 0.5:
        return 0.0 - scale * math.log(2.0 - uniform - uniform)
    return 0.0 + scale * math.log(uniform + uniform)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits(Outcome):
    """How often one look at one output tells which of two neighbouring values it came from, by epsilon."""

    values: tuple[float, float]
    epsilon: float
    naive: Rate
    protected: Rate
    allowed: float
    certain: float
    epsilons: tuple[float, ...]
    naive_rates: tuple[float, ...]
    protected_rates: tuple[float, ...]
    bound: tuple[float, ...]
    trials: int

    @property
    def verdict(self) -> str:
        """What the attack found."""
        return (
            f"Laplace noise for epsilon {self.epsilon:g} should let nobody tell {self.values[0]:g} from "
            f"{self.values[1]:g} in more than {self.allowed:.1%} of the cases. From numpy's noise, added in floating "
            f"point, one output tells in {self.naive}; {self.certain:.1%} of the outputs are proof, for the other "
            "value cannot produce them."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        return f"From discreet.Laplace one output tells in {self.protected}; {self.allowed:.1%} is allowed."

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of right guesses against epsilon."""
        lines = [
            plots.Curve(name="x + numpy's laplace", xs=self.epsilons, ys=self.naive_rates),
            plots.Curve(name="discreet.Laplace", xs=self.epsilons, ys=self.protected_rates, strong=True),
            plots.Curve(name="bound", xs=self.epsilons, ys=self.bound, dashed=True, markers=False),
        ]
        return plots.curves(
            lines,
            plots.Axis(title="epsilon that was promised", log=True),
            plots.Axis(title="share of right guesses", low=0.45, high=1),
            title="Which value was it? Ask the last bits",
            subtitle=f"{self.values[0]:g} or {self.values[1]:g}, one output, {2 * self.trials:,} trials",
        )


def recover_from_bits(
    values: tuple[float, float] = (0.0, 1.0),
    *,
    epsilon: float = 0.1,
    trials: int = 2000,
    generator: np.random.Generator | None = None,
    tick: Tick = quiet,
) -> Bits:
    """Tell from single outputs which of two values they came from, for numpy's noise and for discreet's.

    The attacker knows how each noise is made and takes the likelier value, by its exact probability. Of noise on a grid
    that does not depend on the value this leaves him ``1 - e^(-epsilon / 2) / 2`` right guesses, and nothing better.

    >>> found = recover_from_bits(trials=100, generator=np.random.default_rng(1))
    >>> found.naive.low > found.allowed
    True
    """
    a, b = (float(value) for value in values)
    if not (math.isfinite(a) and math.isfinite(b)) or a == b or trials < 1:
        raise InvalidParameter("two different finite values are needed, and at least one trial.")
    chance = np.random.default_rng() if generator is None else generator
    epsilons = tuple(sorted({*EPSILONS, float(positive(epsilon, "epsilon"))}))
    naive, private, bound, certain = [], [], [], []
    for e in epsilons:
        tick(f"epsilon {e:g}")
        mechanism = Laplace(sensitivity=abs(b - a), epsilon=e)
        scale = float(mechanism.scale)
        seen = [naive_laplace(value, scale, trials, chance).tolist() for value in (a, b)]
        safe = [mechanism.release(np.full(trials, value)).tolist() for value in (a, b)]
        right, proofs = _guess(seen, (a, b), partial(ways_to_reach, scale=scale))
        naive.append(right)
        certain.append(proofs)
        private.append(_guess(safe, (a, b), partial(_chance, mechanism))[0])
        bound.append(best_guess(mechanism.loss))
    here = epsilons.index(float(epsilon))
    return Bits(
        values=(a, b),
        epsilon=float(epsilon),
        naive=rate_of(naive[here], 2 * trials),
        protected=rate_of(private[here], 2 * trials),
        allowed=bound[here],
        certain=certain[here] / (2 * trials),
        epsilons=epsilons,
        naive_rates=tuple(hits / (2 * trials) for hits in naive),
        protected_rates=tuple(hits / (2 * trials) for hits in private),
        bound=tuple(bound),
        trials=trials,
    )


def _chance(mechanism: Laplace, output: float, value: float) -> float:
    return math.exp(mechanism.log_probability(value, output))


def _guess(outputs: Sequence[Sequence[float]], values: tuple[float, float], likelihood: Likelihood) -> tuple[int, int]:
    """Return how many guesses are right, and how many of these are proofs."""
    right = proofs = 0
    for truth, listed in enumerate(outputs):
        for output in listed:
            chances = [likelihood(output, value) for value in values]
            near = int(abs(output - values[1]) < abs(output - values[0]))
            guess = near if chances[0] == chances[1] else int(chances[1] > chances[0])
            right += guess == truth
            proofs += chances[truth] > 0 and not chances[1 - truth]
    return right, proofs
