"""Synthetic records from a noisy histogram over all combinations of a few public attributes: the textbook's two ways.

Noise goes on the count of every combination, also of those that nobody has, and as many records are made of each as its
noisy count says. McSherry and Talwar, FOCS 2007, for the exponential mechanism; Ghosh, Roughgarden and Sundararajan,
STOC 2009, for geometric noise; Barak et al., PODS 2007, for what is wrong with both: the records that nobody is.

The proof. A record counts in one cell, or in none if it holds a value that is not listed. Under add_remove one count
changes by one; under replace_one two do, or one. Geometric noise of scale ``changes / epsilon`` on every count is
``epsilon``-DP, and taking negative counts as 0 is a function of its output. The exponential mechanism draws each new
count a from {0, ..., size} with weights ``exp(-rate |count - a|)``, and has a bounded range of twice the rate per count
that changes by one: numerators change by a factor of ``e^rate`` at most either way, and the sum of all weights by that
much again. So the rate is ``epsilon / 2`` under add_remove, and ``epsilon / 4`` for each of two under replace_one.
Counts are clamped to what they may be, which moves none of them further apart.

What it does to the number of records is known before any data. An empty cell gets ``E[max(Z, 0)] = a / (1 - a^2)``
records, a being ``e^(-1 / scale)``; one of c people gets ``a^c`` times as many too many. So up to ``cells * a / (1 -
a^2)`` records stand for nobody, and nearly as many do whenever most cells are empty. That grows with the product of the
numbers of categories, while the number of people does not: hence ``advice``.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, positive, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.histogram import place_among
from discreet.mechanisms.interface import Records
from discreet.mechanisms.quietly import Silence
from discreet.mechanisms.scale import store
from discreet.noise import discrete_laplace, uniform_below
from discreet.noise.coins import exp_coins
from discreet.synthetic.operators.whole import clamped
from discreet.units import Relation, check_relation
from discreet.units.labels import check_labels

__all__ = ["FromHistogram", "Microdata", "Prediction"]

Method = Literal["geometric", "exponential"]
Pairs = tuple[tuple[str, tuple[Hashable, ...]], ...]
Attributes = Mapping[str, Sequence[Hashable]] | Pairs
Int64 = npt.NDArray[np.int64]

LARGEST = 1 << 40
MOST_CELLS = 1 << 27
MOST_RECORDS = 1 << 31
SHARE = Fraction(1, 10)
"""More records than this part of all that stand for nobody call for other ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a method does to the data, before any data."""

    method: Method
    phantoms: float
    """Expected records that stand for nobody, if nobody is anywhere; no data have more."""
    deviation: float
    """Expected distance of a count from the truth, at most."""
    error: int
    """What the error of one count exceeds with probability 0.05 at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Microdata:
    """Records that stand for nobody in particular, as noisy counts of all combinations."""

    attributes: Pairs
    counts: Int64
    """How many records there are of each combination: one axis for each attribute."""
    phantoms: float
    """How many of them are expected to stand for nobody, at most."""
    advice: str | None
    """What to use instead, if those are many."""

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """One array for each attribute, records in the order of the categories, whatever that of the data was."""
        cells = np.repeat(np.arange(self.counts.size), self.counts.reshape(-1))
        places = np.unravel_index(cells, self.counts.shape)
        return {
            name: _array(categories)[place] for (name, categories), place in zip(self.attributes, places, strict=True)
        }

    def __repr__(self) -> str:
        return f"<{len(self)} synthetic records of {', '.join(name for name, _ in self.attributes)}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FromHistogram(Faces):
    """Make synthetic records of ``attributes``, each with all its categories, from their noisy histogram.

    Satisfies ``epsilon``-DP under ``relation`` whenever the categories are listed without looking at the data; records
    with others count nowhere. ``size`` is a public bound on their number, which ``method="exponential"`` needs.
    Read ``phantoms`` and ``advice`` first: they say, before any data, how many records will stand for nobody.

    >>> people = FromHistogram(attributes={"hair": ("black", "red"), "left": (False, True)}, epsilon=1,
    ...                        relation="add_remove", size=100)
    >>> round(people.phantoms, 3), people.advice
    (1.702, None)
    >>> made = people.release({"hair": ["black"] * 60 + ["red"] * 9, "left": [False] * 69})
    >>> sorted(made.columns), len(made.columns["hair"]) == len(made)
    (['hair', 'left'], True)
    >>> [(one.method, round(one.phantoms, 2), one.error) for one in people.compare()]
    [('geometric', 1.7, 3), ('exponential', 6.17, 6)]
    """

    attributes: Attributes
    epsilon: Real
    relation: Relation
    method: Method = "geometric"
    size: int | None = None

    def __post_init__(self) -> None:
        check_relation(self.relation)
        positive(self.epsilon, "epsilon")
        store(self, epsilon=self.epsilon)
        object.__setattr__(self, "attributes", _listed(self.attributes))
        if self.method not in ("geometric", "exponential"):
            raise InvalidParameter("method must be 'geometric' or 'exponential'.")
        if self.size is not None and (type(self.size) is not int or not 1 <= self.size <= LARGEST):
            raise InvalidParameter(f"size must be a whole number from 1 to 2^40, got {self.size!r}.")
        if self.method == "exponential" and self.size is None:
            raise InvalidParameter("method='exponential' draws counts from 0 to size: say size=, a public bound.")
        if math.prod(self.shape) > MOST_CELLS:
            raise InvalidParameter(f"there are more than {MOST_CELLS} combinations. {_INSTEAD}")
        if self.phantoms > MOST_RECORDS:
            raise InvalidParameter(f"more than 2^31 records would stand for nobody. {_INSTEAD}")

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        method = "" if self.method == "geometric" else f", method={self.method!r}"
        return (
            f"FromHistogram(attributes={dict(self._pairs)!r}, epsilon={show(self.epsilon)}, "
            f"relation={self.relation!r}{method}{size})"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories each attribute has."""
        return tuple(len(categories) for _, categories in self._pairs)

    @property
    def changes(self) -> int:
        """How many counts may change between neighbours, each by one."""
        return min(2 if self.relation == "replace_one" else 1, math.prod(self.shape))

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each count; that of the exponential mechanism is cut off at 0 and at ``size``."""
        return self.changes / Fraction(self.epsilon) * (2 if self.method == "exponential" else 1)

    @property
    def domain(self) -> Records:
        """Records with one value for each attribute."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of ``changes`` counts, each of which changes by one."""
        share = Fraction(self.epsilon) / self.changes
        if self.method == "exponential":
            return (self.changes * PrivacyLoss.bounded_range(share)).under(self.relation)
        return (self.changes * PrivacyLoss.discrete_laplace(sensitivity=1, scale=1 / share)).under(self.relation)

    # What is known before any data ---------------------------------------------------------------------------

    @property
    def phantoms(self) -> float:
        """How many records are expected to stand for nobody, at most: as many as there are without any data."""
        rate = float(1 / self.scale)
        return math.prod(self.shape) * (_mean(rate, self.size) if self.method == "exponential" else _surplus(rate))

    @property
    def advice(self) -> str | None:
        """What to do instead, in plain words, if more than a tenth of ``size`` is expected to stand for nobody.

        >>> FromHistogram(attributes={"zip": range(10**5)}, epsilon=1, relation="add_remove", size=1000).advice
        'About 42546 records will stand for nobody, with at most 1000 people: ... StabilityHistogram ...'
        """
        if self.size is None or self.phantoms <= SHARE * self.size:
            return None
        return f"About {self.phantoms:.0f} records will stand for nobody, with at most {self.size} people: {_INSTEAD}"

    def compare(self) -> tuple[Prediction, ...]:
        """Return what either method would do, the one with fewer records that stand for nobody first."""
        methods: tuple[Method, ...] = ("geometric", "exponential") if self.size is not None else ("geometric",)
        found = [_prediction(replace(self, method=method)) for method in methods]
        return tuple(sorted(found, key=lambda one: one.phantoms))

    def error(self, beta: Real = 0.05, *, queries: int = 1) -> int:
        """Return a t that the error of a count exceeds with probability ``beta`` at most.

        Cutting counts off at 0 moves none away from the truth. Cutting the law off, as the exponential mechanism does,
        makes no tail heavier than it is if nothing is cut off.
        """
        return Geometric(sensitivity=1, scale=self.scale).error(beta, queries=queries)

    # What it does --------------------------------------------------------------------------------------------

    def histogram(self, columns: Mapping[str, Iterable[object]], /) -> Int64:
        """Return the exact counts of all combinations, which are as secret as the data."""
        given: object = columns
        if not isinstance(given, Mapping) or not {name for name, _ in self._pairs} <= set(given):
            raise InvalidInput(f"give one column for each of {', '.join(name for name, _ in self._pairs)}.")
        places = [_places(columns[name], categories) for name, categories in self._pairs]
        if len({len(place) for place in places}) > 1:
            raise InvalidInput("all columns must be of one length: one entry for each record.")
        known = np.logical_and.reduce([place >= 0 for place in places])
        cells = np.ravel_multi_index(tuple(np.where(known, place, 0) for place in places), self.shape)
        return np.bincount(cells[known], minlength=math.prod(self.shape)).reshape(self.shape)

    def release(self, columns: Mapping[str, Iterable[object]], /) -> Microdata:
        """Return synthetic records of real ones, given as one column for each attribute."""
        return self.reveal(self.histogram(columns))

    def reveal(self, histogram: npt.ArrayLike, /) -> Microdata:
        """Return synthetic records of people whom somebody else has counted: one axis for each attribute."""
        exact = clamped(histogram, 0, self.size or LARGEST, otherwise=(refusal := self._refusal()))
        if exact.shape != self.shape:
            raise InvalidInput(refusal)
        noisy = self._truncated(exact) if self.method == "exponential" else self._clamped(exact)
        return Microdata(self._pairs, noisy, self.phantoms, self.advice)

    def log_probability(self, columns: Mapping[str, Iterable[object]], output: Microdata, /) -> float:
        """Return the log of the probability of all noisy counts together."""
        told, rate, most = output.counts, float(1 / self.scale), self.size or LARGEST
        exact = np.minimum(self.histogram(columns), most)
        cut = self.method == "exponential"
        if told.shape != self.shape or (told < 0).any() or (cut and (told > most).any()):
            return -math.inf
        far = rate * np.abs(told - exact)
        if cut:
            left, right = (-np.expm1(-rate * (arm + 1)) / -math.expm1(-rate) for arm in (exact, most - exact))
            return float(-(far + np.log(left + right - 1)).sum())
        alone, below = math.log(math.tanh(rate / 2)), -math.log1p(math.exp(-rate))
        return float((np.where(told == 0, below, alone) - far).sum())

    def worst_case(self) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
        """One record, which is gone or has the last category everywhere."""
        first: dict[str, list[object]] = {name: [categories[0]] for name, categories in self._pairs}
        last: dict[str, list[object]] = {name: [categories[-1]] for name, categories in self._pairs}
        return first, last if self.relation == "replace_one" else {name: [] for name, _ in self._pairs}

    @property
    def _pairs(self) -> Pairs:
        return cast("Pairs", self.attributes)

    def _clamped(self, exact: Int64) -> Int64:
        return np.maximum(Geometric(sensitivity=1, scale=self.scale).release(exact), 0)

    def _truncated(self, exact: Int64) -> Int64:
        """Draw each count again until it is not cut off, or by rejection from all counts alike: both give the law.

        The first is for little noise and the second for much; either keeps a draw with probability 0.3 at least.
        """
        flat, waiting, most = exact.reshape(-1), np.arange(exact.size), self.size or LARGEST
        out = np.empty(exact.size, dtype=np.int64)
        while waiting.size:
            true = flat[waiting]
            if most >= self.scale:
                drawn = true + np.asarray(discrete_laplace(self.scale, waiting.size)).astype(np.int64)
                kept = (drawn >= 0) & (drawn <= most)
            else:
                drawn = np.asarray(uniform_below(most + 1, waiting.size)).astype(np.int64)
                far = np.abs(drawn - true)
                kept = exp_coins(far / float(self.scale), partial(_exponent, far, self.scale))
            out[waiting[kept]] = drawn[kept]
            waiting = waiting[~kept]
        return out.reshape(exact.shape)

    def _refusal(self) -> str:
        return f"a histogram here has {' x '.join(map(str, self.shape))} whole counts, one for each combination."


_INSTEAD = (
    "take StabilityHistogram where most combinations are empty or cannot be listed, marginals by ResidualPlanner or "
    "Hierarchy where attributes are many, fewer categories, or a larger epsilon."
)


def _listed(attributes: object) -> Pairs:
    given = dict(attributes) if isinstance(attributes, tuple) else attributes
    if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) for name in given):
        raise InvalidParameter("attributes must be a mapping from names to categories, with one attribute at least.")
    listed = []
    for name, categories in given.items():
        if isinstance(categories, str | bytes) or not isinstance(categories, Iterable):
            raise InvalidParameter(f"the categories of {name!r} must be listed, such as ('yes', 'no').")
        own = tuple(categories)
        if not own or not all(isinstance(one, Hashable) for one in own) or len(set(own)) < len(own):
            raise InvalidParameter(f"the categories of {name!r} must be one or more values that differ.")
        check_labels(own, f"the categories of {name!r}")
        place_among(own, f"the categories of {name!r}")
        listed.append((name, own))
    return tuple(listed)


