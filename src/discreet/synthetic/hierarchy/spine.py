"""The spine of a hierarchy: which area lies in which, from the whole country down to the block.

A spine is public. It must come from a list of areas, such as an office publishes, and never from the areas that happen
to have people in a data set: a block that is missing from it would tell that nobody lives there.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.quietly import Silence
from discreet.sensitivity.total import safely
from discreet.synthetic.consistency.tree import Places
from discreet.units.labels import check_labels

__all__ = ["Path", "Spine", "codes_of", "listed"]

Path = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spine:
    """Levels from the top down, and the path of every area that has no smaller ones inside.

    All leaves lie on the last level. Areas are told apart by their whole path, so two counties in different states may
    have the same name.

    >>> spine = Spine(levels=("state", "county"), leaves=(("GA", "Fulton"), ("GA", "Cobb"), ("AL", "Lee")))
    >>> spine.nodes("state"), spine.parents
    ((('GA',), ('AL',)), (array([0, 0, 1]),))
    """

    levels: tuple[str, ...]
    leaves: tuple[Path, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        object.__setattr__(self, "leaves", tuple(tuple(path) for path in self.leaves))
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise InvalidParameter("levels must be one or more different names, from the top down.")
        if not self.leaves or any(len(path) != len(self.levels) for path in self.leaves):
            raise InvalidParameter(
                f"every leaf must have a path of {len(self.levels)} names, one for each level, and there must be one."
            )
        check_labels(self.leaves, "names of areas")
        if len(set(self.leaves)) < len(self.leaves):
            raise InvalidParameter("a leaf is listed twice; list every smallest area once.")

    @classmethod
    def from_columns(cls, columns: Mapping[str, Iterable[Hashable]]) -> "Spine":
        """Return the spine of a public list of areas, one column for each level from the top down.

        >>> Spine.from_columns({"state": ["GA", "GA"], "county": ["Fulton", "Cobb"]}).leaves
        (('GA', 'Fulton'), ('GA', 'Cobb'))
        """
        lists = [listed(column) for column in columns.values()]
        if len({len(column) for column in lists}) != 1:
            raise InvalidParameter("the columns of a list of areas must have the same length.")
        return cls(levels=tuple(columns), leaves=tuple(dict.fromkeys(zip(*lists, strict=True))))

    @classmethod
    def from_tree(cls, levels: Sequence[str], tree: Mapping[Hashable, Any] | Sequence[Hashable]) -> "Spine":
        """Return the spine of nested dicts whose innermost values list the leaves.

        >>> Spine.from_tree(["state", "county"], {"GA": ["Fulton", "Cobb"], "AL": ["Lee"]}).leaves[-1]
        ('AL', 'Lee')
        """
        return cls(levels=tuple(levels), leaves=tuple(_paths(tree)))

    @property
    def parents(self) -> tuple[Places, ...]:
        """For each level below the top, the place of each node's parent on the level above."""
        tables = [self.nodes(level) for level in self.levels]
        return tuple(
            np.array([place[path[:-1]] for path in below], dtype=np.int64)
            for place, below in zip(
                ({path: i for i, path in enumerate(nodes)} for nodes in tables), tables[1:], strict=False
            )
        )

    def nodes(self, level: str) -> tuple[Path, ...]:
        """Return the paths of all nodes of a level, in the order of their first leaves."""
        depth = self.depth(level) + 1
        return tuple(dict.fromkeys(path[:depth] for path in self.leaves))

    def depth(self, level: str) -> int:
        """Return the place of a level, counted from the top."""
        if level not in self.levels:
            raise InvalidParameter(f"there is no level {level!r}; the levels are {', '.join(map(repr, self.levels))}.")
        return self.levels.index(level)

    def codes(self, columns: Mapping[str, Iterable[Any]]) -> Places:
        """Return the leaf of each row, by its columns of all levels; -1 where the spine has no such leaf."""
        missing = [level for level in self.levels if level not in columns]
        if missing:
            raise InvalidInput(
                f"the data must have a column for each level; {', '.join(map(repr, missing))} is missing."
            )
        lists = [listed(columns[level]) for level in self.levels]
        if len({len(column) for column in lists}) != 1:
            raise InvalidInput("all columns must have the same length.")
        return codes_of(list(zip(*lists, strict=True)), self.leaves)


def codes_of(values: Sequence[Any], known: Sequence[Hashable]) -> Places:
    """Return the place of each value among those known, and -1 for any other, whatever it does when it is looked up.

    >>> codes_of(["b", "x", ["a"]], ["a", "b"]).tolist()
    [1, -1, -1]
    """
    place = {value: i for i, value in enumerate(known)}
    with Silence():  # what cannot be hashed or compared is none of those known
        codes = (safely(place.get, value, otherwise=None) for value in values)
        return np.fromiter((-1 if code is None else code for code in codes), dtype=np.int64, count=len(values))


def listed(column: Iterable[Any]) -> list[Any]:
    """Return a column as a list of Python's own values."""
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _paths(tree: Mapping[Hashable, Any] | Sequence[Hashable]) -> list[Path]:
    if isinstance(tree, Mapping):
        return [(name, *path) for name, below in tree.items() for path in _paths(below)]
    if isinstance(tree, str) or not isinstance(tree, Sequence | npt.NDArray):
        raise InvalidParameter("a tree is made of dicts, and the innermost values are lists of leaves.")
    return [(name,) for name in tree]
