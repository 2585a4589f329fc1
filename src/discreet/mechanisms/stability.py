"""Values released as they are, where no few people could change them.

Smith and Thakurta, "Differentially Private Feature Selection via Stability Arguments", COLT 2013 ("distance to
instability"); Vadhan, "The Complexity of Differential Privacy", 2017, section 3.3. A value may be anything: a category,
a word, a model. It is released exactly, with no noise at all, if a noisy test says that many records would have to
change before it does.

The proof. Let ``d(x)`` be the distance to the nearest data set with another value, and ``d(x) - 1`` the margin.
Neighbours with the same value have margins that differ by at most 1, and the release is a function of the noisy margin
and of that value: it costs what the noise costs. Neighbours with different values have both margin 0, so they pass with
the same probability p of at most delta, and their releases differ by p in total variation. The charge is the sum, which
covers either.
"""

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, probability, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.lookalikes import NONE, Key, alike, key_of, shown
from discreet.mechanisms.margin import HALF, Margin, Outcome, least_tail
from discreet.mechanisms.quietly import Silence, quietly
from discreet.mechanisms.scale import store
from discreet.units import Relation, check_relation, records

__all__ = ["Mode", "StableValue"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Stable(Faces):
    """A release of a value as it is, of which a subclass says the value and its margin."""

    epsilon: Real
    delta: Real
    relation: Relation

    def __post_init__(self) -> None:
        check_relation(self.relation)
        _ = self.test.threshold  # which must exist
        store(self, epsilon=self.epsilon, delta=self.delta)

    def __repr__(self) -> str:
        said = "".join(f"{f.name}={getattr(self, f.name)!r}, " for f in fields(self) if f.name in ("value", "distance"))
        settings = f"epsilon={show(self.epsilon)}, delta={show(self.delta)}, relation={self.relation!r}"
        return f"{type(self).__name__}({said}{settings})"

    @abstractmethod
    def look(self, data: Any, /) -> tuple[int | None, Any]:  # noqa: ANN401 - data and values of any kind
        """Return the margin of the data, None if it is infinite, and the value; both are as secret as the data."""

    @property
    def test(self) -> Margin:
        """The test of the margin."""
        return Margin(epsilon=self.epsilon, delta=self.delta)

    @property
    def domain(self) -> Records:
        """Records of any kind."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noisy margin, and of passing without any."""
        return (self.test.loss + PrivacyLoss.approximate(0, self.test.failure)).under(self.relation)

    def release(self, data: Any, /) -> Outcome[Any]:  # noqa: ANN401
        """Return the value, or None if the test was not passed."""
        margin, value = self.look(data)
        return Outcome(value, True) if self.test.passes(margin) else Outcome(None, False)

    def log_probability(self, data: Any, output: Outcome[Any], /) -> float:  # noqa: ANN401
        """Return the log of the probability of an output."""
        margin, value = self.look(data)
        possible = alike(output.value, value if output.passed else None)
        return self.test.log_probability(margin, output.passed) if possible else -math.inf


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StableValue(Stable):
    """Release ``value(data)`` itself if the data lie far from all data with another value, else nothing.

    Satisfies (``epsilon``, ``delta``)-DP whenever any two neighbours have either the same value, down to how it looks,
    and distances that differ by at most 1; or distances of at most 1 both. The number of records by which the nearest
    data with another value differ is such a distance, and None if there are no such data, which is infinite.

    This must hold for all data, odd records included, for a failure is not excused: where ``value`` fails, the value is
    None and the distance 1, and where ``distance`` fails, or returns no number, it is 1. A function that one record can
    make fail, far from all data with another value, breaks the promise. Whatever is raised is a failure, except for
    KeyboardInterrupt, which passes. Neither function may change the data.

    >>> def old(ages):                                     # what is no whole number is not old, and nothing fails
    ...     return sum(isinstance(age, int) and age > 50 for age in ages)
    >>> older = StableValue(                               # is a majority older than 50?
    ...     value=lambda ages: old(ages) > len(ages) // 2,
    ...     distance=lambda ages: max(old(ages) - len(ages) // 2, len(ages) // 2 + 1 - old(ages)),
    ...     epsilon=1, delta=1e-6, relation="replace_one")
    >>> older.release([60] * 90 + [40] * 9 + [None])
    Outcome(value=True, passed=True)
    """

    value: Callable[[Any], Any]
    distance: Callable[[Any], int | None]

    def look(self, data: Any, /) -> tuple[int | None, Any]:  # noqa: ANN401
        """Ask both functions, without a word whatever they do."""
        value, failed = quietly(lambda: (self.value(data), False), otherwise=(None, True))
        return (0 if failed else self._margin(data)), value

    def _margin(self, data: Any) -> int | None:  # noqa: ANN401
        def margin() -> int | None:
            distance = self.distance(data)
            return None if distance is None else max(int(distance) - 1, 0)

        return quietly(margin, otherwise=0)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Mode(Stable):
    """Release the most frequent value of records of any kind, from no list of candidates, if it leads by enough.

    Satisfies (``epsilon``, ``delta``)-DP under ``relation``. With a lead of g occurrences over the second value, g
    records must come or go, or half as many be replaced, before there is a tie; one less is the margin. Ties have
    margin 0, as have their neighbours, so it does not matter which of the tied values is meant.

    What is released is made from what tells values apart, and from nothing else: 1, 1.0 and True are one value, shown
    as 1, and one moment in two time zones is two. Numbers, texts, dates and times are told apart, and tuples, sets and
    dictionaries of them; everything else counts as None (see ``discreet.mechanisms.lookalikes``).

    >>> Mode(epsilon=1, delta=1e-6, relation="add_remove").release(["flu"] * 70 + ["cold"] * 20)
    Outcome(value='flu', passed=True)
    >>> Mode(epsilon=1, delta=1e-6, relation="replace_one").lead(0.05)   # shown in 19 of 20 runs with such a lead
    33
    """

    def look(self, data: Iterable[object], /) -> tuple[int, Any]:
        """Count."""
        (value, first), (_, second) = _leaders(data)
        needed = first - second if self.relation == "add_remove" else -(-(first - second) // 2)
        return max(needed - 1, 0), value

    def lead(self, beta: Real = 0.05) -> int:
        """Return the least lead with which a value is released with probability ``1 - beta`` at least."""
        if probability(beta, "beta") >= HALF:
            raise InvalidParameter("beta must be below 1/2: how often may a value be missed?")
        margin = self.test.threshold + 1 + least_tail(self.test.scale, Fraction(beta))
        return margin + 1 if self.relation == "add_remove" else 2 * margin + 1

    def worst_case(self) -> tuple[list[int], list[int]]:
        """A single record, which is replaced or left out: another mode."""
        return [0], ([1] if self.relation == "replace_one" else [])


def _leaders(data: Iterable[object]) -> list[tuple[Any, int]]:
    """Return the two most frequent values and how often they occur; values that are not there occur 0 times."""
    if type(data) is np.ndarray and data.ndim == 1 and data.dtype.kind in "iuUS":
        values, counts = np.unique(data, return_counts=True)
        best = np.argsort(-counts, kind="stable")[:2]
        found = list(zip(values[best].tolist(), counts[best].tolist(), strict=True))
    else:
        kept: dict[Key, tuple[Key, Any]] = {}
        tally: Counter[Key] = Counter()
        with Silence():
            for record in records(data):
                key = key_of(record)
                if key not in kept:
                    kept[key] = _rebuilt(key)
                tally[kept[key][0]] += 1
        found = [(kept[key][1], count) for key, count in tally.most_common(2)]
    return [*found, (None, 0), (None, 0)][:2]


def _rebuilt(key: Key) -> tuple[Key, Any]:
    """Return a key and what it shows; None where that cannot be made, such as a zone that is not known here."""
    try:
        return key, shown(key)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return NONE, None
