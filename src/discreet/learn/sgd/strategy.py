"""Noise that is correlated over steps, for data that come once and cannot be sampled (DP-FTRL).

Kairouz, McMahan, Song, Thakkar, Thakurta and Xu, "Practical and Private (Deep) Learning without Sampling or Shuffling",
ICML 2021; Denisov, McMahan, Rush, Smith and Thakurta, "Improved Differential Privacy for SGD via Optimal Private Linear
Operators on Adaptive Streams", NeurIPS 2022; Fichtenberger, Henzinger and Upadhyay, "Constant Matters", ICML 2023;
Choquette-Choo et al., "(Amplified) Banded Matrix Factorization", NeurIPS 2023.

With a lower triangular Toeplitz matrix C the release of step t is row t of ``C G + Z``, where row t of G is the clipped
sum of step t. It is rounded to the noise's own grid; ``C^-1`` is applied to releases alone, as post-processing, and
gives a gradient whose errors cancel over steps. The tree releases each complete node instead, and differences of prefix
sums.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Literal

from torch import Tensor

from discreet.errors import InvalidParameter

__all__ = ["Strategy", "Toeplitz", "Tree", "coefficients", "error_growth", "stream_for"]

Strategy = Literal["independent", "tree", "banded", "square_root"]


def coefficients(strategy: Strategy, steps: int, bands: int) -> tuple[float, ...]:
    """Return the first column of C: the power series of ``(1 - x)^(-1/2)``, cut after ``bands`` if banded.

    Its square is the matrix of prefix sums, and among all Toeplitz factors its error is the least.

    >>> coefficients("square_root", 4, 16), coefficients("banded", 4, 2)
    ((1.0, 0.5, 0.375, 0.3125), (1.0, 0.5, 0.0, 0.0))
    """
    if strategy not in ("banded", "square_root"):
        raise InvalidParameter(f"{strategy!r} is no Toeplitz strategy; take 'banded' or 'square_root'.")
    found = [1.0]
    for k in range(1, steps):
        found.append(found[-1] * (2 * k - 1) / (2 * k) if strategy == "square_root" or k < bands else 0.0)
    return tuple(found)


class Toeplitz:
    """Releases of ``C G + Z`` row by row, turned into noisy rows of G.

    ``sums`` holds exact sums, which are as private as the data; ``released`` holds what was given back.
    """

    def __init__(self, law: tuple[float, ...]) -> None:
        self.law = law
        reach = max((k for k, c in enumerate(law) if c), default=0)
        self.sums: deque[Tensor] = deque(maxlen=reach)
        self.released: deque[Tensor] = deque(maxlen=reach)

    def release(self, exact: Tensor, noisy: Callable[[Tensor], Tensor], /) -> Tensor:
        """Return ``(C^-1 Y)[t]`` with ``Y[t] = noisy(sum of C[t, s] G[s])``."""
        row: Tensor = _combined(exact, 1.0, self.law, self.sums)
        found: Tensor = _combined(noisy(row), -1.0, self.law, self.released)
        self.sums.appendleft(exact)
        self.released.appendleft(found)
        return found


class Tree:
    """Complete nodes of a binary tree over the steps of one pass; each is released once."""

    def __init__(self, per_pass: int) -> None:
        self.per_pass = per_pass
        self.start()

    def start(self) -> None:
        """Begin a new pass with an empty tree."""
        self.step = 0
        self.sums: dict[int, Tensor] = {}
        self.nodes: dict[int, Tensor] = {}
        self.before: Tensor | None = None

    def release(self, exact: Tensor, noisy: Callable[[Tensor], Tensor], /) -> Tensor:
        """Return the difference of two prefix sums, each made of the released nodes that cover it."""
        if self.step == self.per_pass:
            self.start()
        self.step += 1
        levels = (self.step & -self.step).bit_length() - 1
        total = exact
        for level in range(levels):
            del self.nodes[level]
            total = total + self.sums.pop(level)
        self.sums[levels] = total
        self.nodes[levels] = noisy(total)
        prefix = _sum(list(self.nodes.values()))
        found = prefix if self.before is None else prefix + self.before * -1.0
        self.before = prefix
        return found


def stream_for(strategy: Strategy, steps: int, per_pass: int, bands: int) -> Toeplitz | Tree | None:
    """Return the stream of a strategy; None where noise is independent."""
    if strategy == "independent":
        return None
    return Tree(per_pass) if strategy == "tree" else Toeplitz(coefficients(strategy, steps, bands))


def _combined(first: Tensor, sign: float, law: tuple[float, ...], earlier: deque[Tensor]) -> Tensor:
    total = first
    for k, part in enumerate(earlier, start=1):
        if law[k]:
            total = total + part * (sign * law[k])
    return total


def _sum(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def error_growth(strategy: Strategy, steps: int, bands: int = 16) -> float:
    """Return the root mean square noise of prefix sums, for noise of deviation 1 at a record that takes part once.

    >>> independent, root = error_growth("independent", 256), error_growth("square_root", 256)
    >>> root < independent / 4
    True
    """
    if strategy == "independent":
        return math.sqrt((steps + 1) / 2)
    if strategy == "tree":
        return math.sqrt(steps.bit_length() * sum(bin(t).count("1") for t in range(1, steps + 1)) / steps)
    law = coefficients(strategy, steps, bands)
    inverse = [1.0 / law[0]]
    for t in range(1, steps):
        inverse.append(-sum(law[k] * inverse[t - k] for k in range(1, t + 1) if law[k]) / law[0])
    prefix, total, squares = 0.0, 0.0, 0.0
    for t in range(steps):  # row t of A C^-1 holds the prefix sums of the inverse's coefficients
        prefix += inverse[t]
        total += prefix**2
        squares += total
    return math.sqrt(squares / steps) * math.sqrt(sum(c * c for c in law))
