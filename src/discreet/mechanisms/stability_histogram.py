"""How many people are in each bin, when nobody can list the bins: words, addresses, web pages.

Bun, Nissim and Stemmer, "Simultaneous Private Learning of Multiple Concepts", ITCS 2016; Vadhan, "The
Complexity of Differential Privacy", 2017; after Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009. Bins
that somebody is in get noise Z on their count and are shown if the sum is above a whole number T. No time is spent on
the bins that nobody is in, of which there may be infinitely many.

The proof. A person is in at most c bins, once in each. Going from one data set to its neighbour, k bins vanish (from
one person to nobody), j appear and r others change by one, where ``k <= c``, ``j <= c``, and ``k + j + r <= touched``,
which is c under add_remove and 2 c under replace_one. All bins are independent. With ``p = P[1 + Z > T]``,

* the r bins are functions of a noisy count that changes by one: they cost what the noise costs;
* a bin that vanishes is shown with probability p on one side alone. Given that none of them is, the others have the
  log-ratio ``(j - k) log(1 / (1 - p))``. So at every epsilon of at least 0 these k + j bins have the divergence

      max(1 - (1 - p)^k, 1 - e^epsilon (1 - p)^j)  <=  1 - (1 - p)^max(k, j)  <=  1 - (1 - p)^c,

  and the same the other way round: they cost no more than ``PrivacyLoss.approximate(0, 1 - (1 - p)^c)``.

So everything costs ``touched`` unit steps of the noise and that. The delta counts c bins, not 2 c, under replace_one
too: what appears costs nothing where something vanishes. At the epsilon of integer Laplace noise of scale ``touched /
epsilon`` the noise has delta 0, and the total is ``1 - (1 - p)^c`` with ``p = a^T / (1 + a)``, ``a = e^(-1 / scale)``.
A person who is alone in c bins attains it, at this and every larger epsilon: the claim is tight there, and the least T
with ``1 - (1 - p)^c <= delta`` is the least that is private. With ">=" in place of ">", T would have to be one higher.

Gaussian noise has a delta of its own, but one person cannot both change many large counts and be alone in many bins:
what this mix costs at worst is in ``discreet.mechanisms.sparse_gaussian``, and is less than both deltas together.

Bins are shown in an order of their own, never that of the data, and look like nothing but their own key.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, enclose, positive, probability, show
from discreet.mechanisms.accuracy import per_query
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaussian_threshold import gaussian_survival
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.histogram import check_bins, loss_of
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace_threshold import laplace_survival
from discreet.mechanisms.lookalikes import NONE, Key, key_of, shown
from discreet.mechanisms.optimal_selection import least
from discreet.mechanisms.partition import Counts, padded, touched
from discreet.mechanisms.quietly import Silence
from discreet.mechanisms.scale import store
from discreet.mechanisms.sparse_gaussian import SparseGaussian, calibrated, sparse_loss
from discreet.mechanisms.thresholds import failure, least_threshold
from discreet.units import Relation, check_relation, records

__all__ = ["Bins", "StabilityHistogram"]

Noise = Literal["geometric", "gaussian"]
Sorted = npt.NDArray[np.generic] | list[Key]
"""Distinct bins: a sorted array of them, or their keys in any order."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins that were shown, in an order that does not depend on data, and their noisy counts.

    >>> list(Bins(("cold", "flu"), (41, 93)).top(1))
    [('flu', 93)]
    """

    keys: tuple[Any, ...]
    counts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return zip(self.keys, self.counts, strict=True)

    def above(self, count: int) -> "Bins":
        """Return the frequent ones: those whose noisy count is above a number. It costs nothing."""
        return self._at([i for i, many in enumerate(self.counts) if many > count])

    def top(self, k: int) -> "Bins":
        """Return the k with the largest noisy counts, the largest first. It costs nothing."""
        return self._at(sorted(range(len(self)), key=lambda i: -self.counts[i])[: max(k, 0)])

    def _at(self, places: list[int]) -> "Bins":
        return Bins(tuple(self.keys[i] for i in places), tuple(self.counts[i] for i in places))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StabilityHistogram(Faces):
    """Show the bins with many people in them and their noisy counts, from no list of bins.

    Satisfies (``epsilon``, ``delta``)-DP under ``relation``. With ``bins=1`` a record is the bin of a person; else it
    is the list of them, of which every one counts once and only the first ``bins``, in the order in which bins are
    shown. Bins are told apart by all that can be seen of them; see ``discreet.mechanisms.lookalikes``. With
    ``noise="gaussian"``, for people in many bins, sigma is the least that is shown to fit delta (see ``calibrated``),
    and T the least for this sigma.

    >>> pages = StabilityHistogram(epsilon=1, delta=1e-6, relation="replace_one")
    >>> pages.threshold, float(pages.failure)
    (27, 8.5336...e-07)
    >>> pages.release(["home"] * 5000 + ["mine"]).keys
    ('home',)
    >>> pages.seen(0.05), pages.error(0.05)
    (33, 32)
    """

    epsilon: Real
    delta: Real
    relation: Relation
    bins: int = 1
    noise: Noise = "geometric"

    def __post_init__(self) -> None:
        check_relation(self.relation)
        positive(self.epsilon, "epsilon")
        probability(self.delta, "delta")
        if self.noise not in ("geometric", "gaussian"):
            raise InvalidParameter("noise must be 'geometric' or 'gaussian'.")
        store(self, epsilon=self.epsilon, delta=self.delta, bins=check_bins(self.bins))
        _ = self.threshold  # which must exist

    def __repr__(self) -> str:
        bins = "" if self.bins == 1 else f", bins={self.bins}"
        noise = "" if self.noise == "geometric" else f", noise={self.noise!r}"
        settings = f"epsilon={show(self.epsilon)}, delta={show(self.delta)}, relation={self.relation!r}"
        return f"StabilityHistogram({settings}{bins}{noise})"

    @property
    def touched(self) -> int:
        """How many counts may change between neighbours, each by one."""
        return touched(self.bins, self.relation)

    @property
    def unit(self) -> Geometric | DiscreteGaussian:
        """The noise on a single count, which changes by at most one."""
        epsilon, delta = Fraction(self.epsilon), Fraction(self.delta)
        if self.noise == "gaussian":
            return DiscreteGaussian(sensitivity=1, sigma=calibrated(epsilon, delta, self.bins, self.relation)[0])
        return Geometric(sensitivity=1, scale=self.touched / epsilon)

    @property
    def threshold(self) -> int:
        """A bin is shown if its noisy count is above this: the least number that is private."""
        epsilon, delta = Fraction(self.epsilon), Fraction(self.delta)
        if self.noise == "gaussian":
            return calibrated(epsilon, delta, self.bins, self.relation)[1]
        return _threshold(self.touched / epsilon, self.bins, delta)

    @property
    def failure(self) -> Fraction:
        """The probability that a person who is alone in all their bins shows one of them; rounded up."""
        return failure(partial(_survival, self.unit), self.bins, self.threshold)

    @property
    def domain(self) -> Records:
        """The bins that people are in."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of ``touched`` counts that change by one each, and that of showing a bin which would not be there."""
        if isinstance(self.unit, DiscreteGaussian):
            return sparse_loss(float(self.unit.sigma), self.threshold, self.bins, self.relation, Fraction(self.epsilon))
        return (loss_of(self.unit, self.touched) + PrivacyLoss.approximate(0, self.failure)).under(self.relation)

    def release(self, data: Iterable[object], /) -> Bins:
        """Return the bins that may be shown; an array of whole numbers or of texts is counted fastest."""
        return self._show(*_count(data, self.bins))

    def reveal(self, keys: Sequence[object] | npt.NDArray[np.generic], counts: Counts, /) -> Bins:
        """Return the bins that may be shown, of people whom somebody else has counted; for the same loss.

        A person must count at most once in each of at most ``bins`` of the keys. Keys without anybody may be left out.
        Keys that look the same, such as two of a type that is not told apart, or one that is there twice, are one bin
        with the largest of their counts, never with the sum: one person may be in all of them.
        """
        return self._show(*_gather(keys, counts))

    def probability(self, count: int, /) -> float:
        """Return the probability that a bin with this many people is shown."""
        return float(enclose(lambda: self._chance(count, True)).mid()) if count > 0 else 0.0

    def seen(self, beta: Real = 0.05) -> int:
        """Return the least number of people with whom a bin is shown with probability ``1 - beta`` at least."""
        if probability(beta, "beta") >= Fraction(1, 2):
            raise InvalidParameter("beta must be below 1/2: how often may a bin be missed?")
        return self.threshold + self._least(lambda t: _survival(self.unit, t), float(beta))

    def error(self, beta: Real = 0.05, *, queries: int = 1) -> int:
        """Return the least t that errors exceed with probability ``beta`` at most, whatever the counts.

        A bin that is not shown is taken as empty. The worst is one with t + 1 people: it is too far off if it is not
        shown or if the noise is above t. With ``queries`` it holds for so many bins at once.
        """
        if probability(beta, "beta") >= Fraction(1, 2):
            raise InvalidParameter("beta must be below 1/2: a bin at the threshold is missed every other time.")
        t, p = self.threshold, per_query(beta, queries)
        return t - 1 + self._least(lambda m: _survival(self.unit, m) + _survival(self.unit, t + m), p)

    def log_probability(self, data: Iterable[object], output: Bins, /) -> float:
        """Return the log of the probability that exactly these bins are shown, with these noisy counts."""
        keys, counts = _count(data, self.bins)
        table = dict(zip(map(key_of, keys.tolist()) if isinstance(keys, np.ndarray) else keys, counts, strict=True))
        told = [key_of(key) for key in output.keys]
        if (
            told != sorted(set(told))
            or not set(told) <= set(table)
            or min(output.counts, default=math.inf) <= (self.threshold)
        ):
            return -math.inf
        noisy = dict(zip(told, output.counts, strict=True))
        return math.fsum(
            self.unit.log_probability(int(count), noisy[key])
            if key in noisy
            else float(enclose(partial(self._chance, int(count), False)).log().mid())
            for key, count in table.items()
        )

    def worst_case(self) -> tuple[list[object], list[object]]:
        """A person who is alone in all their bins, and leaves or moves to as many others.

        With Gaussian noise a person who is alone in so many bins, and one of many in the others, as costs most.
        """
        here, there = tuple(range(self.bins)), tuple(range(self.bins, 2 * self.bins))
        if self.relation == "add_remove":
            there = ()
        vanish, appear, crowds = self.bins, len(there), list[tuple[int, ...]]()
        if isinstance(self.unit, DiscreteGaussian):
            sigma = float(self.unit.sigma)
            curve = SparseGaussian(sigma, self.threshold, self.bins, self.relation)
            vanish, appear = curve.worst(float(self.epsilon))
            if self.relation == "add_remove" and appear:  # the same, the other way round
                here, there, vanish = (), here, 0
            many = self.threshold + math.ceil(9 * sigma) + 1
            crowds = [own for own in (here[vanish:], there[appear:]) if own for _ in range(many)]
        one, other = ([*crowds, *([own] if own else [])] for own in (here, there))
        return self._as_records(one), self._as_records(other)

    def _as_records(self, people: list[tuple[int, ...]]) -> list[object]:
        return [own if self.bins > 1 else own[0] for own in people]

    def _show(self, keys: Sorted, counts: Counts) -> Bins:
        numbers = padded(counts)
        noisy = self.unit.release(numbers)
        kept = np.flatnonzero((numbers > 0) & (noisy > self.threshold))
        if isinstance(keys, np.ndarray):
            return Bins(tuple(keys[kept].tolist()), tuple(noisy[kept].tolist()))
        pairs = sorted((keys[i], many) for i, many in zip(kept.tolist(), noisy[kept].tolist(), strict=True))
        return Bins(tuple(shown(key) for key, _ in pairs), tuple(many for _, many in pairs))

    def _chance(self, count: int, kept: bool) -> arb:
        """Return the probability that a count of at least 1 is shown, or is not."""
        t = self.threshold - count + 1
        above, below = (t, 1 - t) if kept else (1 - t, t)
        return _survival(self.unit, above) if above >= 1 else 1 - _survival(self.unit, below)

    def _least(self, tail: Any, beta: float) -> int:  # noqa: ANN401 - a function of a whole number, as a ball
        return least(lambda t: t >= 1 and bool(enclose(partial(tail, t)) <= arb(beta)), 1)


