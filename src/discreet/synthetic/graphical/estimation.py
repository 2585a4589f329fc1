"""The model that fits noisy marginals best: the distribution of most entropy near all of them.

McKenna, Sheldon and Miklau, ICML 2019, minimise ``sum of |table - measured|^2 / (2 sigma^2)`` over all distributions
with the measured tables as sufficient statistics. Here a small multiple of the negative entropy is added,
``strength * sum of count * log(count)``: an entry far below ``strength * sigma^2`` is told by its neighbours more than
by its own noise. The strength is ``SHRINKAGE`` over the smallest sigma, so that it concerns entries that are small
beside the noise, whatever the budget. The dual of that is smooth and strictly convex: with potentials theta

    total * log Z(theta) - <theta, measured> + strength * sum of sigma^2 |theta|^2 / 2,

maximum entropy with a quadratic penalty (Dudik, Phillips and Schapire, "Maximum Entropy Density Estimation with
Generalized Regularization", Journal of Machine Learning Research 2007), whose gradient takes one pass over the tree. It
is minimised by L-BFGS (Liu and Nocedal, Mathematical Programming 1989), scaled by about what its second derivatives
are. It is post-processing: nothing private depends on how well it converges. Impossible entries have a potential of
minus infinity and stay zero exactly.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, broadcast
from discreet.synthetic.graphical.junction_tree import JunctionTree, junction_tree
from discreet.synthetic.graphical.ladder import Ladder
from discreet.synthetic.graphical.measured import Measured, total_of
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.graphical.propagation import Propagation
from discreet.synthetic.one_thread import OneThread

__all__ = ["Fitted", "Measured", "fit", "total_of"]

Potentials = Mapping[Attributes, Floats]
Masks = Mapping[Attributes, "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]

SHRINKAGE = 0.3
MEMORY = 20
"""How many steps L-BFGS remembers."""

CLOSE = 1e-3
"""A fit ends when no entry is further from where it should be than this many times its own uncertainty."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model, the potentials of all measured tables, and the objective that was reached."""

    model: GraphicalModel
    potentials: Potentials
    objective: float
    steps: int


def fit(
    sizes: tuple[int, ...],
    measurements: Sequence[Measured],
    *,
    total: float | None = None,
    start: Potentials | None = None,
    repeated: Sequence[Measured] = (),
    zeros: Masks | None = None,
    steps: int = 1000,
    shrinkage: float = SHRINKAGE,
    close: float = CLOSE,
    deadline: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Fitted:
    """Return the distribution closest to all measurements, starting from potentials that served before.

    ``repeated`` are tables that follow from measurements: a fit comes closer to them, and the model does not keep them.
    ``zeros`` are masks of impossible entries by attributes. ``deadline`` is a time of ``time.monotonic``; what was
    found so far is returned when it has passed.

    >>> told = [Measured((0, 1), np.array([[30.0, 10.0], [10.0, 50.0]]), 1.0)]
    >>> fit((2, 2), told, shrinkage=0.001).model.marginal((0, 1)).round(1).tolist()
    [[30.0, 10.0], [10.0, 50.0]]
    """
    if not measurements:
        raise InvalidParameter("a model is fitted to one measurement or more.")
    masks = dict(zeros or {})
    tree = junction_tree(sizes, [*(one.attributes for one in measurements), *masks])
    whole = total_of(measurements) if total is None else total
    dual = _Dual(tree, _fixed(tree, masks), _grouped([*measurements, *repeated]), whole, shrinkage)
    x = dual.scaled(start or {})
    done = 0

    def step(_: Floats) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, dual.value)
        if deadline is not None and time.monotonic() >= deadline:
            raise StopIteration

    if steps and (deadline is None or time.monotonic() < deadline):
        options = {"maxiter": steps, "maxcor": MEMORY, "ftol": 0.0, "gtol": close, "maxfun": 2 * steps + 20}
        with OneThread():
            x = minimize(dual, x, jac=True, method="L-BFGS-B", callback=step, options=options).x  # type: ignore[call-overload]
    theta = dual.potentials(x)
    model = GraphicalModel(tree, dual.clique_potentials(theta), whole, tuple(measurements))
    return Fitted(model, theta, dual.distance(x), done)


