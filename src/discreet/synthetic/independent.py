"""Synthetic data from single attributes alone: the product of their noisy tables.

Every attribute's counts are measured with discrete Gaussian noise (Canonne, Kamath and Steinke, NeurIPS 2020), each
with the same share of rho. The model takes attributes as independent. It is what any other synthesizer must beat, and
it is the one to take where records are so few that no pair rises above its noise.

The proof. A record is in one entry of each table: under add_remove a table changes by 1 in one entry, under replace_one
by 1 in two at most, and a person with several records moves it by as many, at worst all in one entry. So the squared L2
sensitivity of a table is ``records^2`` or ``2 records^2``. The model is a function of the noisy tables.
"""

import time
from collections.abc import Callable
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
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.synthetic.budgets import largest_rho
from discreet.synthetic.coded import tallied
from discreet.synthetic.graphical.estimation import fit
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.graphical.tree_fit import fit_tree
from discreet.synthetic.known import Known, Zeros, known
from discreet.synthetic.operators.operator import positive_size
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["Independent"]

Int64 = npt.NDArray[np.int64]
Progress = Callable[[str, int, int], None]

LARGEST_TABLE = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Independent(Faces):
    """Release a model of coded records in which all attributes are independent.

    Satisfies ``rho``-zCDP, and the tighter guarantee of its parts, whenever neighbours differ by one record in the
    sense of ``relation``, or by all ``records`` of a person. A record is a row of codes, one for each attribute; codes
    outside ``sizes`` are clamped. ``zeros`` are masks of combinations that are known to be impossible: what is
    independent is then what is left.

    >>> alone = Independent(sizes=(2, 3), rho=50, relation="add_remove")
    >>> model = alone.release([[0, 2]] * 500 + [[1, 0]] * 500)
    >>> bool(abs(model.marginal((0, 1))[0, 2] - 250) < 20)
    True
    >>> alone.loss.rho <= 50
    True
    """

    sizes: tuple[int, ...]
    rho: Real
    relation: Relation
    records: int = 1
    zeros: Zeros | None = field(default=None, compare=False)
    known: Known = field(init=False, repr=False)
    noise: DiscreteGaussian = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_records(self.records)
        sizes = tuple(positive_size(size, "an attribute's size") for size in self.sizes)
        if not sizes:
            raise InvalidParameter("a product domain has at least one attribute.")
        if max(sizes) > LARGEST_TABLE:
            raise InvalidParameter(f"an attribute has at most {LARGEST_TABLE:,} values; coarsen it.")
        store(self, rho=self.rho)
        rules = known(sizes, self.zeros, None)
        for name, value in (("sizes", sizes), ("known", rules), ("zeros", rules.zeros or None)):
            object.__setattr__(self, name, value)
        share = positive(self.rho, "rho") / len(sizes)
        object.__setattr__(self, "noise", table_noise(share, self.touched, self.records))

    def __repr__(self) -> str:
        several = f", records={self.records}" if self.records > 1 else ""
        rest = f"{several}{self.known.words()}"
        return f"Independent(sizes={self.sizes!r}, rho={show(self.rho)}, relation={self.relation!r}{rest})"

    @classmethod
    def for_budget(
        cls,
        epsilon: Real,
        delta: Real,
        *,
        sizes: tuple[int, ...],
        relation: Relation,
        records: int = 1,
        zeros: Zeros | None = None,
    ) -> "Independent":
        """Return the synthesizer with the largest rho that stays within (epsilon, delta).

        >>> 0.99 < Independent.for_budget(1, 1e-6, sizes=(2, 3), relation="add_remove").loss.epsilon(1e-6) <= 1
        True
        """
        made: dict[str, Any] = {"sizes": sizes, "relation": relation, "records": records, "zeros": zeros}
        return cls(rho=largest_rho(lambda rho: cls(rho=rho, **made).loss, epsilon, delta), **made)

    @property
    def touched(self) -> int:
        """How many entries of a table may change between neighbours, each by as many as a person has records."""
        return 1 if self.relation == "add_remove" else 2

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of one table for each attribute."""
        return (len(self.sizes) * self.noise.loss).under(self.relation)

    def release(
        self, records: npt.ArrayLike, /, *, seconds: float | None = None, progress: Progress | None = None
    ) -> GraphicalModel:
        """Return a model of the records.

        All tables are measured whatever the clock says: ``seconds`` bound only how long a model with impossible
        combinations is fitted to them.
        """
        told = self.measured(records, progress=progress)
        if not self.zeros:
            return fit_tree(self.sizes, told)
        deadline = None if seconds is None else time.monotonic() + seconds
        return fit(self.sizes, told, zeros=self.zeros, deadline=deadline).model

    def measured(self, records: npt.ArrayLike, /, *, progress: Progress | None = None) -> list[Measured]:
        """Return the noisy tables themselves, which is all that is ever told of the records."""
        tally, told = tallied(records, self.sizes), []
        for i in range(len(self.sizes)):
            noisy = self.noise.release(tally.table((i,), self.sizes))
            told.append(Measured((i,), noisy.astype(np.float64), float(self.noise.sigma)))
            if progress is not None:
                progress("single attributes", i + 1, len(self.sizes))
        return told

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        one = np.zeros((self.records, len(self.sizes)), dtype=np.int64)
        gone = self.relation == "add_remove"
        return one, one[:0] if gone else np.array([[size - 1 for size in self.sizes]] * self.records)


def table_noise(rho: Fraction, touched: int, records: int) -> DiscreteGaussian:
    """Return the noise of a table that costs rho, where ``touched`` entries change by ``records`` each.

    >>> float(table_noise(Fraction(1, 2), 1, 3).sigma)
    3.0
    """
    squared = Fraction(touched * records**2)
    sigma = up(lambda: ball(squared / (2 * rho)).sqrt())
    return DiscreteGaussian(sensitivity=up(lambda: ball(squared).sqrt()), sigma=sigma)
