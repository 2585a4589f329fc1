"""How few points single a person out: the uniqueness of traces.

De Montjoye, Hidalgo, Verleysen and Blondel, "Unique in the Crowd: The Privacy Bounds of Human Mobility", Scientific
Reports 3, 2013: four points of place and hour single out 95 percent of 1.5 million people. Uniqueness is the share of
people whose p random points occur together in no trace but their own. It is counted here, not estimated from a formula:
for each person all traces that share the rarest of the p points are tried against the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import plots
from discreet.auditing.attacks.percent import percent
from discreet.auditing.attacks.protection import Protection, protect
from discreet.datasets import Traces, traces
from discreet.datasets.distinct import distinct
from discreet.datasets.traces import WIDTH
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["Resolution", "TracesAttack", "uniqueness_of_traces"]

MOST = 10
"""How many points of each person the protected release counts."""

SQUARE = 4
"""The protected release counts by squares of so many antennas each way."""

TABLE = 200_000_000
"""A table of people by cells may have so many entries, of one byte each."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How coarse the release is: squares of ``cells`` antennas each way, and stretches of ``hours`` hours."""

    cells: int = 1
    hours: int = 1

    def __str__(self) -> str:
        place = "1 antenna" if self.cells == 1 else f"{self.cells} by {self.cells} antennas"
        return f"{place}, {self.hours} h"


RESOLUTIONS = (Resolution(), Resolution(cells=2, hours=2), Resolution(cells=4, hours=6), Resolution(cells=6, hours=12))


