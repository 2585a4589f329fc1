"""Groups whose count plus integer Laplace noise exceeds a threshold; see ``discreet.mechanisms.thresholds``."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.exact import Real, ball, positive, probability, show
from discreet.mechanisms.partition import check_groups, settings
from discreet.mechanisms.scale import store
from discreet.mechanisms.thresholds import Threshold, least_threshold
from discreet.noise import discrete_laplace
from discreet.noise.shapes import Integers, Size
from discreet.units import Relation

__all__ = ["LaplaceThreshold"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LaplaceThreshold(Threshold):
    """Keep a group if its count plus integer Laplace noise of scale ``groups / epsilon`` exceeds a threshold.

    Satisfies (``epsilon``, ``delta``)-DP, the noisy counts of the groups that are shown included, whenever a unit
    counts at most once in each of at most ``groups`` groups. The threshold is the least for which that holds.

    >>> cities = LaplaceThreshold(epsilon=1, delta=1e-6)
    >>> cities.threshold, float(cities.failure)
    (14, 6.0789...e-07)
    >>> cities.keep([0, 1000])
    array([False,  True])
    """

    epsilon: Real
    delta: Real
    groups: int = 1
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        probability(self.delta, "delta")
        store(self, epsilon=self.epsilon, delta=self.delta, groups=check_groups(self.groups, self.relation))
        _threshold(self.scale, self.touched, Fraction(self.delta))

    def __repr__(self) -> str:
        more = settings(self.groups, self.relation)
        return f"LaplaceThreshold(epsilon={show(self.epsilon)}, delta={show(self.delta)}{more})"

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: counts that can change, over epsilon."""
        return self.touched / Fraction(self.epsilon)

    @property
    def threshold(self) -> int:
        """A group is shown if its noisy count is above this."""
        return _threshold(self.scale, self.touched, Fraction(self.delta))

    @property
    def noise(self) -> PrivacyLoss:
        """Discrete Laplace noise on counts that change by ``touched`` in all."""
        return PrivacyLoss.discrete_laplace(sensitivity=self.touched, scale=self.scale)

    def draw(self, size: Size) -> int | Integers:
        """Return noise."""
        return discrete_laplace(self.scale, size)

    def survival(self, t: int, /) -> arb:
        """Return ``a^t / (1 + a)`` with ``a = exp(-1 / scale)``, for t of at least 1."""
        return laplace_survival(self.scale, t)


def laplace_survival(scale: Fraction, t: int) -> arb:
    """Return the probability that integer Laplace noise is at least t, for t of at least 1."""
    return (-ball(t / scale)).exp() / (1 + (-ball(1 / scale)).exp())


@lru_cache(maxsize=256)
def _threshold(scale: Fraction, touched: int, delta: Fraction) -> int:
    return least_threshold(partial(laplace_survival, scale), touched, delta)
