"""What discrete Gaussian noise and a threshold cost together, on bins of which some may vanish.

Wilkins, Kifer, Zhang and Karrer, "Exact Privacy Analysis of the Gaussian Sparse Histogram Mechanism", 2024; here for
discrete noise, for both relations, and as a whole curve.

The proof. Going from one data set to its neighbour, k bins vanish (from one person to nobody), j appear and r others
change by one; bins are independent. With p the probability that a bin of one person is shown, ``q = 1 - p`` and ``g =
-log q``, an event that shows one of the k has a chance of ``1 - q^k`` on the first side and none on the other; where
none of the k + j is shown, both laws are those of r noisy counts, times ``q^k`` and times ``q^j``. So the divergence
of the first law from the second is at most

    f(k, j, r) = 1 - q^k + sup_S (q^k P_r(S) - e^epsilon q^j Q_r(S)) = 1 - q^k (1 - H_r(epsilon + (k - j) g)),

H_r being that of r noisy counts that change by one each. What is shown of those is a function of them, which hides
nothing in the limit of many people: the supremum over all data sets is the largest f. Under add_remove either nothing
appears or nothing vanishes, so it is over (k, 0, c - k) and (0, k, c - k); under replace_one it is over all (k, j, 2 c
- k - j) with k and j up to c. Nothing larger exists, since f does not fall in k, j, r or p: fewer bins, or bins that
are shown less often, are a function of more. For many bins this is used to take several k together, those in the
middle, with the largest k and the largest r among them.

The law of ``S = Z_1 + ... + Z_r`` decides: the loss is ``(r - 2 S) / (2 sigma^2)``, and ``H_r(e) = P[S <= s] - e^e
P[S <= s - r]`` for the last s of a loss above e, and less for any other s. Convolving m - 1 of them with one more
gives, completing the square, a Gaussian function of variance ``m sigma^2`` times a sum over a shifted lattice, which
for a variance v of at least 1/2 differs from ``sqrt(2 pi v)`` by a part of ``2.1 e^(-2 pi^2 v)`` at most (Poisson
summation), v being at least half of sigma^2. So for a sigma of at least 2, ``P[S = s]`` is at most ``(1 + 10^-16)^r
e^(-s^2 / (2 r sigma^2)) / sqrt(2 pi r sigma^2)``. Below that the law is convolved number by number.

Between all the epsilons at which the curve is evaluated the claim is the chord, which lies above it as the curve is
convex in ``e^epsilon``; the two laws of which it is the divergence are written down and are what is composed with other
losses (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, PETS 2022). Every rounding is upward.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import up, upward
from discreet.mechanisms.gaps import Int64
from discreet.mechanisms.gaussian import analytic_sigma
from discreet.mechanisms.gaussian_threshold import gaussian_survival
from discreet.mechanisms.optimal_selection import least
from discreet.mechanisms.partition import touched
from discreet.mechanisms.thresholds import least_threshold, shown_alone
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["SparseGaussian", "calibrated", "sparse_loss"]

FAIR = 2.0
"""The least sigma at which a sum of noise is bounded by a Gaussian function; below it, it is convolved."""

CONVOLVED = 64
"""Counts up to which that is done."""

SLACK = 1 + 2.0**-48
"""What a few roundings of float64 may add."""

WIDEST = 1 << 16
"""Standard deviations of the sum up to which it is summed; beyond, what zero-concentration proves is claimed."""

SINGLY = 12
"""Up to so many bins at either end every number of bins that vanish is looked at."""

ROOM = 1e-6
"""What part of delta is left to the chords."""

DOTS = 128
FLAT = 2.0**-20
"""Where the curve is within this part of its limit, it is taken as flat."""

FARTHEST = 600.0
"""Epsilons beyond this are not calibrated for: there the claim is the delta at this one."""

LOUDEST = 2.0**60
FARTHEST_THRESHOLD = 64
"""How many sigmas above its start a threshold is looked for; noise goes so far less often than once in e^2000."""

REFUSAL = "no Gaussian noise is known to fit this epsilon and delta; take a larger delta, or noise='geometric'."


@dataclass(frozen=True, slots=True, eq=False)
class SparseGaussian:
    """The curve of discrete Gaussian noise of a sigma on bins that are shown above a threshold.

    >>> one = SparseGaussian(4.24, 21, 1, "add_remove")
    >>> one.delta(1.0) < 1e-6, SparseGaussian(4.24, 20, 1, "add_remove").delta(1.0) < 1e-6
    (True, False)
    """

    sigma: float
    threshold: int
    bins: int
    relation: Relation
    alone: float = field(init=False)
    _sums: dict[int, tuple[int, Floats] | None] = field(init=False)

    def __post_init__(self) -> None:
        survival = partial(gaussian_survival, Fraction(self.sigma) ** 2)
        object.__setattr__(self, "alone", min(1.0, up(lambda: shown_alone(survival, self.threshold))))
        object.__setattr__(self, "_sums", {})

    def delta(self, epsilon: float) -> float:
        """Return the delta at an epsilon of at least 0, rounded up."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Floats) -> Floats:
        """Return the delta at each epsilon of at least 0, rounded up."""
        if self.alone >= 1:
            return np.ones(len(epsilons))
        step = -math.log1p(-self.alone) * SLACK
        worst = np.zeros(len(epsilons))
        for k, j, r in self._changes():
            shift = (k - j) * step
            moved = self._moved(r, epsilons + shift - (epsilons + abs(shift)) * (SLACK - 1))
            worst = np.maximum(worst, -math.expm1(-k * step) + math.exp(-k * step) * moved)
        rounded: Floats = np.minimum(1.0, worst * SLACK)
        return rounded

    def worst(self, epsilon: float) -> tuple[int, int]:
        """Return how many bins vanish and appear at worst, at an epsilon of at least 0."""
        if self.alone >= 1:
            return self.bins, 0
        step = -math.log1p(-self.alone)
        found, total = (-1.0, 0, 0), touched(self.bins, self.relation)
        for k, j, _ in self._changes():
            rest = float(self._moved(total - k - j, np.array([epsilon + (k - j) * step]))[0])
            found = max(found, (1 - math.exp(-k * step) * (1 - rest), k, j))
        return found[1:]

    def noise(self, epsilon: float) -> float:
        """Return the delta of noise alone, where all counts that one person can change change.

        It is rounded as ``delta`` is, which is no less, and comes down to it as the threshold grows.
        """
        lowered = np.array([epsilon - epsilon * (SLACK - 1)])
        return min(1.0, float(self._moved(touched(self.bins, self.relation), lowered)[0]) * SLACK)

    def _changes(self) -> Iterator[tuple[int, int, int]]:
        """Yield how many bins vanish, appear and change otherwise."""
        total, groups = touched(self.bins, self.relation), list(_groups(self.bins))
        for fewest, most in groups:
            for others, more in groups if self.relation == "replace_one" else [(0, 0)]:
                yield most, more, total - fewest - others
        if self.relation == "add_remove":
            yield from ((0, most, total - fewest) for fewest, most in groups[1:])

    def _moved(self, r: int, epsilons: Floats) -> Floats:
        """Return the divergence of r counts that change by one each, at epsilons of any sign, rounded up."""
        sizes = np.abs(epsilons)
        if r == 0:
            found = np.zeros(len(sizes))
        elif (sums := self._sum(r)) is not None:
            start, below = sums
            aim = float(Fraction(self.sigma) ** 2) * sizes
            last = np.ceil(r / 2 - aim + (r / 2 + aim) * 2.0**-45).astype(np.int64) - 1 - start
            factor, under = np.exp(sizes), _at(below, last)
            best = np.maximum(
                under - factor * _at(below, last - r), _at(below, last - 1) - factor * _at(below, last - 1 - r)
            )
            room = 2.0**-38 + self.sigma * math.sqrt(r) * 2.0**-47 + r * 2.0**-54 + sizes * 2.0**-48
            found = np.maximum(best, 0.0) + under * room + 1e-300
        else:
            loss = PrivacyLoss.discrete_gaussian(squared_sensitivity=r, sigma_squared=Fraction(self.sigma) ** 2)
            found = np.array([loss.delta(size) for size in sizes])
        turned = -np.expm1(-sizes) + np.exp(-sizes) * found
        return np.minimum(1.0, np.where(epsilons < 0, turned, found) * SLACK)

    def _sum(self, r: int) -> tuple[int, Floats] | None:
        """Return the first place of the sum of r noises that matters, and P[S <= s] from there on, not rounded."""
        if r not in self._sums:
            self._sums[r] = _cumulative(r, self.sigma)
        return self._sums[r]


