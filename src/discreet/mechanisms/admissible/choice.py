"""Which noise, and fitted to which smoothness: all that a budget allows, side by side.

A larger beta makes the smooth bound smaller and the noise for each unit of it larger. Where the two balance depends on
the data, so the choice is made on a public example, or as if the data were spread evenly.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability, smallest
from discreet.mechanisms.admissible.cauchy import Cauchy
from discreet.mechanisms.admissible.gaussian import Gaussian
from discreet.mechanisms.admissible.interface import Admissible
from discreet.mechanisms.admissible.laplace import Laplace
from discreet.mechanisms.admissible.laplace_log_normal import LaplaceLogNormal
from discreet.mechanisms.admissible.polynomial import Polynomial
from discreet.mechanisms.admissible.power_law import PowerLaw
from discreet.mechanisms.admissible.student import StudentT
from discreet.mechanisms.admissible.uniform_log_normal import UniformLogNormal
from discreet.sensitivity.smooth import Function

__all__ = ["Alternative", "Comparison", "compare", "evenly"]

POWERS = 12
"""Smoothnesses within so many powers of two of the largest possible one are tried."""

Maker = Callable[[float], Admissible]
Bound = Callable[[float], float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alternative:
    """A noise at its best smoothness, how large the bound is there, and how far the noise reaches in 19 of 20 draws.

    ``curve`` has the reach at other smoothnesses too.
    """

    name: str
    noise: Admissible
    bound: float
    reach: float
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Sequence[Alternative]):
    """Alternatives within one budget, the one that reaches least far first."""

    listed: tuple[Alternative, ...]
    budget: str
    example: bool

    @property
    def best(self) -> Alternative:
        """The alternative that reaches least far."""
        return self.listed[0]

    def __len__(self) -> int:
        return len(self.listed)

    @overload
    def __getitem__(self, index: int) -> Alternative: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Alternative, ...]: ...
    def __getitem__(self, index: int | slice) -> Alternative | tuple[Alternative, ...]:
        return self.listed[index]

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.listed)

    def __repr__(self) -> str:
        rows = [("noise", "beta", "bound", "19 of 20 within")]
        rows += [(a.name, f"{float(a.noise.beta):.4g}", f"{a.bound:.4g}", f"{a.reach:.4g}") for a in self.listed]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [
            f"{row[0]:<{widths[0]}}" + "".join(f"  {x:>{w}}" for x, w in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]
        on = "on the public example" if self.example else "for data spread evenly, in units of their spacing"
        return "\n".join([f"Noise for {self.budget}, {on}", *lines])

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the reach of each noise against beta, the best point marked."""
        from discreet.plots import Axis, Curve, Mark, curves

        best = self.best
        lines = [
            Curve(name=a.name, xs=[b for b, _ in a.curve], ys=[r for _, r in a.curve], strong=a is best)
            for a in self.listed
        ]
        return curves(
            lines,
            Axis(title="beta: how fast the smooth bound may change", log=True),
            Axis(title="noise in 19 of 20 draws (±)", log=True, low=0.6 * best.reach, high=40 * best.reach),
            title="Where noise and smooth bound balance",
            subtitle=f"{self.budget}, {'on the public example' if self.example else 'data spread evenly'}",
            marks=[Mark(x=float(best.noise.beta), y=best.reach, text=f"±{best.reach:.3g}", place="left")],
        )


def compare(
    function: Function | None,
    epsilon: Real | None = None,
    delta: Real = 0,
    *,
    rho: Real | None = None,
    beta: Real | None = None,
    like: Any = None,  # noqa: ANN401
) -> Comparison:
    """Return all noises within a budget, each at its best beta, from public information alone.

    ``like`` is a public example data set; without one (or without a function) the data are taken to be spread evenly,
    one unit apart, where the smooth bound of an order statistic is ``e^(beta - 1) / beta``.

    >>> compare(None, 1, 1e-6)
    Noise for epsilon 1, delta 1e-06, for data spread evenly, in units of their spacing
    noise            beta  bound  19 of 20 within
    power law       0.268  1.795            10.11
    Student t, 3    0.212  2.145            11.87
    Cauchy          0.735  1.044            12.73
    polynomial, 4   0.178  2.469            17.18
    Laplace        0.0489    7.9            43.53
    Gaussian       0.0274   13.8            223.1
    """
    dimension, norm = (1, 1.0) if function is None else (function.dimension, function.norm)
    if like is not None and function is None:
        raise InvalidParameter("an example says something about a function only: give one, or leave like= out.")
    bound: Bound = evenly
    if function is not None and like is not None:
        bound = function.at(like).smooth
    makers, top = _makers(epsilon, delta, rho, dimension, norm if dimension > 1 else 1.0)
    betas = [float(positive(beta, "beta"))] if beta is not None else _net(top, 0.25 if dimension == 1 else 0.5)
    found = [_best(name, make, bound, betas) for name, make in makers.items()]
    listed = sorted((a for a in found if a is not None), key=lambda a: a.reach)
    if not listed:
        raise InvalidParameter("no noise fits this budget and beta: take a smaller beta or a larger budget.")
    budget = f"rho {float(rho):g}" if rho is not None else f"epsilon {float(epsilon or 0):g}"
    if delta:
        budget += f", delta {float(delta):g}"
    return Comparison(listed=tuple(listed), budget=budget, example=like is not None)


