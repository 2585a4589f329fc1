"""How far all tables of a workload are from the real ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.errors import InvalidParameter
from discreet.utility.tables import NOTE, Data, tables_of

__all__ = ["WorkloadError", "default_workload", "workload_error"]

Attributes = tuple[int, ...]

MOST_CELLS = 1 << 24
LONGEST = 3


@dataclass(frozen=True, slots=True)
class WorkloadError:
    """For each set of attributes the L1 distance of the shares of records: from 0, alike, to 2, nothing in common.

    Half of it is the total variation distance.
    """

    by_set: Mapping[Attributes, float]
    note: str = NOTE

    @property
    def mean(self) -> float:
        """The mean of all sets."""
        return float(np.mean(list(self.by_set.values())))

    @property
    def worst(self) -> float:
        """The largest distance."""
        return max(self.by_set.values())

    @property
    def worst_set(self) -> Attributes:
        """Where it is largest."""
        return max(self.by_set, key=lambda one: self.by_set[one])

    @property
    def total_variation(self) -> float:
        """The mean total variation distance."""
        return self.mean / 2


def workload_error(
    real: Data, synthetic: Data, *, sizes: tuple[int, ...], workload: Iterable[Attributes] | None = None
) -> WorkloadError:
    """Return the distance of all tables; the workload is all triples of attributes, or what there are, unless given.

    Not private: it reads the real records without noise.

    >>> found = workload_error([[0, 0], [1, 1]], [[0, 0], [1, 0]], sizes=(2, 2), workload=[(0,), (1,)])
    >>> found.mean, found.worst, found.worst_set
    (0.5, 1.0, (1,))
    """
    sets = default_workload(len(sizes)) if workload is None else tuple(tuple(sorted(set(one))) for one in workload)
    if not sets or any(not one or not all(0 <= i < len(sizes) for i in one) for one in sets):
        raise InvalidParameter(f"a workload has sets of attributes, numbered from 0 to {len(sizes) - 1}.")
    for one in sets:
        if np.prod([float(sizes[i]) for i in one]) > MOST_CELLS:
            raise InvalidParameter(f"a set of the workload has more than {MOST_CELLS:,} combinations; leave it out.")
    truth, made = tables_of(real, sizes), tables_of(synthetic, sizes)
    return WorkloadError({one: float(np.abs(truth.shares(one) - made.shares(one)).sum()) for one in sets})


def default_workload(count: int) -> tuple[Attributes, ...]:
    """Return all triples of attributes, or the set of all if they are fewer.

    >>> default_workload(2), len(default_workload(14))
    (((0, 1),), 364)
    """
    return tuple(combinations(range(count), min(LONGEST, count)))
