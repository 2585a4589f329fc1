"""A vicinity made of others by a rule that carries bounds of the parts to a bound of the whole."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.exact import Real
from discreet.sensitivity.smooth.distance import first_above
from discreet.sensitivity.smooth.function import Vicinity
from discreet.sensitivity.smooth.levels import LEAST

__all__ = ["Combined"]


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """What holds for the whole, if ``rule`` takes bounds of the parts to a bound of the whole.

    The rule must rise with every entry and satisfy ``rule(c s) <= c rule(s)`` for ``c >= 1``: then
    ``rule(S(x)) <= rule(e^beta S(y)) <= e^beta rule(S(y))``, so a rule of smooth bounds is smooth. Rules are computed
    in float64, which may round a level down by a few units in the last place: far less than ``ROUNDING``.

    >>> from discreet.sensitivity.smooth.levels import Levels
    >>> part = Levels(value=1.0, levels=np.array([1.0, 2.0]))
    >>> both = Combined(2.0, (part, part), sum)
    >>> both.local(), both.local(5), both.distance(2), both.distance(4)
    (2.0, 4.0, 1, None)
    """

    value: Real | npt.NDArray[np.float64]
    parts: tuple[Vicinity, ...]
    rule: Callable[[Sequence[float]], float]

    def local(self, distance: int = 0, /) -> float:
        """Apply the rule to the levels of the parts."""
        return float(self.rule([part.local(distance) for part in self.parts]))

    def smooth(self, beta: Real, /) -> float:
        """Apply the rule to the smooth bounds of the parts."""
        return max(float(self.rule([part.smooth(beta) for part in self.parts])), LEAST)

    def distance(self, bound: Real, /) -> int | None:
        """Search the levels."""
        return first_above(self.local, bound)