class _Dual:
    """The dual objective as a function of scaled potentials."""

    def __init__(
        self,
        tree: JunctionTree,
        fixed: list[Floats],
        groups: Mapping[Attributes, tuple[Floats, float]],
        total: float,
        shrinkage: float,
    ) -> None:
        self.tree, self.fixed, self.groups, self.total = tree, fixed, groups, total
        self.passes = Propagation(tree)
        homes: dict[int | None, list[Attributes]] = {}
        for attributes in groups:
            homes.setdefault(tree.home(attributes), []).append(attributes)
        self.ladders = [Ladder(one, tree.sizes, homes.get(place, [])) for place, one in enumerate(tree.cliques)]
        self.wanted = np.concatenate([counts.reshape(-1) for counts, _ in groups.values()])
        spread = [np.full(counts.size, 1 / weight) for counts, weight in groups.values()]
        deviations = np.sqrt(np.concatenate(spread))
        self.penalty = shrinkage / deviations.min() * np.concatenate(spread)
        self.weights = 1 / np.concatenate(spread)
        self.scale = 1 / np.sqrt(np.maximum(self.wanted, 0.0) + 0.1 * deviations + self.penalty + 1e-3)
        self.value = math.inf

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        theta = x * self.scale
        tables, log_sum = self._tables(theta)
        pull = self.penalty * theta
        slope = 0.5 * pull - self.wanted
        self.value = self.total * log_sum + float(np.einsum("i,i->", theta, slope))  # a BLAS would take threads for it
        return self.value, (tables - self.wanted + pull) * self.scale

    def distance(self, x: Floats) -> float:
        """Return half the weighted squared distance of all tables from what was measured."""
        tables, _ = self._tables(x * self.scale)
        return 0.5 * float((self.weights * (tables - self.wanted) ** 2).sum())

    def scaled(self, start: Potentials) -> Floats:
        """Return where to start: with potentials that are known, and nothing for other tables."""
        parts = [start[a].reshape(-1) if a in start else np.zeros(c.size) for a, (c, _) in self.groups.items()]
        return np.asarray(np.concatenate(parts) / self.scale)

    def potentials(self, x: Floats) -> dict[Attributes, Floats]:
        """Return the potentials of all measured tables."""
        return self._split(x * self.scale)

    def clique_potentials(self, theta: Potentials) -> list[Floats]:
        """Add the potentials of tables up in the cliques that hold them."""
        both = zip(self.ladders, self.fixed, strict=True)
        return [ladder.potential({one: theta[one] for one in ladder.wanted}, fixed) for ladder, fixed in both]

    def _tables(self, theta: Floats) -> tuple[Floats, float]:
        """Return the expected counts of all measured tables one after the other, and the log of Z."""
        cliques, log_sum = self.passes.tables(self.clique_potentials(self._split(theta)))
        found: dict[Attributes, Floats] = {}
        for ladder, table in zip(self.ladders, cliques, strict=True):
            found |= ladder.margins(table)
        return np.concatenate([found[one].reshape(-1) for one in self.groups]) * self.total, log_sum

    def _split(self, theta: Floats) -> dict[Attributes, Floats]:
        parts, begin = {}, 0
        for attributes, (counts, _) in self.groups.items():
            parts[attributes] = theta[begin : begin + counts.size].reshape(counts.shape)
            begin += counts.size
        return parts


def _fixed(tree: JunctionTree, masks: Masks) -> list[Floats]:
    """Return the potentials of impossible entries."""
    fixed = [np.zeros(tuple(tree.sizes[i] for i in clique)) for clique in tree.cliques]
    for attributes, mask in masks.items():
        place = tree.home(attributes)
        assert place is not None  # noqa: S101  the tree was made for these
        fixed[place] += broadcast(np.where(mask, -np.inf, 0.0), attributes, tree.cliques[place])
    return fixed


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
