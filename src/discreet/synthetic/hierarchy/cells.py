"""The cells of a table: all combinations of public attributes, less those that cannot be.

An edit rule is a predicate over cells that says which of them are possible: a spouse is at least 15, somebody has at
least one race. Impossible cells are structural zeros. They are removed before any noise is drawn, so they take no noise
and stay zero exactly. A rule is public and must hold for reasons that have nothing to do with the data at hand; a
person who breaks one is counted nowhere.

A coarser grouping is an attribute too: with attributes ``age`` and ``adult`` and the rule that adult means age of at
least 18, tables by ``adult`` can be asked for, and no cell is added.

Rules about households, such as one householder in each, are kept by construction if a household is what its householder
is: let the household's attributes be attributes of persons, with a value for "not the householder" and a rule that
nobody else has them. Then households are counted where householders are, and there are as many.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.synthetic.consistency.tree import Places
from discreet.synthetic.hierarchy.spine import codes_of, listed
from discreet.units.labels import check_labels

__all__ = ["Cells"]

MOST_CELLS = 1 << 22

Rule = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """A product of attributes, with rules that say which combinations are possible.

    >>> cells = Cells(
    ...     attributes={"age": ("child", "adult"), "role": ("spouse", "other")},
    ...     rules={"a spouse is grown up": lambda cell: cell["role"] != "spouse" or cell["age"] == "adult"},
    ... )
    >>> cells.count, cells.labels(("age",)).tolist()
    (3, [0, 1, 1])
    """

    attributes: Mapping[str, tuple[Hashable, ...]]
    rules: Mapping[str, Rule] = field(default_factory=dict)
    zeros: npt.NDArray[np.bool_] | None = None
    allowed: npt.NDArray[np.bool_] = field(init=False, repr=False)
    codes: Places = field(init=False, repr=False)

    def __post_init__(self) -> None:
        listed = {name: tuple(values) for name, values in self.attributes.items()}
        if not listed or any(len(v) == 0 or len(set(v)) < len(v) for v in listed.values()):
            raise InvalidParameter("attributes must be one or more, each with one or more different values.")
        for values in listed.values():
            check_labels(values, "values of attributes")
        shape = tuple(len(values) for values in listed.values())
        if np.prod(shape, dtype=object) > MOST_CELLS:
            raise InvalidParameter(f"there are at most {MOST_CELLS} cells; coarsen an attribute.")
        if self.zeros is not None and (np.shape(self.zeros) != shape or np.asarray(self.zeros).dtype != np.bool_):
            raise InvalidParameter(f"zeros must be a mask of shape {shape}: True where a cell is impossible.")
        allowed = np.ones(shape, dtype=np.bool_) if self.zeros is None else ~np.asarray(self.zeros)
        if self.rules:
            allowed = allowed & _possible(listed, shape, self.rules)
        if not allowed.any():
            raise InvalidParameter("the rules leave no cell possible; drop or correct one.")
        codes = np.argwhere(allowed).astype(np.int64)
        allowed.flags.writeable = codes.flags.writeable = False
        for name, value in (
            ("attributes", MappingProxyType(listed)),
            ("rules", MappingProxyType(dict(self.rules))),
            ("allowed", allowed),
            ("codes", codes),
        ):
            object.__setattr__(self, name, value)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(self.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return self.allowed.shape

    @property
    def count(self) -> int:
        """How many cells are possible."""
        return len(self.codes)

    @property
    def whole(self) -> bool:
        """Whether every combination is possible."""
        return self.count == self.allowed.size

    def labels(self, attributes: tuple[str, ...]) -> Places:
        """Return for each possible cell its place in the table by these attributes, impossible entries left out."""
        axes = [self.names.index(name) for name in self.names if name in self.check(attributes)]
        flat = np.zeros(self.count, dtype=np.int64)
        for axis in axes:
            flat = flat * self.shape[axis] + self.codes[:, axis]
        return np.unique(flat, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def check(self, attributes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the attributes, which must exist and differ."""
        unknown = [name for name in attributes if name not in self.attributes]
        if type(attributes) is not tuple or unknown or len(set(attributes)) < len(attributes):
            raise InvalidParameter(
                f"a table is asked for by a tuple of different attributes among {', '.join(map(repr, self.names))}; "
                "the empty tuple is the total."
            )
        return attributes

    def values(self, attribute: str) -> list[Hashable]:
        """Return the value of an attribute in each possible cell."""
        values = self.attributes[attribute]
        return [values[code] for code in self.codes[:, self.names.index(attribute)].tolist()]

    def places(self, columns: Mapping[str, Iterable[Any]]) -> Places:
        """Return the possible cell of each row; -1 where a value is unknown or the cell impossible."""
        missing = [name for name in self.names if name not in columns]
        if missing:
            raise InvalidInput(
                f"the data must have a column for each attribute; {', '.join(map(repr, missing))} is missing."
            )
        place = np.full(self.allowed.size, -1, dtype=np.int64)
        place[self.allowed.reshape(-1)] = np.arange(self.count)
        codes = [codes_of(listed(columns[name]), values) for name, values in self.attributes.items()]
        if len({len(column) for column in codes}) != 1:
            raise InvalidInput("all columns must have the same length.")
        good = np.all(np.stack(codes) >= 0, axis=0)
        flat = np.ravel_multi_index([np.maximum(column, 0) for column in codes], self.shape)
        return np.where(good, place[flat], -1)


def _possible(
    attributes: Mapping[str, tuple[Hashable, ...]], shape: tuple[int, ...], rules: Mapping[str, Rule]
) -> npt.NDArray[np.bool_]:
    mask = np.ones(shape, dtype=np.bool_)
    for place in np.ndindex(shape):
        cell = {name: values[i] for (name, values), i in zip(attributes.items(), place, strict=True)}
        mask[place] = all(bool(rule(cell)) for rule in rules.values())
    return mask
