"""Synthetic data from the pairs of attributes that matter: a maximum spanning tree found privately.

McKenna, Miklau and Sheldon, "Winning the NIST Contest: A Scalable and General Approach to Differentially Private
Synthetic Data", Journal of Privacy and Confidentiality 2021 (MST). A fifth of the budget measures all single
attributes. Values that drown in its noise are put together. A fifth chooses pairs, one after the other, by the
exponential mechanism: how far the pair is from independence, among those that close no cycle. The rest measures the
chosen pairs, and the model is the tree of them. (The authors give a third to each part; pairs have the most entries.)

The proof. A record is in one entry of each table: under add_remove a table changes by 1 in one entry, under replace_one
by 1 in two at most. So the squared L2 sensitivity of a table is 1 or 2, and the distance in L1 norm of an exact table
from one that is fixed changes by at most 1 or 2; it is computed exactly, since the fixed table is rounded to multiples
of 2^-10, and everything is counted in those. A person with several records moves a table by as many, at worst all in
one entry. Which values are put together, and which pairs may still be chosen, depends on what was released alone.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

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
from discreet.synthetic.aim_rounds import GRID, LARGEST_TOTAL, Tables
from discreet.synthetic.coded import tallied
from discreet.synthetic.graphical.estimation import fit
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.junction_tree import Growth
from discreet.synthetic.graphical.measured import Measured, total_of
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.graphical.tree_fit import fit_tree, singles_of
from discreet.synthetic.known import Determined, Known, Zeros, known
from discreet.synthetic.merging import merging
from discreet.synthetic.operators.operator import positive_size
from discreet.synthetic.parts import choice_of, noise_of, touched, worst_pair
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["SpanningTree"]

Int64 = npt.NDArray[np.int64]
Progress = Callable[[str, int, int], None]

SINGLES, CHOICES, PAIRS = Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)
"""How the budget is shared."""

RARE = 3.0
"""Values with noisy counts below so many standard deviations are put together."""

LARGEST_TABLE = 1 << 24
LARGEST_MODEL = 1 << 25
STEPS = 300


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpanningTree(Faces):
    """Release a graphical model of coded records: a tree of pairs of attributes.

    Satisfies ``rho``-zCDP, and the tighter guarantee of its parts, whenever neighbours differ by one record in the
    sense of ``relation``, or by all ``records`` of a person. A record is a row of codes, one for each attribute; codes
    outside ``sizes`` are clamped. ``zeros`` are public masks of impossible combinations; ``determined`` says which
    attribute follows another, and how: ``{j: (i, values of j by values of i)}``.

    >>> tree = SpanningTree(sizes=(2, 2, 3), rho=50, relation="add_remove")
    >>> model = tree.release([[0, 0, 1]] * 500 + [[1, 1, 2]] * 300)
    >>> bool(abs(model.marginal((0, 1))[0, 0] - 500) < 20)
    True
    >>> tree.loss.rho <= 50
    True
    """

    sizes: tuple[int, ...]
    rho: Real
    relation: Relation
    records: int = 1
    zeros: Zeros | None = field(default=None, compare=False)
    determined: Determined | None = field(default=None, compare=False)
    known: Known = field(init=False, repr=False)
    singles: DiscreteGaussian = field(init=False, repr=False, compare=False)
    pairs: DiscreteGaussian | None = field(init=False, repr=False, compare=False)
    choice: Exponential | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_records(self.records)
        sizes = tuple(positive_size(size, "an attribute's size") for size in self.sizes)
        if not sizes:
            raise InvalidParameter("a product domain has at least one attribute.")
        largest = sorted(sizes)[-2:]
        if math.prod(largest) > LARGEST_TABLE:
            raise InvalidParameter(f"two attributes have at most {LARGEST_TABLE:,} combinations; coarsen one of them.")
        store(self, rho=self.rho)
        rules = known(sizes, self.zeros, self.determined)
        rho, count = positive(self.rho, "rho"), len(rules.kept)
        alone = count == 1
        sensitivity = touched(self.relation) * self.records * GRID
        for name, value in (
            ("sizes", sizes),
            ("known", rules),
            ("zeros", rules.zeros or None),
            ("determined", rules.determined or None),
            ("singles", self._noise((rho if alone else rho * SINGLES) / count)),
            ("pairs", None if alone else self._noise(rho * PAIRS / (count - 1))),
            ("choice", None if alone else choice_of(rho * CHOICES / (count - 1), sensitivity)),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        several = f", records={self.records}" if self.records > 1 else ""
        rules = self.known.words()
        return f"SpanningTree(sizes={self.sizes!r}, rho={show(self.rho)}, relation={self.relation!r}{several}{rules})"

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
        determined: Determined | None = None,
    ) -> "SpanningTree":
        """Return the tree with the largest rho that stays within (epsilon, delta), by the exact curves of its parts."""

        def made(rho: float) -> "SpanningTree":
            return cls(sizes=sizes, rho=rho, relation=relation, records=records, zeros=zeros, determined=determined)

        def fits(rho: float) -> bool:
            return made(rho).loss.epsilon(delta) <= float(epsilon)

        low, high = 0.0, 1.0
        while fits(high):
            low, high = high, 2 * high
        while not low or high - low > low / 500:
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return made(low)

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all measurements and choices."""
        count = len(self.known.kept)
        total = count * self.singles.loss
        if self.pairs is not None and self.choice is not None:
            total = total + (count - 1) * self.pairs.loss + (count - 1) * self.choice.loss
        return total.under(self.relation)

    def release(
        self, records: npt.ArrayLike, /, *, seconds: float | None = None, progress: Progress | None = None
    ) -> GraphicalModel:
        """Return a model of the records.

        ``seconds`` limits how long the model is fitted after everything was measured: it decides nothing private.
        ``progress`` is told how many pairs have been measured.
        """
        sizes, zeros = self.known.inner_sizes, self.known.inner_zeros
        tally = self.known.records(tallied(records, self.sizes))
        exact = Tables(tally, sizes)
        first = [self._measured(exact, (i,), self.singles) for i in range(len(sizes))]
        merged = merging(first, RARE, {i for one in zeros for i in one})
        exact = Tables(merged.records(tally), merged.sizes)
        told = [merged.measured(one) for one in first]
        if self.pairs is not None:
            edges = self._chosen(exact, told)
            for done, edge in enumerate(edges, 1):
                told.append(self._measured(exact, edge, self.pairs))
                if progress is not None:
                    progress("pairs", done, len(edges))
        return self.known.completed(merged.parted(_fitted(merged.sizes, told, zeros, seconds)))

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        return worst_pair(self.sizes, self.relation, self.records)

    def _noise(self, rho: Fraction) -> DiscreteGaussian:
        return noise_of(rho, self.relation, self.records)

    def _measured(self, exact: Tables, attributes: Attributes, noise: DiscreteGaussian) -> Measured:
        return Measured(attributes, noise.release(exact.table(attributes)).astype(np.float64), float(noise.sigma))

    def _chosen(self, exact: Tables, told: Sequence[Measured]) -> list[Attributes]:
        """Return the edges of a tree, chosen one by one among those that close no cycle."""
        assert self.choice is not None  # noqa: S101  there are several attributes
        sizes = exact.sizes
        total = total_of(told)
        scale = GRID * min(1.0, LARGEST_TOTAL / total) / total
        singles = singles_of(sizes, told, total)
        scores = {}
        for i, j in combinations(range(len(sizes)), 2):
            expected = np.rint(np.outer(singles[i], singles[j]) * scale).astype(np.int64)
            scores[i, j] = exact.distance((i, j), expected)
        zeros = self.known.inner_zeros
        growth = Growth(sizes, self.known.inner_sizes)
        for one in zeros:
            growth.add(one)
        part = list(range(len(sizes)))
        edges: list[Attributes] = []
        while open_ones := [
            edge
            for edge in scores
            if part[edge[0]] != part[edge[1]] and (not zeros or max(growth.cells_with(edge)) <= LARGEST_MODEL)
        ]:
            chosen = open_ones[self.choice.release([scores[edge] for edge in open_ones])]
            edges.append(chosen)
            growth.add(chosen)
            kept, gone = part[chosen[0]], part[chosen[1]]
            part = [kept if one == gone else one for one in part]
        return edges


def _fitted(sizes: tuple[int, ...], told: Sequence[Measured], zeros: Zeros, seconds: float | None) -> GraphicalModel:
    """Return the model of all measurements: with impossible entries it may be no tree of pairs."""
    if not zeros:
        return fit_tree(sizes, told)
    deadline = None if seconds is None else time.monotonic() + seconds
    return fit(sizes, told, zeros=zeros, steps=STEPS, deadline=deadline).model
