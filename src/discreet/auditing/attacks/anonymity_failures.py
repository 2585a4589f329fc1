"""Three ways in which k-anonymous tables fail, counted on generated people.

- Homogeneity (Machanavajjhala et al., ICDE 2006): all rows of a class have the same sensitive value. Nobody is named,
  and everybody's value is known.
- Intersection (Ganta, Kasiviswanathan and Smith, KDD 2008): two offices each release a k-anonymous table about
  overlapping people. Somebody's value lies in both classes of that person, and often only one value does.
- Minimality (Wong, Fu, Wang and Pei, VLDB 2007; Cohen, "Attacks on Deidentification's Defenses", USENIX Security 2022):
  a good algorithm coarsens no more than it must. Where it did not cut a range in two, at least one row lies in each
  half, so that some cells can be made finer again ("downcoding"), with certainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import plots
from discreet.auditing.attacks.percent import percent
from discreet.auditing.attacks.protection import Protection, protect
from discreet.datasets import census
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["AnonymityFailures", "break_anonymity", "cut_minimally", "group_by_mondrian"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnonymityFailures:
    """For each k the share of people whose sensitive value, or a finer range, is known for certain."""

    people: int
    ks: tuple[int, ...]
    homogeneity: tuple[float, ...]
    intersection: tuple[float, ...]
    minimality: tuple[float, ...]
    protection: Protection

    @property
    def verdict(self) -> str:
        """What the attack found, in a few sentences."""
        at = self.ks.index(5) if 5 in self.ks else 0
        alike, both, finer = (percent(share[at]) for share in (self.homogeneity, self.intersection, self.minimality))
        return (
            f"One {self.ks[at]}-anonymous table of {self.people:,} people tells for certain what {alike} of them "
            f"suffer from (mostly: nothing). Two such tables by different offices tell the occupation of {both} of the "
            f"people in both. {finer} of coarsened dates can be made finer again by whoever knows the algorithm."
        )

    def __str__(self) -> str:
        return f"{self.verdict} {self.protection}"

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the three shares against k."""
        shown = (
            ("two tables: occupation", self.intersection, True),
            ("dates made finer again", self.minimality, False),
            ("one table: condition", self.homogeneity, False),
        )
        return plots.curves(
            [
                plots.Curve(name=name, xs=self.ks, ys=[100 * share for share in shares], strong=strong)
                for name, shares, strong in shown
            ],
            plots.Axis(title="k: rows in each class at least", log=True),
            plots.Axis(title="people, percent", low=0.0, high=100.0),
            title="What k-anonymous tables give away for certain",
            subtitle=f"{self.people:,} people in each table; of two, half are in both",
        )


