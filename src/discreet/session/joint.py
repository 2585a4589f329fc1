"""Groups that are answered together: one mechanism measures what serves all of them.

A unit counts in at most ``records`` rows, so a person moves the exact counts by that many records at most, each of
which may also be counted nowhere. What is measured, with how much noise, and how far off every answer will be is known
before any data is read.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc, ndtri

from discreet.accounting import PrivacyLoss
from discreet.accounting.filters import Zcdp
from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.session.estimates import Estimates
from discreet.session.noise import NoiseKind
from discreet.session.progress import Tell
from discreet.tables.kinds import Value
from discreet.units import Relation

__all__ = ["Budgeted", "Counted", "Joint", "NoiseChoice", "amounts", "half_width"]

Keys = tuple[Value, ...]
NoiseChoice = Literal["auto", "gaussian", "laplace"]
Counted = Mapping[Keys, int]
Made = tuple[dict[str, tuple[Any, ...]], dict[str, Estimates]]

EQUALS = (1, 2, 3, 4, 6, 8, 12, 16)


@dataclass(frozen=True, slots=True)
class Budgeted:
    """What a joint release may cost: epsilon for Laplace noise, or rho for Gaussian noise."""

    relation: Relation
    records: int
    epsilon: Fraction | None = None
    rho: Fraction | None = None

    @property
    def kind(self) -> NoiseKind:
        """Which noise it is."""
        return "laplace" if self.rho is None else "gaussian"


class Joint(ABC):
    """Groups that are answered together."""

    names_of_keys: tuple[str, ...]
    declared: tuple[tuple[Value, ...], ...]
    cost: Budgeted
    error_note: ClassVar[str] = "at most"
    """What the foretold error is an error of."""

    @property
    def sizes(self) -> dict[str, int]:
        """How many values each key has."""
        return {name: len(values) for name, values in zip(self.names_of_keys, self.declared, strict=True)}

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of the answer that tell groups apart."""
        return self.names_of_keys

    @property
    def keys_told(self) -> str:
        """Which groups are shown, in words."""
        return f"public: {math.prod(self.sizes.values()):,} declared"

    def check_named(self) -> None:
        """Refuse a missing value as a key, where an empty key stands for all values."""
        for name, values in zip(self.names_of_keys, self.declared, strict=True):
            if None in values:
                raise InvalidParameter(
                    f"an empty key stands for all values of {name} here, so a missing one needs a name: "
                    f"declare {name}: {{nulls: unknown}}."
                )

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """What it costs."""

    @property
    @abstractmethod
    def told(self) -> str:
        """How the counts are made, in words."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know besides."""
        return ()

    @property
    def exact(self) -> str:
        """What is published without noise, outside the guarantee, in words; nothing in most releases."""
        return ""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """Everything public that it was made with, besides what the plan says."""

    @abstractmethod
    def names(self, count: str) -> tuple[str, ...]:
        """Return the columns of the answer, if counts are called so."""

    @abstractmethod
    def parts(self) -> list[tuple[str, float]]:
        """Return what each part of the answer is called, and the largest standard deviation in it."""

    def deviations(self) -> dict[str, float]:
        """Return the largest standard deviation of everything that is called the same."""
        found: dict[str, float] = {}
        for name, deviation in self.parts():
            found[name] = max(deviation, found.get(name, 0.0))
        return found

    def half_width(self, deviation: float, beta: float) -> float:
        """Return how far an answer of some standard deviation may be off."""
        return half_width(self.kind, beta) * deviation

    @abstractmethod
    def release(self, counted: Counted, count: str, beta: float) -> Made:
        """Return keys and estimates from the exact counts of all groups that have rows."""

    def publish(self, counted: Counted, count: str, beta: float, tell: Tell) -> tuple[Made, tuple[str, ...]]:
        """Return the same, and what a reader should know of this release besides; ``tell`` is told how far it is."""
        tell("noise", 0, 1)
        return self.release(counted, count, beta), ()

    @property
    def kind(self) -> NoiseKind:
        """Which noise it is."""
        return self.cost.kind

    def error(self, beta: float) -> float:
        """Return how far the least accurate answer may be off."""
        return max(self.half_width(deviation, beta) for _, deviation in self.parts())

    def errors(self, beta: float) -> str:
        """Say how far off the parts of the answer may be."""
        said = sorted(self.deviations().items(), key=lambda part: part[1])
        if len(said) > MOST_SAID:
            said = [said[0], said[len(said) // 2], said[-1]]
        return "; ".join(f"{part}: ± {self.half_width(deviation, beta):.3g}" for part, deviation in said)


MOST_SAID = 6


def amounts(epsilon: Fraction, delta: Fraction, noise: NoiseChoice, relation: Relation, records: int) -> list[Budgeted]:
    """Return what noise there may be for an epsilon and a delta: Gaussian where there is a delta, and Laplace.

    >>> [cost.kind for cost in amounts(Fraction(1), Fraction(0), "auto", "add_remove", 2)]
    ['laplace']
    """
    if noise == "gaussian" and not delta:
        raise InvalidParameter("Gaussian noise needs a delta: open the session with dp.Budget(epsilon, delta).")
    laplace = Budgeted(relation, records, epsilon=epsilon)
    if noise == "laplace" or not delta:
        return [laplace]
    gaussian = Budgeted(relation, records, rho=Zcdp.reaching(epsilon, delta).limit)
    return [gaussian] if noise == "gaussian" else [gaussian, laplace]


@lru_cache(maxsize=256)
def half_width(kind: NoiseKind, beta: float) -> float:
    """Return how many standard deviations an answer exceeds with probability ``beta`` at most.

    Gaussian answers have the quantile of the normal law. An answer with Laplace noise is a sum of independent Laplace
    variables with weights. For sums of squares of normal variables the extreme tails belong to some number of equal
    weights (Szekely and Bakirov, "Extremal probabilities for Gaussian quadratic forms", Probability Theory and Related
    Fields 2003); Laplace variables are normal ones with such a sum as variance, so the largest quantile over numbers of
    equal weights, of which the normal law is the limit, is taken here. That no other weights exceed it is not proved
    but tried on many.

    >>> round(half_width("gaussian", 0.05), 3), round(half_width("laplace", 0.05), 3)
    (1.96, 2.118)
    """
    normal = -float(ndtri(beta / 2))
    if kind != "laplace":
        return normal
    return max(normal, *(_equal(count, beta) for count in EQUALS)) * (1 + 1e-9)


def _equal(count: int, beta: float) -> float:
    """Return the quantile of the sum of so many equal Laplace variables, over its standard deviation.

    The sum is the difference of two gamma variables of shape ``count``; ``P[|X| > t]`` is a sum over Poisson terms.
    """
    low, high = 0.0, 50.0 + 4 * math.log(1 / beta)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(count, middle * math.sqrt(2 * count)) > beta else (low, middle)
    return high


def _tail(count: int, t: float) -> float:
    """Return ``P[|G - H| > t]`` for two gamma variables of a whole shape and scale 1.

    Where G is above H, the number j of its ``count`` steps that come after all of H has the probability
    ``C(2 count - 1 - j, count - j) / 2^(2 count - j)`` (a race of coin tosses), and what is left is a gamma variable of
    shape j.

    >>> round(_tail(1, 1.0), 6), round(math.exp(-1.0), 6)
    (0.367879, 0.367879)
    """
    total = 0.0
    for left in range(1, count + 1):
        ways = math.comb(count - 1 + count - left, count - left) / 2 ** (2 * count - left)
        total += 2 * ways * float(gammaincc(left, t))
    return total


def coded(counted: Counted, declared: Sequence[Sequence[Value]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the cells that have rows, by the places of their keys, and their counts; other keys count nowhere."""
    places = [{(type(value), value): place for place, value in enumerate(values)} for values in declared]
    cells, counts = [], []
    for keys, count in counted.items():
        found = [place.get((type(key), key)) for place, key in zip(places, keys, strict=True)]
        if None not in found:
            cells.append(found)
            counts.append(count)
    return (
        np.array(cells, dtype=np.int64).reshape(len(cells), len(declared)),
        np.array(counts, dtype=np.int64),
    )


def quiet(_phase: str, _done: int, _total: int) -> None:
    """Tell nobody how far it is."""


def around(values: Floats, errors: Floats, method: str) -> Estimates:
    """Return estimates with an interval around each."""
    width = float(errors[0]) if len(errors) and np.all(errors == errors[0]) else None
    return Estimates(
        value=tuple(values.tolist()),
        low=tuple((values - errors).tolist()),
        high=tuple((values + errors).tolist()),
        method=method,
        error=width,
    )
