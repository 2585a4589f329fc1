"""Multiplicative weights with the exponential mechanism on product domains: measure the tables that are farthest off.

Hardt, Ligett and McSherry, "A Simple and Practical Algorithm for Differentially Private Data Release", NIPS 2012. Each
round chooses the table of the workload that the weights answer worst, by the exponential mechanism, and measures it;
all measurements so far are replayed. Here a query is a whole table: its entries are disjoint, so that measuring all of
them costs as much as measuring one, or twice as much under replace_one. Attributes that were never measured together
stay independent, so the domain itself may be huge; where their blocks grow too large, the lessons are fitted as a
graphical model (McKenna, Sheldon and Miklau, ICML 2019), which is what replaying them for ever comes to.

The proof. The weights before a round are public, and what they expect of each table is rounded to multiples of 2^-10.
The score of a table is its distance in L1 norm from that, less the noise it would get, which is public. A record is in
one entry of a table: under add_remove the distance changes by 1 at most, under replace_one by 2, and scores are
computed exactly, in whole multiples of 2^-10. Noise on a table that changes by 1 in one entry, or in two, is charged
accordingly. The number of records is a public constant if ``size`` is given; otherwise it is public under replace_one,
and measured with ``total_share`` of the budget under add_remove. Persons with several records move everything by as
many, and the number of records as well.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, probability, show, up
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.synthetic.aim_rounds import Worked
from discreet.synthetic.budgets import largest_rho
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.multiplicative.questions import LARGEST, Counts, check_domain
from discreet.synthetic.multiplicative.replay import Lesson, Update, averaged, replayed
from discreet.synthetic.multiplicative.weights import Weights
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["MWEM"]

Int64 = npt.NDArray[np.int64]
Noise = Geometric | DiscreteGaussian
Progress = Callable[[str, int, int], None]

GRID = 1024
"""What weights expect is compared as multiples of one over this."""

MOST_ROUNDS = 1000
MOST_KEPT = 1 << 24
"""Exact tables with so many entries together are kept from round to round."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MWEM(Faces):
    """Release a model of coded records, learned in ``rounds`` from the tables that it is worst at.

    Satisfies ``epsilon``-DP, or ``rho``-zCDP and the tighter guarantee of its parts, whenever neighbours differ by one
    record in the sense of ``relation``, or by all ``records`` of a person. A round spends half of its share on the
    choice and half on the measurement, with geometric noise for ``epsilon`` and discrete Gaussian noise for ``rho``.

    - ``rounds`` are two for each attribute unless given.
    - ``workload`` lists sets of attributes, by default all single ones and all pairs.
    - ``zeros`` are masks of combinations that are known to be impossible.
    - ``size`` is a public number of records to be taken for the true one, instead of measuring it.
    - ``update="paper"`` replays measurements with the steps of the paper, ``exp((measured - expected) / (2 n))``;
      ``"scaled"`` takes longer ones, relative to what is expected of an entry.
    - ``average=True`` returns the mean of the weights of all rounds, as the paper's theorem does, instead of the last.
    - ``cells`` is how many weights may be kept; tables that would need more are not chosen.

    >>> plan = MWEM(sizes=(2, 2, 3), epsilon=20, relation="replace_one", rounds=3)
    >>> model = plan.release([[0, 0, 1]] * 500 + [[1, 1, 2]] * 300)
    >>> bool(abs(model.marginal((0, 1))[0, 0] - 500) < 50), round(plan.loss.epsilon(), 9)
    (True, 20.0)
    """

    sizes: tuple[int, ...]
    relation: Relation
    epsilon: Real | None = None
    rho: Real | None = None
    records: int = 1
    rounds: int = NOT_GIVEN
    workload: tuple[Attributes, ...] | None = None
    zeros: Mapping[Attributes, npt.NDArray[np.bool_]] | None = field(default=None, compare=False)
    size: int | None = None
    total_share: Real = Fraction(1, 20)
    update: Update = "scaled"
    average: bool = False
    cells: int = 1 << 20
    choice: Exponential = field(init=False, repr=False, compare=False)
    noise: Noise = field(init=False, repr=False, compare=False)
    total_noise: Noise | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", check_domain(self.sizes))
        check_relation(self.relation)
        check_records(self.records)
        if (self.epsilon is None) == (self.rho is None):
            raise InvalidParameter("MWEM takes either epsilon= or rho=: how much may it cost?")
        probability(self.total_share, "total_share")
        if self.rounds is NOT_GIVEN:
            object.__setattr__(self, "rounds", 2 * len(self.sizes))
        for name, most in (("rounds", MOST_ROUNDS), ("cells", 1 << 26), ("size", LARGEST)):
            given: object = getattr(self, name)
            if not (name == "size" and given is None) and (type(given) is not int or not 1 <= given <= most):
                raise InvalidParameter(f"{name} must be a whole number from 1 to {most}.")
        if self.update not in ("paper", "scaled") or not isinstance(self.average, bool):
            raise InvalidParameter("update must be 'paper' or 'scaled', and average True or False.")
        if self.average and math.prod(self.sizes) * self.rounds > MOST_KEPT:
            raise InvalidParameter(f"the mean of all rounds is for domains of {MOST_KEPT:,} / rounds combinations.")
        self._check_workload()
        store(self, epsilon=self.epsilon, rho=self.rho, total_share=self.total_share)
        budget = positive(self.epsilon if self.rho is None else self.rho, "epsilon" if self.rho is None else "rho")
        first = Fraction(self.total_share) * budget if self.measures_total else Fraction(0)
        part = (budget - first) / (2 * self.rounds)
        epsilon = part if self.rho is None else Fraction(math.sqrt(8 * float(part)) * (1 - 1e-12))
        touched = self.touched * self.records
        object.__setattr__(self, "choice", Exponential(epsilon=epsilon, sensitivity=touched * GRID))
        object.__setattr__(self, "noise", self._made(part, touched, touched * self.records))
        object.__setattr__(self, "total_noise", self._made(first, self.records, self.records**2) if first else None)

    def __repr__(self) -> str:
        given = {"sizes": repr(self.sizes), "relation": repr(self.relation), "rounds": str(self.rounds)}
        given |= {name: show(value) for name in ("epsilon", "rho") if (value := getattr(self, name)) is not None}
        usual = {"records": 1, "workload": None, "size": None, "update": "scaled", "average": False}
        usual |= {"cells": 1 << 20}
        given |= {name: repr(value) for name, own in usual.items() if (value := getattr(self, name)) != own}
        given |= {} if self.total_share == Fraction(1, 20) else {"total_share": show(self.total_share)}
        given |= {} if self.zeros is None else {"zeros": f"<{len(self.zeros)} masks>"}
        return f"MWEM({', '.join(f'{name}={value}' for name, value in given.items())})"

    @classmethod
    def for_budget(
        cls,
        epsilon: Real,
        delta: Real = 0,
        *,
        sizes: tuple[int, ...],
        relation: Relation,
        records: int = 1,
        **settings: Any,  # noqa: ANN401 - other fields
    ) -> "MWEM":
        """Return the plan with the largest rho that stays within (epsilon, delta), or epsilon alone if delta is 0."""
        given: dict[str, Any] = {"sizes": sizes, "relation": relation, "records": records} | settings
        if not probability(delta, "delta", zero=True):
            return cls(epsilon=epsilon, **given)
        return cls(rho=largest_rho(lambda rho: cls(rho=rho, **given).loss, epsilon, delta), **given)

    @property
    def touched(self) -> int:
        """How many entries of a table may change between neighbours, each by one."""
        return 1 if self.relation == "add_remove" else 2

    @property
    def measures_total(self) -> bool:
        """Whether the number of records is measured: it is neither given nor public."""
        return self.size is None and (self.relation == "add_remove" or self.records > 1)

    @property
    def tables(self) -> tuple[Attributes, ...]:
        """The tables to choose from."""
        if self.workload is not None:
            return self.workload
        own = range(len(self.sizes))
        return (*combinations(own, 1), *combinations(own, 2))

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all choices and measurements, and of the number of records."""
        loss = self.rounds * self.choice.loss + self.rounds * self.noise.loss
        return (loss if self.total_noise is None else loss + self.total_noise.loss).under(self.relation)

    def release(
        self,
        records: Any,  # noqa: ANN401 - what ``tallied`` reads
        /,
        *,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> GraphicalModel:
        """Return a model of the records.

        All rounds are run however long they take; when ``seconds`` were spent on replaying measurements, they are
        replayed less often. How long that takes depends on what was released alone: reading and counting records,
        choices and noise are not timed.
        """
        worked = Worked()
        counts, weights = Counts(records, self.sizes), self._first()
        total = self._total(counts)
        scores = _Scores(self, counts)
        lessons: list[Lesson] = []
        seen: list[Weights] = []
        for done in range(self.rounds):
            open_ones = [one for one in self.tables if weights.fits(one)]
            if not open_ones:
                break
            chosen = open_ones[self.choice.release([scores(one, weights, total) for one in open_ones])]
            noisy = self.noise.release(counts.table(chosen)).astype(np.float64)
            lessons.append(Lesson(chosen, noisy, self.deviation))
            deadline = None if seconds is None else time.monotonic() + seconds - worked.seconds
            with worked:
                replayed(weights, lessons, total, self.update, zeros=self.zeros, deadline=deadline)
            seen += [weights.copy()] if self.average else []
            if progress is not None:
                progress("rounds", done + 1, self.rounds)
        return averaged(weights, seen).model(total)

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        one = np.zeros((self.records, len(self.sizes)), dtype=np.int64)
        gone = self.relation == "add_remove"
        return one, one[:0] if gone else np.array([[size - 1 for size in self.sizes]] * self.records)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of an entry, or the scale of geometric noise."""
        return float(self.noise.scale if isinstance(self.noise, Geometric) else self.noise.sigma)

    def _total(self, counts: Counts) -> float:
        if self.size is not None:
            return float(self.size)
        exact = min(counts.records, LARGEST)
        return float(max(1, exact if self.total_noise is None else int(self.total_noise.release(exact))))

    def _made(self, part: Fraction, first: int, squared: int) -> Noise:
        """Return noise for what changes by ``first`` in L1 norm, and by the root of ``squared`` in L2 norm."""
        if self.rho is None:
            return Geometric(sensitivity=first, epsilon=part)
        sigma = up(lambda: ball(squared / (2 * part)).sqrt())
        return DiscreteGaussian(sensitivity=up(lambda: ball(Fraction(squared)).sqrt()), sigma=sigma)

    def _first(self) -> Weights:
        weights = Weights(self.sizes, cells=self.cells)
        for attributes, mask in (self.zeros or {}).items():
            weights.multiply(attributes, np.where(mask, -np.inf, 0.0))
        return weights

    def _check_workload(self) -> None:
        if self.workload is not None:
            listed = tuple(tuple(sorted(set(one))) for one in self.workload)
            if not listed or any(not one or not 0 <= one[0] <= one[-1] < len(self.sizes) for one in listed):
                raise InvalidParameter(f"a workload lists sets of attributes from 0 to {len(self.sizes) - 1}.")
            object.__setattr__(self, "workload", listed)
        for attributes, mask in (self.zeros or {}).items():
            if list(attributes) != sorted(set(attributes)) or np.shape(mask) != tuple(
                self.sizes[i] for i in attributes
            ):
                raise InvalidParameter("zeros are masks with an axis for each attribute, in the order of numbers.")
        if not self._first().possible:
            raise InvalidParameter("the masks of zeros leave nothing possible.")
        if not any(self._first().fits(one) for one in self.tables):
            raise InvalidParameter(f"no table of the workload has at most {self.cells:,} entries; allow more cells.")


class _Scores:
    """How far each table is from what is expected, in whole multiples of one over the grid."""

    __slots__ = ("_counts", "_kept", "_noise", "_plan")

    def __init__(self, plan: MWEM, counts: Counts) -> None:
        self._plan, self._counts, self._kept = plan, counts, dict[Attributes, Int64]()
        spread = plan.deviation * (1 if plan.rho is None else math.sqrt(2 / math.pi))
        self._noise = min(round(spread * GRID), 1 << 40)

    def __call__(self, attributes: Attributes, weights: Weights, total: float) -> int:
        """Return a score: its sensitivity is that of the distance in L1 norm, times the grid."""
        expected = np.rint(np.minimum(weights.table(attributes) * total, float(LARGEST)) * GRID).astype(np.int64)
        far = np.abs(self._table(attributes) * GRID - expected)
        distance = int(np.minimum(far, (1 << 62) // far.size).sum())
        return distance - self._noise * int(far.size)

    def _table(self, attributes: Attributes) -> Int64:
        if attributes not in self._kept:
            table = self._counts.table(attributes)
            if sum(one.size for one in self._kept.values()) + table.size > MOST_KEPT:
                return table
            self._kept[attributes] = table
        return self._kept[attributes]
