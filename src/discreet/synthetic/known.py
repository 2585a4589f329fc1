"""What is publicly known of records beside their sizes: combinations that are impossible, attributes that follow.

Neither is learned from data, so neither costs anything. An impossible combination has the probability 0 in the model
exactly, whatever was measured. An attribute that is a function of another is not measured: it is put back into the
model as the function says, and a record that contradicts it counts as the function says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.coded import Tallied
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.junction_tree import JunctionTree, junction_tree, model_cells
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.model import GraphicalModel

__all__ = ["Determined", "Known", "Zeros", "known"]

Mask = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
Zeros = Mapping[Attributes, Mask]
Determined = Mapping[int, tuple[int, Int64]]

MOST_CELLS = 1 << 22
"""The tables of impossible combinations, joined, have at most so many entries."""


@dataclass(frozen=True, slots=True)
class Known:
    """Checked rules: which attributes are measured, and how a model of them becomes one of all."""

    sizes: tuple[int, ...]
    zeros: Zeros = field(compare=False)
    determined: Determined = field(compare=False)
    _written: tuple[tuple[object, bytes], ...] = field(repr=False)

    @property
    def kept(self) -> Attributes:
        """The attributes that are not determined by others."""
        return tuple(i for i in range(len(self.sizes)) if i not in self.determined)

    @property
    def inner_sizes(self) -> tuple[int, ...]:
        """The sizes of the attributes that are kept."""
        return tuple(self.sizes[i] for i in self.kept)

    @property
    def inner_zeros(self) -> Zeros:
        """The impossible combinations, by the numbers of attributes among those kept."""
        return {self.inner(one): mask for one, mask in self.zeros.items()}

    def inner(self, attributes: Iterable[int]) -> Attributes:
        """Return a set of attributes by numbers among those kept; one that is determined stands for its source."""
        places = {i: place for place, i in enumerate(self.kept)}
        return tuple(sorted({places[self.determined[i][0] if i in self.determined else i] for i in attributes}))

    def records(self, tally: Tallied) -> Tallied:
        """Return records by the attributes that are kept."""
        return Tallied(tally.codes[:, list(self.kept)], tally.counts) if self.determined else tally

    def completed(self, model: GraphicalModel) -> GraphicalModel:
        """Return a model of the kept attributes as one of all: what is determined hangs on its source.

        >>> rules = known((2, 3), None, {1: (0, np.array([2, 0]))})
        >>> inner = GraphicalModel(junction_tree((2,), [(0,)]), [np.log([1.0, 3.0])], 8.0)
        >>> rules.completed(inner).marginal((0, 1)).round(6).tolist()
        [[0.0, 0.0, 2.0], [6.0, 0.0, 0.0]]
        """
        if not self.determined:
            return model
        kept = self.kept
        cliques = [tuple(kept[i] for i in clique) for clique in model.tree.cliques]
        parents, potentials = list(model.tree.parents), list(model.potentials)
        for follower, (source, function) in self.determined.items():
            place = next(place for place, clique in enumerate(cliques) if source in clique)
            cliques.append((min(source, follower), max(source, follower)))
            parents.append(place)
            potentials.append(_indicator(function, self.sizes[follower], source < follower))
        told = [Measured(tuple(kept[i] for i in one.attributes), one.counts, one.sigma) for one in model.measurements]
        tree = JunctionTree(self.sizes, tuple(cliques), tuple(parents))
        return GraphicalModel(tree, potentials, model.total, told)

    def words(self) -> str:
        """Return what a repr says of the rules."""
        zeros = f", zeros={{{', '.join(f'{one}: ...' for one in self.zeros)}}}" if self.zeros else ""
        listed = ", ".join(f"{i}: ({source}, ...)" for i, (source, _) in self.determined.items())
        return zeros + (f", determined={{{listed}}}" if listed else "")


def known(sizes: tuple[int, ...], zeros: Zeros | None, determined: Determined | None) -> Known:
    """Return checked rules, each attribute that is determined told by one that is not.

    >>> known((2, 2), {(0, 1): np.ones((2, 2), dtype=bool)}, None)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: zeros leave nothing possible; leave some combination of values open.
    """
    functions = _functions(sizes, determined or {})
    masks: dict[Attributes, Mask] = {}
    for attributes, mask in (zeros or {}).items():
        one, given = _mask(sizes, attributes, mask)
        if any(i in functions for i in one):
            raise InvalidParameter("zeros are by attributes that are not determined by others; name their source.")
        masks[one] = masks[one] | given if one in masks else given
    for given in masks.values():
        given.setflags(write=False)
    if masks:
        _check_possible(sizes, masks)
    written: list[tuple[object, bytes]] = [(one, np.packbits(masks[one]).tobytes()) for one in sorted(masks)]
    written += [((i, functions[i][0]), functions[i][1].tobytes()) for i in sorted(functions)]
    return Known(sizes, MappingProxyType(masks), MappingProxyType(functions), tuple(written))


def _mask(sizes: tuple[int, ...], attributes: Any, mask: Any) -> tuple[Attributes, Mask]:  # noqa: ANN401 - as given
    """Return a mask with its axes in the order of attributes."""
    one, given = tuple(attributes), np.array(mask)
    if not one or len(set(one)) < len(one) or any(type(i) is not int or not 0 <= i < len(sizes) for i in one):
        raise InvalidParameter(f"zeros are by different attributes, numbered from 0 to {len(sizes) - 1}.")
    if given.dtype != np.bool_ or given.shape != tuple(sizes[i] for i in one):
        raise InvalidParameter("zeros are arrays of booleans with an axis for each attribute, as long as its size.")
    order = sorted(range(len(one)), key=lambda axis: one[axis])
    return tuple(sorted(one)), np.ascontiguousarray(given.transpose(order))


def _functions(sizes: tuple[int, ...], determined: Mapping[Any, Any]) -> dict[int, tuple[int, Int64]]:
    """Return functions whose sources are not determined themselves."""
    read: dict[int, tuple[int, Int64]] = {}
    for follower, (source, function) in determined.items():
        values = np.array(function)
        numbers = all(type(i) is int and 0 <= i < len(sizes) for i in (follower, source))
        if not numbers or follower == source:
            raise InvalidParameter(f"determined names two different attributes from 0 to {len(sizes) - 1}.")
        if values.dtype.kind not in "iu" or values.shape != (sizes[source],):
            raise InvalidParameter("a function is a list of whole numbers, one for each value of its source.")
        if values.min() < 0 or values.max() >= sizes[follower]:
            raise InvalidParameter("a function has values of the attribute that it determines.")
        read[follower] = source, values.astype(np.int64)
    resolved = {}
    for follower, (first, function) in read.items():
        source, values = first, function
        seen = {follower}
        while source in read:
            if source in seen:
                raise InvalidParameter("attributes determine each other in a circle; leave one of them out.")
            seen.add(source)
            source, before = read[source]
            values = values[before]
        values.setflags(write=False)
        resolved[follower] = source, values
    return dict(sorted(resolved.items()))


def _check_possible(sizes: tuple[int, ...], masks: Zeros) -> None:
    if model_cells(sizes, masks) - sum(sizes) > MOST_CELLS:
        raise InvalidParameter(f"zeros join attributes to tables of more than {MOST_CELLS:,} entries; state fewer.")
    tree = junction_tree(sizes, masks)
    potentials: list[Floats] = [np.zeros(tuple(sizes[i] for i in clique)) for clique in tree.cliques]
    for one, mask in masks.items():
        place = tree.home(one)
        assert place is not None  # noqa: S101  the tree was made for these
        wide = tuple(sizes[i] if i in one else 1 for i in tree.cliques[place])
        potentials[place] += np.where(mask, -np.inf, 0.0).reshape(wide)
    try:
        GraphicalModel(tree, potentials, 1.0)
    except InvalidParameter:
        raise InvalidParameter("zeros leave nothing possible; leave some combination of values open.") from None


def _indicator(function: Int64, size: int, source_first: bool) -> Floats:
    """Return potentials that allow a value of the source with its own value of the follower alone."""
    table = np.full((len(function), size), -np.inf)
    table[np.arange(len(function)), function] = 0.0
    return table if source_first else np.ascontiguousarray(table.T)
