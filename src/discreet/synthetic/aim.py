"""Synthetic data from the tables of attributes that a model knows worst: AIM.

McKenna, Mullins, Sheldon and Miklau, "AIM: An Adaptive and Iterative Mechanism for Differentially Private Synthetic
Data", VLDB 2022. All single attributes are measured first. In each round the exponential mechanism chooses, among all
sets of attributes within a set of the workload, one whose table is far from the model's by more than the noise of
measuring it, weighted by how much of the workload it touches; it is measured, and the model is fitted again.

Here what each round may spend is fixed beforehand, where the authors decide as they go: two rounds for each attribute,
those of the last third with three times the budget of those in the first. So what all of it costs together is known
exactly, and a given epsilon pays for nine percent more rho than by a filter of zCDP at epsilon 1 and delta 1e-9.
Attributes of many values get more of the budget for single attributes: with shares that grow as ``size^(2/3)`` the
noise of all their tables together is least. Values that drown in the noise of the first measurements are put together,
as in MST, which keeps models small. A measured table tells those within it a second time, by its sums, so that
shrinking a fit acts on what it tells beyond them.

The proof. A person's ``records`` are in as many entries of a table at most, at worst all in one: its squared L2 norm
changes by ``records^2`` under add_remove and ``2 records^2`` under replace_one, its L1 norm by ``records`` or twice
that. Before a round, the model and so the table that a candidate is compared with are functions of what was released,
rounded to multiples of 2^-10; the distance is computed in whole numbers, and a score is a public weight times that
distance less a public number. So no score changes by more than the largest weight times the change of an L1 norm, and
each choice and each measurement has a guarantee that is known before the first. Which candidates fit into the model,
and whether the model is fitted again before the next one, depend on what was released. So all of it is an adaptive
composition of mechanisms with guarantees fixed beforehand.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, show
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.synthetic.aim_rounds import (
    GRID,
    Tables,
    Worked,
    all_sets,
    closure,
    expected_tables,
    noise_norm,
    overlaps,
    sets_of,
    shares_of,
    within,
)
from discreet.synthetic.budgets import largest_rho
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.graphical.estimation import Fitted, fit
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.junction_tree import Growth, model_cells
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.known import Determined, Known, Zeros, known
from discreet.synthetic.merging import merging
from discreet.synthetic.one_thread import OneThread
from discreet.synthetic.operators.operator import positive_size
from discreet.synthetic.parts import choice_of, noise_of, touched, worst_pair
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["AdaptiveTables", "Progress"]

Int64 = npt.NDArray[np.int64]
Progress = Callable[[str, int, int], None]

ROUNDS, LEVELS = 2, (1, 2, 3)
"""So many rounds for each attribute, and what those in the first, second and last third have in proportion."""

SINGLES = Fraction(9, 40)
"""How much of the budget goes to single attributes, before the first round."""

LARGER = 2 / 3
"""The shares of single attributes grow as this power of their sizes, which are taken for powers of two."""

CHOICE = Fraction(1, 20)
"""How much of a round's budget goes to choosing."""

NOISE = 0.8
"""A table is worth measuring if it is further from the model than so many times the noise: a fit removes the rest."""

RARE = 2.0
"""Values with noisy counts below so many standard deviations are put together."""

FINER = 4
"""A model by all values has at most so many times the entries of one by values put together."""

CELLS = 1_500_000
STEPS, LAST_STEPS = 50, 300
CLOSE = 0.01
LAST_FIT = 0.3
"""The part of ``seconds`` that is kept for the last fit."""

