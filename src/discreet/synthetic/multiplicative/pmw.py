"""Private multiplicative weights: answer many questions, pay for the few that teach something.

Hardt and Rothblum, "A Multiplicative Weights Mechanism for Privacy-Preserving Data Analysis", FOCS 2010. A public
distribution over all combinations of attributes answers every question. A sparse-vector comparison tells whether its
answer is far from that of the data. If it is not, the reply is the distribution's, and nearly free; if it is, the reply
is that of the data with noise, and the distribution learns from it. It can learn only so much, so only so many replies
are paid for, however many questions there are.

The proof. Answers are whole numbers of steps, 2^16 for a record, and the distribution's own are public, rounded to
whole steps. One record adds at most 2^16 steps to an answer, and replacing one moves it by no more, as a weight lies in
[0, 1]. Both signs of the gap are compared, as two questions, which move in opposite directions: they are not monotone.
For a table the largest gap of all entries is compared, as one question: each gap moves by one record at most, and so
does their largest. What a comparison that failed releases is a number that moves by one record, or a table that moves
by 1 in one entry under add_remove and in two under replace_one; noise is as much more for it, so that either costs the
same. A person with several records moves everything by as many. Everything else is a function of replies. Comparisons
and measurements are interleaved, and compose as if they were not (Vadhan and Zhang, "Concurrent Composition Theorems
for Differential Privacy", STOC 2023); with pure noise the probability of a whole transcript is a product of both.

How near answers are. Let n be ``size``, and all noise of comparisons below ``alpha / 4`` of n. A reply of the
distribution is then within ``alpha`` of the truth, for the threshold is ``3 alpha / 4``, and a comparison that fails
means a gap of ``a = alpha / 2`` at least, in the direction that failed. If measurements are off by at most a margin,
itself at most a, the truth lies in the half-space ``q >= q(w) + max(a, measured gap - margin)``, and the projection
onto it lowers the divergence from the data by ``2 a^2`` at least: so ``log |X| / (2 a^2)`` failures are all there can
be (see ``steps``). For a table, let noise of comparisons be below ``alpha / 8`` and noise of measurements within a
margin of ``alpha / 16``. The entry that is farthest off is then measured to be off by ``a`` and the margin. Of entries
that are too small by more than the margin, and of those that are too large, the side is taken that is off by more
together, margins taken off: that is ``a`` at least, and no more than the truth.

Under add_remove the number of records is not public. n is then a public bound on it, and the places that nobody takes
are one more element of the domain, on which every question is 0. Adding a record replaces such a place; data of more
records than n are as private as others, and answered badly.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, probability, show, up
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.mechanisms.sparse_vector import Noise, SparseVector
from discreet.synthetic.budgets import largest_rho
from discreet.synthetic.multiplicative.learning import Learning
from discreet.synthetic.multiplicative.questions import LARGEST, STEPS, check_domain
from discreet.synthetic.multiplicative.steps import Step, most_updates
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["PMW"]

MOST_CELLS = 1 << 26
CAREFUL = 1e-6
MOST_UPDATES = 1 << 24
FLAGS = {"step": ("measured", "fixed", "textbook"), "gate_noise": ("exponential", "laplace")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PMW:
    """Answer linear questions about coded records one at a time, each to within ``alpha * size`` records.

    Satisfies ``epsilon``-DP, or ``rho``-zCDP, for any number of questions chosen in view of earlier replies, whenever
    neighbours differ by one record in the sense of ``relation``, or by all ``records`` of a person. ``size`` is the
    public number of records under replace_one, and a public bound on it otherwise.

    - ``share`` of the budget is for measurements, the rest for comparisons.
    - ``step="measured"`` projects onto what a measurement shows; ``"fixed"`` and ``"textbook"`` multiply as far as is
      known without it, with the number of updates that each can need.
    - ``updates`` is how many comparisons may fail, by default as many as ever can if noise stays small. With fewer,
      each is less noisy, and nothing is promised.
    - ``direct`` questions may be answered with noise at once while the weights are likely to be bad: until each
      combination has been measured ``patience`` times (Kostopoulou et al., "Turbo: Effective Caching in
      Differentially-Private Databases", SOSP 2023). They are paid for beforehand, and teach by as much as they are
      off beyond their noise.
    - ``cells`` is how many weights may be kept.

    >>> plan = PMW(sizes=(2, 2, 8), size=100_000, alpha=0.1, relation="replace_one", epsilon=1)
    >>> plan.updates_planned, plan.loss.epsilon() <= 1 + 1e-12
    (694, True)
    >>> talk = PMW(sizes=(2, 3), size=10**5, alpha=0.2, relation="replace_one", epsilon=9).open(np.zeros((10**5, 2)))
    >>> told = talk.answer({0: 0})
    >>> told.source, bool(abs(told.value - 10**5) < 10**4)
    ('measured', True)
    """

    sizes: tuple[int, ...]
    size: int
    alpha: Real
    relation: Relation
    epsilon: Real | None = None
    rho: Real | None = None
    records: int = 1
    share: Real = Fraction(1, 4)
    step: Step = "measured"
    gate_noise: Noise = "exponential"
    updates: int | None = None
    direct: int = 0
    patience: int = 1
    cells: int = 1 << 22
    gate: SparseVector = field(init=False, repr=False, compare=False)
    noise: Geometric | DiscreteGaussian = field(init=False, repr=False, compare=False)
    table_noise: Geometric | DiscreteGaussian = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", check_domain(self.sizes))
        check_relation(self.relation)
        check_records(self.records)
        if (self.epsilon is None) == (self.rho is None):
            raise InvalidParameter("PMW takes either epsilon= or rho=: how much may the whole conversation cost?")
        positive(self.rho if self.epsilon is None else self.epsilon, "epsilon" if self.rho is None else "rho")
        if not Fraction(1, 10**6) <= positive(self.alpha, "alpha") <= 1:
            raise InvalidParameter(f"alpha is a part of all records, from a millionth to 1, got {show(self.alpha)}.")
        probability(self.share, "share")
        for name, least, most in _LIMITS:
            given: object = getattr(self, name)
            if type(given) is not int or not least <= given <= most:
                raise InvalidParameter(f"{name} must be a whole number from {least} to {most}.")
        if self.updates is not None and (type(self.updates) is not int or not 1 <= self.updates <= MOST_UPDATES):
            raise InvalidParameter(f"updates must be a whole number from 1 to {MOST_UPDATES}.")
        for name, words in FLAGS.items():
            if getattr(self, name) not in words:
                raise InvalidParameter(f"{name} must be one of {', '.join(map(repr, words))}.")
        store(self, alpha=self.alpha, epsilon=self.epsilon, rho=self.rho, share=self.share)
        object.__setattr__(self, "gate", self._made_gate())
        object.__setattr__(self, "noise", self._made_noise(self.records * STEPS, self.records * STEPS, scalar=True))
        touched = self.records * (1 if self.relation == "add_remove" else 2)
        norm = up(lambda: ball(Fraction(touched * self.records)).sqrt())
        object.__setattr__(self, "table_noise", self._made_noise(touched, norm, scalar=False))

    def __repr__(self) -> str:
        given = {"sizes": repr(self.sizes), "size": self.size, "alpha": show(self.alpha)}
        given |= {"relation": repr(self.relation)}
        given |= {name: show(value) for name in ("epsilon", "rho") if (value := getattr(self, name)) is not None}
        defaults = {"records": 1, "step": "measured", "gate_noise": "exponential", "updates": None, "direct": 0}
        defaults |= {"patience": 1, "cells": 1 << 22}
        given |= {name: repr(value) for name, usual in defaults.items() if (value := getattr(self, name)) != usual}
        given |= {} if self.share == Fraction(1, 4) else {"share": show(self.share)}
        return f"PMW({', '.join(f'{name}={value}' for name, value in given.items())})"

    @classmethod
    def for_budget(cls, epsilon: Real, delta: Real = 0, **settings: Any) -> Self:  # noqa: ANN401 - fields
        """Return the conversation with the largest budget that stays within (epsilon, delta)."""
        if not probability(delta, "delta", zero=True):
            return cls(epsilon=epsilon, **settings)
        return cls(rho=largest_rho(lambda rho: cls(rho=rho, **settings).loss, epsilon, delta), **settings)

    @classmethod
    def for_queries(cls, queries: int, beta: Real = 0.05, *, entries: int = 1, **settings: Any) -> Self:  # noqa: ANN401
        """Return the conversation of least ``alpha`` that keeps its promise for so many questions; see ``error``.

        >>> plan = PMW.for_queries(1000, sizes=(64,), size=10**6, relation="replace_one", epsilon=1)
        >>> 0.09 < plan.alpha < 0.12, plan.error(queries=1000) <= plan.alpha * plan.size
        (True, True)
        """

        def keeps(alpha: float) -> bool:
            return math.isfinite(cls(alpha=alpha, **settings).error(beta, queries=queries, entries=entries))

        if not keeps(1.0):
            needed = cls(alpha=1, **settings).size_needed(beta, queries=queries, entries=entries)
            raise InvalidParameter(f"nothing can be promised for so few records: {needed:,} are needed for alpha = 1.")
        low, high = 1e-6, 1.0
        while high > low * 1.001:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if keeps(middle) else (middle, high)
        return cls(alpha=high, **settings)

    @property
    def nobody(self) -> bool:
        """Whether there may be fewer records than ``size``, so that some places are nobody's."""
        return self.relation == "add_remove" or self.records > 1

    @property
    def elements(self) -> int:
        """How many elements the distribution has."""
        return math.prod(self.sizes) + self.nobody

    @property
    def least(self) -> float:
        """The gap, as a part of all records, that a comparison which failed stands for: half of alpha."""
        return float(self.alpha) / 2

    @property
    def margin(self) -> float:
        """How far off, as a part of all records, a measurement is taken to be: more has a chance of a millionth."""
        return min(self.least, self._bound(CAREFUL, 1) / self.size)

    @property
    def table_margin(self) -> float:
        """How far off, as a part of all records, an entry of a measured table is taken to be."""
        return min(float(self.alpha) / 16, self._bound(CAREFUL, self.cells) / self.size)

    @property
    def updates_planned(self) -> int:
        """How many comparisons may fail."""
        return self.updates or min(MOST_UPDATES, most_updates(self.elements, self.least, self.step))

    @property
    def measurements(self) -> int:
        """How many replies are paid for at most."""
        return self.updates_planned + self.direct

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation, size=None if self.nobody else self.size)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all comparisons and of all measurements, however many questions there are."""
        one = self._part(Fraction(self.share)) / self.measurements
        each = PrivacyLoss.pure(one) if self.rho is None else PrivacyLoss.zcdp(one)
        return self.gate.loss + (self.measurements * each).under(self.relation)

    def open(self, records: Any, /) -> Learning:  # noqa: ANN401 - what ``tallied`` reads
        """Start a conversation about coded records; each costs the whole ``loss``."""
        return Learning(self, records)

    def error(self, beta: Real = 0.05, *, queries: int, entries: int = 1) -> float:
        """Return how many records any reply to ``queries`` questions may be off by, but with probability ``beta``.

        ``entries`` is the size of the largest table that is asked for, 1 if none is. Infinite if nothing can be
        promised: ``size_needed`` says how many records it would take. Nothing is promised for a ``beta`` below 2 in a
        million, where measurements may be off by more than they are taken to be.
        """
        apart, noise = self._noises(beta, queries, entries)
        room = Fraction(self.alpha) * self.size
        if entries == 1:
            fits = 4 * apart <= room and noise <= self.margin * self.size
        else:
            fits = 8 * apart <= room and noise <= self.table_margin * self.size
        if not fits or (self.updates or MOST_UPDATES) < most_updates(self.elements, self.least, self.step):
            return math.inf
        return max(float(room) * 0.75 + apart, noise) + 1 / STEPS

    def size_needed(self, beta: Real = 0.05, *, queries: int, entries: int = 1) -> int:
        """Return how many records there must be for a promise of ``alpha``, with these settings otherwise.

        >>> PMW(sizes=(64,), size=1000, alpha=0.1, relation="replace_one", epsilon=1).size_needed(queries=1000) > 10**5
        True
        """
        apart, noise = self._noises(beta, queries, entries)
        parts = (8 * apart, 16 * noise) if entries > 1 else (4 * apart, 2 * noise)
        return math.ceil(max(parts) / float(self.alpha) * (1 + 1e-9))

    def worst_case(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Data of ``size`` records in the first combination, of which a person's are gone or in the last one."""
        many = max(self.size, self.records)
        one = np.zeros((many, len(self.sizes)), dtype=np.int64)
        if self.relation == "add_remove":
            return one, one[: many - self.records]
        other = one.copy()
        other[: self.records] = [size - 1 for size in self.sizes]
        return one, other

    def _part(self, share: Fraction) -> Fraction:
        return positive(self.epsilon if self.rho is None else self.rho, "budget") * share

    def _made_gate(self) -> SparseVector:
        budget, many = self._part(1 - Fraction(self.share)), self.updates_planned
        if self.rho is not None:  # each of many conversations of epsilon costs epsilon^2 / 2 at most
            budget = many * Fraction(math.sqrt(2 * budget / many) * (1 - 1e-12))
        return SparseVector(
            threshold=round(Fraction(self.alpha) * 3 / 4 * self.size * STEPS),
            sensitivity=self.records * STEPS,
            above=many,
            epsilon=budget,
            relation=self.relation,
            noise=self.gate_noise,
            restart=self.rho is not None,
            whole=True,
        )

    def _made_noise(self, first: int, second: Real, *, scalar: bool) -> Geometric | DiscreteGaussian:
        """Return noise for what neighbours move by so much in L1 norm, and by so much in L2 norm."""
        one = self._part(Fraction(self.share)) / self.measurements
        if self.rho is None:
            return Geometric(sensitivity=first, epsilon=one)
        sigma = up(lambda: ball(Fraction(second) ** 2 / (2 * one)).sqrt())
        return DiscreteGaussian(sensitivity=second, sigma=sigma, scalar=scalar)

    def _noises(self, beta: Real, queries: int, entries: int) -> tuple[float, float]:
        """Return what noise of comparisons and of measurements stays below, in records, but with probability beta."""
        half = probability(beta, "beta") / 2
        if type(queries) is not int or queries < 1 or type(entries) is not int or entries < 1:
            raise InvalidParameter("queries and entries are whole numbers of at least 1.")
        apart = self.gate.error(half, queries=2 * queries) / STEPS
        return apart, self._bound(float(half), entries)

    def _bound(self, failure: float, entries: int) -> float:
        """Return what the noise of all measurements stays below, in records, but with probability ``failure``.

        Tails of geometric noise are at most ``e^(-t / scale)``, those of discrete Gaussian noise at most twice
        ``e^(-t^2 / (2 sigma^2))`` (Canonne, Kamath and Steinke, NeurIPS 2020).
        """
        noise, unit = (self.noise, STEPS) if entries == 1 else (self.table_noise, 1)
        many = self.measurements * entries
        if isinstance(noise, Geometric):
            return float(noise.scale) * math.log(many / failure) / unit
        return float(noise.sigma) * math.sqrt(2 * math.log(2 * many / failure)) / unit


_LIMITS = (("size", 1, LARGEST), ("direct", 0, MOST_UPDATES), ("patience", 1, MOST_UPDATES), ("cells", 1, MOST_CELLS))
