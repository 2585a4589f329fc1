"""Synthetic data of few combinations: all of them are counted with noise, and nothing is left to a model.

Where a table has few cells this is the best one can do: every answer is a sum of cells. Its error grows with the
number of cells that are summed, so that with many attributes tables of a few of them are better measured by themselves.

The proof. A record is in one cell: under add_remove the table changes by 1 in one entry, under replace_one by 1 in two
at most, and a person with several records moves it by as many, at worst all in one entry. So its L1 sensitivity is
``records`` or ``2 records`` and its squared L2 sensitivity ``records^2`` or ``2 records^2``. The rest is computed from
the noisy table.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, show, up
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.synthetic.budgets import largest_rho
from discreet.synthetic.coded import tallied
from discreet.synthetic.consistency.total import project_total
from discreet.synthetic.graphical.estimation import Measured
from discreet.synthetic.graphical.factor import Attributes, broadcast
from discreet.synthetic.graphical.junction_tree import junction_tree
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.operators.operator import positive_size
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["FullTable"]

Int64 = npt.NDArray[np.int64]
Masks = Mapping[Attributes, npt.NDArray[np.bool_]]
Progress = Callable[[str, int, int], None]

MOST_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FullTable(Faces):
    """Release the table of all combinations of coded records, as a model.

    Satisfies ``rho``-zCDP, or ``epsilon``-DP where that is said instead, whenever neighbours differ by one record in
    the sense of ``relation``, or by all ``records`` of a person. A record is a row of codes, one for each attribute;
    codes outside ``sizes`` are clamped. ``zeros`` are masks of combinations that are known to be impossible.

    >>> table = FullTable(sizes=(2, 3), epsilon=1, relation="add_remove")
    >>> model = table.release([[0, 2]] * 500 + [[1, 0]] * 500)
    >>> bool(abs(model.marginal((0, 1))[0, 2] - 500) < 30), table.loss.epsilon()
    (True, 1.0)
    """

    sizes: tuple[int, ...]
    relation: Relation
    rho: Real | None = None
    epsilon: Real | None = None
    records: int = 1
    zeros: Masks | None = field(default=None, compare=False)
    noise: DiscreteGaussian | Geometric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_records(self.records)
        sizes = tuple(positive_size(size, "an attribute's size") for size in self.sizes)
        if not sizes or math.prod(sizes) > MOST_CELLS:
            raise InvalidParameter(f"a full table has at least one attribute and at most {MOST_CELLS:,} combinations.")
        if (self.rho is None) == (self.epsilon is None):
            raise InvalidParameter("say rho or epsilon: Gaussian noise costs the one, geometric noise the other.")
        object.__setattr__(self, "sizes", sizes)
        touched = 1 if self.relation == "add_remove" else 2
        if self.rho is not None:
            store(self, rho=self.rho)
            squared, rho = Fraction(touched * self.records**2), positive(self.rho, "rho")
            sigma = up(lambda: ball(squared / (2 * rho)).sqrt())
            noise: Any = DiscreteGaussian(sensitivity=up(lambda: ball(squared).sqrt()), sigma=sigma)
        else:
            positive(self.epsilon, "epsilon")
            store(self, epsilon=self.epsilon)
            noise = Geometric(sensitivity=touched * self.records, epsilon=self.epsilon)  # type: ignore[arg-type]
        object.__setattr__(self, "noise", noise)

    def __repr__(self) -> str:
        cost = f"epsilon={show(self.epsilon)}" if self.epsilon is not None else f"rho={show(self.rho)}"  # type: ignore[arg-type]
        several = f", records={self.records}" if self.records > 1 else ""
        return f"FullTable(sizes={self.sizes!r}, {cost}, relation={self.relation!r}{several})"

    @classmethod
    def for_budget(
        cls,
        epsilon: Real,
        delta: Real = 0,
        *,
        sizes: tuple[int, ...],
        relation: Relation,
        records: int = 1,
        zeros: Masks | None = None,
    ) -> "FullTable":
        """Return the table with the least noise that stays within (epsilon, delta); geometric noise without a delta."""
        made: dict[str, Any] = {"sizes": sizes, "relation": relation, "records": records, "zeros": zeros}
        if not delta:
            return cls(epsilon=epsilon, **made)
        return cls(rho=largest_rho(lambda rho: cls(rho=rho, **made).loss, epsilon, delta), **made)

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the one table."""
        return self.noise.loss.under(self.relation)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of each cell, or a little more."""
        if isinstance(self.noise, DiscreteGaussian):
            return float(self.noise.sigma)
        return math.sqrt(2) * float(self.noise.scale)

    def release(
        self, records: npt.ArrayLike, /, *, seconds: float | None = None, progress: Progress | None = None
    ) -> GraphicalModel:
        """Return a model of the records; it is made at once, whatever ``seconds`` say."""
        return self.fitted(self.measured(records, progress=progress))

    def measured(self, records: npt.ArrayLike, /, *, progress: Progress | None = None) -> list[Measured]:
        """Return the noisy table itself, which is all that is ever told of the records."""
        every = tuple(range(len(self.sizes)))
        noisy = self.noise.release(tallied(records, self.sizes).table(every, self.sizes))
        if progress is not None:
            progress("the table", 1, 1)
        return [Measured(every, noisy.astype(np.float64), self.deviation)]

    def fitted(self, told: list[Measured]) -> GraphicalModel:
        """Return the nearest table without negative counts and without what is impossible, as a model."""
        (one,) = told
        possible = np.ones(self.sizes, dtype=np.bool_)
        for attributes, mask in (self.zeros or {}).items():
            possible &= ~broadcast(np.asarray(mask, dtype=np.float64), attributes, one.attributes).astype(np.bool_)
        if not possible.any():
            raise InvalidParameter("the masks leave nothing possible.")
        counts = one.counts[possible]
        total = max(1.0, float(counts.sum()))
        table = np.zeros(self.sizes)
        table[possible] = project_total(counts, total)
        kept = tuple(told) if isinstance(self.noise, DiscreteGaussian) else ()  # intervals are for that noise alone
        with np.errstate(divide="ignore"):
            return GraphicalModel(junction_tree(self.sizes, [one.attributes]), [np.log(table)], total, kept)

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        one = np.zeros((self.records, len(self.sizes)), dtype=np.int64)
        gone = self.relation == "add_remove"
        return one, one[:0] if gone else np.array([[size - 1 for size in self.sizes]] * self.records)