def calibrated(epsilon: Fraction, delta: Fraction, bins: int, relation: Relation) -> tuple[float, int]:
    """Return the least sigma for which noise alone is shown to fit, and the least threshold with which all is.

    Sigma is the least up to a part of ``10^-6`` or so of delta, but for more than ``CONVOLVED`` counts with a sigma
    below ``FAIR`` or sums wider than ``WIDEST``: there the bound on the noise is coarser, and sigma somewhat larger.

    >>> calibrated(Fraction(1), Fraction(1, 10**6), 1, "add_remove")[1]
    21
    """
    return _calibrated(epsilon, delta, bins, relation)


@lru_cache(maxsize=64)
def _calibrated(epsilon: Fraction, delta: Fraction, bins: int, relation: Relation) -> tuple[float, int]:
    if epsilon > FARTHEST:
        raise InvalidParameter(f"noise='gaussian' is for an epsilon of at most {FARTHEST:g}; take 'geometric'.")
    at, most = math.log(_below(epsilon)) * (1 - 2.0**-48), upward(delta) * (1 - ROOM)

    def quiet(sigma: float) -> bool:
        return SparseGaussian(sigma, 1, bins, relation).noise(at) <= most

    low = high = analytic_sigma(Fraction(math.sqrt(touched(bins, relation))), epsilon, delta)
    step = 1e-3
    while quiet(low):
        low, high, step = low * (1 - min(step, 0.5)), low, 2 * step
    while not quiet(high):
        low, high, step = high, high * (1 + step), 2 * step
        if high > LOUDEST:
            raise InvalidParameter(REFUSAL)
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if quiet(middle) else (middle, high)
    start = least_threshold(partial(gaussian_survival, Fraction(high) ** 2), bins, delta)
    made: dict[int, bool] = {}

    def fits(threshold: int) -> bool:
        if threshold not in made:
            made[threshold] = threshold >= start and SparseGaussian(high, threshold, bins, relation).delta(at) <= most
        return made[threshold]

    if not fits(start + math.ceil(FARTHEST_THRESHOLD * high)):  # where a bin of one person is never shown
        raise InvalidParameter(REFUSAL)
    return high, least(fits, start)


