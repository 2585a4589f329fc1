"""Synthetic data from a Bayesian network that is found privately.

Zhang, Cormode, Procopiuc, Srivastava and Xiao, "PrivBayes: Private Data Release via Bayesian Networks", SIGMOD 2014 and
ACM Transactions on Database Systems 2017. Attributes join the network one by one, each with parents among those before
it, chosen by the exponential mechanism: how far the attribute is from being independent of them (the paper's score R).
Parents are as many as leave a table useful: its cells hold on average ``theta`` times the noise, by the number of
records that the first tables tell. The model is the product of all noisy conditional tables.

The score. In counts it is ``R = sum |c(x, p) - q(x) c(p)| / 2`` over values x of the attribute and p of its parents. In
the paper q is the exact share of x, so that a record moves both factors: its R moves by up to ``3 + 2 / n`` where one
record is replaced, and by up to 2 where one comes or goes, which needs a proof for each relation, and an n. Here q is
what a noisy table of the attribute told before, made a distribution on a public grid. A record at (x, p) then adds the
vector ``(1[x] - q) 1[p]``, of L1 norm ``2 (1 - q(x)) <= 2``: R moves by at most 1 under add_remove and by 2 under
replace_one, for each record of a person, whatever n is. Twice the grid times R is a sum of whole numbers and is
compared exactly.

More differs from the paper. It takes the number of records as public; here it is what the noisy tables tell. The
first two attributes are chosen as the best pair, not at random, for the same number of choices. A noisy table becomes
one without negative counts by taking from all cells alike until the total is right: cutting off what is negative would
add records that nobody is.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, positive, show
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise.fast import Floats
from discreet.synthetic.budgets import largest_rho
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.consistency.total import project_total
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.measured import Measured, total_of
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.graphical.tree_fit import singles_of
from discreet.synthetic.independent import Progress, table_noise
from discreet.synthetic.network import Conditional, Network
from discreet.synthetic.operators.operator import positive_size
from discreet.synthetic.records import check_records
from discreet.synthetic.rounding.largest_remainder import largest_remainder
from discreet.units import Relation, check_relation

__all__ = ["PrivBayes"]

Int64 = npt.NDArray[np.int64]
Noise = DiscreteGaussian | Geometric
Choice = tuple[int, Attributes]

SINGLES, CHOICES, TABLES = Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)
"""How the budget is shared; the authors give 0.3 to the choices and the rest to the tables."""

GRID = 1024
"""Shares of an attribute's values are whole multiples of one over this."""

