"""How many people are in each of several bins that are known beforehand.

Dwork, McSherry, Nissim and Smith, "Calibrating Noise to Sensitivity in Private Data Analysis", TCC 2006. The
proof. A person is in at most c bins and counts once in each. Under add_remove at most c counts change by one; under
replace_one, c may lose one and c others gain one, which are ``touched = 2 c`` (never more than there are bins). So the
counts change by ``touched`` in L1 norm, and by its square root in L2 norm. Every count has noise of its own, so the
loss is that of ``touched`` independent counts that change by one each: no more, and on the worst data no less (for
Gaussian noise, that of the worst whole vector of this norm, which for many bins is a little more). For one person in
one bin, integer Laplace noise has the scale ``1 / epsilon`` under add_remove and ``2 / epsilon`` under replace_one.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, time
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, positive, probability, show
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quietly import Silence
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.sensitivity.total import safely
from discreet.units import Relation, check_relation, frozen, records
from discreet.units.labels import check_labels
from discreet.units.records import StandIn

__all__ = ["KnownBins", "check_bins", "gaussian_sigma", "loss_of", "place_among"]

Noise = Literal["geometric", "laplace", "gaussian"]
Numbers = npt.NDArray[np.int64] | Floats


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KnownBins(Faces):
    """Count the people in each of the bins called ``labels``, with noise on every count, also where nobody is.

    Satisfies ``epsilon``-DP, or with ``noise="gaussian"`` (``epsilon``, ``delta``)-DP, under ``relation`` whenever the
    labels are chosen without looking at the data. With ``bins=1`` a record is the bin of a person; else it is the list
    of them, of which every one counts once and only the first ``bins``, in the order of the labels. What is no label is
    counted nowhere. Noise is "geometric" (two-sided, whole numbers), "laplace" or "gaussian" (whole numbers).

    >>> hair = KnownBins(labels=("black", "blond", "brown", "red"), epsilon=1, relation="replace_one")
    >>> hair.scale, hair.error(0.05), hair.largest_error(0.05)
    (Fraction(2, 1), 6, 9)
    >>> hair.counts(["blond", "brown", "blond", "green"])
    array([0, 2, 1, 0])
    >>> hair.release(["blond", "brown", "blond", "green"]).shape
    (4,)
    """

    labels: tuple[Hashable, ...]
    epsilon: Real
    relation: Relation
    delta: Real | None = None
    noise: Noise = "geometric"
    bins: int = 1

    def __post_init__(self) -> None:
        check_relation(self.relation)
        labels: object = self.labels
        if not isinstance(labels, tuple) or not labels or not all(isinstance(label, Hashable) for label in labels):
            raise InvalidParameter("labels must be a tuple of the names of one or more bins.")
        if len(set(self.labels)) < len(self.labels):
            raise InvalidParameter("labels must differ, and one of them is there twice. List every bin once.")
        check_labels(self.labels, "labels")
        place_among(self.labels, "labels")
        positive(self.epsilon, "epsilon")
        store(self, epsilon=self.epsilon, bins=check_bins(self.bins), delta=self.delta)
        if self.noise not in ("geometric", "laplace", "gaussian"):
            raise InvalidParameter("noise must be 'geometric', 'laplace' or 'gaussian'.")
        if (self.noise == "gaussian") != (self.delta is not None):
            raise InvalidParameter("delta belongs to noise='gaussian': say both or neither.")
        _ = self.unit  # which must exist

    def __repr__(self) -> str:
        noise = "" if self.noise == "geometric" else f", noise={self.noise!r}"
        delta = "" if self.delta is None else f", delta={show(self.delta)}"
        bins = "" if self.bins == 1 else f", bins={self.bins}"
        settings = f"epsilon={show(self.epsilon)}, relation={self.relation!r}{delta}{noise}{bins}"
        return f"KnownBins(labels={self.labels!r}, {settings})"

    @property
    def touched(self) -> int:
        """How many counts may change between neighbours, each by one: the L1 and the squared L2 sensitivity."""
        return min(self.bins * (2 if self.relation == "replace_one" else 1), len(self.labels))

    @property
    def scale(self) -> Fraction:
        """The scale of Laplace and of geometric noise, or the sigma of Gaussian noise."""
        if self.delta is None:
            return self.touched / Fraction(self.epsilon)
        return Fraction(gaussian_sigma(self.touched, Fraction(self.epsilon), Fraction(self.delta)))

    @property
    def unit(self) -> Geometric | Laplace | DiscreteGaussian:
        """The mechanism of a single count, which changes by at most one."""
        if self.noise == "gaussian":
            return DiscreteGaussian(sensitivity=1, sigma=float(self.scale))
        return (Geometric if self.noise == "geometric" else Laplace)(sensitivity=1, scale=self.scale)

    @property
    def domain(self) -> Records:
        """The bins that people are in."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of ``touched`` counts that change by one each."""
        return loss_of(self.unit, self.touched).under(self.relation)

    def counts(self, data: Iterable[object], /) -> npt.NDArray[np.int64]:
        """Return the exact counts, which are as secret as the data."""
        place_of = place_among(self.labels, "labels")
        counts = [0] * len(self.labels)
        with Silence():
            if type(data) is np.ndarray and data.ndim == 1 and data.dtype.kind in "iuUS":
                values, times = np.unique(data, return_counts=True)
                for value, many in zip(values.tolist(), times.tolist(), strict=True):
                    if (place := place_of(value)) >= 0:
                        counts[place] += many
                return np.array(counts, dtype=np.int64)
            for record in records(data):
                found = {place_of(one) for one in _named(record, self.bins)} - {-1}
                for place in sorted(found)[: self.bins]:
                    counts[place] += 1
        return np.array(counts, dtype=np.int64)

    def release(self, data: Iterable[object], /) -> Numbers:
        """Return one noisy count for each label, in the order of the labels."""
        return self.reveal(self.counts(data))

    def reveal(self, counts: npt.NDArray[np.int64], /) -> Numbers:
        """Return the noisy counts of people that somebody else has counted, in the order of the labels."""
        if np.shape(counts) != (len(self.labels),):
            raise InvalidInput(f"counts must be a vector with one entry for each of the {len(self.labels)} labels.")
        return self.unit.release(counts)

    def error(self, beta: Real = 0.05) -> float:
        """Return the least t that the error of one bin exceeds with probability ``beta`` at most."""
        return self.unit.error(beta)

    def largest_error(self, beta: Real = 0.05) -> float:
        """Return the least t that the largest error of all bins exceeds with probability ``beta`` at most; exact."""
        return self.unit.error(beta, queries=len(self.labels))

    def log_probability(self, data: Iterable[object], output: Numbers, /) -> float:
        """Return the log of the probability of all noisy counts together."""
        return self.unit.log_probability(self.counts(data), output)  # type: ignore[type-var]

    def worst_case(self) -> tuple[list[object], list[object]]:
        """A person in as many bins as possible, who leaves or moves to as many others."""
        here, there = self.labels[: self.bins], self.labels[self.bins : 2 * self.bins]
        single = self.bins == 1
        if self.relation == "add_remove":
            return [here[0] if single else here], []
        return ([here[0]], [there[0] if there else None]) if single else ([here], [there])