@lru_cache(maxsize=64)
def sparse_loss(sigma: float, threshold: int, bins: int, relation: Relation, epsilon: Fraction) -> PrivacyLoss:
    """Return the loss for which the curve is evaluated at this epsilon and at others around it.

    >>> sparse_loss(4.24, 21, 1, "add_remove", Fraction(1)).delta(1) <= 1e-6
    True
    """
    curve, wanted = SparseGaussian(sigma, threshold, bins, relation), _below(epsilon)
    places = _places(curve, wanted)
    heights = [Fraction(height) for height in curve.deltas(np.array([math.log(x) * (1 - 2.0**-48) for x in places]))]
    weights, given_away = _chords(places, heights)
    while (missing := _mass(places, weights) + given_away - 1) > 0 and 1 < places[1] < wanted:
        del places[1], heights[1]  # a straight part of the curve beside 1, where slopes are off by rounding
        weights, given_away = _chords(places, heights)
    if missing > 0:  # give away what less of the rest makes up for
        less = missing / max(missing, 2 * sum(weights))
        more = less * _mass(places, weights) - missing
        if more > ROOM / 2 * heights[places.index(wanted)]:  # hardly any noise: below epsilon there is no privacy
            return PrivacyLoss.approximate(epsilon, heights[places.index(wanted)]).under(relation)
        weights, given_away = [(1 - less) * weight for weight in weights], given_away + more
    large = [x * weight for x, weight in zip(places[1:], weights, strict=True)]
    p = [given_away, *large, *weights, Fraction(0)]
    q = [Fraction(0), *weights, *large, given_away]
    equal = 1 - sum(p)
    return PrivacyLoss.from_pair([*p, equal], [*q, equal]).under(relation)


