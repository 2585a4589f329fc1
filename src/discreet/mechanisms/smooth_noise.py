"""Noise that follows the data: as large as one record could move the value here and nearby, and no larger.

Nissim, Raskhodnikova and Smith, "Smooth Sensitivity and Sampling in Private Data Analysis", STOC 2007. The size of the
noise is a secret like the data; what is public is how fast it may change between neighbours, and to that the noise is
fitted (see ``discreet.mechanisms.admissible``).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, finite, show
from discreet.mechanisms.admissible.choice import compare
from discreet.mechanisms.admissible.drawn import LARGEST, scale_of
from discreet.mechanisms.admissible.interface import Admissible
from discreet.mechanisms.admissible.nearest import least_at_least, most_at_most
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import NOT_GIVEN, store
from discreet.noise import grid_for
from discreet.noise.fast import Floats
from discreet.noise.grid import power_of_two
from discreet.sensitivity.smooth import Function, Vicinity

__all__ = ["SmoothNoise", "smooth_noise"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmoothNoise(Faces):
    """Release the value of a function with noise in proportion to its smooth sensitivity at the data.

    Satisfies ``noise.loss`` under ``function.relation`` for all data sets: neighbours move the value by at most the
    smaller of their smooth bounds, and the bounds differ by a factor of at most ``e^beta``, to which the noise is
    fitted. The grid comes from the public range of the function alone, by default about a millionth of it. The output
    is drawn to that range, which costs nothing, unless ``clamp=False``. It is a float: where the range is more than
    ``2^53`` steps from 0, several of them round to one, and ``log_probability`` is that of the rounded output.

    Nothing is refused because of the data. Scales that are too small to be drawn are raised, and those too large are
    cut at a constant that is above what the noise must hide: no value moves further than the range is wide. Ranges so
    wide that no constant is left are refused from the start.

    No error is promised beforehand, as it depends on the data: ``foresee`` tells it for data that may be shown.

    >>> from discreet.mechanisms.admissible import PowerLaw
    >>> from discreet.sensitivity.smooth.order import Median
    >>> median = SmoothNoise(function=Median(bounds=(0, 100)), noise=PowerLaw(epsilon=1, beta=0.1))
    >>> 20 < median.release(np.linspace(40, 44, 501)) < 60
    True
    >>> round(median.foresee(np.linspace(40, 44, 501)), 2)
    0.12
    """

    function: Function
    noise: Admissible
    clamp: bool = True
    grid: Real = NOT_GIVEN

    def __post_init__(self) -> None:
        for given, kind, room in (
            (self.function, Function, "discreet.sensitivity.smooth"),
            (self.noise, Admissible, "discreet.mechanisms.admissible"),
        ):
            if not isinstance(given, kind):
                raise InvalidParameter(f"{kind.__name__.lower()} must come from {room}, got {type(given).__name__}.")
        if self.function.dimension != self.noise.dimension:
            raise InvalidParameter(
                f"the function has {self.function.dimension} numbers and the noise is for {self.noise.dimension}: "
                "give the noise dimension=."
            )
        if self.function.dimension > 1 and self.function.norm > self.noise.norm:
            raise InvalidParameter(
                f"the noise needs a bound in L{self.noise.norm:g} norm, and the function tells one in "
                f"L{self.function.norm:g} norm: take Gaussian noise."
            )
        if type(self.clamp) is not bool:
            raise InvalidParameter("clamp must be True or False.")
        store(self, grid=power_of_two(self._house_grid() if self.grid is NOT_GIVEN else self.grid))
        low, high = (finite(end, "range") for end in self.function.range)
        if (high - low) * self.function.dimension > self._most() or max(-low, high) / Fraction(self.grid) > LARGEST:
            raise InvalidParameter(
                "the range of the function is too wide for this noise or grid: scales and numbers of steps must stay "
                "below 2^990 whatever the data are. Narrow the bounds, or take a larger budget or a coarser grid."
            )

    def __repr__(self) -> str:
        clamp = "" if self.clamp else ", clamp=False"
        grid = "" if self.grid == self._house_grid() else f", grid={show(self.grid)}"
        return f"SmoothNoise(function={self.function!r}, noise={self.noise!r}{clamp}{grid})"

    @property
    def domain(self) -> Records:
        """Data sets of the function."""
        return Records(
            relation=self.function.relation, bounds=getattr(self.function, "bounds", None), size=self.function.size
        )

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise: the function is covered by its smooth bound."""
        return self.noise.loss.under(self.function.relation)

    def release(self, records: Any, /) -> float | Floats:  # noqa: ANN401 - whatever the function is about
        """Return the noisy value: a float, or an array for a vector."""
        vicinity = self.function.at(records)
        drawn = self.noise.draw(vicinity.value, self._bound(vicinity), grid=self.grid)
        if not self.clamp:
            return drawn
        low, high = self._ends()
        return min(max(drawn, low), high) if isinstance(drawn, float) else np.clip(drawn, low, high)

    def foresee(self, example: Any, beta: Real = 0.05) -> float:  # noqa: ANN401
        """Return how far a release on an example would stray at most, with probability ``1 - beta``.

        The answer tells about the example, so it must be public: made up, or of an earlier, published year. Never ask
        this of the data that are to be protected.
        """
        return self.noise.reach(beta) * self.function.at(example).smooth(self.noise.beta) + float(self.grid) / 2

    def log_probability(self, records: Any, output: Any, /) -> float:  # noqa: ANN401
        """Return ``log P[release(records) = output]`` for a point of the grid, or an end of the range."""
        vicinity = self.function.at(records)
        scale = scale_of(self._bound(vicinity), self.noise.factor)
        values, outputs = np.ravel(np.asarray(vicinity.value, dtype=object)), np.ravel(np.asarray(output, dtype=object))
        return math.fsum(self._log_one(Fraction(v), float(y), scale) for v, y in zip(values, outputs, strict=True))

    def worst_case(self) -> tuple[Any, Any]:
        """Two neighbours at a cliff: what the function names, or half of the data at either bound and one moved.

        The noise is then as large as it gets, and the value moves as far as it can.
        """
        told = getattr(self.function, "worst_case", None)
        if told is not None:
            pair: tuple[Any, Any] = told()
            return pair
        bounds = getattr(self.function, "bounds", None)
        if bounds is None:
            raise NoTheorem("this function names no neighbours at a cliff: pass neighbours=.")
        low, high = bounds
        size = self.function.size or 3
        upper = size // 2
        rest = [low] * (size - upper - 1) + [high] * upper
        return [low, *rest], ([high, *rest] if self.function.relation == "replace_one" else rest)

    def _log_one(self, value: Fraction, output: float, scale: Fraction) -> float:
        step = Fraction(self.grid)
        low, high = self._ends()
        at_low, at_high = self.clamp and output == low, self.clamp and output == high
        outside = self.clamp and not low <= output <= high
        if outside or not (at_low or at_high or Fraction(output) % step == 0):
            return -math.inf
        left = None if at_low else least_at_least(Fraction(output) / step) - Fraction(1, 2)
        right = None if at_high else most_at_most(Fraction(output) / step) + Fraction(1, 2)
        ends = (None if end is None else (end * step - value) / scale for end in (left, right))
        return self.noise.log_cell(*ends)

    def _bound(self, vicinity: Vicinity) -> Real:
        """Return the smooth bound, or the largest that is drawn: the smaller of it and a constant is smooth."""
        bound, most = vicinity.smooth(self.noise.beta), self._most()
        return most if bound > most else bound

    def _most(self) -> Fraction:
        return LARGEST / self.noise.factor

    def _ends(self) -> tuple[float, float]:
        low, high = self.function.range
        return float(low), float(high)

    def _house_grid(self) -> Fraction:
        low, high = (finite(end, "range") for end in self.function.range)
        return grid_for(high - low if high > low else 1)


def smooth_noise(
    function: Function,
    epsilon: Real | None = None,
    delta: Real = 0,
    *,
    rho: Real | None = None,
    beta: Real | None = None,
    like: Any = None,  # noqa: ANN401
) -> SmoothNoise:
    """Return the mechanism whose noise reaches least far within a budget, chosen from public information alone.

    The budget is epsilon, with or without delta, or rho. ``like`` is a public example of what the data may look like,
    such as last year's; without one the data are taken to be spread evenly. It serves the choice of the noise and of
    ``beta``, never privacy: a poor example only makes for more noise. ``compare`` shows the alternatives.

    >>> from discreet.sensitivity.smooth.order import Median
    >>> smooth_noise(Median(bounds=(0, 100)), 1, like=np.linspace(30, 60, 500)).noise
    PowerLaw(epsilon=1, beta=0.2..., dimension=1)
    """
    best = compare(function, epsilon, delta, rho=rho, beta=beta, like=like).best
    return SmoothNoise(function=function, noise=best.noise)
