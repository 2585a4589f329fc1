"""What right guesses about coins prove, when all coins were tossed for one run of a mechanism.

Steinke, Nasr and Jagielski, "Privacy Auditing with One (1) Training Run", NeurIPS 2023, Theorem 5.2 and Corollary 5.4.
Each of m records is in the data or not by a fair coin of its own. Whoever sees the output of an (epsilon, delta)-DP
mechanism guesses r of the coins and abstains from the others. The number of right guesses is then at least v with
probability at most

    P[B >= v] + 2 m delta max over i of P[v > B >= v - i] / i,    B ~ Binomial(r, e^epsilon / (1 + e^epsilon)).

For delta 0 this is what randomised response attains, for every r. The coins must be independent; the outputs for
different records need not be, which is why one run is enough.
"""

import math

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, probability

__all__ = ["chance_of_guesses", "epsilon_from_guesses"]

MOST = 60.0
"""No number of guesses that fits in a machine tells larger epsilons apart."""


def chance_of_guesses(correct: int, guesses: int, canaries: int, epsilon: Real, delta: Real = 0) -> float:
    """Return how likely so many right guesses, or more, can be at most, if the claim is true.

    >>> round(chance_of_guesses(8, 10, 10, 0), 9)          # without any information: 56 of 1024
    0.0546875
    """
    _check(correct, guesses, canaries)
    e, d = float(finite(epsilon, "epsilon")), float(probability(delta, "delta", zero=True))
    if e < 0:
        raise InvalidParameter(f"epsilon must be at least 0, got {epsilon!r}.")
    from scipy.special import bdtrc

    right = 1 / (1 + math.exp(-e))
    tail = float(bdtrc(correct - 1, guesses, right)) if correct else 1.0
    if d and correct:
        from scipy.stats import binom

        below = np.cumsum(binom.pmf(np.arange(correct - 1, -1, -1), guesses, right))
        tail += 2 * canaries * d * float((below / np.arange(1, correct + 1)).max())
    return min(tail, 1.0)


def epsilon_from_guesses(correct: int, guesses: int, canaries: int, *, alpha: Real, delta: Real = 0) -> float:
    """Return an epsilon that the mechanism exceeds at delta: too large a one with probability at most alpha.

    >>> round(epsilon_from_guesses(75, 100, 1000, alpha=0.05, delta=1e-4), 3)
    0.673
    """
    level = float(probability(alpha, "alpha"))
    if chance_of_guesses(correct, guesses, canaries, 0, delta) > level:
        return 0.0
    low, high = 0.0, MOST
    for _ in range(50):
        middle = (low + high) / 2
        small = chance_of_guesses(correct, guesses, canaries, middle, delta) <= level
        low, high = (middle, high) if small else (low, middle)
    return low


def _check(correct: int, guesses: int, canaries: int) -> None:
    if not 0 <= correct <= guesses <= canaries or guesses < 1:
        raise InvalidParameter("there are at most as many right guesses as guesses, and of these as canaries.")
