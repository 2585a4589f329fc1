"""The model that fits noisy marginals best: entropic mirror descent over all distributions of a tree of cliques.

McKenna, Sheldon and Miklau, ICML 2019: among distributions with the measured tables as sufficient statistics minimise
``sum of |table - measured|^2 / sigma^2``. In each step every measured table's potential moves against its own gradient,
and the length of the step is found by halving and growing (Beck and Teboulle, "Mirror descent and nonlinear projected
subgradient methods for convex optimization", Operations Research Letters 2003). It is post-processing: nothing private
depends on how well it converges. Impossible entries have a potential of minus infinity and stay zero exactly.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, Factor, broadcast
from discreet.synthetic.graphical.junction_tree import JunctionTree, junction_tree
from discreet.synthetic.graphical.model import GraphicalModel, beliefs

__all__ = ["Fitted", "Measured", "fit", "total_of"]

Potentials = Mapping[Attributes, Floats]

SMALLEST_STEP = 1e-30
GROWTH = 1.1
CLOSE = 1e-7
"""A fit ends when the objective falls by less than this part of itself in several steps."""

PATIENT = 10


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A noisy table of counts by some attributes; its noise has the standard deviation ``sigma`` in every entry."""

    attributes: Attributes
    counts: Floats
    sigma: float

    def __post_init__(self) -> None:
        if np.ndim(self.counts) != len(self.attributes) or not self.sigma > 0:
            raise InvalidParameter("a measurement has an axis for each attribute, and a standard deviation above 0.")


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model, the potentials of all measured tables, and the objective that was reached."""

    model: GraphicalModel
    potentials: Potentials
    objective: float
    steps: int


def total_of(measurements: Sequence[Measured]) -> float:
    """Return the number of records that all tables tell together, each by how precisely it does; at least 1.

    >>> round(total_of([Measured((0,), np.array([6.0, 6.0]), 1.0), Measured((1,), np.array([9.0]), 1.0)]), 6)
    10.0
    """
    weights = np.array([1 / (one.sigma**2 * one.counts.size) for one in measurements])
    sums = np.array([float(one.counts.sum()) for one in measurements])
    return max(1.0, float((weights * sums).sum() / weights.sum()))


def fit(
    sizes: tuple[int, ...],
    measurements: Sequence[Measured],
    *,
    total: float | None = None,
    start: Potentials | None = None,
    zeros: Mapping[Attributes, np.ndarray] | None = None,
    steps: int = 1000,
    deadline: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Fitted:
    """Return the distribution closest to all measurements, starting from potentials that served before.

    ``zeros`` are masks of impossible entries by attributes. ``deadline`` is a time of ``time.monotonic``; the best so
    far is returned when it has passed.

    >>> told = [Measured((0, 1), np.array([[30.0, 10.0], [10.0, 50.0]]), 1.0)]
    >>> fit((2, 2), told).model.marginal((0, 1)).round(1).tolist()
    [[30.0, 10.0], [10.0, 50.0]]
    """
    if not measurements:
        raise InvalidParameter("a model is fitted to one measurement or more.")
    masks = dict(zeros or {})
    tree = junction_tree(sizes, [*(one.attributes for one in measurements), *masks])
    whole = total_of(measurements) if total is None else total
    fixed = [np.zeros(tuple(sizes[i] for i in clique)) for clique in tree.cliques]
    for attributes, mask in masks.items():
        _add(fixed, tree, attributes, np.where(mask, -np.inf, 0.0))
    groups = _grouped(measurements)
    theta = {
        attributes: np.array((start or {}).get(attributes, np.zeros(tuple(sizes[i] for i in attributes))))
        for attributes in groups
    }
    state = _State(tree, fixed, groups, whole)
    tables = state.tables(theta)
    objective, slopes = state.objective(tables)
    step = 2.0 / sum(float(weight) for _, weight in groups.values()) / whole
    still = 0
    done = 0
    for done in range(1, steps + 1):
        if (deadline is not None and time.monotonic() >= deadline) or still >= PATIENT:
            break
        while step > SMALLEST_STEP:
            moved = {attributes: theta[attributes] - step * slope for attributes, slope in slopes.items()}
            new = state.tables(moved)
            reached, news = state.objective(new)
            fall = sum(float((slopes[a] * (tables[a] - new[a])).sum()) for a in slopes)
            if objective - reached >= 0.5 * fall or fall <= 0:
                break
            step /= 2
        still = still + 1 if objective - reached <= CLOSE * max(objective, 1e-12) else 0
        if reached > objective:
            break
        theta, tables, objective, slopes = moved, new, reached, news
        step *= GROWTH
        if progress is not None:
            progress(done, objective)
    potentials = state.clique_potentials(theta)
    return Fitted(GraphicalModel(tree, potentials, whole), theta, objective, done)


@dataclass(slots=True, eq=False)
class _State:
    """What stays the same from step to step."""

    tree: JunctionTree
    fixed: list[Floats]
    groups: Mapping[Attributes, tuple[Floats, float]]
    total: float

    def clique_potentials(self, theta: Potentials) -> list[Floats]:
        """Add the potentials of tables up in the cliques that hold them."""
        made = [table.copy() for table in self.fixed]
        for attributes, table in theta.items():
            _add(made, self.tree, attributes, table)
        return made

    def tables(self, theta: Potentials) -> dict[Attributes, Floats]:
        """Return the expected counts of all measured tables."""
        logs, scale = beliefs(self.tree, self.clique_potentials(theta))
        found = {}
        for attributes in self.groups:
            home = self.tree.home(attributes)
            assert home is not None  # noqa: S101  the tree was made for these
            factor = Factor(self.tree.cliques[home], logs[home]).summed(attributes)
            found[attributes] = np.exp(factor.logs - scale) * self.total
        return found

    def objective(self, tables: Mapping[Attributes, Floats]) -> tuple[float, dict[Attributes, Floats]]:
        """Return half the weighted squared distance, and its slope in every table."""
        total, slopes = 0.0, {}
        for attributes, (wanted, weight) in self.groups.items():
            away = tables[attributes] - wanted
            total += 0.5 * weight * float((away**2).sum())
            slopes[attributes] = weight * away
        return total, slopes


def _grouped(measurements: Sequence[Measured]) -> dict[Attributes, tuple[Floats, float]]:
    """Return the mean of all measurements of the same table, by their precision, and the precision of the mean."""
    found: dict[Attributes, tuple[Floats, float]] = {}
    for one in measurements:
        weight = 1 / one.sigma**2
        if one.attributes in found:
            old, before = found[one.attributes]
            found[one.attributes] = ((old * before + one.counts * weight) / (before + weight), before + weight)
        else:
            found[one.attributes] = (np.asarray(one.counts, dtype=np.float64), weight)
    return found


def _add(tables: list[Floats], tree: JunctionTree, attributes: Attributes, table: Floats) -> None:
    home = tree.home(attributes)
    if home is None or not math.prod(table.shape):
        raise InvalidParameter("a table of the model is by attributes of one clique.")
    tables[home] += broadcast(table, attributes, tree.cliques[home])
