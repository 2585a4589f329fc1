"""Which groups may be shown, when the names of the groups are themselves private.

A group exists because somebody is in it, so a table of all groups tells who is there. What selects groups takes the
number of units in each, of which a unit counts at most once in each of at most ``groups`` groups; a group that nobody
is in, and so is in no table, has the count 0 and is never shown.

Under add_remove a unit changes ``groups`` counts by one. Under replace_one it may leave ``groups`` groups and enter as
many others; a group that it leaves and enters again does not change. So ``touched``, twice as many, change by one, and
each of them costs what it costs under add_remove.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import enclose, positive, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.noise.shapes import INT64
from discreet.units import Relation, check_relation

__all__ = ["BLOCK", "Bools", "Counts", "Partition", "check_groups", "padded", "settings", "touched"]

Bools = npt.NDArray[np.bool_]
Counts = Sequence[int] | npt.NDArray[np.generic]

BLOCK = 1 << 16
"""Counts are handled in blocks of this many, the last one filled up with zeros."""


class Partition(Faces):
    """What every selection of groups can say, built on the probability that a count is kept.

    Coins are drawn for whole blocks of ``BLOCK`` counts, so that the time it takes tells the number of groups in steps
    of a public size only. Counts below 0 are taken as 0; no count, however large, is refused.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        epsilon: object
        delta: object
        groups: int
        relation: Relation

    @abstractmethod
    def keep(self, counts: Counts, /) -> Bools:
        """Return for each group whether it may be shown."""

    @abstractmethod
    def kept(self, count: int, /) -> arb:
        """Return the probability that a count of at least 1 is kept, at the working precision."""

    @abstractmethod
    def dropped(self, count: int, /) -> arb:
        """Return the probability that a count of at least 1 is not kept, at the working precision."""

    @property
    @abstractmethod
    def threshold(self) -> int:
        """What to tell a reader: about how many units a group needs to be shown."""

    @property
    @abstractmethod
    def certain(self) -> int | None:
        """The least count that is always kept, if there is one."""

    @abstractmethod
    def worst_case(self) -> tuple[list[int], list[int]]:
        """Counts of two neighbours."""

    @property
    def touched(self) -> int:
        """How many counts may change between neighbours, each by one."""
        return touched(self.groups, self.relation)

    @property
    def domain(self) -> Records:
        """Units, counted at most once in each of ``groups`` groups."""
        return Records(relation=self.relation)

    def release(self, counts: Counts, /) -> tuple[int, ...]:
        """Return the positions of the groups that may be shown."""
        return tuple(np.flatnonzero(self.keep(counts)).tolist())

    def probability(self, count: int, /) -> float:
        """Return the probability that a group with this many units is shown."""
        whole = int(count)
        return float(enclose(lambda: self.kept(whole)).mid()) if whole > 0 else 0.0

    def log_probability(self, counts: Counts, shown: Sequence[int], /) -> float:
        """Return the log of the probability that exactly the groups at these positions are shown."""
        total, kept, numbers = 0.0, set(shown), padded(counts)[: len(counts)].tolist()
        if not kept <= set(range(len(numbers))):
            return -math.inf
        for place, count in enumerate(numbers):
            if count == 0:
                total += -math.inf if place in kept else 0.0
                continue
            chance = self._chance(count, place in kept)
            total += float(chance.log().mid()) if chance > 0 else -math.inf
        return total

    def _chance(self, count: int, shown: bool) -> arb:
        return enclose(lambda: self.kept(count) if shown else self.dropped(count))


def touched(groups: int, relation: Relation) -> int:
    """Return how many counts may change between neighbours.

    >>> touched(3, "add_remove"), touched(3, "replace_one")
    (3, 6)
    """
    return groups * (2 if relation == "replace_one" else 1)


def check_groups(groups: object, relation: object) -> int:
    """Return in how many groups a unit may be, or say what is wrong with it."""
    check_relation(relation)
    exact = positive(groups, "groups")
    if exact.denominator != 1:
        raise InvalidParameter(f"groups must be a whole number of at least 1, got {show(exact)}.")
    return int(exact)


def settings(groups: int, relation: Relation) -> str:
    """Return the part of a repr that says in how many groups a unit may be, if that is not the usual.

    >>> settings(1, "add_remove"), settings(2, "replace_one")
    ('', ", groups=2, relation='replace_one'")
    """
    many = f", groups={groups}" if groups > 1 else ""
    return f"{many}, relation={relation!r}" if relation != "add_remove" else many


def padded(counts: Counts) -> npt.NDArray[np.int64]:
    """Return counts as whole numbers of at least 0, filled up with zeros to a multiple of ``BLOCK``.

    >>> padded([3, -1]).size, padded([3, -1])[:3].tolist(), padded([]).size
    (65536, [3, 0, 0], 65536)
    """
    if not isinstance(counts, np.ndarray | list | tuple | range):
        raise InvalidInput("counts must be a vector of whole numbers, one for each group.")
    given = counts if isinstance(counts, np.ndarray) else np.array([*counts, None], dtype=object)[:-1]
    if given.ndim != 1:
        raise InvalidInput(f"counts must be a vector, one for each group, got {given.ndim} dimensions.")
    out = np.zeros(max(1, -(-given.size // BLOCK)) * BLOCK, dtype=np.int64)
    if given.dtype == object:
        if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in given.tolist()):
            raise InvalidInput("counts must be whole numbers.")
        out[: given.size] = [max(0, min(int(n), INT64[-1])) for n in given.tolist()]
    elif given.dtype.kind in "iu" or not given.size:
        top = (
            np.minimum(given, np.uint64(INT64[-1])) if given.dtype.kind == "u" and given.dtype.itemsize == 8 else given
        )
        out[: given.size] = np.maximum(top.astype(np.int64), 0)
    else:
        raise InvalidInput(f"counts must be whole numbers, got an array of {given.dtype}.")
    return out
