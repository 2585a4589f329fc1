"""What a specimen of the zoo is, and the noise that specimens share.

Specimens draw from a numpy generator that is handed to them, so that audits of them are repeatable. Where the mistake
is not about floating point, noise is whole or the release is rounded to a coarse lattice, so that the bits of a double
do not give away what another mistake should.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.units import Relation

__all__ = ["Batch", "Floats", "Integers", "Once", "Run", "Specimen", "geometric", "lattice", "many"]

Run = Callable[[Any, np.random.Generator], Any]
Batch = Callable[[Any, int, np.random.Generator], Any]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

STEP = 2.0**-10


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """A mechanism with what it claims to cost and two neighbouring inputs on which a mistake would show.

    ``run`` makes one release and ``batch`` many at once: an array with one row for each, or a list. The claim is
    audited at ``delta``. A mistake that shows in how long a release takes has ``shows="duration"``.
    """

    name: str
    mistake: str
    paper: str
    claims: PrivacyLoss
    neighbours: tuple[Any, Any]
    relation: Relation
    run: Run
    batch: Batch | None = None
    delta: float = 0.0
    shows: Literal["output", "duration"] = "output"

    @property
    def epsilon(self) -> float:
        """What is claimed at ``delta``."""
        return self.claims.epsilon(self.delta)


@dataclass(frozen=True)
class Once:
    """One release of a mechanism that makes many at once, as a plain Python value.

    >>> rng = np.random.default_rng(1)
    >>> Once(lambda x, n, rng: np.full((n, 2), x))(3, rng)
    (3, 3)
    """

    batch: Batch

    def __call__(self, x: Any, rng: np.random.Generator) -> Any:  # noqa: ANN401 - inputs and outputs of all kinds
        """Return the first and only release."""
        release = self.batch(x, 1, rng)[0]
        if not isinstance(release, np.ndarray | np.generic):
            return release
        value = release.tolist()
        return tuple(value) if isinstance(value, list) else value


def many(batch: Batch, **fields: Any) -> Specimen:  # noqa: ANN401 - the fields of a specimen
    """Return the specimen whose single release is one of a batch."""
    return Specimen(run=Once(batch), batch=batch, **fields)


def geometric(scale: float, shape: int | tuple[int, ...], rng: np.random.Generator) -> Integers:
    """Return two-sided geometric noise: a change by 1 costs ``1 / scale``."""
    success = -np.expm1(-1 / scale)
    return rng.geometric(success, shape) - rng.geometric(success, shape)


def lattice(values: Floats) -> Floats:
    """Return the values rounded to a coarse lattice that does not depend on them."""
    return np.rint(values / STEP) * STEP + 0.0