MOST_CHOICES = 20_000
LARGEST_TABLE = 1 << 24
LARGE = 1 << 50
"""Scores of more records are computed in Python's own numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PrivBayes(Faces):
    """Release a Bayesian network of coded records.

    Satisfies ``epsilon``-DP, or ``rho``-zCDP with the tighter guarantee of its parts, whichever is given, whenever
    neighbours differ by one record in the sense of ``relation``, or by all ``records`` of a person. A record is a row
    of codes, one for each attribute; codes outside ``sizes`` are clamped. ``degree`` is the largest number of parents.

    >>> bayes = PrivBayes(sizes=(2, 2, 3), epsilon=50, relation="add_remove")
    >>> model = bayes.release([[0, 0, 1]] * 500 + [[1, 1, 2]] * 300)
    >>> bool(abs(model.marginal((0, 1))[0, 0] - 500) < 20)
    True
    >>> bayes.loss.epsilon() <= 50
    True
    """

    sizes: tuple[int, ...]
    rho: Real = NOT_GIVEN
    epsilon: Real = NOT_GIVEN
    relation: Relation
    records: int = 1
    degree: int = 3
    theta: Real = 6
    singles: Noise = field(init=False, repr=False, compare=False)
    tables: Noise | None = field(init=False, repr=False, compare=False)
    choice: Exponential | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_records(self.records)
        sizes = tuple(positive_size(size, "an attribute's size") for size in self.sizes)
        if not sizes:
            raise InvalidParameter("a product domain has at least one attribute.")
        if max(sizes) > LARGEST_TABLE:
            raise InvalidParameter(f"an attribute has at most {LARGEST_TABLE:,} values; coarsen it.")
        if (self.rho is NOT_GIVEN) == (self.epsilon is NOT_GIVEN):
            raise InvalidParameter("PrivBayes needs either rho= or epsilon=: how much noise shall there be?")
        if type(self.degree) is not int or self.degree < 1:
            raise InvalidParameter("degree must be a whole number of at least 1: how many parents may there be?")
        positive(self.theta, "theta")
        object.__setattr__(self, "sizes", sizes)
        store(self, rho=self.rho, epsilon=self.epsilon, theta=self.theta)
        count, alone = len(sizes), len(sizes) == 1
        budget = positive(self.epsilon, "epsilon") if self.rho is NOT_GIVEN else positive(self.rho, "rho")
        object.__setattr__(self, "singles", self._noise((budget if alone else budget * SINGLES) / count))
        object.__setattr__(self, "tables", None if alone else self._noise(budget * TABLES / (count - 1)))
        object.__setattr__(self, "choice", None if alone else self._choice(budget * CHOICES / (count - 1)))

    def __repr__(self) -> str:
        budget = f"epsilon={show(self.epsilon)}" if self.rho is NOT_GIVEN else f"rho={show(self.rho)}"
        several = f", records={self.records}" if self.records > 1 else ""
        degree = f", degree={self.degree}" if self.degree != 3 else ""
        theta = f", theta={show(self.theta)}" if self.theta != 6 else ""
        return f"PrivBayes(sizes={self.sizes!r}, {budget}, relation={self.relation!r}{several}{degree}{theta})"

    @classmethod
    def for_budget(
        cls,
        epsilon: Real,
        delta: Real = 0,
        *,
        sizes: tuple[int, ...],
        relation: Relation,
        records: int = 1,
        degree: int = 3,
        theta: Real = 6,
    ) -> "PrivBayes":
        """Return the network of least noise within (epsilon, delta): by rho, or by epsilon if delta is 0.

        >>> 0.99 < PrivBayes.for_budget(1, 1e-6, sizes=(2, 3), relation="add_remove").loss.epsilon(1e-6) <= 1
        True
        """
        made: dict[str, Any] = {"sizes": sizes, "relation": relation, "records": records}
        made |= {"degree": degree, "theta": theta}
        if not finite(delta, "delta"):
            return cls(epsilon=epsilon, **made)
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
        """That of all tables and choices."""
        count = len(self.sizes)
        total = count * self.singles.loss
        if self.tables is not None and self.choice is not None:
            total = total + (count - 1) * self.tables.loss + (count - 1) * self.choice.loss
        return total.under(self.relation)

    @property
    def parents(self) -> int:
        """The largest number of parents: ``degree``, or less where attributes have too many sets of that size."""
        others = len(self.sizes) - 1
        fitting = [
            k for k in range(1, min(self.degree, others) + 1) if (others + 1) * math.comb(others, k) <= MOST_CHOICES
        ]
        return max(fitting, default=1)

    def release(
        self, records: npt.ArrayLike, /, *, seconds: float | None = None, progress: Progress | None = None
    ) -> GraphicalModel | Network:
        """Return a model of the records: a ``Network`` where its cliques would be too large for a ``GraphicalModel``.

        Nothing in it is a search that a clock could end, so ``seconds`` change nothing.
        """
        network = self.network(records, progress=progress)
        return network.graphical() or network

    def network(self, records: npt.ArrayLike, /, *, progress: Progress | None = None) -> Network:
        """Return the network itself."""
        said = progress or _silent
        tally = tallied(records, self.sizes)
        first = [_measured(tally, (i,), self.sizes, self.singles) for i in range(len(self.sizes))]
        total = total_of(first)
        margins = singles_of(self.sizes, first, total)
        if self.tables is None or self.choice is None:
            return Network(self.sizes, (Conditional(0, (), margins[0] / total),), total, first)
        said("single attributes", 1, 1)
        found = self._chosen(tally, [_gridded(one) for one in margins], total, said)
        measured = list(first)
        conditionals = [Conditional(found[0][0], (), margins[found[0][0]] / total)]
        for place, (attribute, given) in enumerate(found[1:], start=1):
            told = _measured(tally, tuple(sorted((*given, attribute))), self.sizes, self.tables)
            measured.append(told)
            conditionals.append(_conditional(told, attribute, given, first[attribute], margins[attribute], total))
            said("tables", place, len(found) - 1)
        return Network(self.sizes, tuple(conditionals), total, measured)

    def worst_case(self) -> tuple[Int64, Int64]:
        """All records of a person in the first cell, which are gone, or in the last cell, on the other side."""
        one = np.zeros((self.records, len(self.sizes)), dtype=np.int64)
        gone = self.relation == "add_remove"
        return one, one[:0] if gone else np.array([[size - 1 for size in self.sizes]] * self.records)

    def useful_cells(self, total: float) -> int:
        """Return how many cells a table may have whose average count is ``theta`` times its average noise.

        >>> PrivBayes(sizes=(2, 2), epsilon=1, relation="add_remove").useful_cells(1000)
        126
        """
        assert self.tables is not None  # noqa: S101  there are several attributes
        return int(min(LARGEST_TABLE, total / (float(self.theta) * _average(self.tables))))

    def _noise(self, budget: Fraction) -> Noise:
        """Return the noise of a table that costs so much epsilon, or rho."""
        if self.rho is NOT_GIVEN:
            return Geometric(sensitivity=self.touched * self.records, epsilon=budget)
        return table_noise(budget, self.touched, self.records)

    def _choice(self, budget: Fraction) -> Exponential:
        """Return a choice that costs so much: bounded range epsilon is ``epsilon^2 / 8``-zCDP."""
        epsilon = budget if self.rho is NOT_GIVEN else Fraction(math.sqrt(8 * float(budget)) * (1 - 1e-12))
        return Exponential(epsilon=epsilon, sensitivity=2 * GRID * self.touched * self.records)

    def _chosen(self, tally: Tallied, shares: Sequence[Int64], total: float, said: Progress) -> list[Choice]:
        """Return all attributes with their parents, in the order in which they join."""
        assert self.choice is not None  # noqa: S101  there are several attributes
        count, most = len(self.sizes), self.useful_cells(total)
        scores: dict[Choice, int] = {}
        found: list[Choice] = []
        while len(found) < count:
            open_ones = list(self._choices(found, most)) if found else list(self._pairs(most))
            if not open_ones:  # no pair is useful: each attribute stays alone
                return [(i, ()) for i in range(count)]
            for one in open_ones:
                if one not in scores:
                    scores[one] = _score(tally, one, self.sizes, shares[one[0]])
            chosen = open_ones[self.choice.release([scores[one] for one in open_ones])]
            found += [chosen] if found else [(chosen[1][0], ()), chosen]
            said("parents", len(found), count)
        return found

    def _pairs(self, most: int) -> Iterator[Choice]:
        for i in range(len(self.sizes)):
            yield from ((i, (j,)) for j in range(len(self.sizes)) if j != i and self.sizes[i] * self.sizes[j] <= most)

    def _choices(self, found: Sequence[Choice], most: int) -> Iterator[Choice]:
        """Return each attribute that has not joined, with every useful set of parents that cannot be made larger."""
        there = sorted(attribute for attribute, _ in found)
        for i in sorted(set(range(len(self.sizes))) - set(there)):
            yield from ((i, given) for given in largest_sets(there, self.sizes, most // self.sizes[i], self.parents))


def largest_sets(names: Sequence[int], sizes: Sequence[int], most: int, length: int) -> list[Attributes]:
    """Return the sets of at most ``length`` names with at most ``most`` combinations to which no name can be added.

    >>> largest_sets([0, 1, 2], (2, 3, 5), 10, 2)
    [(0, 1), (0, 2)]
    >>> largest_sets([0, 1], (2, 3), 1, 2)
    [()]
    """
    found = []
    for count in range(min(length, len(names)) + 1):
        for one in combinations(names, count):
            cells = math.prod(sizes[i] for i in one)
            room = count < length and any(cells * sizes[i] <= most for i in names if i not in one)
            if (cells <= most or not one) and not room:
                found.append(one)
    return found


def _score(tally: Tallied, choice: Choice, sizes: tuple[int, ...], shares: Int64) -> int:
    """Return twice the grid times the score R, exactly."""
    attribute, given = choice
    table: npt.NDArray[Any] = tally.table((*given, attribute), sizes)
    if table.sum() > LARGE:
        table = table.astype(object)
    return int(np.abs(GRID * table - table.sum(axis=-1, keepdims=True) * shares).sum())


def _gridded(margin: Floats) -> Int64:
    """Return the shares of values as whole numbers that add up to the grid."""
    return largest_remainder(margin * (GRID / margin.sum()), GRID)


def _measured(tally: Tallied, attributes: Attributes, sizes: tuple[int, ...], noise: Noise) -> Measured:
    noisy = noise.release(tally.table(attributes, sizes)).astype(np.float64)
    return Measured(attributes, noisy, _deviation(noise))


def _conditional(
    told: Measured, attribute: int, given: Attributes, single: Measured, margin: Floats, total: float
) -> Conditional:
    """Return the chances that a noisy table tells; where it tells of nobody, those of the attribute alone."""
    if not given:
        both = singles_of((margin.size,), [_alone(told), _alone(single)], total)[0]
        return Conditional(attribute, (), both / both.sum())
    table = project_total(told.counts.reshape(-1), total).reshape(told.counts.shape)
    table = np.moveaxis(table, told.attributes.index(attribute), -1)
    sums = table.sum(axis=-1, keepdims=True)
    return Conditional(attribute, given, np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), margin / total))


def _alone(one: Measured) -> Measured:
    return Measured((0,), one.counts, one.sigma)


def _deviation(noise: Noise) -> float:
    if isinstance(noise, DiscreteGaussian):
        return float(noise.sigma)
    rate = 1 / float(noise.scale)
    return max(math.sqrt(0.5) / math.sinh(rate / 2) if rate < 700 else 0.0, 1e-9)


def _average(noise: Noise) -> float:
    """Return the expected size of the noise of one count."""
    if isinstance(noise, DiscreteGaussian):
        return float(noise.sigma) * math.sqrt(2 / math.pi)
    rate = 1 / float(noise.scale)
    return max(1 / math.sinh(rate) if rate < 700 else 0.0, 1e-9)


def _silent(_what: str, _done: int, _of: int) -> None:
    return None
