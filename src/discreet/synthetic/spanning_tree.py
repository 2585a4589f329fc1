"""Synthetic data from the pairs of attributes that matter: a maximum spanning tree found privately, and mended.

McKenna, Miklau and Sheldon, "Winning the NIST Contest: A Scalable and General Approach to Differentially Private
Synthetic Data", Journal of Privacy and Confidentiality 2021 (MST). A third of the budget measures all single
attributes. Values that drown in its noise are put together. A tenth chooses pairs, one after the other, by the
exponential mechanism: how far the pair is from independence, among those that close no cycle. The rest measures the
chosen pairs, and the model is the tree of them. (The authors give a third to each part; pairs have the most entries.)

A tree says nothing of what attributes have in common beside it, and two edges that are nearly as good may lead to trees
of which one is far better. So some more pairs are measured here, a third as many as there are attributes: those that
the model so far gets most wrong beyond the noise of measuring them, chosen in the same way, as long as the model stays
small. ``mended=0`` is the tree alone.

The proof. A record is in one entry of each table: under add_remove a table changes by 1 in one entry, under replace_one
by 1 in two at most. So the squared L2 sensitivity of a table is 1 or 2, and the distance in L1 norm of an exact table
from one that is fixed changes by at most 1 or 2; it is computed exactly, since the fixed table is rounded to multiples
of 2^-10, and everything is counted in those. A person with several records moves a table by as many, at worst all in
one entry. Which values are put together, which pairs may still be chosen, and the model that pairs are compared with
depend on what was released alone.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from discreet.noise.fast import Floats
from discreet.synthetic.aim_rounds import GRID, LARGEST_TOTAL, Tables, Worked, expected_tables, noise_norm
from discreet.synthetic.budgets import largest_rho
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

SINGLES, CHOICES, PAIRS = Fraction(1, 3), Fraction(1, 10), Fraction(17, 30)
"""How the budget is shared."""

RARE = 3.0
"""Values with noisy counts below so many standard deviations are put together."""

LARGEST_TABLE = 1 << 24
LARGEST_MODEL = 1 << 25
STEPS = 300

MENDED = 3
"""One more pair is measured for so many attributes."""

SMALL, FINER = 1 << 17, 1 << 20
"""How many entries a model may have for a pair that is no edge, by values put together and by all values."""

FEW_STEPS, CLOSE = 60, 0.01
"""How long a model is fitted that only serves to find the next pair, and how closely every one of them."""

SHRINKAGE = 0.1
LEAST = 0.01
"""A count of a tree below this is taken for it where the next fit begins."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpanningTree(Faces):
    """Release a graphical model of coded records: a tree of pairs of attributes, and ``mended`` pairs more.

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
    mended: int | None = None
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
        if self.mended is not None and (type(self.mended) is not int or self.mended < 0):
            raise InvalidParameter("mended is how many pairs are measured beside the tree: a whole number from 0 on.")
        rounds = count - 1 + self._mended(count)
        sensitivity = touched(self.relation) * self.records * GRID
        for name, value in (
            ("sizes", sizes),
            ("known", rules),
            ("zeros", rules.zeros or None),
            ("determined", rules.determined or None),
            ("singles", self._noise((rho if alone else rho * SINGLES) / count)),
            ("pairs", None if alone else self._noise(rho * PAIRS / rounds)),
            ("choice", None if alone else choice_of(rho * CHOICES / rounds, sensitivity)),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        several = f", records={self.records}" if self.records > 1 else ""
        rules = self.known.words() + ("" if self.mended is None else f", mended={self.mended}")
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
        mended: int | None = None,
    ) -> "SpanningTree":
        """Return the tree with the largest rho that stays within (epsilon, delta), by the exact curves of its parts."""

        def made(rho: float) -> "SpanningTree":
            return cls(
                sizes=sizes,
                rho=rho,
                relation=relation,
                records=records,
                zeros=zeros,
                determined=determined,
                mended=mended,
            )

        return made(largest_rho(lambda rho: made(rho).loss, epsilon, delta))

    @property
    def domain(self) -> Records:
        """Coded records, one row each."""
        return Records(relation=self.relation)

    @property
    def rounds(self) -> int:
        """How many pairs are chosen and measured."""
        count = len(self.known.kept)
        return 0 if count == 1 else count - 1 + self._mended(count)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all measurements and choices."""
        total = len(self.known.kept) * self.singles.loss
        if self.pairs is not None and self.choice is not None:
            total = total + self.rounds * self.pairs.loss + self.rounds * self.choice.loss
        return total.under(self.relation)

    def release(
        self, records: npt.ArrayLike, /, *, seconds: float | None = None, progress: Progress | None = None
    ) -> GraphicalModel:
        """Return a model of the records.

        ``seconds`` limits how long models are fitted, which sees what was released alone. ``progress`` is told how
        many pairs have been measured.
        """
        sizes, zeros = self.known.inner_sizes, self.known.inner_zeros
        tally = self.known.records(tallied(records, self.sizes))
        exact = Tables(tally, sizes)
        first = [self._measured(exact, (i,), self.singles) for i in range(len(sizes))]
        merged = merging(first, RARE, {i for one in zeros for i in one})
        exact = Tables(merged.records(tally), merged.sizes)
        told = [merged.measured(one) for one in first]
        fits = _Fits(merged.sizes, zeros, seconds)
        if self.pairs is not None:
            edges = self._chosen(exact, told)
            while len(told) < len(sizes) + self.rounds:
                if len(told) >= len(sizes) + len(edges):
                    fitting = self._fitting(merged.sizes, [one.attributes for one in told])
                    if not fitting:  # what is left is not spent
                        break
                    edges.append(self._worst(exact, fitting, fits.model(told)))
                told.append(self._measured(exact, edges[len(told) - len(sizes)], self.pairs))
                if progress is not None:
                    progress("pairs", len(told) - len(sizes), self.rounds)
        return self.known.completed(merged.parted(fits.model(told, last=True)))

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        return worst_pair(self.sizes, self.relation, self.records)

    def _mended(self, count: int) -> int:
        return count // MENDED if self.mended is None else self.mended

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
        growth = self._growth(sizes, ())
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

    def _growth(self, sizes: tuple[int, ...], sets: Iterable[Attributes]) -> Growth:
        growth = Growth(sizes, self.known.inner_sizes)
        for one in (*self.known.inner_zeros, *sets):
            growth.add(one)
        return growth

    def _fitting(self, sizes: tuple[int, ...], sets: Iterable[Attributes]) -> list[Attributes]:
        """Return the pairs with which a model of some tables stays small; it may be too large as it is."""
        growth = self._growth(sizes, sets)
        found: list[Attributes] = []
        for pair in combinations(range(len(sizes)), 2):
            merged, whole = growth.cells_with(pair)
            if merged <= SMALL and whole <= FINER:
                found.append(pair)
        return found

    def _worst(self, exact: Tables, pairs: Sequence[Attributes], model: GraphicalModel) -> Attributes:
        """Return one of the pairs that the model gets wrong by more than the noise of measuring them."""
        assert self.choice is not None  # noqa: S101  there are several attributes
        assert self.pairs is not None  # noqa: S101  and so there are pairs
        expected, sigma = expected_tables(model, pairs), float(self.pairs.sigma)
        scores = [
            exact.distance(pair, expected[pair]) - math.floor(noise_norm(sigma, expected[pair].size) * GRID)
            for pair in pairs
        ]
        return pairs[self.choice.release(scores)]


