"""Any function at all, run on random blocks of the data and averaged with noise.

Nissim, Raskhodnikova and Smith, "Smooth Sensitivity and Sampling in Private Data Analysis", STOC 2007; Smith,
"Privacy-preserving Statistical Estimation with Optimal Convergence Rates", STOC 2011. The records are spread over
blocks by coins that do not look at them, the function is run on each block, and its answers, one number for each block,
are combined by a mechanism that is private towards one answer. A record is in one block, so it changes one answer:
nothing needs to be known of the function.

The proof. Fix the coins. Replacing a record, or adding one that has coins of its own, changes the rows of one block and
so one answer out of a fixed number; the mechanism covers that. The rows of other blocks are the same as before, in the
sense of ``discreet.units.records``; a column may have become another type by the change of one of its numbers, so
numbers are handed to the function as floats (see ``discreet.mechanisms.handed``), and equal ones cannot be told apart.
The coins are independent of the data, and a mixture of pairs costs no more than the worst of them. With ``copies`` the
data are spread that many times, independently, and a record changes as many answers, which is a group.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, RelationMismatch, UnboundedSensitivity
from discreet.exact import Real, finite, plain, positive, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.handed import handed
from discreet.mechanisms.interface import Mechanism, Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.quietly import quietly
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise import source, uniform_below
from discreet.sensitivity import Mean
from discreet.units import Relation, check_relation, records

__all__ = ["SampleAndAggregate"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampleAndAggregate(Faces):
    """Run a function on ``blocks`` random parts of the data, and combine its answers privately.

    Satisfies what ``aggregate`` does for one replaced answer, under ``relation``, whenever the function depends on the
    rows it is given alone: it must keep nothing between two calls, and how long it runs is not hidden. It is given
    copies, so that rows it changes are changed in no other block, and all numbers in them are floats. Where records of
    other types are the same, such as a list and a tuple or a set filled in another order, the data hold one of these
    forms by public choice, or the function treats them alike. Answers are clamped to the ``bounds``; where it fails, or
    returns no finite number, its answer is the lower bound, which is an answer like any other. Whatever it raises is a
    failure, except for KeyboardInterrupt, which passes.

    ``aggregate`` is ``"mean"`` (Laplace noise), ``"median"`` (the exponential mechanism), each of which takes an
    ``epsilon``, or any mechanism for ``blocks * copies`` numbers under replace_one, one with noise fitted to a smooth
    bound among them, which brings its own loss. Where many answers may be equal, take ``InverseSensitivity`` with some
    smoothing: the exponential mechanism needs room between them.

    Under replace_one blocks are of equal size; under add_remove, where the number of records is not public, each record
    picks its block by itself.

    >>> def fit(rows):                                   # of what nobody knows the sensitivity
    ...     return float(np.polyfit(*np.transpose(rows), 1)[0])
    >>> people = [(x, 3 * x + x % 7) for x in range(1000)]
    >>> slope = SampleAndAggregate(function=fit, blocks=50, bounds=(0, 10), epsilon=5, relation="replace_one")
    >>> 2 < slope.release(people) < 4
    True
    >>> slope.loss.epsilon()
    5.0
    """

    function: Callable[[list[Any]], Any]
    blocks: int
    bounds: tuple[Real, Real] = NOT_GIVEN
    relation: Relation
    aggregate: str | Mechanism[Any, Any] = "median"
    epsilon: Real = NOT_GIVEN
    copies: int = 1

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidParameter("function must be a function of a list of rows that returns a number.")
        _whole(self.blocks, "blocks")
        _whole(self.copies, "copies")
        check_relation(self.relation)
        _bounds(self.bounds)
        object.__setattr__(self, "bounds", (plain(self.bounds[0]), plain(self.bounds[1])))
        if isinstance(self.aggregate, str):
            if self.aggregate not in ("mean", "median"):
                raise InvalidParameter(
                    f'aggregate must be "mean", "median" or a mechanism for numbers, got {self.aggregate!r}.'
                )
            if self.epsilon is NOT_GIVEN:
                raise InvalidParameter(f'aggregate="{self.aggregate}" needs epsilon=: how much noise shall there be?')
            positive(self.epsilon, "epsilon")
        elif self.epsilon is not NOT_GIVEN:
            raise InvalidParameter("a mechanism given as aggregate has its own epsilon; leave out epsilon=.")
        store(self, epsilon=self.epsilon)
        self._check_aggregate()

    def __repr__(self) -> str:
        low, high = (show(end) for end in self.bounds)
        more = f", epsilon={show(self.epsilon)}" if isinstance(self.aggregate, str) else ""
        more += f", copies={self.copies}" if self.copies > 1 else ""
        return (
            f"SampleAndAggregate(function={self.function!r}, blocks={self.blocks}, bounds=({low}, {high}), "
            f"relation={self.relation!r}, aggregate={self.aggregate!r}{more})"
        )

    @property
    def aggregation(self) -> Mechanism[Any, Any]:
        """The mechanism that the answers are given to: numbers, of which one is replaced."""
        if not isinstance(self.aggregate, str):
            return self.aggregate
        each = Fraction(self.epsilon) / self.copies
        if self.aggregate == "mean":
            mean = Mean(bounds=self.bounds, size=self.blocks * self.copies)
            return Laplace(sensitivity=mean.sensitivity(relation="replace_one"), epsilon=each).of(
                mean, relation="replace_one"
            )
        return Quantile(bounds=self.bounds, epsilon=each, relation="replace_one")

    @property
    def domain(self) -> Records:
        """Rows of any kind."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the aggregate, for as many answers as a record is in."""
        loss = self.aggregation.loss.group(self.copies)
        return PrivacyLoss(loss.terms, self.relation, loss.grouped, loss.reduced)

    def release(self, data: Any, /) -> Any:  # noqa: ANN401 - what the aggregate releases
        """Spread the records, ask the function about each block, and combine its answers."""
        rows = list(records(data))
        parts = [part for _ in range(self.copies) for part in self._spread(rows)]
        return self.aggregation.release([self._answer(part) for part in parts])

    def _spread(self, rows: list[Any]) -> list[list[Any]]:
        """Return the blocks; which record is where does not depend on what the records are."""
        if self.relation == "replace_one":
            order = np.argsort(source().words(len(rows)), kind="stable")
            return [[rows[i] for i in part.tolist()] for part in np.array_split(order, self.blocks)]
        parts: list[list[Any]] = [[] for _ in range(self.blocks)]
        for row, place in zip(rows, np.asarray(uniform_below(self.blocks, size=len(rows))).tolist(), strict=True):
            parts[place].append(row)
        return parts

    def _answer(self, rows: list[Any]) -> float:
        """Return the function of a copy of a block as a number within the bounds, and without a word if it fails."""
        low, high = (float(end) for end in self.bounds)
        number = quietly(lambda: float(self.function([handed(row) for row in rows])), otherwise=low)
        return min(max(number, low), high) if isfinite(number) else low

    def _check_aggregate(self) -> None:
        found = self.aggregation
        if not isinstance(found, Mechanism):
            raise InvalidParameter(
                f'aggregate must be "mean", "median" or a mechanism for numbers, got {type(found).__name__}.'
            )
        domain, count = found.domain, self.blocks * self.copies
        if not isinstance(domain, Records) or domain.relation != "replace_one":
            raise RelationMismatch(
                "the aggregate must be private when one of its numbers is replaced: a mechanism on records with "
                'relation="replace_one".'
            )
        if domain.size not in (None, count):
            raise InvalidParameter(
                f"the aggregate is for {domain.size} numbers, and blocks * copies is {count}; they must agree."
            )


def _bounds(bounds: tuple[Real, Real]) -> tuple[Fraction, Fraction]:
    if bounds is NOT_GIVEN:
        raise UnboundedSensitivity("answers need bounds: one block could say anything. Write bounds=(0, 100).")
    low, high = (finite(end, "bounds") for end in bounds)
    if not float(low) < float(high):
        raise InvalidParameter(f"bounds must be (low, high) with low below high, got {bounds}.")
    return low, high


def _whole(value: object, name: str) -> None:
    if type(value) is not int or value < 1:
        raise InvalidParameter(f"{name} must be a whole number of at least 1, got {value!r}.")