def evenly(beta: float) -> float:
    """Return the smooth bound of an order statistic of data one unit apart: the largest ``(k + 1) e^(-beta k)``.

    >>> evenly(0.5), evenly(2.0)
    (1.21..., 1.0)
    """
    return math.exp(beta - 1) / beta if beta < 1 else 1.0


def _net(top: float, step: float) -> list[float]:
    return [float(b) for b in top * 2.0 ** np.arange(0, -POWERS - step, -step)]


def _makers(
    epsilon: Real | None, delta: Real, rho: Real | None, dimension: int, norm: float
) -> tuple[dict[str, Maker], float]:
    """Return the noises that a budget allows, and a smoothness beyond which none is fitted."""
    if (epsilon is None) == (rho is None):
        raise InvalidParameter("give the budget as epsilon, with or without delta, or as rho.")
    if rho is not None and delta:
        raise InvalidParameter("delta belongs to epsilon; a budget of rho has none.")
    d, n = probability(delta, "delta", zero=True), dimension
    if norm > 1 and (epsilon is None or not d):
        raise InvalidParameter("a bound in L2 norm takes Gaussian noise: give epsilon and a delta above 0.")
    makers: dict[str, Maker] = {}
    if epsilon is None:
        r = positive(rho, "rho")
        e = _pure_part(r)
        makers["Laplace-log-normal"] = lambda b: LaplaceLogNormal(rho=r, beta=b, dimension=n)
        makers["uniform-log-normal"] = lambda b: UniformLogNormal(rho=r, beta=b, dimension=n)
        makers["power law"] = lambda b: PowerLaw(epsilon=e, beta=b, dimension=n)
        return makers, 2 * max(e, math.sqrt(2 * r))
    if norm == 1:
        makers["power law"] = lambda b: PowerLaw(epsilon=epsilon, beta=b, dimension=n)
        makers["Cauchy"] = lambda b: Cauchy(epsilon=epsilon, beta=b, dimension=n)
        makers["Student t, 3"] = lambda b: StudentT(epsilon=epsilon, beta=b, dimension=n)
        makers["polynomial, 4"] = lambda b: Polynomial(epsilon=epsilon, beta=b, dimension=n)
    if norm == 1 and d:
        makers["Laplace"] = lambda b: Laplace(epsilon=epsilon, delta=delta, beta=b, dimension=n)
    if d:
        makers["Gaussian"] = lambda b: Gaussian(epsilon=epsilon, delta=delta, beta=b, dimension=n)
    return makers, float(positive(epsilon, "epsilon"))


def _pure_part(rho: Real) -> float:
    """Return the largest pure epsilon that a budget of rho covers."""
    return 1 / smallest(lambda x: x > 0 and PrivacyLoss.pure(1 / x).rho <= rho, 2.0**40)


def _best(name: str, make: Maker, bound: Bound, betas: list[float]) -> Alternative | None:
    """Return a noise at the smoothness where it reaches least far: on a net, then between its neighbours there."""
    tried: dict[float, float] = {}

    def reach(beta: float) -> float:
        if beta not in tried:
            tried[beta] = math.inf
            with suppress(InvalidParameter):
                tried[beta] = make(beta).reach() * bound(beta)
        return tried[beta]

    best = min(betas, key=reach)
    if math.isinf(reach(best)):
        return None
    if len(betas) > 1:
        step = math.sqrt(2)
        for _ in range(9):
            step = math.sqrt(step)
            best = min((best, best * step, best / step), key=reach)
        best = min((float(f"{best:.3g}"), best), key=lambda b: math.isinf(reach(b)))  # three digits say enough
    noise = make(best)
    curve = tuple(sorted((b, r) for b, r in tried.items() if math.isfinite(r)))
    return Alternative(name=name, noise=noise, bound=bound(best), reach=reach(best), curve=curve)
