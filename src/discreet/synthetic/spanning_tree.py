"""Synthetic data from the pairs of attributes that matter: a maximum spanning tree found privately.

McKenna, Miklau and Sheldon, "Winning the NIST Contest: A Scalable and General Approach to Differentially Private
Synthetic Data", Journal of Privacy and Confidentiality 2021 (MST). A fifth of the budget measures all single
attributes. Values that drown in its noise are put together. A fifth chooses pairs, one after the other, by the
exponential mechanism: how far the pair is from independence, among those that close no cycle. The rest measures the
chosen pairs, and the model is the tree of them. (The authors give a third to each part; pairs have the most entries.)

The proof. A record is in one entry of each table: under add_remove a table changes by 1 in one entry, under replace_one
by 1 in two at most. So the squared L2 sensitivity of a table is 1 or 2, and the distance in L1 norm of an exact table
from one that is fixed changes by at most 1 or 2; it is computed exactly, since the fixed table is rounded to multiples
of 2^-10. A person with several records moves a table by as many, at worst all in one entry. Which values are put
together, and which pairs may still be chosen, depends on what was released alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, show, up
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.graphical.estimation import Measured, total_of
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.graphical.tree_fit import fit_tree, singles_of
from discreet.synthetic.operators.operator import positive_size
from discreet.synthetic.records import check_records
from discreet.units import Relation, check_relation

__all__ = ["SpanningTree"]

Int64 = npt.NDArray[np.int64]

SINGLES, CHOICES, PAIRS = Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)
"""How the budget is shared."""

RARE = 3.0
"""Values with noisy counts below so many standard deviations are put together."""

GRID = 1024.0
"""What is independent is compared as multiples of one over this."""

LARGEST_TABLE = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpanningTree(Faces):
    """Release a graphical model of coded records: a tree of pairs of attributes.

    Satisfies ``rho``-zCDP, and the tighter guarantee of its parts, whenever neighbours differ by one record in the
    sense of ``relation``, or by all ``records`` of a person. A record is a row of codes, one for each attribute; codes
    outside ``sizes`` are clamped.

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
        object.__setattr__(self, "sizes", sizes)
        rho, count = positive(self.rho, "rho"), len(sizes)
        alone = count == 1
        object.__setattr__(self, "singles", self._noise((rho if alone else rho * SINGLES) / count))
        object.__setattr__(self, "pairs", None if alone else self._noise(rho * PAIRS / (count - 1)))
        epsilon = Fraction(0) if alone else Fraction(math.sqrt(8 * float(rho * CHOICES / (count - 1))) * (1 - 1e-12))
        chosen = None if alone else Exponential(epsilon=epsilon, sensitivity=self.touched * self.records)
        object.__setattr__(self, "choice", chosen)

    def __repr__(self) -> str:
        several = f", records={self.records}" if self.records > 1 else ""
        return f"SpanningTree(sizes={self.sizes!r}, rho={show(self.rho)}, relation={self.relation!r}{several})"

    @classmethod
    def for_budget(
        cls, epsilon: Real, delta: Real, *, sizes: tuple[int, ...], relation: Relation, records: int = 1
    ) -> "SpanningTree":
        """Return the tree with the largest rho that stays within (epsilon, delta), by the exact curves of its parts."""

        def fits(rho: float) -> bool:
            tree = cls(sizes=sizes, rho=rho, relation=relation, records=records)
            return tree.loss.epsilon(delta) <= float(epsilon)

        low, high = 0.0, 1.0
        while fits(high):
            low, high = high, 2 * high
        for _ in range(20):
            middle = (low + high) / 2
            fits = cls(sizes=sizes, rho=middle, relation=relation, records=records).loss.epsilon(delta) <= float(
                epsilon
            )
            low, high = (middle, high) if fits else (low, middle)
            if low and high - low < low / 500:
                break
        return cls(sizes=sizes, rho=low, relation=relation, records=records)

    @property
    def touched(self) -> int:
        """How many entries of a table may change between neighbours, each by one."""
        return 1 if self.relation == "add_remove" else 2

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all measurements and choices."""
        count = len(self.sizes)
        total = count * self.singles.loss
        if self.pairs is not None and self.choice is not None:
            total = total + (count - 1) * self.pairs.loss + (count - 1) * self.choice.loss
        return total.under(self.relation)

    def release(self, records: npt.ArrayLike, /) -> GraphicalModel:
        """Return a model of the records."""
        tally = tallied(records, self.sizes)
        first = [self._measured(tally, (i,), self.sizes, self.singles) for i in range(len(self.sizes))]
        if self.pairs is None or self.choice is None:
            return fit_tree(self.sizes, first)
        merged = [_merged(one) for one in first]
        small = tuple(int(places.max()) + 1 for places in merged)
        tally = tally.coarsened(merged)
        told = [_summed(one, places, size) for one, places, size in zip(first, merged, small, strict=True)]
        edges = self._chosen(tally, small, told)
        told += [self._measured(tally, edge, small, self.pairs) for edge in edges]
        return _spread(fit_tree(small, told), merged, first)

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        one = np.zeros((self.records, len(self.sizes)), dtype=np.int64)
        gone = self.relation == "add_remove"
        return one, one[:0] if gone else np.array([[size - 1 for size in self.sizes]] * self.records)

    def _noise(self, rho: Fraction) -> DiscreteGaussian:
        """Return the noise of a table that costs rho."""
        squared = Fraction(self.touched * self.records**2)
        sigma = up(lambda: ball(squared / (2 * rho)).sqrt())
        return DiscreteGaussian(sensitivity=up(lambda: ball(squared).sqrt()), sigma=sigma)

    def _measured(
        self, tally: Tallied, attributes: Attributes, sizes: tuple[int, ...], noise: DiscreteGaussian
    ) -> Measured:
        noisy = noise.release(tally.table(attributes, sizes)).astype(np.float64)
        return Measured(attributes, noisy, float(noise.sigma))

    def _chosen(self, tally: Tallied, sizes: tuple[int, ...], told: Sequence[Measured]) -> list[Attributes]:
        """Return the edges of a tree, chosen one by one among those that close no cycle."""
        assert self.choice is not None  # noqa: S101  there are several attributes
        total = total_of(told)
        singles = singles_of(sizes, told, total)
        scores = {}
        for i, j in combinations(range(len(sizes)), 2):
            expected = np.rint(np.outer(singles[i], singles[j]) / total * GRID) / GRID
            scores[i, j] = float(np.abs(tally.table((i, j), sizes) - expected).sum())
        part = list(range(len(sizes)))
        edges: list[Attributes] = []
        while len(edges) < len(sizes) - 1:
            open_ones = [edge for edge in scores if part[edge[0]] != part[edge[1]]]
            chosen = open_ones[self.choice.release([scores[edge] for edge in open_ones])]
            edges.append(chosen)
            kept, gone = part[chosen[0]], part[chosen[1]]
            part = [kept if one == gone else one for one in part]
        return edges


def _merged(one: Measured) -> Int64:
    """Return the new code of each value: those that drown in noise share the last one."""
    rare = one.counts < RARE * one.sigma
    codes = np.cumsum(~rare) - 1
    kept = int((~rare).sum())
    return np.where(rare, kept if rare.any() else 0, codes).astype(np.int64)


def _summed(one: Measured, places: Int64, size: int) -> Measured:
    """Return a measurement of merged values; the noise of the last one is that of several.

    It is told with the smallest of their deviations, which only moves weights.
    """
    counts = np.zeros(size)
    np.add.at(counts, places, one.counts)
    return Measured(one.attributes, counts, one.sigma)


def _spread(model: GraphicalModel, merged: Sequence[Int64], first: Sequence[Measured]) -> GraphicalModel:
    """Return the model on all values: those that were put together share what is theirs by their noisy counts."""
    parts: list[Floats] = []
    for places, one in zip(merged, first, strict=True):
        weights = np.maximum(one.counts, 0.0) + one.sigma / 10
        sums = np.zeros(int(places.max()) + 1)
        np.add.at(sums, places, weights)
        parts.append(weights / sums[places])
    return model.refined(merged, parts)