class _Fits:
    """Models of what has been measured so far: a tree of pairs in closed form, anything else from where the last was.

    The clock runs while models are fitted alone, so that it tells nothing of data.
    """

    def __init__(self, sizes: tuple[int, ...], zeros: Zeros, seconds: float | None) -> None:
        self.sizes, self.zeros, self.seconds = sizes, zeros, math.inf if seconds is None else seconds
        self.worked = Worked()
        self.start: Mapping[Attributes, Floats] = {}

    def model(self, told: Sequence[Measured], *, last: bool = False) -> GraphicalModel:
        """Return the model of all measurements."""
        if not self.zeros and len(told) < 2 * len(self.sizes):
            tree = fit_tree(self.sizes, told)
            self.start = _potentials(tree, told)
            return tree
        left = (self.seconds if last else self.seconds / 2) - self.worked.seconds
        with self.worked:
            found = fit(
                self.sizes,
                told,
                start=self.start,
                zeros=self.zeros,
                steps=STEPS if last else FEW_STEPS,
                shrinkage=SHRINKAGE,
                close=CLOSE,
                deadline=None if math.isinf(left) else time.monotonic() + left,
            )
        self.start = found.potentials
        return found.model


def _potentials(tree: GraphicalModel, told: Sequence[Measured]) -> Mapping[Attributes, Floats]:
    """Return a tree of pairs as potentials of what was measured: its pairs over its singles, as often as they meet."""
    meets = Counter(i for one in told if len(one.attributes) == 2 for i in one.attributes)
    logs = {one.attributes: np.log(np.maximum(tree.marginal(one.attributes), LEAST)) for one in told}
    return {one: table if len(one) == 2 else table * (1 - meets[one[0]]) for one, table in logs.items()}