def check_bins(bins: object) -> int:
    """Return in how many bins a person may be, or say what is wrong with it.

    >>> check_bins(0.5)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: bins must be a whole number of at least 1, got 0.5. In how many may a person be?
    """
    exact = positive(bins, "bins")
    if exact.denominator != 1:
        raise InvalidParameter(
            f"bins must be a whole number of at least 1, got {show(exact)}. In how many may a person be?"
        )
    return int(exact)


def place_among(labels: tuple[Hashable, ...], name: str) -> Callable[[object], int]:
    """Return the function that tells the place of a record among labels, -1 if it is none of them or cannot be told.

    Records that are the same for ``frozen`` have the same place: that of (1, 2) is that of [1, 2] and of an array.
    It is to be asked ``with Silence()``.

    >>> place = place_among((1, (1, 2)), "labels")
    >>> place(1.0), place([1, 2]), place(np.array([1, 2])), place({1: 2}), place("1")
    (0, 1, 1, -1, -1)
    """
    places = {_compared(frozen(label)): i for i, label in enumerate(labels)}
    if len(places) < len(labels):
        raise InvalidParameter(f"{name} must differ as records do, and two are the same. List every one once.")

    def found(record: Any) -> int:  # noqa: ANN401 - any record
        kind = type(record)
        return places.get(record if kind is str or kind is int else _compared(frozen(record)), -1)

    return partial(safely, found, otherwise=-1)


def _compared(stand_in: Any) -> Hashable:  # noqa: ANN401 - what stands for any record
    """Return what a stand-in is found by: numbers and names by their values, whatever type of them they are of."""
    kind = type(stand_in)
    if kind is tuple or kind is frozenset:
        return cast("Hashable", kind(map(_compared, stand_in)))
    if kind is not StandIn:
        return cast("Hashable", stand_in)
    if type(stand_in.value) is stand_in.kind:
        return cast("Hashable", stand_in.value)
    if stand_in.kind is Fraction:
        return Fraction(*stand_in.value)
    for clock in (datetime, time):
        if issubclass(stand_in.kind, clock):
            return StandIn(clock, stand_in.value)
    return cast("Hashable", stand_in)


@lru_cache(maxsize=64)
def gaussian_sigma(touched: int, epsilon: Fraction, delta: Fraction) -> float:
    """Return the sigma of discrete Gaussian noise on ``touched`` counts that change by one each.

    >>> round(gaussian_sigma(1, Fraction(1), Fraction(1, 10**5)), 4)
    3.7405
    """
    probability(delta, "delta")
    return float(DiscreteGaussian.for_budget(epsilon, delta, sensitivity=math.sqrt(touched)).sigma)


def loss_of(unit: Geometric | Laplace | DiscreteGaussian, touched: int) -> PrivacyLoss:
    """Return what noise on every count costs, if ``touched`` of them change by one each.

    >>> loss_of(Geometric(sensitivity=1, scale=2), 2).epsilon()
    1.0
    """
    if isinstance(unit, DiscreteGaussian):
        return PrivacyLoss.discrete_gaussian(squared_sensitivity=touched, sigma_squared=Fraction(unit.sigma) ** 2)
    return touched * unit.loss


def _named(record: object, bins: int) -> Iterator[object]:
    """Return what a record lists, read as its kind of list is and not as a class of its own may say."""
    if bins > 1 and (type(record) is np.ndarray or issubclass(type(record), np.void)):
        record = cast("np.ndarray[Any, Any]", record).tolist()
    kind = type(record)
    for several in (list, tuple, set, frozenset):
        if bins > 1 and issubclass(kind, several):
            return several.__iter__(record)  # type: ignore[arg-type]
    return iter((record,))
