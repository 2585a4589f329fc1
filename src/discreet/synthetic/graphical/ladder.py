"""Many tables within one clique, summed and added up in steps that they share.

The tables that were measured within a clique are margins of its table. Each is reached by leaving out one attribute
after the other, the one with the most values first; tables that begin alike share these steps. Upwards the same steps
add the potentials of all tables up. So few steps touch the whole clique, however many tables it has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, along, broadcast, summed

__all__ = ["Ladder"]


@dataclass(slots=True, eq=False)
class Ladder:
    """The steps from one clique to some tables within it.

    >>> steps = Ladder((0, 1, 2), (2, 3, 4), [(0,), (0, 2)])
    >>> {of: table.tolist() for of, table in steps.margins(np.ones((2, 3, 4))).items()}
    {(0,): [12.0, 12.0], (0, 2): [[3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]]}
    """

    clique: Attributes
    sizes: tuple[int, ...]
    """How many values each attribute of the whole model has."""

    wanted: Sequence[Attributes]
    _steps: list[tuple[Attributes, Attributes]] = field(init=False, repr=False)
    """Each set of attributes that is passed, after the one that it is reached from."""

    def __post_init__(self) -> None:
        self._steps = []
        self._descend(self.clique, [one for one in dict.fromkeys(self.wanted) if one != self.clique])

    def margins(self, table: Floats) -> dict[Attributes, Floats]:
        """Return the margins of the clique's table."""
        made = {self.clique: table}
        for above, below in self._steps:
            made[below] = summed(made[above], along(above, below))
        return {one: made[one] for one in self.wanted}

    def potential(self, parts: Mapping[Attributes, Floats], fixed: Floats) -> Floats:
        """Return the sum of potentials of all tables, each spread over what it lacks, and of a fixed one."""
        made: dict[Attributes, Floats] = {}
        for above, below in reversed(self._steps):
            table = made[below] if below in made else np.zeros(tuple(self.sizes[i] for i in below))
            if below in parts:
                table = table + parts[below]
            spread = broadcast(table, below, above)
            made[above] = made[above] + spread if above in made else spread
        whole = fixed + made[self.clique] if self.clique in made else fixed
        return whole + parts[self.clique] if self.clique in parts else whole

    def _descend(self, above: Attributes, wanted: list[Attributes]) -> None:
        by_size = sorted(above, key=lambda i: (-self.sizes[i], i))
        groups: dict[int, list[Attributes]] = {}
        for one in wanted:
            gone = next(i for i in by_size if i not in one)
            groups.setdefault(gone, []).append(one)
        for gone, ones in groups.items():
            spare = {i for i in above if not any(i in one for one in ones)} | {gone}
            below = tuple(i for i in above if i not in spare)
            self._steps.append((above, below))
            self._descend(below, [one for one in ones if one != below])