def _chords(places: list[Fraction], heights: list[Fraction]) -> tuple[list[Fraction], Fraction]:
    """Return by how much the slope of a convex curve through or above these points bends at each but the first.

    That is the weight of the ratio there, under the second of the two laws. With it comes the height of the end.
    """
    height, slope = heights[-1], Fraction(0)
    bends = []
    for i in range(len(places) - 2, -1, -1):
        width = places[i + 1] - places[i]
        steeper = max((heights[i] - height) / width, slope)
        bends.append(steeper - slope)
        height, slope = height + steeper * width, steeper
    return bends[::-1], heights[-1]


def _mass(places: list[Fraction], weights: list[Fraction]) -> Fraction:
    """Return the probability of all ratios but 1, each and its inverse."""
    return sum((weight * (x + 1) for x, weight in zip(places[1:], weights, strict=True)), Fraction(0))


def _below(epsilon: Fraction) -> Fraction:
    """Return a number of few digits that is at least 1 and not above ``e^epsilon``."""
    power = Fraction(math.exp(min(float(epsilon), FARTHEST)) * (1 - 2.0**-40))
    digits = Fraction(2) ** (math.frexp(power)[1] - 40)
    return max(Fraction(1), power // digits * digits)


def _places(curve: SparseGaussian, wanted: Fraction) -> list[Fraction]:
    """Return the values of ``e^epsilon`` at which a curve is evaluated, 1 and one that is wanted among them."""
    flat = curve.delta(FARTHEST) * (1 + FLAT)
    low, high = 0.0, FARTHEST
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if curve.delta(middle) <= flat else (middle, high)
    end = max(high, 1.01 * math.log(wanted))
    step, places = end / DOTS, [Fraction(1)]
    while places[-1] < math.exp(end):
        rise = Fraction(2) ** math.floor(math.log2(places[-1]) + math.log2(math.expm1(step)))
        places.append(places[-1] + rise)
        if places[-2] < wanted < places[-1]:
            near = wanted - places[-2] < rise / 2 and len(places) > 2
            places[-2:] = [wanted, places[-1]] if near else [places[-2], wanted]
    return places


def _groups(bins: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of groups of the numbers from 0 to ``bins``: single ones at both ends, larger ones in the middle.

    >>> list(_groups(30))[11:16]
    [(11, 11), (12, 13), (14, 15), (16, 16), (17, 18)]
    """
    if bins < 2 * SINGLY:
        yield from ((k, k) for k in range(bins + 1))
        return
    middle, cuts = bins // 2 + 1, [*range(SINGLY)]
    while cuts[-1] + 1 < middle:
        cuts.append(min(cuts[-1] + cuts[-1] // 4, middle - 1))
    left = [(a + 1, b) for a, b in zip([-1, *cuts], cuts, strict=False)]
    yield from left
    yield from ((max(bins - b, middle), bins - a) for a, b in reversed(left) if bins - a >= middle)


def _at(below: Floats, places: Int64) -> Floats:
    """Return a cumulative law at places, which is 0 before its start; that end is far beyond what is asked for."""
    return np.where(places >= 0, below[np.clip(places, 0, below.size - 1)], 0.0)


def _cumulative(r: int, sigma: float) -> tuple[int, Floats] | None:
    spread = sigma * math.sqrt(r)
    if sigma >= FAIR and spread <= WIDEST:
        reach = math.ceil(38 * spread)
        s = np.arange(-reach, r // 2 + 2, dtype=np.float64)
        law = np.exp(-(s * s) / (2 * r * sigma * sigma)) / (math.sqrt(2 * math.pi) * spread)
        return -reach, np.cumsum(law)
    if sigma < FAIR and r <= CONVOLVED:
        reach = math.ceil(38 * sigma) + 1
        one = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * sigma * sigma))
        one /= one.sum()
        law = one
        for _ in range(r - 1):
            law = np.convolve(law, one)
        return -reach * r, np.cumsum(law)
    return None
