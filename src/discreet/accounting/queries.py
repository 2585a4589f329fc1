"""Many counts from one budget: how much noise each must bear, by the theorem one knows."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.calibration import calibrate
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.theorems import largest_rho
from discreet.accounting.theorems.guarantee import whole
from discreet.exact import Real, ball, positive, probability, up, upward

__all__ = ["NoisePerQuery", "noise_per_query", "sampling_error"]


@dataclass(frozen=True, slots=True)
class NoisePerQuery:
    """The noise of each of k counts that change by at most 1: two scales of Laplace, one sigma of a Gaussian."""

    basic: float
    concentrated: float
    gaussian: float

    @property
    def deviations(self) -> tuple[float, float, float]:
        """Standard deviations, which can be compared: that of Laplace noise is its scale times sqrt(2)."""
        root = 2**0.5
        return root * self.basic, root * self.concentrated, self.gaussian


def noise_per_query(queries: int, *, epsilon: Real, delta: Real) -> NoisePerQuery:
    """Return the noise for k counts under a total (epsilon, delta).

    ``basic``: Laplace noise, epsilon shared equally. ``concentrated``: Laplace noise with ``k e^2 / 2 = rho``, the
    largest rho that converts to the budget (Bun and Steinke, TCC 2016). ``gaussian``: the analytic Gaussian mechanism
    for k counts at once (Balle and Wang, ICML 2018).

    >>> noise_per_query(1000, epsilon=1, delta=1e-6)
    NoisePerQuery(basic=1000.0, concentrated=169.18..., gaussian=133.59...)
    """
    k, e, d = whole(queries, "queries"), positive(epsilon, "epsilon"), probability(delta, "delta")
    rho, sigma = Fraction(largest_rho(e, d)), _sigma(e, d)
    return NoisePerQuery(
        basic=upward(k / e),
        concentrated=up(lambda: ball(k / (2 * rho)).sqrt()),
        gaussian=up(lambda: ball(k).sqrt() * ball(sigma)),
    )


def sampling_error(people: int) -> float:
    """Return the standard error of a count among people drawn at random, at its largest: ``sqrt(n) / 2``.

    >>> sampling_error(10_000)
    50.0
    """
    return up(lambda: ball(whole(people, "people")).sqrt() / 2)


@lru_cache(maxsize=16)
def _sigma(epsilon: Fraction, delta: Fraction) -> float:
    return calibrate(lambda sigma: PrivacyLoss.gaussian(mu=1 / Fraction(sigma)), epsilon, delta)
