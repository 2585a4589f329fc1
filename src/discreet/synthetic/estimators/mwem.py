"""Multiplicative weights with the exponential mechanism: learn from the queries that are answered worst.

Hardt, Ligett and McSherry, "A Simple and Practical Algorithm for Differentially Private Data Release", NIPS 2012. From
an even histogram of n records on, each round chooses a query of the workload whose answer is far off, by the
exponential mechanism, measures it, and multiplies the cells in it by a factor that brings the answer nearer; all
measurements so far are replayed. Each round spends half of its budget on the choice and half on the measure.

The proof. The estimate before a round is public, so the answers of all queries from it are constants, rounded here to
whole numbers. A score is the distance of an exact answer, a whole number, from such a constant. Adding 1 to one cell
changes an answer by at most the largest entry of the workload, and no score by more; a record that moves changes it by
no more either if no entry is negative, and by at most twice that otherwise. So the scores are exact, and the
sensitivity of each is that of its answer. Counts are clamped so that every answer, and every sum on the way to it, fits
into 64 bits: no answer wraps. A workload that leaves room for small counts alone is refused. n is measured under
add_remove, and public under replace_one.

The number of rounds, if not given, is chosen by n and epsilon, as Hay et al. (SIGMOD 2016) propose: with more of
either, more queries can be measured well. With a fixed number the error does not vanish as epsilon grows.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.estimators.estimator import LARGEST, Counted, Estimator, Int64, Part, Pure, fraction
from discreet.synthetic.estimators.rows import largest_entry, rows_of
from discreet.synthetic.matrix_mechanism import SMALLEST_LIMIT
from discreet.synthetic.operators.kronecker import Kronecker
from discreet.synthetic.operators.operator import Operator
from discreet.synthetic.operators.prefix import Prefix

__all__ = ["MWEM"]

MOST_ROUNDS = 1000
MOST_CHOSEN = 80
FEW_CHOSEN = 30
MANY_CELLS = 1 << 14
"""With more cells than this fewer rounds are chosen, for the time they take."""

REPLAYS = range(4, 101)
REPLAYED = 10_000
"""All measurements are replayed after each round this many times over the square of the rounds, within ``REPLAYS``."""

LARGEST_ANSWER = 1 << 61
"""No answer is beyond this: counts are clamped once more where the entries of a workload are large."""

STEEPEST = 20.0
"""A factor is at most ``exp`` of this in one update."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MWEM(Estimator):
    """Improve an even histogram round by round, by the query that it answers worst.

    Satisfies ``epsilon``-DP whenever each record adds 1 to one cell and neighbours differ by one record in the sense of
    ``relation``. The ``workload`` holds the queries to choose from, by default all prefixes (on a plane all boxes from
    the first cell on): a range is a difference of few of them. ``total_share`` of epsilon measures the number of
    records under add_remove; under replace_one it is public. ``rounds`` is chosen by ``chosen_rounds`` unless given.
    Counts beyond ``largest_count`` are clamped to it; a workload for which that is below 2^16 is refused: weights such
    as 0.1 are binary fractions of 55 digits, and ``Fraction(1, 10)`` serves.

    >>> plan = MWEM(shape=(16,), epsilon=1, relation="add_remove", rounds=5)
    >>> len(plan.parts), round(plan.loss.epsilon(), 9)
    (11, 1.0)
    >>> plan.release(np.arange(16)).shape
    (16,)
    """

    workload: Operator | None = None
    rounds: int | None = None
    total_share: Real = Fraction(1, 20)
    sensitivity: int = field(init=False, repr=False, compare=False)
    """How far one record moves a whole answer, and a score."""

    def __post_init__(self) -> None:
        Estimator.__post_init__(self)
        self._check_workload(self.workload)
        store(self, total_share=fraction(self.total_share, "total_share"))
        rounds: object = self.rounds
        if rounds is not None and (type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS):
            raise InvalidParameter(f"rounds must be a whole number from 1 to {MOST_ROUNDS}, got {rounds!r}.")
        if self.queries.reach > LARGEST_ANSWER // SMALLEST_LIMIT:
            raise InvalidParameter(
                "the entries of this workload have too many digits for exact answers; round its weights to fewer, as "
                "Fraction(1, 10) in place of 0.1, or leave them out."
            )
        entry = largest_entry(self.queries)
        steps = 1 if self.relation == "add_remove" or self.queries.nonnegative else 2
        object.__setattr__(self, "sensitivity", steps * entry)

    @property
    def queries(self) -> Operator:
        """The queries to choose from."""
        if self.workload is not None:
            return self.workload
        lines = tuple(Prefix(size=side) for side in self.shape)
        return lines[0] if len(lines) == 1 else Kronecker(of=lines)

    @property
    def largest_count(self) -> int:
        """The count that a cell is clamped to, so that every answer is exact."""
        return min(LARGEST, LARGEST_ANSWER // self.queries.reach)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The number of records, where it is not public, and choice and measure of each round."""
        total = self.total_noise(self.total_share)
        first: tuple[Part, ...] = () if total is None else (total,)
        if self.rounds is None:
            return (*first, Pure(epsilon=self._rounds_epsilon()))
        return (*first, *(self._round(self.rounds) * self.rounds))

    def chosen_rounds(self, records: float) -> int:
        """Return how many rounds there are if none are given and there are about so many records.

        >>> plan = MWEM(shape=(16,), epsilon=1, relation="add_remove")
        >>> plan.chosen_rounds(100), plan.chosen_rounds(10**6)
        (4, 80)
        """
        signal = max(records, 0.0) * float(self.epsilon) / self.touched
        most = FEW_CHOSEN if self.cells > MANY_CELLS else MOST_CHOSEN
        return self.rounds or min(most, max(2, math.ceil(signal**0.5 / 3)))

    def exact_answers(self, counted: Counted) -> Int64:
        """Return the answers of the whole matrix of the queries on the clamped counts: as secret as the data."""
        return np.asarray(self.queries.whole_matvec(np.minimum(counted.line, self.largest_count)))

    def _rounds_epsilon(self) -> Fraction:
        return self.budget(1 if self.relation == "replace_one" else 1 - Fraction(self.total_share))

    def _round(self, rounds: int) -> tuple[Exponential, Geometric]:
        epsilon, sensitivity = self._rounds_epsilon() / (2 * rounds), self.sensitivity
        return Exponential(epsilon=epsilon, sensitivity=sensitivity), Geometric(
            sensitivity=sensitivity, epsilon=epsilon
        )

    def _estimate(self, counted: Counted) -> Floats:
        records = self.measured_total(counted, self.total_share)
        rounds = self.chosen_rounds(records)
        choice, measure = self._round(rounds)
        queries, total = self.queries, max(records, 1.0)
        exact = self.exact_answers(counted)
        estimate = np.full(self.cells, total / self.cells)
        rows, answers = [], []
        replays = min(max(REPLAYED // rounds**2, REPLAYS[0]), REPLAYS[-1])
        for _ in range(rounds):
            chosen = choice.release(np.abs(exact - _whole_answers(queries, estimate)))
            rows.append(rows_of(queries, np.array([chosen]))[0])
            answers.append(float(measure.release(int(exact[chosen]))) / queries.denominator)
            estimate = _replayed(estimate, rows, answers, total, replays)
        return estimate


def _whole_answers(queries: Operator, estimate: Floats) -> Int64:
    whole = np.asarray(queries.whole_matvec(estimate), dtype=np.float64)
    return np.rint(np.clip(whole, -float(LARGEST_ANSWER), float(LARGEST_ANSWER))).astype(np.int64)


def _replayed(estimate: Floats, rows: list[Floats], answers: list[float], total: float, times: int) -> Floats:
    """Return the estimate after so many passes over all measurements, the latest first."""
    for _ in range(times):
        for row, answer in zip(reversed(rows), reversed(answers), strict=True):
            step = (answer - float(row @ estimate)) / (2 * total)
            estimate = estimate * np.exp(np.clip(row * step, -STEEPEST, STEEPEST))
            estimate *= total / estimate.sum()
    return estimate
