"""Sampling under replace_one: what is left of a loss when a record is seen with a fixed probability.

Let two data sets differ in one record and let a release look at a random sample. Those samples without the record are
the same for both, so the laws are ``(1 - q) A + q B`` and ``(1 - q) A + q B'``. By advanced joint convexity (Balle,
Barthe and Gaboardi, NeurIPS 2018) for ``x' = 1 + q (x - 1) >= 1``, with ``b = x' / x``, and by convexity after that,

    H_x'((1 - q) A + q B, (1 - q) A + q B') = q H_x(B, (1 - b) A + b B') <= q ((1 - b) H_x(B, A) + b H_x(B, B')).

If the base's profile D bounds both on the right, the sample's is at most ``q D(x)`` there, which is that of the pair
``((1 - q) Q + q P, Q)``; below 1 exchange the two laws, ``H_x(U, V) = 1 - x + x H_{1/x}(V, U)``. Both parts together
make one profile (Zhu, Dong and Wang, AISTATS 2022, Proposition 30). It holds for either order of the data sets, so it
composes whichever way the record tells in each release; either direction alone does not (Lebeda, Regehr, Kamath and
Steinke, 2024). The base's D does bound both

- *without replacement*, m of n, q = m/n, base under replace_one: exchange the record for a random one not drawn;
- *Poisson*, base under both relations: B and A are neighbours by removal, B and B' by replacement. For Gaussian noise
  ``(1 - q) N(0) + q N(mu)`` against ``(1 - q) N(0) + q N(-mu)`` may be the truth; that it dominates is not proven;
- *groups* of k in a Poisson sample, base's D that of groups of k, q the chance to see any: B and B' are mixtures over
  which of the k are seen, each at most k steps from A and, k records being different in all, from each other;
- *groups* of k without replacement likewise, with q at most k times that of one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.accounting.numerical.pairs import Pair
from discreet.accounting.numerical.symmetric import SymmetricPair
from discreet.accounting.terms.base import Term
from discreet.accounting.terms.concentrated import Concentrated
from discreet.accounting.terms.one_of_each import draws_apart, for_any_of
from discreet.accounting.terms.overflow import Overflow
from discreet.accounting.terms.pure import Approximate, Pure, pure_rho
from discreet.errors import InvalidParameter
from discreet.exact import ball, down, up, upward

__all__ = ["SampledSymmetric", "amplified", "between_whole_orders", "check_sample", "sampled_roughly", "told_alike"]

MOST_ORDER = 256
"""Whole orders up to this are taken from the theorem for sampled divergences; above, sampling is not counted on."""


@dataclass(frozen=True, slots=True)
class SampledSymmetric:
    """A release that, with probability ``1 - rate``, is the same on both neighbours, and else as the base describes."""

    base: Term
    rate: Fraction
    kind: ClassVar[str] = "sampled_symmetric"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sample(self.base, self.rate)

    @property
    def pure(self) -> Fraction | None:
        """``log(1 + q (e^epsilon - 1))``, rounded up."""
        return amplified(self.base.pure, self.rate)

    @property
    def rho(self) -> Fraction | None:
        """That of a pure mechanism; otherwise none is claimed."""
        return None if self.pure is None else pure_rho(self.pure)

    def delta(self, epsilon: Fraction, /) -> float:
        """``q D(1 + (x - 1) / q)`` at ``x = e^epsilon``."""
        q = self.rate
        inner = Fraction(down(lambda: (ball(epsilon).expm1() / ball(q)).log1p())) if epsilon else Fraction(0)
        whole = Fraction(self.base.delta(max(inner, Fraction(0))))
        return up(lambda: ball(q) * ball(whole)) if whole else 0.0

    def renyi(self, alpha: Fraction, /) -> float:
        """The least of: that of a pure mechanism, that of no sampling, and for whole orders Wang et al., 2019.

        Wang, Balle and Kasiviswanathan bound sampling without replacement through the ternary divergence of three
        mutual neighbours; A, B and B' are such in every case above.
        """
        from discreet.accounting.theorems.sampled_renyi import without_replacement_renyi

        if self.pure is not None:
            return min(self.base.renyi(alpha), Pure(self.pure).renyi(alpha))
        q = self.rate
        return between_whole_orders(
            lambda order: without_replacement_renyi(
                order, self.base.renyi, size=q.numerator, population=q.denominator, relation="replace_one"
            ),
            alpha,
            self.base.renyi(alpha),
        )

    def renyi_roughly(self, alpha: Fraction, /) -> float:
        """The same to some digits, from a table: to look for an order."""
        if self.pure is not None:
            return self.renyi(alpha)
        return min(self.base.renyi(alpha), sampled_roughly(self.base, self.rate, "replace_one", alpha))

    def pair(self) -> Pair | None:
        """The base's pair, mixed, with the worse direction everywhere."""
        base = self.base.pair() if told_alike(self.base) else None
        return None if base is None else SymmetricPair(base, float(self.rate))

    def group(self, size: int, /) -> Term:
        """The base for the group, seen with at most ``size`` times the probability; pure losses as they add up.

        A choice may be one of each member's own, as that of how many of a smaller group are seen.
        """
        if size == 1:
            return self
        if self.pure is not None:
            return Pure(size * self.pure)
        own = draws_apart(self.base)
        rate = min(Fraction(1), size * self.rate)
        whole = self.base.group(size) if own is None else for_any_of(own, self.rate, size)
        return whole if rate == 1 else SampledSymmetric(whole, rate)


