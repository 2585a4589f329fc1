"""Gaussian noise on a shift that is itself random: a group of records in a Poisson sample.

Choquette-Choo, Ganesh, Steinke and Thakurta, ICLR 2024, and Ganesh, 2024 ("Tight group-level DP guarantees for DP-SGD
with sampling via mixture of Gaussians mechanisms"). A release is ``N(v, I)`` with a random vector v, at most ``m_j``
long with probability ``w_j``, against ``N(0, I)``. Then ``sum w_j N(m_j, 1)`` against ``N(0, 1)`` dominates, both ways:

Under ``N(0, I)`` the likelihood ratio is a sum of log-normal variables ``w_j e^(<v_j, Z> - |v_j|^2 / 2)``. For given
marginals a sum is largest in convex order when all its parts rise together, as they do on the line, and a log-normal
variable of mean 1 rises in convex order with its variance. Every f-divergence, in either direction, is the mean of a
convex function of the likelihood ratio. In the same way moving weight to a larger shift only raises all of them.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from flint import arb, ctx, fmpz

from discreet.accounting.numerical.mixture import MixturePair
from discreet.accounting.numerical.pairs import Pair
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import ball, up

__all__ = ["GaussianMixture", "binomial_mixture", "seen_at_least"]

NEGLIGIBLE = Fraction(1, 2**200)
EXACT_BITS = 512
"""Binomial probabilities whose denominators have no more bits are kept as they are."""


@dataclass(frozen=True, slots=True)
class GaussianMixture:
    """``sum weights_j N(shifts_j mu, 1)`` against ``N(0, 1)``; shifts are counted in mu, of which the square is kept.

    Neighbours are those whose release is the mixture and those whose release is the plain noise, in either order.
    """

    mu_squared: Fraction
    shifts: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    kind: ClassVar[str] = "gaussian_mixture"
    attained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.shifts) != len(self.weights) or not self.shifts:
            raise InvalidParameter("a mixture has as many shifts as weights, and at least one.")
        if self.shifts[0] < 0 or any(a >= b for a, b in pairwise(self.shifts)):
            raise InvalidParameter("the shifts of a mixture are not negative, and rise.")
        if any(not weight > 0 for weight in self.weights) or sum(self.weights) != 1:
            raise InvalidParameter("the weights of a mixture are above 0 and add up to 1.")

    @property
    def pure(self) -> Fraction | None:
        """None: the loss is unbounded."""
        return None if self.mu_squared and self.shifts[-1] else Fraction(0)

    @property
    def rho(self) -> Fraction:
        """That of the largest shift: Renyi divergences are quasi-convex."""
        return self.mu_squared * self.shifts[-1] ** 2 / 2

    def delta(self, epsilon: Fraction, /) -> float:
        """The normal masses beyond the point where the loss is epsilon, the larger of both directions."""
        return 0.0 if self.pure == 0 else max(self._mixture_first(epsilon), self._mixture_last(epsilon))

    def least_delta(self, epsilon: Fraction) -> float:
        """Return the same less its last bits; the other direction where it is computed and not only bounded."""
        last = self._mixture_last(epsilon) if math.isfinite(self._threshold(-float(epsilon))) else 0.0
        return max(0.0, max(self._mixture_first(epsilon), last) * (1 - 2.0**-50) - 5e-324)

    def renyi(self, alpha: Fraction, /) -> float:
        """``log(sum w_j e^(a (a - 1) m_j^2 / 2)) / (a - 1)``, by joint convexity a bound in both directions."""
        if self.pure == 0:
            return 0.0

        def formula() -> arb:
            scale = ball(alpha * (alpha - 1) * self.mu_squared / 2)
            parts = zip(self.shifts, self.weights, strict=True)
            excess = sum((ball(w) * (scale * ball(m * m)).expm1() for m, w in parts), arb(0))
            return excess.log1p() / ball(alpha - 1)

        return up(formula)

    def pair(self) -> Pair | None:
        """Itself."""
        if self.pure == 0:
            return None
        return self._as_pair()

    def group(self, size: int, /) -> "GaussianMixture":
        """None is claimed for groups of what may be groups already."""
        if size == 1:
            return self
        raise NoTheorem("no group bound is at hand for a mixture; state the mixture for the whole group.")

    def sampled(self, rate: Fraction) -> "GaussianMixture":
        """Return the mixture on a Poisson sample: with what is not seen, a shift of 0 becomes more likely."""
        shifts = self.shifts if not self.shifts[0] else (Fraction(0), *self.shifts)
        weights = self.weights if not self.shifts[0] else (Fraction(0), *self.weights)
        return GaussianMixture(
            self.mu_squared, shifts, (1 - rate + rate * weights[0], *(rate * w for w in weights[1:]))
        )

    def _mixture_first(self, epsilon: Fraction) -> float:
        start = self._threshold(float(epsilon))

        def formula() -> arb:
            parts, x = self._parts(), ball(epsilon).exp()
            at = _crossing(parts, x, start)
            return sum((w * _above(at - m) for m, w in parts), arb(0)) - x * _above(at)

        return min(1.0, max(0.0, up(formula)))

    def _mixture_last(self, epsilon: Fraction) -> float:
        least = Fraction(0) if self.shifts[0] else self.weights[0]
        start = self._threshold(-float(epsilon))
        if least and not math.isfinite(start):  # Q - e^epsilon P is at most (1 - e^epsilon least) Q
            return max(0.0, up(lambda: 1 - ball(epsilon).exp() * ball(least)))

        def formula() -> arb:
            parts, x = self._parts(), ball(epsilon).exp()
            at = _crossing(parts, 1 / x, start)
            return _above(-at) - x * sum((w * _above(m - at) for m, w in parts), arb(0))

        return min(1.0, max(0.0, up(formula)))

    def _parts(self) -> list[tuple[arb, arb]]:
        mu = ball(self.mu_squared).sqrt()
        return [(ball(m) * mu, ball(w)) for m, w in zip(self.shifts, self.weights, strict=True)]

    def _threshold(self, epsilon: float) -> float:
        """Return about the point at which the loss is epsilon."""
        return self._as_pair().place(epsilon)

    def _as_pair(self) -> MixturePair:
        mu = math.sqrt(self.mu_squared)
        return MixturePair(tuple(float(m) * mu for m in self.shifts), tuple(map(float, self.weights)))


def binomial_mixture(mu_squared: Fraction, size: int, rate: Fraction) -> GaussianMixture:
    """Return the mixture of a group of which each member is in a Poisson sample by its own coin.

    >>> binomial_mixture(Fraction(1), 2, Fraction(1, 2)).weights
    (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    """
    seen = seen_at_least(size, rate)
    law = [(Fraction(j), a - b) for j, (a, b) in enumerate(pairwise([*seen, Fraction(0)])) if a > b]
    return GaussianMixture(mu_squared, tuple(j for j, _ in law), tuple(w for _, w in law))


def seen_at_least(size: int, rate: Fraction) -> list[Fraction]:
    """Return the probabilities that at least 0, 1, ... of a group are in a Poisson sample; long ones rounded up.

    >>> seen_at_least(2, Fraction(1, 2))
    [Fraction(1, 1), Fraction(3, 4), Fraction(1, 4)]
    """
    ways = [fmpz.bin_uiui(size, j) for j in range(size + 1)]
    short = rate.denominator.bit_length() * size <= EXACT_BITS
    seen = [Fraction(1)]
    for first in range(1, size + 1):

        def tail(first: int = first) -> arb:
            q, p = ball(rate), 1 - ball(rate)
            return sum((ways[j] * q**j * p ** (size - j) for j in range(first, size + 1)), arb(0))

        if seen[-1] < NEGLIGIBLE:  # it counts as if all the rest were seen
            seen.append(seen[-1])
            continue
        chances = [int(ways[j]) * rate**j * (1 - rate) ** (size - j) for j in range(first, size + 1)] if short else []
        seen.append(min(seen[-1], sum(chances, Fraction(0)) if short else Fraction(up(tail))))
    return seen


def _above(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


def _crossing(parts: list[tuple[arb, arb]], x: arb, start: float) -> arb:
    """Return a ball that holds the point where the likelihood ratio is x: the sign is certain at both its ends."""

    def ratio(at: arb) -> arb:
        return sum((w * (m * at - m * m / 2).exp() for m, w in parts), arb(0))

    at = arb(start)
    for _ in range(ctx.prec.bit_length()):
        slope = sum((w * m * (m * at - m * m / 2).exp() for m, w in parts), arb(0))
        at = (at - (ratio(at) - x) / slope).mid()
    gap = (abs(at) + 1) * arb(2) ** (-3 * ctx.prec // 4)
    for _ in range(ctx.prec):
        if ratio(at - gap) <= x <= ratio(at + gap):
            return (at - gap).union(at + gap)
        gap *= 2
    return arb("nan")