def break_anonymity(
    size: int = 12_000, *, ks: Sequence[int] = (2, 3, 5, 10, 20, 50), epsilon: float = 0.5
) -> AnonymityFailures:
    """Group generated people into k-anonymous tables and count what an attacker knows for certain.

    >>> found = break_anonymity(1_500, ks=(2, 5))
    >>> found.intersection[0] > 0.5 > found.intersection[1], found.minimality[0] > 0.5
    (True, True)
    """
    wanted = tuple(sorted(set(ks)))
    if not wanted or wanted[0] < 2 or size < 3 * wanted[-1]:
        raise InvalidParameter("k must be at least 2, and there must be three times as many people.")
    town = census(2 * size // 3)
    everybody, health = _known(town), np.unique(town["condition"], return_inverse=True)[1]
    data = _workers(size)
    known, secret = _known(data), np.unique(data["occupation"], return_inverse=True)[1]
    offices = np.arange(2 * size // 3), np.arange(size // 3, size)
    shared = np.arange(size // 3, 2 * size // 3)
    homogeneity, intersection, minimality = [], [], []
    for k in wanted:
        alike = _values(health, group_by_mondrian(everybody, k))
        homogeneity.append(float(np.mean([len(values) == 1 for values in alike])))
        sets = [_values(secret[rows], group_by_mondrian(known[rows], k)) for rows in offices]
        both = (sets[0][i] & sets[1][i - size // 3] for i in shared.tolist())
        intersection.append(float(np.mean([len(values) == 1 for values in both])))
        finer, coarse = _downcode(known[:, 0], k)
        minimality.append(finer / max(coarse, 1))
    return AnonymityFailures(
        people=len(offices[0]),
        ks=wanted,
        homogeneity=tuple(homogeneity),
        intersection=tuple(intersection),
        minimality=tuple(minimality),
        protection=protect(
            Geometric(sensitivity=2, epsilon=2 * epsilon),
            np.concatenate([np.bincount(secret[rows]) for rows in offices]),
            [1, 1],
            release=f"the number of people in each occupation by both offices, epsilon {epsilon:g} each",
        ),
    )


def _known(data: dict[str, Any]) -> Ints:
    """Return what a neighbour knows: date of birth, postcode and household size, as whole numbers."""
    born = (data["birth_date"].astype("datetime64[D]") - np.datetime64("1920-01-01")).astype(np.int64)
    postcode = np.unique(data["postcode"], return_inverse=True)[1]
    return np.stack([born, postcode, data["household_size"]], axis=1)


def _workers(size: int) -> dict[str, Any]:
    """Return so many people who work; the occupation of the others follows from their age."""
    data = census(3 * size)
    rows = np.flatnonzero(np.char.startswith(data["occupation"], "job"))[:size]
    return {name: column[rows] for name, column in data.items()}


def group_by_mondrian(known: Ints, k: int) -> Ints:
    """Return a class of at least k rows for each row, cut at medians along the relatively widest column while possible.

    LeFevre, DeWitt and Ramakrishnan, "Mondrian Multidimensional k-Anonymity", ICDE 2006.

    >>> group_by_mondrian(np.array([[1], [2], [8], [9]]), 2).tolist()
    [0, 0, 1, 1]
    """
    classes = np.zeros(len(known), dtype=np.int64)
    span = np.maximum(np.ptp(known, axis=0), 1)
    waiting, number = [np.arange(len(known))], 0
    while waiting:
        rows = waiting.pop()
        part = known[rows]
        for column in np.argsort(-np.ptp(part, axis=0) / span, kind="stable").tolist():
            values = part[:, column]
            left = values < np.partition(values, len(values) // 2)[len(values) // 2]
            if min(left.sum(), (~left).sum()) >= k:
                waiting += [rows[~left], rows[left]]
                break
        else:
            classes[rows] = number
            number += 1
    return classes


def _values(secret: Ints, classes: Ints) -> list[frozenset[int]]:
    """Return for each row the values that occur in its class."""
    found: list[set[int]] = [set() for _ in range(int(classes.max()) + 1)]
    for number, value in zip(classes.tolist(), secret.tolist(), strict=True):
        found[number].add(value)
    frozen = [frozenset(values) for values in found]
    return [frozen[number] for number in classes.tolist()]


def cut_minimally(values: Sequence[int], k: int, low: int, high: int) -> list[tuple[int, int, int]]:
    """Return ranges with their counts: a range is narrowed to a half that holds all, or cut if both halves hold k.

    So no range is coarser than it must be: both halves of each published range are inhabited, one by fewer than k.

    >>> cut_minimally([1, 2, 6, 7], 2, 0, 8)
    [(0, 4, 2), (6, 8, 2)]
    """
    if not len(values) or high - low == 1:
        return [(low, high, len(values))] if len(values) else []
    middle = (low + high) // 2
    left, right = [v for v in values if v < middle], [v for v in values if v >= middle]
    if not left or not right or min(len(left), len(right)) >= k:
        return cut_minimally(left, k, low, middle) + cut_minimally(right, k, middle, high)
    return [(low, high, len(values))]


def _downcode(values: Ints, k: int) -> tuple[int, int]:
    """Return how many cells an attacker makes finer, with certainty, and how many were published as a range.

    Both halves of a published range are inhabited: one of its rows can be put into the left half, one into the right.
    """
    published = [part for part in cut_minimally(values.tolist(), k, 0, 2**16) if part[1] - part[0] > 1]
    return sum(2 for _ in published), sum(count for _, _, count in published)
