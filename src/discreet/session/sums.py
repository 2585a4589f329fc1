"""Bins in a row of which sums will be asked, by a strategy under which long sums err little.

Bins are counted together with what lies below each of them. The strategy is chosen before any data: hierarchical under
Laplace noise, the square root of the prefix matrix or wavelets under Gaussian noise. Other keys than the last divide
rows into several such rows of bins, and each row counts in one.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.session.joint import Budgeted, Counted, Joint, Made, around, coded, half_width
from discreet.synthetic.matrix_mechanism import MatrixMechanism
from discreet.synthetic.operators import AllRanges, Identity, Kronecker, Operator, Prefix, Union
from discreet.synthetic.strategies import Haar, SquareRoot, best_hierarchy, p_identity
from discreet.synthetic.strategies.variances import answer_variances
from discreet.tables.kinds import Value
from discreet.tables.together import Asked

__all__ = ["JointSums"]

READ = (
    "Long sums err little more than short ones: for the count of a range subtract two of the sums up to a bin. Counts "
    "are real numbers: round them last."
)

MOST_BINS = 1024
MOST_CELLS = 1_000_000
SEARCHED = 64
"""Bins up to which a strategy is searched."""


@dataclass(frozen=True)
class JointSums(Joint):
    """Counts of bins, and of all bins up to each."""

    names_of_keys: tuple[str, ...]
    declared: tuple[tuple[Value, ...], ...]
    asked: Asked
    cost: Budgeted

    def __post_init__(self) -> None:
        if self.bins > MOST_BINS:
            raise InvalidParameter(
                f"sums are for up to {MOST_BINS:,} bins in a row, got {self.bins:,}. Use wider bins."
            )
        if self.rows * self.bins > MOST_CELLS:
            raise InvalidParameter(f"these keys make more than {MOST_CELLS:,} bins. Group by fewer columns.")
        _ = self.mechanism  # which must exist

    @property
    def bins(self) -> int:
        """How many bins are in a row: the values of the last key."""
        return len(self.declared[-1])

    @property
    def rows(self) -> int:
        """How many rows of bins there are: the combinations of the other keys."""
        return prod(len(values) for values in self.declared[:-1])

    @property
    def mechanism(self) -> MatrixMechanism:
        """What measures the bins."""
        return _mechanism(self.asked, self.rows, self.bins, self.cost)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the mechanism."""
        return self.mechanism.loss

    @property
    def told(self) -> str:
        """How the counts are made, in words."""
        noise = "Gaussian" if self.kind == "gaussian" else "Laplace"
        return f"matrix mechanism by {_word(_strategy(self.asked, self.bins, self.kind))}, {noise} noise"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it."""
        return (READ,)

    @property
    def parameters(self) -> dict[str, object]:
        """What is asked, and of how many bins."""
        return {
            "together": self.asked,
            "sizes": self.sizes,
        }

    def names(self, count: str) -> tuple[str, ...]:
        """Counts of bins, and of all up to each."""
        return count, f"{count}_up_to"

    @property
    def each(self) -> tuple[Floats, Floats]:
        """The standard deviations of the bins of a row, and of the sums up to each."""
        parts = _unit_variances(self.asked, self.bins, self.kind)
        scale = self.mechanism.unit_variance
        return np.sqrt(np.array(parts[0]) * scale), np.sqrt(np.array(parts[1]) * scale)

    def parts(self) -> list[tuple[str, float]]:
        """The largest of bins, and of sums."""
        bins, sums = self.each
        return [("a bin", float(bins.max())), ("a sum from the first bin", float(sums.max()))]

    def release(self, counted: Counted, count: str, beta: float) -> Made:
        """Return one row for each bin."""
        cells, counts = coded(counted, self.declared)
        sizes = tuple(map(len, self.declared))
        histogram = np.zeros(prod(sizes), dtype=np.int64)
        np.add.at(histogram, np.ravel_multi_index(tuple(cells.T), sizes), counts)
        estimate = self.mechanism.release(histogram).estimate.reshape(self.rows, self.bins)
        width = half_width(self.kind, beta)
        values = (estimate, np.cumsum(estimate, axis=1))
        columns = {
            name: around(part.reshape(-1), np.tile(width * each, self.rows), self.told)
            for name, part, each in zip(self.names(count), values, self.each, strict=True)
        }
        places = np.indices(sizes).reshape(len(sizes), -1)
        keys = {
            name: tuple(values[p] for p in places[i].tolist())
            for i, (name, values) in enumerate(zip(self.names_of_keys, self.declared, strict=True))
        }
        return keys, columns


@lru_cache(maxsize=64)
def _mechanism(asked: Asked, rows: int, bins: int, cost: Budgeted) -> MatrixMechanism:
    strategy = _strategy(asked, bins, cost.kind)
    own = strategy if rows == 1 else Kronecker(of=(Identity(size=rows), strategy))
    return MatrixMechanism(
        workload=own,
        strategy=own,
        relation=cost.relation,
        epsilon=cost.epsilon,
        rho=cost.rho,
        discrete=False,
        records=cost.records,
        partial=cost.relation == "replace_one",
    )


@lru_cache(maxsize=64)
def _strategy(asked: Asked, bins: int, kind: str) -> Operator:
    """Return what is measured of one row of bins; it does not depend on how much noise there is."""
    workload: Operator = Prefix(size=bins) if asked == "prefixes" else AllRanges(size=bins)
    if kind == "gaussian":
        if asked == "prefixes" or bins == 1:
            return SquareRoot(size=bins)
        return p_identity(workload, p=2) if bins <= SEARCHED else Haar(size=bins)
    return best_hierarchy(workload, p=1)


def _word(strategy: Operator) -> str:
    words = {SquareRoot: "square root", Haar: "wavelets"}
    return words.get(type(strategy), "hierarchy" if "Hierarchical" in type(strategy).__name__ else "weighted cells")


@lru_cache(maxsize=64)
def _unit_variances(asked: Asked, bins: int, kind: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the variances of bins and of sums if every measurement has variance 1."""
    both = Union(of=(Identity(size=bins), Prefix(size=bins)))
    found = answer_variances(both, _strategy(asked, bins, kind)).tolist()
    return tuple(found[:bins]), tuple(found[bins:])