def check_sample(base: Term, rate: Fraction) -> None:
    """Refuse what is no release on a sample."""
    if hasattr(base, "base"):
        raise InvalidParameter("a sample of a sample is one sample: multiply the rates.")
    if isinstance(base, Overflow | Concentrated) or base.kind == "gaussian_mixture":
        raise InvalidParameter(f"a {base.kind} loss is not one of a release on every sample.")
    if isinstance(base, Approximate) and base.failure:
        raise InvalidParameter("of an (epsilon, delta) loss epsilon and delta are amplified each, with no sample left.")
    if not 0 < rate <= 1:
        raise InvalidParameter("a sampling rate lies above 0 and is at most 1.")


def told_alike(term: Term) -> bool:
    """Tell whether the term's pair is the same in both directions, so that either neighbour may be the first."""
    p, q = getattr(term, "p", None), getattr(term, "q", None)
    return p is None or q is None or p == q[::-1]


def between_whole_orders(bound: Callable[[int], float], alpha: Fraction, most: float) -> float:
    """Return the divergence at any order from bounds at whole ones: a chord of ``(a - 1) D_a``, which is convex.

    ``most`` holds without sampling, which mixes pairs of laws and so cannot raise a quasi-convex divergence.
    """
    above = math.ceil(alpha)
    if math.isinf(most) or above > MOST_ORDER:
        return most
    end = Fraction(above - 1) * Fraction(bound(above))
    if above == alpha:
        return min(most, bound(above))
    start = Fraction(above - 2) * Fraction(bound(above - 1)) if above > 2 else Fraction(0)
    chord = start + (alpha - (above - 1)) * (end - start)
    return min(most, upward(chord / (alpha - 1)))


def sampled_roughly(base: Term, rate: Fraction, relation: str, alpha: Fraction) -> float:
    """Return about what the theorems for whole orders say of a sample, and chords between these; infinite beyond."""
    if alpha > MOST_ORDER:
        return math.inf
    table = _table(base, rate, relation)  # type: ignore[arg-type]  # terms are frozen
    below = math.floor(alpha)
    share = float(alpha - below)
    if share and not math.isfinite(table[below]):
        return math.inf
    moment = table[below - 1] + (share * (table[below] - table[below - 1]) if share else 0.0)
    return float(moment) / float(alpha - 1)


@lru_cache(maxsize=16)
def _table(base: Term, rate: Fraction, relation: str) -> npt.NDArray[np.float64]:
    """Return ``(a - 1) D_a`` of a sample for whole orders from 1 on."""
    from scipy.special import gammaln, logsumexp

    orders = np.arange(2, MOST_ORDER + 1, dtype=np.float64)
    grown = (orders - 1) * np.array([base.renyi(Fraction(int(j))) for j in orders])
    a, j = orders[:, None], orders[None, :]
    rest = np.maximum(a - j, 0)
    logs = gammaln(a + 1) - gammaln(j + 1) - gammaln(rest + 1) + j * math.log(rate) + grown
    if relation == "add_remove":
        logs += rest * math.log1p(-float(rate)) + np.where(j > 2, math.log(3), 0.0)
    else:
        logs[:, 1:] += math.log(2)
        with np.errstate(divide="ignore"):
            logs[:, 0] += min(math.log(2), math.log(4) + float(np.log(-np.expm1(-grown[0]))))
    total = logsumexp(np.where(j <= a, logs, -np.inf), axis=1)
    return np.append([0.0], np.where(np.isfinite(total), np.logaddexp(0.0, total), np.inf))


def amplified(epsilon: Fraction | None, rate: Fraction) -> Fraction | None:
    """Return ``log(1 + rate (e^epsilon - 1))``, rounded up; None for None."""
    if not epsilon:
        return epsilon
    return Fraction(up(lambda: (ball(rate) * ball(epsilon).expm1()).log1p()))
