"""Mechanisms made of mechanisms: compose, repeat, parallel, group, then, clamped."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.accounting import parallel as parallel_loss
from discreet.errors import InvalidInput, InvalidParameter, NoTheorem
from discreet.exact import finite
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Mechanism, Records, Shift
from discreet.quietly import Silence
from discreet.sensitivity.total import safely
from discreet.units import Relation, check_relation
from discreet.units.labels import check_labels

__all__ = [
    "Clamp",
    "Composed",
    "Grouped",
    "Parallel",
    "Processed",
    "Repeated",
    "clamped",
    "compose",
    "group",
    "parallel",
    "repeat",
    "then",
]

Any_ = Mechanism[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed(Faces):
    """Several mechanisms on the same input; the losses add (Dwork, McSherry, Nissim and Smith, TCC 2006)."""

    mechanisms: tuple[Any_, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanisms", tuple(self.mechanisms))
        if not self.mechanisms:
            raise InvalidParameter("compose needs at least one mechanism.")
        first, *others = (m.domain for m in self.mechanisms)
        for other in others:
            records = isinstance(first, Records) and isinstance(other, Records) and first.relation == other.relation
            if not records and first != other:
                raise NoTheorem(
                    "mechanisms compose on the same input: all on records under one relation, or all on values with "
                    "the same sensitivity and norm. Lift them with .of(query, relation=...) first."
                )

    @property
    def domain(self) -> Shift | Records:
        """That of the first mechanism; the others agree with it."""
        return self.mechanisms[0].domain

    @property
    def loss(self) -> PrivacyLoss:
        """The sum."""
        return sum((m.loss for m in self.mechanisms), PrivacyLoss())

    def release(self, x: Any, /) -> tuple[Any, ...]:  # noqa: ANN401
        """Return all releases, in order."""
        x = list(x) if isinstance(x, Iterator) else x
        return tuple(m.release(x) for m in self.mechanisms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(Faces):
    """One mechanism several times on the same input, with fresh noise each time."""

    mechanism: Any_
    times: int

    def __post_init__(self) -> None:
        if type(self.times) is not int or self.times < 1:
            raise InvalidParameter(f"times must be a whole number of at least 1, got {self.times!r}.")

    @property
    def domain(self) -> Shift | Records:
        """That of the mechanism."""
        return self.mechanism.domain

    @property
    def loss(self) -> PrivacyLoss:
        """A multiple."""
        return self.times * self.mechanism.loss

    def release(self, x: Any, /) -> tuple[Any, ...]:  # noqa: ANN401
        """Return all releases, in order."""
        x = list(x) if isinstance(x, Iterator) else x
        return tuple(self.mechanism.release(x) for _ in range(self.times))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel(Faces):
    """One mechanism for each part of the data; ``by`` sends each record to its part and looks at nothing else.

    Each mechanism must be private under add_remove on its own part: its input's size is not public there. A record
    whose part has no mechanism is not used.
    """

    mechanisms: Mapping[Hashable, Any_]
    by: Callable[[Any], Hashable]
    relation: Relation

    def __post_init__(self) -> None:
        check_relation(self.relation)
        object.__setattr__(self, "mechanisms", MappingProxyType(dict(self.mechanisms)))
        check_labels(self.mechanisms, "names of parts")
        for mechanism in self.mechanisms.values():
            domain = mechanism.domain
            if not isinstance(domain, Records) or domain.relation != "add_remove" or domain.size is not None:
                raise NoTheorem(
                    "each part's mechanism must take records under add_remove without a public size: a record that "
                    "moves between parts changes their sizes. Lift it with .of(query, relation='add_remove')."
                )

    @property
    def domain(self) -> Records:
        """Data sets under the stated relation."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The worst part under add_remove, two of them under replace_one."""
        return parallel_loss([m.loss for m in self.mechanisms.values()], relation=self.relation)

    def release(self, records: Sequence[Any], /) -> dict[Hashable, Any]:
        """Return one release for each part, present in the data or not."""
        parts: dict[Hashable, list[Any]] = {key: [] for key in self.mechanisms}
        with Silence():
            for record in records:  # one whose key cannot be looked up lies in no part, as one with a key of none
                part = safely(parts.get, safely(self.by, record, otherwise=NOWHERE), otherwise=None)
                if part is not None:
                    part.append(record)
        return {key: mechanism.release(parts[key]) for key, mechanism in self.mechanisms.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped(Faces):
    """The same mechanism, with its loss stated for groups of up to ``size`` records that change together."""

    mechanism: Any_
    size: int

    @property
    def domain(self) -> Shift | Records:
        """That of the mechanism, whose neighbours are the links of the chain."""
        return self.mechanism.domain

    @property
    def loss(self) -> PrivacyLoss:
        """Group privacy."""
        return self.mechanism.loss.group(self.size)

    def release(self, x: Any, /) -> Any:  # noqa: ANN401
        """Return the mechanism's release."""
        return self.mechanism.release(x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Processed(Faces):
    """A mechanism followed by a function of its output alone."""

    mechanism: Any_
    function: Callable[[Any], Any]

    @property
    def domain(self) -> Shift | Records:
        """That of the mechanism."""
        return self.mechanism.domain

    @property
    def loss(self) -> PrivacyLoss:
        """That of the mechanism: post-processing is free."""
        return self.mechanism.loss

    def release(self, x: Any, /) -> Any:  # noqa: ANN401
        """Return the function of a release."""
        return self.function(self.mechanism.release(x))

    @property
    def draws(self) -> Callable[[Any, int], list[Any]] | None:
        """Many releases at once, if the mechanism can."""
        many = getattr(self.mechanism, "draws", None)
        if many is None:
            return None

        def draws(x: Any, count: int) -> list[Any]:  # noqa: ANN401
            made = np.asarray(many(x, count))  # single numbers reach the function as Python's, as from one release
            return [self.function(one) for one in (made.tolist() if made.ndim == 1 else made)]

        return draws


@dataclass(frozen=True, slots=True, kw_only=True)
class Clamp:
    """The function that forces numbers into an interval."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if finite(self.low, "low") > finite(self.high, "high"):
            raise InvalidParameter("low must not be above high.")

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - numbers and arrays alike
        """Return the nearest point of the interval."""
        if isinstance(value, np.ndarray):
            return np.clip(value, self.low, self.high)
        if not isinstance(value, int | float):
            raise InvalidInput(f"only numbers can be clamped, got {type(value).__name__}.")
        nearest = min(max(value, self.low), self.high)
        return int(nearest) if isinstance(value, int) and nearest == int(nearest) else float(nearest)


NOWHERE: list[object] = []
"""The key of a record whose part cannot be told: it cannot be hashed, so it lies in none."""


def compose(*mechanisms: Any_) -> Composed:
    """Return all these mechanisms on one input.

    >>> from discreet.mechanisms import Geometric
    >>> both = compose(Geometric(sensitivity=1, epsilon=0.5), Geometric(sensitivity=1, epsilon=0.25))
    >>> both.loss.epsilon(), len(both.release(100))
    (0.75, 2)
    """
    return Composed(mechanisms=mechanisms)


def repeat(mechanism: Any_, times: int) -> Repeated:
    """Return one mechanism several times on one input.

    >>> from discreet.mechanisms import Geometric
    >>> repeat(Geometric(sensitivity=1, epsilon=0.5), 3).loss.epsilon()
    1.5
    """
    return Repeated(mechanism=mechanism, times=times)


def parallel(mechanisms: Mapping[Hashable, Any_], by: Callable[[Any], Hashable], *, relation: str) -> Parallel:
    """Return one mechanism for each part of the data, parts being told apart by a public rule.

    >>> from discreet.mechanisms import Geometric
    >>> from discreet.sensitivity import Count
    >>> heads = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
    >>> parallel({"a": heads, "b": heads}, by=str.lower, relation="add_remove").loss.epsilon()
    1.0
    """
    return Parallel(mechanisms=mechanisms, by=by, relation=check_relation(relation))


def group(mechanism: Any_, size: int) -> Grouped:
    """Return the mechanism with its loss stated for groups.

    >>> from discreet.mechanisms import Laplace
    >>> group(Laplace(sensitivity=1, epsilon=0.5), 4).loss.epsilon()
    2.0
    """
    return Grouped(mechanism=mechanism, size=size)


def then(mechanism: Any_, function: Callable[[Any], Any]) -> Processed:
    """Return the mechanism followed by a function of its output."""
    return Processed(mechanism=mechanism, function=function)


def clamped(mechanism: Any_, low: float, high: float) -> Processed:
    """Return the mechanism with its output forced into an interval known beforehand.

    >>> from discreet.mechanisms import Geometric
    >>> 0 <= clamped(Geometric(sensitivity=1, epsilon=0.01), 0, 5).release(3) <= 5
    True
    """
    return then(mechanism, Clamp(low=low, high=high))