GRACE = 0.5
"""Seconds that the last fit has in any case: what was paid for shall be of use."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdaptiveTables(Faces):
    """Release a graphical model of coded records, fitted to the tables that it would otherwise get wrong (AIM).

    Satisfies ``rho``-zCDP, and the tighter guarantee of its parts, whenever neighbours differ by one record in the
    sense of ``relation``, or by all ``records`` of a person. A record is a row of codes, one for each attribute; codes
    outside ``sizes`` are clamped. ``workload`` are sets of attributes whose tables shall be right, by default all of
    three. A model has at most ``cells`` entries: with more it can be more accurate, and takes longer. ``zeros`` are
    public masks of impossible combinations; ``determined`` says which attribute follows another, and how:
    ``{j: (i, values of j by values of i)}``. ``weights`` say how the budget for single attributes is shared, if not by
    their sizes: where those are not known before, the loss must not depend on them.

    >>> plan = AdaptiveTables(sizes=(2, 2, 3), rho=50, relation="add_remove")
    >>> model = plan.release([[0, 0, 1]] * 500 + [[1, 1, 2]] * 300)
    >>> bool(abs(model.marginal((0, 1))[0, 0] - 500) < 20), round(plan.loss.rho, 6)
    (True, 50.0)
    """

    sizes: tuple[int, ...]
    rho: Real
    relation: Relation
    records: int = 1
    workload: tuple[Attributes, ...] | None = None
    zeros: Zeros | None = field(default=None, compare=False)
    determined: Determined | None = field(default=None, compare=False)
    cells: int = CELLS
    weights: tuple[int, ...] | None = None
    known: Known = field(init=False, repr=False)
    singles: tuple[DiscreteGaussian, ...] = field(init=False, repr=False, compare=False)
    rounds: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_records(self.records)
        sizes = tuple(positive_size(size, "an attribute's size") for size in self.sizes)
        if not sizes:
            raise InvalidParameter("a product domain has at least one attribute.")
        store(self, rho=self.rho)
        rho = positive(self.rho, "rho")
        rules = known(sizes, self.zeros, self.determined)
        workload = None if self.workload is None else sets_of(self.workload, len(sizes))
        least = model_cells(rules.inner_sizes, rules.inner_zeros)
        if type(self.cells) is not int or self.cells < least:
            raise InvalidParameter(
                f"cells must be a whole number of at least {least:,}, what single attributes and zeros take: raise it, "
                "or coarsen the attributes with the most values."
            )
        weights = None if self.weights is None else tuple(positive_size(one, "a weight") for one in self.weights)
        if weights is not None and len(weights) != len(sizes):
            raise InvalidParameter("weights are one for each attribute.")
        powers = tuple(1 << (size.bit_length() - 1) for size in sizes)
        each = [powers[i] ** LARGER if weights is None else float(weights[i]) for i in rules.kept]
        count = ROUNDS * len(each) if len(each) > 1 else 0
        first = rho * SINGLES if count else rho
        later = shares_of([LEVELS[i * len(LEVELS) // count] for i in range(count)])
        for name, value in (
            ("sizes", sizes),
            ("known", rules),
            ("workload", workload),
            ("zeros", rules.zeros or None),
            ("determined", rules.determined or None),
            ("weights", weights),
            ("singles", tuple(self.noise(first * one) for one in shares_of(each))),
            ("rounds", tuple((rho - first) * one for one in later)),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        several = f", records={self.records}" if self.records > 1 else ""
        workload = f", workload={self.workload!r}" if self.workload is not None else ""
        workload += f", weights={self.weights!r}" if self.weights is not None else ""
        return (
            f"AdaptiveTables(sizes={self.sizes!r}, rho={show(self.rho)}, relation={self.relation!r}{several}{workload}"
            f"{self.known.words()}, cells={self.cells})"
        )

    @classmethod
    def for_budget(
        cls,
        epsilon: Real,
        delta: Real,
        *,
        sizes: tuple[int, ...],
        relation: Relation,
        records: int = 1,
        workload: tuple[Attributes, ...] | None = None,
        zeros: Zeros | None = None,
        determined: Determined | None = None,
        cells: int = CELLS,
        weights: tuple[int, ...] | None = None,
    ) -> "AdaptiveTables":
        """Return the synthesizer with the largest rho that is (epsilon, delta)-DP, by the exact curves of its parts.

        >>> round(float(AdaptiveTables.for_budget(1, 1e-9, sizes=(2, 2), relation="add_remove").rho), 4)
        0.0164
        """

        def made(rho: float) -> "AdaptiveTables":
            return cls(
                sizes=sizes,
                rho=rho,
                relation=relation,
                records=records,
                workload=workload,
                zeros=zeros,
                determined=determined,
                cells=cells,
                weights=weights,
            )

        return made(largest_rho(lambda rho: made(rho).loss, epsilon, delta))

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all measurements and choices."""
        parts: Counter[DiscreteGaussian | Exponential] = Counter(self.singles)
        for rho in self.rounds:
            parts.update(self.round_parts(rho, 1))
        return reduce(PrivacyLoss.__add__, (often * part.loss for part, often in parts.items())).under(self.relation)

    @property
    def sought(self) -> tuple[Attributes, ...]:
        """The sets of the workload among attributes that are measured, by their numbers among those."""
        if self.workload is None:
            return all_sets(len(self.known.kept))
        return tuple(self.known.inner(one) for one in self.workload)

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        return worst_pair(self.sizes, self.relation, self.records)

    def release(
        self, records: npt.ArrayLike, /, *, seconds: float | None = None, progress: Progress | None = None
    ) -> GraphicalModel:
        """Return a model of the records.

        ``seconds`` limits the time that is spent on fitting models and asking them, which depends on what was released
        alone: once it is nearly over, the tables of all further rounds are chosen by what the last model expects.
        Counting records and drawing noise are not timed. So how rounds end tells nothing more of the data. ``progress``
        is told how many tables have been measured, and how many it will be.
        """
        if seconds is not None and not seconds >= 0:
            raise InvalidParameter(f"seconds are a number from 0 on, or None, got {seconds!r}.")
        tally = self.known.records(tallied(records, self.sizes))
        with OneThread():
            return self.known.completed(_Run(self, tally, seconds, progress).model())

    def round_parts(self, rho: Fraction, largest: int) -> tuple[Exponential, DiscreteGaussian]:
        """Return choice and measurement of a round that costs rho, for scores with a largest weight."""
        sensitivity = largest * touched(self.relation) * self.records * GRID
        return choice_of(rho * CHOICE, sensitivity), self.noise(rho * (1 - CHOICE))

    def noise(self, rho: Fraction) -> DiscreteGaussian:
        """Return the noise of a table that costs rho."""
        return noise_of(rho, self.relation, self.records)