@dataclass(frozen=True, slots=True, kw_only=True)
class TracesAttack:
    """The share of people singled out (``unique``) by each number of points, at each resolution of the release."""

    people: int
    targets: int
    points: tuple[int, ...]
    unique: dict[Resolution, tuple[float, ...]]
    protection: Protection

    @property
    def verdict(self) -> str:
        """What the attack found, in a few sentences."""
        (fine, shares), *_, (coarse, blurred) = [*self.unique.items()] * 2
        words = f" Blurred to {coarse} they still single out {percent(blurred[-1])}." if coarse != fine else ""
        least = "a single point" if self.points[0] == 1 else f"{self.points[0]} points"
        return (
            f"{self.points[-1]} points of place and hour single out {percent(shares[-1])} of {self.people:,} people in "
            f"traces without names, and {least} {percent(shares[0])}.{words}"
        )

    def __str__(self) -> str:
        return f"{self.verdict} {self.protection}"

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of people singled out against the number of points, a line for each resolution."""
        lines = [
            plots.Curve(name=str(resolution), xs=self.points, ys=[100 * share for share in shares], strong=place == 0)
            for place, (resolution, shares) in enumerate(self.unique.items())
        ]
        return plots.curves(
            lines,
            plots.Axis(title="points of a person that the attacker knows", whole=True),
            plots.Axis(title="people singled out, percent", low=0.0, high=100.0),
            title="A few points single a person out",
            subtitle=f"{self.people:,} people, a month of phone use; {self.targets:,} people tried against all",
        )


def uniqueness_of_traces(
    released: Traces | None = None,
    *,
    points: Sequence[int] = (1, 2, 3, 4, 5),
    resolutions: Sequence[Resolution] = RESOLUTIONS,
    targets: int = 2_000,
    epsilon: float = 1.0,
) -> TracesAttack:
    """Return how many people a few of their own points single out among all traces.

    People with too few points for the largest number are not tried; the points are drawn in the same way on every call.

    >>> found = uniqueness_of_traces(traces(2_000), targets=300)
    >>> shares = found.unique[Resolution()]
    >>> shares[3] > 0.95, shares[0] < shares[1] <= shares[3]
    (True, True)
    """
    data = traces() if released is None else released
    wanted = tuple(sorted(set(points)))
    if not wanted or wanted[0] < 1 or not resolutions or any(r.cells < 1 or r.hours < 1 for r in resolutions):
        raise InvalidParameter("points are counted from 1, and a resolution has at least 1 cell and 1 hour.")
    unique = {resolution: _unique(data, resolution, wanted, targets) for resolution in resolutions}
    return TracesAttack(
        people=data.people,
        targets=min(targets, data.people),
        points=wanted,
        unique=unique,
        protection=protect(
            Geometric(sensitivity=MOST, epsilon=epsilon),
            _squares(data),
            np.ones(MOST, dtype=np.int64),
            release=f"how often phones were used in each of {(WIDTH // SQUARE) ** 2} squares at each hour of the day, "
            f"from {MOST} points of each person",
        ),
    )


def _squares(data: Traces) -> Ints:
    """Return how many points lie in each square at each hour of the day, from some points of each person at random."""
    random = np.random.RandomState(5)
    order = np.lexsort((random.random_sample(len(data.person)), data.person))
    start = np.searchsorted(data.person, np.arange(data.people + 1))
    kept = order[np.arange(len(order)) - np.repeat(start[:-1], np.diff(start)) < MOST]
    square = (data.y[kept] // SQUARE) * WIDTH + data.x[kept] // SQUARE
    return np.bincount(24 * square + data.hour[kept] % 24)


def _unique(data: Traces, resolution: Resolution, wanted: Sequence[int], targets: int) -> tuple[float, ...]:
    """Return the share singled out by each number of points, the first points being the same throughout."""
    keys, cells = _points(data, resolution)
    person, cell = keys // cells, keys % cells
    start = np.searchsorted(person, np.arange(data.people + 1))
    by_cell = np.argsort(cell, kind="stable")
    first = np.searchsorted(cell[by_cell], np.arange(cells + 1))
    random = np.random.RandomState(2)
    most = wanted[-1]
    able = np.flatnonzero(np.diff(start) >= most)
    if not len(able):
        raise InvalidParameter(f"nobody has {most} different points at a resolution of {resolution}. Ask for fewer.")
    who = able[np.argsort(random.random_sample(len(able)))[:targets]]
    drawn = np.stack(
        [cell[start[i] + np.argsort(random.random_sample(int(start[i + 1] - start[i])))[:most]] for i in who.tolist()]
    )
    holds = _lookup(keys, cells, data.people)
    return tuple(_alone(holds, drawn[:, :p], person[by_cell], first) for p in wanted)


def _points(data: Traces, resolution: Resolution) -> tuple[Ints, int]:
    """Return every different point once, as person times the number of cells plus the cell, sorted."""
    x, y, hour = data.x // resolution.cells, data.y // resolution.cells, data.hour // resolution.hours
    width, hours = int(x.max()) + 1, int(hour.max()) + 1
    cells = width * (int(y.max()) + 1) * hours
    return distinct(data.person * cells + (y * width + x) * hours + hour), cells


Holds = Callable[[Ints, Ints], NDArray[np.bool_]]


def _lookup(keys: Ints, cells: int, people: int) -> Holds:
    """Return a function that says which people have which cells: read from a table where it is small, else searched."""
    if people * cells <= TABLE:
        table = np.zeros(people * cells, dtype=np.bool_)
        table[keys] = True
        return lambda person, cell: table[person * cells + cell]

    def searched(person: Ints, cell: Ints) -> NDArray[np.bool_]:
        asked = person * cells + cell
        found: NDArray[np.bool_] = keys[np.minimum(np.searchsorted(keys, asked), len(keys) - 1)] == asked
        return found

    return searched


def _alone(holds: Holds, drawn: Ints, person_by_cell: Ints, first: Ints) -> float:
    """Return the share of rows of cells that lie together in one trace alone."""
    sizes = first[drawn + 1] - first[drawn]
    order = np.argsort(sizes, axis=1, kind="stable")
    drawn = np.take_along_axis(drawn, order, axis=1)
    count = np.take_along_axis(sizes, order, axis=1)[:, 0]
    row = np.repeat(np.arange(len(drawn)), count)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    candidate = person_by_cell[first[drawn[row, 0]] + offset]
    for column in range(1, drawn.shape[1]):
        stays = holds(candidate, drawn[row, column])
        row, candidate = row[stays], candidate[stays]
    return float((np.bincount(row, minlength=len(drawn)) == 1).mean())
