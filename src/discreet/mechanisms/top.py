"""The k candidates with the largest counts, in order.

Durfee and Rogers, "Practical Differentially Private Top-k Selection with Pay-what-you-get Composition", NeurIPS 2019:
one Gumbel variable for each candidate, of scale ``k / rate``, and the k largest sums in order have the law of the
exponential mechanism run k times, each time without those already chosen.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Precision, Real, ball, positive, show
from discreet.mechanisms.selection import Scores, Selection, head_starts, read_scores
from discreet.noise import source
from discreet.noise.densities import Gumbel
from discreet.noise.fast import BELIEVED, Floats
from discreet.noise.lazy import WORD, LazyUniform

__all__ = ["TopK"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TopK(Selection):
    """Return the positions of the ``k`` largest counts, the largest first.

    Satisfies ``epsilon``-DP, as k choices of a bounded range of ``epsilon / k`` each, whenever neighbours change every
    count by at most ``sensitivity``; with ``monotone=True`` half the noise suffices, which needs counts that all move
    the same way (as under add_remove, never under replace_one). Which candidates there are is public.

    >>> TopK(k=2, epsilon=50).release([1, 90, 3, 50])
    (1, 3)
    >>> TopK(k=10, epsilon=1).loss == 10 * PrivacyLoss.bounded_range(Fraction(1, 10))
    True
    """

    k: int

    def __post_init__(self) -> None:
        Selection.__post_init__(self)
        if positive(self.k, "k").denominator != 1:
            raise InvalidParameter(f"k must be a whole number of at least 1, got {show(self.k)}.")
        object.__setattr__(self, "k", int(self.k))

    def __repr__(self) -> str:
        return f"TopK(k={self.k}, {Selection.__repr__(self)[5:]}"

    @property
    def rate(self) -> Fraction:
        """How strongly counts count: ``epsilon / (2 k sensitivity)``, or twice that for monotone counts."""
        return Fraction(self.epsilon) / (self.k * Fraction(self.sensitivity) * (1 if self.monotone else 2))

    @property
    def loss(self) -> PrivacyLoss:
        """That of k exponential mechanisms, each with a share of epsilon."""
        return self.k * PrivacyLoss.bounded_range(Fraction(self.epsilon) / self.k)

    def release(self, counts: Scores, /) -> tuple[int, ...]:
        """Return k positions, or all of them if there are fewer."""
        if hasattr(counts, "__len__") and not len(counts):
            return ()
        values = _read(counts)
        starts, numbers = head_starts(values, self.rate), values.tolist()
        best = max(map(Fraction, numbers)) if values.dtype == object else Fraction(max(numbers))

        def exact(i: int) -> arb:
            return ball(self.rate * (Fraction(numbers[i]) - best))

        return _leaders(starts, exact, min(self.k, starts.size))

    def error(self, beta: Real = 0.05, *, candidates: int) -> float:
        """Return how far a chosen count may be below one that is not, with probability ``1 - beta`` for all k."""
        return Selection.error(self, Fraction(beta) / self.k, candidates=candidates)

    def log_probability(self, counts: Scores, order: Sequence[int], /) -> float:
        """Return the log of the probability that these positions come out in this order."""
        chosen = list(order)
        if len(counts) == 0 or len(set(chosen)) != len(chosen) or len(chosen) != min(self.k, len(counts)):
            return 0.0 if len(counts) == len(chosen) == 0 else -math.inf
        left, total = head_starts(_read(counts), self.rate).copy(), 0.0
        for i in chosen:
            if not 0 <= i < left.size:
                return -math.inf
            top = float(left.max())
            total += float(left[i]) - top - math.log(float(np.sum(np.exp(left - top))))
            left[i] = -math.inf
        return total

    def worst_case(self) -> tuple[list[Real], list[Real]]:
        """The last of equal candidates rises, and falls behind the others if counts may move both ways."""
        up = Fraction(self.sensitivity)
        others: list[Real] = [Fraction(0) if self.monotone else -up] * self.k
        return [0] * (self.k + 1), [*others, up]


def _read(counts: Scores) -> npt.NDArray[np.generic]:
    """Return exact counts: whole numbers that doubles hold at once, all others one by one."""
    if isinstance(counts, np.ndarray) and counts.ndim == 1 and counts.dtype.kind in "iu":
        floats = counts.astype(np.float64)
        if (np.abs(floats) < 2.0**53).all():
            return floats
    return read_scores(counts)


def _leaders(starts: Floats, exact: Callable[[int], arb], k: int) -> tuple[int, ...]:
    """Return the k largest of ``start + Z`` in order: by float64 where its error bound decides, by balls where not."""
    density = Gumbel()
    mantissas = source().words(starts.size) >> np.uint64(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = density.inverse(np.multiply(mantissas, 2.0**-63, dtype=np.float64))
        keys = starts + z
        slack = density.slack(z) + np.abs(starts) * 2.0**-48 + np.abs(z) * 2.0**-50
        slack[mantissas < BELIEVED] = np.inf
        low, high = keys - slack, keys + slack
    low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf
    bar = np.partition(low, starts.size - k)[starts.size - k]
    near = np.flatnonzero(high >= bar)
    order = near[np.argsort(-keys[near], kind="stable")]
    if (low[order[:-1]] > high[order[1:]])[:k].all():
        return tuple(order[:k].tolist())
    numbers = {i: LazyUniform(int(mantissas[i]), 63) for i in near.tolist()}

    def compare(i: int, j: int) -> int:
        a, b = numbers[i], numbers[j]
        while True:
            ctx.prec = max(a.bits, b.bits) + 2 * WORD
            lead = exact(i) + density.quantile(a.ball()) - exact(j) - density.quantile(b.ball())
            if lead > 0 or lead < 0:
                return -1 if lead > 0 else 1
            a.refine()
            b.refine()

    with Precision():
        return tuple(sorted(numbers, key=cmp_to_key(compare))[:k])