class _Run:
    """One release: what was paid, what was measured, and the model so far."""

    def __init__(self, plan: AdaptiveTables, tally: Tallied, seconds: float | None, progress: Progress | None) -> None:
        self.plan, self.tally, self.progress = plan, tally, progress
        self.full = plan.known.inner_sizes
        self.zeros = plan.known.inner_zeros
        self.limit, self.paid = Fraction(plan.rho), Fraction(plan.rho) - sum(plan.rounds)
        self.seconds = math.inf if seconds is None else seconds
        self.worked = Worked()
        sought = plan.sought
        self.candidates = closure(sought)
        self.weights = overlaps(self.candidates, sought)
        self.largest = max(self.weights.values())
        self.expected: dict[Attributes, Int64] = {}

    def model(self) -> GraphicalModel:
        """Run all rounds."""
        first = [
            self._measured(self.tally.table((i,), self.full), (i,), noise) for i, noise in enumerate(self.plan.singles)
        ]
        kept = {i for one in self.zeros for i in one}
        merged = merging(first, RARE, kept)
        tables = Tables(merged.records(self.tally), merged.sizes)
        told = [merged.measured(one) for one in first]
        growth = Growth(merged.sizes, self.full)
        for one in self.zeros:
            growth.add(one)
        count = len(self.plan.rounds)
        fitted = self._fitted(merged.sizes, told, None, last=not count)
        for done, rho in enumerate(self.plan.rounds, start=1):
            growth.add(self._round(rho, growth, tables, fitted.model, told))
            if done == count or not self._late():
                fitted = self._fitted(merged.sizes, told, fitted, last=done == count)
            if self.progress is not None:
                self.progress("tables", done, count)
        return merged.parted(fitted.model)

    def _round(
        self, rho: Fraction, growth: Growth, tables: Tables, model: GraphicalModel, told: list[Measured]
    ) -> Attributes:
        """Choose and measure one more table, and return its attributes.

        As long as the model stays as it was, no table is measured twice before all have been.
        """
        choice, noise = self.plan.round_parts(rho, self.largest)
        self.paid += rho
        with self.worked:
            fitting = self._fitting(growth)
            open_ones = [one for one in fitting if one in self.expected]
            if not open_ones:
                self.expected, open_ones = dict(expected_tables(model, fitting)), fitting
        sigma = float(noise.sigma)
        scores = [
            self.weights[one]
            * (tables.distance(one, self.expected[one]) - _whole(NOISE * noise_norm(sigma, self.expected[one].size)))
            for one in open_ones
        ]
        chosen = open_ones[choice.release(scores)]
        told.append(self._measured(tables.table(chosen), chosen, noise))
        del self.expected[chosen]
        return chosen

    def _fitting(self, growth: Growth) -> list[Attributes]:
        """Return the candidates for which the model stays small enough: smaller as long as less has been paid."""
        share = self.paid / self.limit
        cells = self.plan.cells * share
        return [
            one
            for one in self.candidates
            if growth.holds(one) or _within(growth.cells_with(one), (cells, FINER * cells))
        ]

    def _fitted(self, sizes: tuple[int, ...], told: Sequence[Measured], before: Fitted | None, *, last: bool) -> Fitted:
        left = (1.0 if last else 1 - LAST_FIT) * self.seconds - self.worked.seconds
        left = max(left, GRACE) if last else left
        self.expected = {}
        with self.worked:
            return fit(
                sizes,
                told,
                repeated=within(told),
                start=None if before is None else before.potentials,
                zeros=self.zeros,
                steps=LAST_STEPS if last else STEPS,
                close=CLOSE,
                deadline=None if math.isinf(left) else time.monotonic() + left,
            )

    def _late(self) -> bool:
        return self.worked.seconds > (1 - LAST_FIT) * self.seconds

    def _measured(self, table: Int64, attributes: Attributes, noise: DiscreteGaussian) -> Measured:
        return Measured(attributes, noise.release(table).astype(np.float64), float(noise.sigma))


def _whole(norm: float) -> int:
    return math.floor(norm * GRID)


def _within(cells: Iterable[int], limits: Iterable[Fraction]) -> bool:
    return all(one <= limit for one, limit in zip(cells, limits, strict=True))
