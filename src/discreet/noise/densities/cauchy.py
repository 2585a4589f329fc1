"""The standard Cauchy law."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.noise.fast import SLACK, Floats

__all__ = ["Cauchy"]


@dataclass(frozen=True, slots=True)
class Cauchy:
    """Density ``1 / (pi (1 + z^2))``.

    ``|Z|`` is at least z with probability ``(2 / pi) atan(1 / z)``, so ``z = cot(pi v / 2)`` and ``dz / d log v`` is at
    most ``2 z + pi``: on a believed cell z moves by less than ``(2 z + pi) 2^-45``. The evaluation adds eight units in
    the last place and the rounding of ``pi v / 2``, which the same derivative carries.
    """

    symmetric: ClassVar[bool] = True

    def inverse(self, v: Floats, /) -> Floats:
        """Return cot(pi v / 2), as a tangent of the complement so that it stays finite and accurate near v = 1."""
        return np.where(v < 0.5, 1 / np.tan(v * (np.pi / 2)), np.tan((1 - v) * (np.pi / 2)))

    def slack(self, z: Floats, /) -> Floats:
        """Bound the error of the inverse."""
        return (z + 4) * (2 * SLACK)

    def survival(self, z: arb, /) -> arb:
        """Return 1 - (2 / pi) atan z, written without cancellation."""
        return 2 * arb.atan2(arb(1), z) / arb.pi()