def _prediction(made: FromHistogram) -> Prediction:
    spread = 2 * _surplus(float(1 / made.scale))
    return Prediction(method=made.method, phantoms=made.phantoms, deviation=spread, error=made.error(0.05))


def _exponent(far: Int64, scale: Fraction, i: int) -> Fraction:
    return int(far[i]) / scale


def _places(column: Iterable[object], categories: tuple[Hashable, ...]) -> Int64:
    """Return the place of each value among the categories, -1 if it is none of them."""
    place_of = place_among(categories, "categories")
    if type(column) is np.ndarray and column.ndim == 1 and column.dtype.kind in "iubUS":
        values, where = np.unique(column, return_inverse=True)
        with Silence():
            found = np.array([place_of(value) for value in values.tolist()], dtype=np.int64)
        return found[where] if found.size else np.zeros(0, dtype=np.int64)
    unordered = isinstance(column, str | bytes | Mapping | AbstractSet) or hasattr(column, "columns")
    if unordered or not isinstance(column, Iterable):
        raise InvalidInput("a column is a list or an array with one entry for each record.")
    with Silence():
        places = [place_of(one) for one in column]
    return np.array(places, dtype=np.int64)


def _array(categories: tuple[Hashable, ...]) -> npt.NDArray[Any]:
    """Return categories as an array of their own type, or of objects if they are of several or it holds others.

    Numpy rounds whole numbers that are large and cuts NULs off the ends of texts.
    """
    if len({type(one) for one in categories}) == 1 and type(categories[0]) in (int, str, bool, float):
        plain = np.array(categories)
        if [(type(one), one) for one in plain.tolist()] == [(type(one), one) for one in categories]:
            return plain
    out = np.empty(len(categories), dtype=object)
    out[:] = categories
    return out


def _surplus(rate: float) -> float:
    """Return ``E[max(Z, 0)]`` of geometric noise: ``a / (1 - a^2)``."""
    return 0.5 / math.sinh(rate) if rate < 700 else 0.0


def _mean(rate: float, size: int | None) -> float:
    """Return the mean of the law on 0, ..., size with weights ``e^(-rate a)``."""
    assert size is not None  # noqa: S101 - it was asked for
    many = (size + 1) * rate
    return (1 / math.expm1(rate) if rate < 700 else 0.0) - ((size + 1) / math.expm1(many) if many < 700 else 0.0)
