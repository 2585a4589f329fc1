"""The Gumbel law: noise that turns a maximum into the exponential mechanism."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.noise.fast import SLACK, Floats

__all__ = ["Gumbel"]


@dataclass(frozen=True, slots=True)
class Gumbel:
    """Distribution function ``exp(-exp(-z))``.

    ``z = -log(-log(1 - v))``. For small v, the large z that win races, this is as accurate as ``log v``. Towards
    v = 1 the cell and the rounding of v, below ``2^-53``, weigh ``dz / dv = exp(z + exp(-z))``.
    """

    symmetric: ClassVar[bool] = False

    def inverse(self, v: Floats, /) -> Floats:
        """Return -log(-log(1 - v))."""
        with np.errstate(divide="ignore"):
            return -np.log(-np.log1p(-v))

    def slack(self, z: Floats, /) -> Floats:
        """Bound the error of the inverse; infinite where v rounds to 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            steep = np.exp(z + np.exp(-z)) * 2.0**-51
        return np.where(z < 0, np.nan_to_num(steep, nan=np.inf, posinf=np.inf), 0) + SLACK * 2

    def survival(self, z: arb, /) -> arb:
        """Return 1 - exp(-exp(-z))."""
        return -(-(-z).exp()).expm1()

    def quantile(self, v: arb, /) -> arb:
        """Return -log(-log(1 - v))."""
        return -((-((-v).log1p())).log())
