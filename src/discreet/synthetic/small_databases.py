"""The exponential mechanism over all small data sets: the first proof that many questions can be answered at once.

Blum, Ligett and Roth, "A Learning Theory Approach to Noninteractive Database Privacy", STOC 2008; Journal of the ACM
2013. For any data there is a small data set, of ``log(2 queries) / (2 alpha^2)`` records, that answers all questions to
within ``alpha``, since a random sample of the data does so with some probability. The exponential mechanism finds one
that is nearly as good. There are as many small data sets as there are ways to spread their records over the domain:
this is for domains of a few cells, and to compare with.

The proof. Questions have whole weights from 0 to some largest one, D, after they were multiplied by a common
denominator. The score of a small data set S of m records is ``-max_q |m q(x) - n q(S)|``, a whole number, where x are
the data and n is public, so a record that comes, goes or moves changes it by ``m D`` at most. The scores of all small
data sets are computed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, islice

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, positive, probability, show
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.synthetic.estimators.rows import largest_entry
from discreet.synthetic.operators.operator import Operator
from discreet.synthetic.operators.whole import clamped
from discreet.units import Relation, check_relation

__all__ = ["SmallDatabases", "sample_size"]

Int64 = npt.NDArray[np.int64]

MOST_DATABASES = 2_000_000
LARGEST = 1 << 31
LARGEST_SCORE = 1 << 60
CHUNK = 4096


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmallDatabases(Faces):
    """Release a data set of ``records`` records that answers all questions of a workload well, as counts of cells.

    Satisfies ``epsilon``-DP, with a bounded range of ``epsilon``, whenever each record adds 1 to one cell and
    neighbours differ by one record in the sense of ``relation``. ``size`` is the public number of records of the data,
    or a public constant to be taken for it. Counts are clamped to 2^31.

    >>> from discreet.synthetic import Prefix
    >>> small = SmallDatabases(workload=Prefix(size=4), records=5, size=1000, epsilon=2, relation="replace_one")
    >>> small.candidates, int(small.release([1000, 0, 0, 0]).sum())
    (56, 5)
    >>> round(small.error(0.05))
    463
    """

    workload: Operator
    records: int
    size: int
    epsilon: Real
    relation: Relation
    choice: Exponential = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        given: object = self.workload
        if not isinstance(given, Operator) or not given.nonnegative:
            raise InvalidParameter("the workload must be an operator without negative weights, such as Prefix.")
        for name in ("records", "size"):
            given = getattr(self, name)
            if type(given) is not int or not 1 <= given <= LARGEST:
                raise InvalidParameter(f"{name} must be a whole number from 1 to 2^31.")
        if self.candidates > MOST_DATABASES:
            raise InvalidParameter(
                f"there are more than {MOST_DATABASES:,} data sets of {self.records} records on {self.cells} cells. "
                "Take fewer records or cells; PMW and MWEM are for larger domains."
            )
        positive(self.epsilon, "epsilon")
        store(self, epsilon=self.epsilon)
        if self.workload.reach * self.size * self.records > LARGEST_SCORE:
            raise InvalidParameter("the weights of this workload have too many digits for exact scores; round them.")
        choice = Exponential(epsilon=self.epsilon, sensitivity=self.records * max(1, largest_entry(self.workload)))
        object.__setattr__(self, "choice", choice)

    def __repr__(self) -> str:
        return (
            f"SmallDatabases(workload={self.workload!r}, records={self.records}, size={self.size}, "
            f"epsilon={show(self.epsilon)}, relation={self.relation!r})"
        )

    @property
    def cells(self) -> int:
        """How many cells the domain has."""
        return self.workload.shape[1]

    @property
    def candidates(self) -> int:
        """How many small data sets there are."""
        return math.comb(self.cells + self.records - 1, self.records)

    @property
    def domain(self) -> Records:
        """Records, each in one cell."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the exponential mechanism."""
        return self.choice.loss.under(self.relation)

    def databases(self) -> Int64:
        """Return all small data sets as counts of cells, one row each."""
        return np.concatenate(list(_chunks(self.cells, self.records)))

    def scores(self, histogram: npt.ArrayLike, /) -> Int64:
        """Return the scores of all small data sets: as secret as the data."""
        exact = clamped(histogram, 0, LARGEST, otherwise=(refusal := f"a histogram here has {self.cells} counts."))
        if exact.shape != (self.cells,):
            raise InvalidInput(refusal)
        most = LARGEST_SCORE // (self.workload.reach * self.records)
        truth = self.records * self.workload.whole_matvec(np.minimum(exact, most))
        parts = []
        for chunk in _chunks(self.cells, self.records):
            told = self.size * self.workload.whole_matvec(chunk.T)
            parts.append(-np.abs(told - truth[:, None]).max(axis=0))
        return np.concatenate(parts).astype(np.int64)

    def release(self, histogram: npt.ArrayLike, /) -> Int64:
        """Return the counts of a small data set, which sum to ``records``."""
        chosen = self.choice.release(self.scores(histogram))
        listed = next(islice(combinations_with_replacement(range(self.cells), self.records), chosen, None))
        return np.bincount(np.array(listed), minlength=self.cells).astype(np.int64)

    def log_probability(self, histogram: npt.ArrayLike, output: npt.ArrayLike, /) -> float:
        """Return the log of the probability of a small data set."""
        found = np.flatnonzero((self.databases() == np.asarray(output)).all(axis=1))
        return self.choice.log_probability(self.scores(histogram), int(found[0])) if found.size else -math.inf

    def error(self, beta: Real = 0.05) -> float:
        """Return how many of ``size`` records any answer may be off by, but with probability ``beta``.

        The best small data set is off by ``sqrt(log(2 queries) / (2 records))`` of all at most, times the largest
        weight, and the chosen one by what the exponential mechanism loses (McSherry and Talwar, FOCS 2007).
        """
        largest = largest_entry(self.workload) / self.workload.denominator
        best = math.sqrt(math.log(2 * self.workload.shape[0]) / (2 * self.records)) * self.size * largest
        lost = self.choice.error(probability(beta, "beta"), candidates=self.candidates)
        return best + lost / (self.records * self.workload.denominator)

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records in the first cell, one of which is gone, or in the last cell."""
        one = np.zeros(self.cells, dtype=np.int64)
        one[0] = self.size
        other = one.copy()
        other[0] -= 1
        if self.relation == "replace_one":
            other[-1] += 1
        return one, other


def sample_size(queries: int, alpha: Real) -> int:
    """Return how many records suffice to answer so many questions to within ``alpha`` of all, for any data.

    By Hoeffding's inequality a sample is off by more than alpha in one of the questions with probability below 1.

    >>> sample_size(10, 0.1)
    150
    """
    if type(queries) is not int or queries < 1 or positive(alpha, "alpha") > 1:
        raise InvalidParameter("queries is a whole number of at least 1, and alpha a part of all records.")
    return math.floor(math.log(2 * queries) / (2 * float(alpha) ** 2)) + 1


def _chunks(cells: int, records: int) -> Iterator[Int64]:
    """Yield all small data sets in their order, some at a time."""
    rest = combinations_with_replacement(range(cells), records)
    while chunk := list(islice(rest, CHUNK)):
        places = np.array(chunk, dtype=np.int64)
        counts = np.zeros((len(chunk), cells), dtype=np.int64)
        np.add.at(counts, (np.repeat(np.arange(len(chunk)), records), places.reshape(-1)), 1)
        yield counts
