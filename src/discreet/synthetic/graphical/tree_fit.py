"""A tree of pairs fitted without iteration over the whole model.

Where only single attributes and pairs that form a tree are measured, the model is a product of its pairs over its
singles. So it is enough to make these agree: what all tables tell of an attribute is averaged by precision and made
non-negative, and each pair is moved to its two margins, by least squares with clipping and then by proportional
fitting. Measurements of a tree are few, and this takes milliseconds.
"""

from collections.abc import Sequence

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.consistency.total import project_total
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.junction_tree import junction_tree
from discreet.synthetic.graphical.measured import Measured, total_of
from discreet.synthetic.graphical.model import GraphicalModel

__all__ = ["fit_tree", "singles_of"]

CLIPPED, SCALED = 40, 30
SMALLEST = 1e-300


def singles_of(sizes: tuple[int, ...], measurements: Sequence[Measured], total: float) -> list[Floats]:
    """Return what all measurements tell of each attribute: counts without negative ones that add up to the total."""
    sums = [np.zeros(size) for size in sizes]
    precision = [0.0] * len(sizes)
    for one in measurements:
        for axis, attribute in enumerate(one.attributes):
            others = tuple(i for i in range(one.counts.ndim) if i != axis)
            weight = sizes[attribute] / (one.sigma**2 * one.counts.size)
            sums[attribute] += one.counts.sum(axis=others) * weight
            precision[attribute] += weight
    return [
        project_total(values / known, total) if known else np.full(size, total / size)
        for values, known, size in zip(sums, precision, sizes, strict=True)
    ]


def fit_tree(sizes: tuple[int, ...], measurements: Sequence[Measured], *, total: float | None = None) -> GraphicalModel:
    """Return the model of measurements of single attributes and of pairs without a cycle.

    >>> told = [Measured((0, 1), np.array([[30.0, 10.0], [10.0, 50.0]]), 1.0)]
    >>> fit_tree((2, 2), told).marginal((0, 1)).round(6).tolist()
    [[30.0, 10.0], [10.0, 50.0]]
    """
    if any(len(one.attributes) not in (1, 2) for one in measurements):
        raise InvalidParameter("a tree has measurements of one or two attributes.")
    whole = total_of(measurements) if total is None else total
    singles = singles_of(sizes, measurements, whole)
    pairs: dict[Attributes, Floats] = {
        one.attributes: _moved(one, singles) for one in measurements if len(one.attributes) == 2
    }
    tree = junction_tree(sizes, pairs)
    if any(len(clique) > 2 for clique in tree.cliques):
        raise InvalidParameter("the measured pairs have a cycle: use fit.")
    potentials = []
    for place, clique in enumerate(tree.cliques):
        table = singles[clique[0]] if len(clique) == 1 else pairs[clique]
        separator = tree.separator(place) if place else ()
        potentials.append(_given(table, clique, separator))
    return GraphicalModel(tree, potentials, whole, tuple(measurements))


def _moved(one: Measured, singles: Sequence[Floats]) -> Floats:
    """Return a pair without negative entries that has the margins of its attributes."""
    rows, columns = singles[one.attributes[0]], singles[one.attributes[1]]
    table = np.asarray(one.counts, dtype=np.float64)
    for _ in range(CLIPPED):
        down, across = rows - table.sum(axis=1), columns - table.sum(axis=0)
        spread = down[:, None] / table.shape[1] + across[None, :] / table.shape[0] - down.sum() / table.size
        table = np.maximum(table + spread, 0.0)
    table = table + np.outer(rows, columns) * (1e-9 / max(float(rows.sum()), SMALLEST))  # no margin may be empty
    for _ in range(SCALED):
        table = table * (rows / np.maximum(table.sum(axis=1), SMALLEST))[:, None]
        table = table * (columns / np.maximum(table.sum(axis=0), SMALLEST))[None, :]
    return table


def _given(table: Floats, clique: Attributes, separator: Attributes) -> Floats:
    """Return the log of a table, conditional on what it shares with its parent."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(table)
        if separator:
            axis = 1 - clique.index(separator[0])
            given = logs - np.log(table.sum(axis=axis, keepdims=True))
            return np.where(np.isneginf(logs), -np.inf, given)
    return np.asarray(logs)