def _survival(unit: Geometric | DiscreteGaussian, t: int) -> arb:
    """Return ``P[Z >= t]`` for t of at least 1."""
    if isinstance(unit, Geometric):
        return laplace_survival(Fraction(unit.scale), t)
    return gaussian_survival(Fraction(unit.sigma) ** 2, t)


@lru_cache(maxsize=64)
def _threshold(scale: Fraction, bins: int, delta: Fraction) -> int:
    return least_threshold(partial(laplace_survival, scale), bins, delta)


def _count(data: Iterable[object], bins: int) -> tuple[Sorted, Counts]:
    if _fast(data):
        return np.unique(data, return_counts=True)  # type: ignore[call-overload,no-any-return]
    tally, known = dict[Key, int](), dict[Key, Key]()
    with Silence():
        for record in records(data):
            key = key_of(record)
            several = bins > 1 and key[0] in ("tuple", "set")
            for own in (
                sorted({_showable(one, known) for one in key[1:]})[:bins] if several else [_showable(key, known)]
            ):
                tally[own] = tally.get(own, 0) + 1
    return list(tally), list(tally.values())


def _gather(keys: Sequence[object] | npt.NDArray[np.generic], counts: Counts) -> tuple[Sorted, Counts]:
    """Return bins with their counts; several that look the same are one bin, with the largest of their counts.

    A person may be in several of them, and a sum would move by as many. The largest moves by one, and only if one of
    them does, so no more bins change than without this.
    """
    numbers = padded(counts)[: len(counts)]
    if len(keys) != numbers.size:
        raise InvalidInput("keys and counts must be of one length: a count for each bin.")
    if isinstance(keys, np.ndarray) and _fast(keys):
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return ordered, numbers[order]
    tally, known = dict[Key, int](), dict[Key, Key]()
    with Silence():
        for record, many in zip(records(keys), numbers.tolist(), strict=True):
            own = _showable(key_of(record), known)
            tally[own] = max(tally.get(own, 0), many)
    return list(tally), list(tally.values())


def _fast(data: object) -> bool:
    return type(data) is np.ndarray and data.ndim == 1 and data.dtype.kind in "iuUS"


def _showable(key: Key, known: dict[Key, Key]) -> Key:
    """Return the key, or that of None if nothing can be made of it again, such as a zone that is not known here."""
    if key not in known:
        try:
            shown(key)
            known[key] = key
        except KeyboardInterrupt:
            raise
        except BaseException:
            known[key] = NONE
    return known[key]
