"""DualQuery: synthetic records from a game between queries and records.

Gaboardi, Gallego Arias, Hsu, Roth and Wu, "Dual Query: Practical Private Query Release for High Dimensional Data", ICML
2014. The query player keeps a weight for each query and its complement, and draws some; the data player answers with a
record that satisfies as many of them as possible; queries that the data satisfy more often than the record gain weight.
All records together answer the queries. The table of the domain is never written down, and the hard step, finding a
record, sees no data.

The proof. After t - 1 rounds the weight of query q is ``exp(eta ((t - 1) q(D) - sum of q(x)) )``, with q(D) the number
of records that satisfy q over the public ``size``; its complement has the reciprocal. A person with ``records``
records changes each count by as many at most, so each exponent by ``eta (t - 1) records / size``, up or down, and each
draw is one of the exponential mechanism with a range of twice that; so it is for both relations, since ``size`` is a
declared number and never counted. The first round reads nothing. Draws are exact (``draws``), on whole numbers.
Records are a function of draws alone, so that neither the search nor its deadline matters for privacy, and the whole
transcript composes adaptively.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, positive, probability, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.dual_query.accountings import Accountings, accountings, loss_of
from discreet.synthetic.dual_query.choice import affordable_rho, practical
from discreet.synthetic.dual_query.draws import MOST_CANDIDATES, signed_draws
from discreet.synthetic.dual_query.packed import Packed, packed
from discreet.synthetic.dual_query.queries import Queries
from discreet.synthetic.dual_query.records import SyntheticRecords
from discreet.synthetic.dual_query.response import Search, response
from discreet.synthetic.dual_query.transcript import Transcript
from discreet.synthetic.operators.operator import positive_size
from discreet.synthetic.operators.whole import clamped
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["DualQuery", "scores_after"]

Int64 = npt.NDArray[np.int64]
Progress = Callable[[str, int, int], None]

MOST_SCORE = 1 << 60
MOST_ROUNDS = 1 << 16
MOST_SAMPLES = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DualQuery(Faces):
    """Release synthetic records that answer ``queries``, one for each of ``rounds`` rounds of ``samples`` draws.

    Satisfies the loss of ``samples`` draws of bounded range ``2 eta (t - 1) records / size`` in each round t, whenever
    neighbours differ by one record in the sense of ``relation``, or by all ``records`` of a person, and ``size``, the
    number of records, is public. Under add_remove the number of records is not: say a round number near it that was
    known before.

    >>> asked = Queries(sizes=(2, 2, 2), attributes=[[0, 1], [1, 2]], values=[[1, 1], [0, 1]])
    >>> plan = DualQuery(queries=asked, size=1000, rounds=40, samples=50, eta=0.5, relation="replace_one")
    >>> made = plan.release([[1, 1, 0]] * 600 + [[0, 0, 1]] * 400)
    >>> bool(abs(made.answer(asked) - [0.6, 0.4]).max() < 0.2), len(made)
    (True, 40)
    >>> round(plan.loss.rho, 6)
    0.128375
    """

    queries: Queries
    size: int
    rounds: int
    samples: int
    eta: Real
    relation: Relation
    records: int = 1
    search: Search = field(default_factory=Search, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_records(self.records)
        positive(self.eta, "eta")
        store(self, eta=self.eta)
        for name, most in {"size": MOST_SCORE, "rounds": MOST_ROUNDS, "samples": MOST_SAMPLES}.items():
            whole = positive_size(getattr(self, name), name)
            if whole > most:
                raise InvalidParameter(f"{name} must be at most {most:,}, got {whole:,}.")
            object.__setattr__(self, name, whole)
        if len(self.queries) > MOST_CANDIDATES:
            raise InvalidParameter(f"there are at most {MOST_CANDIDATES:,} queries, got {len(self.queries):,}.")
        if self.size * self.rounds > MOST_SCORE:
            raise InvalidParameter("size times rounds must be at most 2^60, so that every weight is exact.")

    def __repr__(self) -> str:
        several = f", records={self.records}" if self.records > 1 else ""
        return (
            f"DualQuery(queries={self.queries!r}, size={self.size}, rounds={self.rounds}, samples={self.samples}, "
            f"eta={show(self.eta)}, relation={self.relation!r}{several})"
        )

    @classmethod
    def for_budget(
        cls,
        epsilon: Real,
        delta: Real,
        *,
        queries: Queries,
        size: int,
        relation: Relation,
        records: int = 1,
        search: Search | None = None,
    ) -> "DualQuery":
        """Return a plan within (epsilon, delta), with rounds, draws and step chosen from public numbers alone.

        >>> asked = Queries(sizes=(2,) * 9, attributes=[[0, 1, 2]], values=[[1, 1, 1]])
        >>> plan = DualQuery.for_budget(1, 1e-3, queries=asked, size=10_000, relation="replace_one")
        >>> 0.9 < plan.loss.epsilon(1e-3) <= 1
        True
        """
        rho = affordable_rho(epsilon, delta)
        logs = sum(math.log(one) for one in queries.sizes)
        chosen = practical(rho, size=positive_size(size), log_domain=logs, records=check_records(records))
        return cls(
            queries=queries,
            size=size,
            rounds=chosen.rounds,
            samples=chosen.samples,
            eta=chosen.eta,
            relation=relation,
            records=records,
            search=search or Search(),
        )

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation, size=self.size if self.relation == "replace_one" else None)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all draws."""
        total = loss_of(Fraction(self.eta), self.rounds, self.samples, self.size, self.records)
        return total.under(self.relation)

    def accountings(self, delta: Real) -> Accountings:
        """Return what the paper, its authors' program, zCDP and everything that is known say about epsilon.

        >>> asked = Queries(sizes=(2,), attributes=[[0]], values=[[1]])
        >>> plan = DualQuery(queries=asked, size=494021, rounds=170, samples=1750, eta=1.2, relation="replace_one")
        >>> told = plan.accountings(1e-3)
        >>> [round(one, 3) for one in (told.pure, told.advanced, told.heterogeneous, told.concentrated, told.loss)]
        [122.126, 1.859, 1.029, 0.49, 0.32]
        """
        return accountings(Fraction(self.eta), self.rounds, self.samples, self.size, self.records, delta, self.loss)

    def error(self, beta: Real = 0.05) -> float:
        """Return what no answer is further off by with probability ``1 - beta``, if every response is the best.

        The regret of the weights, ``ln(2 m) / (eta T) + eta / 2`` for m queries, and twice how far the mean of s draws
        is off for any of the domain's records in any round, ``sqrt(ln(2 |X| T / beta) / (2 s))``. At the constants of
        the paper it is below its alpha; it is usually many times what is measured.
        """
        step, failure = float(self.eta), float(probability(beta, "beta"))
        logs = sum(math.log(one) for one in self.queries.sizes)
        regret = math.log(2 * len(self.queries)) / (step * self.rounds) + step / 2
        far = math.sqrt((math.log(2 * self.rounds / failure) + logs) / (2 * self.samples))
        return min(1.0, regret + 2 * far)

    def counts(self, records: Any, /) -> Int64:  # noqa: ANN401 - a table, a tally, or packed columns
        """Return how many records satisfy each query, from 0 to ``size``: as secret as the records."""
        if isinstance(records, Packed):
            if not records.reads(self.queries):
                raise InvalidInput("these columns were packed for other queries; pack them for the plan's own.")
            table = records
        else:
            table = packed(_alike(tallied(records, self.queries.sizes)), self.queries)
        return np.clip(table.answers(self.queries), 0, self.size)

    def release(
        self,
        records: Any,  # noqa: ANN401 - a table, a tally, or packed columns
        /,
        *,
        seconds: float | None = None,
        progress: Progress | None = None,
        resume: Transcript | None = None,
    ) -> SyntheticRecords:
        """Return synthetic records of real ones: rows of codes, a ``Tallied``, or ``Packed`` columns.

        After ``seconds``, which count from when the data have been read, no further round is played; the loss bounds
        what was spent. Time then tells how long rounds took, which depends on what was drawn. With ``resume`` the
        rounds of a transcript of this plan are taken as played.
        """
        return self.reveal(self.counts(records), seconds=seconds, progress=progress, resume=resume)

    def reveal(
        self,
        counts: Int64,
        /,
        *,
        seconds: float | None = None,
        progress: Progress | None = None,
        resume: Transcript | None = None,
    ) -> SyntheticRecords:
        """Return synthetic records of people of whom somebody else has counted how many satisfy each query."""
        exact = clamped(counts, 0, self.size, otherwise=(refusal := "there is a whole count for each query."))
        if exact.shape != (len(self.queries),):
            raise InvalidInput(refusal)
        played = self._resumed(resume)
        made = np.empty((self.rounds, len(self.queries.sizes)), dtype=np.int32)
        made[: len(played)] = played
        held = np.zeros(len(self.queries), dtype=np.int64)
        for record in played:
            held += self.queries.of_record(record)
        rate, done = Fraction(self.eta) / self.size, len(played)
        end = math.inf if seconds is None else time.monotonic() + float(positive(seconds, "seconds"))
        while done < self.rounds and (done == len(played) or time.monotonic() < end):
            scores = scores_after(exact, held, done, self.size)
            places, complements = signed_draws(scores, rate, self.samples)
            made[done] = response(self.queries, places, complements, self.search, made[done - 1] if done else None)
            held += self.queries.of_record(made[done])
            done += 1
            if progress is not None:
                progress("rounds", done, self.rounds)
        codes = made[:done]
        told = Transcript(self.fingerprint, codes)
        return SyntheticRecords(self.queries.sizes, codes, self.size, told, done == self.rounds)

    @property
    def fingerprint(self) -> str:
        """A name for everything public that decides the law of a round."""
        told = repr((self.queries.sizes, self.queries.kind, self.size, self.samples, str(Fraction(self.eta))))
        digest = sha256(told.encode())
        for part in self.queries.parts:
            digest.update(repr(part.shape).encode() + np.ascontiguousarray(part, dtype="<i4").tobytes())
        return digest.hexdigest()

    def worst_case(self) -> tuple[Tallied, Tallied]:
        """All records alike; those of a person are gone, or have the last value everywhere, on the other side."""
        kept, moved = max(0, self.size - self.records), min(self.size, self.records)
        first = np.zeros(len(self.queries.sizes), dtype=np.int64)
        last = np.array(self.queries.sizes) - 1
        one = Tallied(first[None, :], np.array([self.size]))
        if self.relation == "add_remove":
            return one, Tallied(first[None, :], np.array([kept]))
        return one, Tallied(np.stack([first, last]), np.array([kept, moved]))

    def _resumed(self, transcript: Transcript | None) -> npt.NDArray[np.int32]:
        if transcript is None:
            return np.empty((0, len(self.queries.sizes)), dtype=np.int32)
        codes, sizes = transcript.records, np.array(self.queries.sizes)
        if transcript.plan != self.fingerprint or len(codes) > self.rounds:
            raise InvalidInput("this transcript is of another plan. Go on with the plan that it is of.")
        if codes.shape[1] != len(sizes) or (codes < 0).any() or (codes >= sizes).any():
            raise InvalidInput("the records of a transcript have a value of each attribute.")
        return codes


def scores_after(counts: Int64, held: Int64, done: int, size: int) -> Int64:
    """Return ``size`` times the exponent over eta of each query's weight after some rounds, a whole number.

    ``held`` says in how many rounds the record satisfied each query.

    >>> scores_after(np.array([3, 0]), np.array([1, 2]), 2, 10).tolist()
    [-4, -20]
    """
    return done * counts - size * held


def _alike(tally: Tallied) -> Tallied:
    """Return the same records with rows that are alike put together, where that is cheap."""
    if len(tally.codes) < 4096 or tally.codes.shape[1] > 256 or tally.codes.max(initial=0) > 255:
        return tally
    keys = np.ascontiguousarray(tally.codes.astype(np.uint8)).view(f"V{tally.codes.shape[1]}").reshape(-1)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.zeros(len(first), dtype=np.int64)
    np.add.at(sums, inverse.reshape(-1), tally.counts)
    return Tallied(tally.codes[first], sums)
