"""Parameters far from ordinary: both bounds stay on the right side, and no call takes more than some amount of work.

The references are independent: closed forms, finite sums in mpmath, and the central limit where it is exact to many
digits. Work is counted in points at which a profile is evaluated and in frequencies, never in seconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet import PrivacyLoss
from discreet.accounting.lower import lower_delta_of
from discreet.accounting.numerical import Composition, profiled
from discreet.accounting.numerical.direction import Direction
from discreet.accounting.numerical.lattice import Grid
from discreet.accounting.terms.profile import profiled as with_profile
from discreet.accounting.theorems import sampled_gaussian_renyi

MOST_POINTS = 60_000
"""Points of profiles in one call: about 50 microseconds each."""


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the points at which profiles are evaluated."""
    points = [0]
    plain = profiled.Profiled.excess

    def excess(self: profiled.Profiled, losses: profiled.Floats, side: int) -> profiled.Floats:
        points[0] += losses.size
        return plain(self, losses, side)

    with monkeypatch.context() as patch:
        patch.setattr(profiled.Profiled, "excess", excess)
        yield points


def seen_at_most(copies: int, rate: float, times: int) -> float:
    return float(
        sum(
            mpmath.binomial(copies, k) * mpmath.mpf(rate) ** k * (1 - mpmath.mpf(rate)) ** (copies - k)
            for k in range(times + 1)
        )
    )


def test_ten_samples_of_very_little_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that is seen at all gives itself away, up to e^-500: delta(1) is the chance to be seen, times 1 - ..."""
    loss = 10 * PrivacyLoss.gaussian(mu=50).sampled(Fraction(1, 1000))
    with counted(monkeypatch) as points:
        delta = loss.delta(1)
        low, high = loss.bounds(1e-6)
    assert points[0] < MOST_POINTS
    # seen once or more: 1 - (1 - q)^10, of which e^1 times the chance of the same under Q is not worth a 10^-100th;
    # never seen: the loss is below 0.
    seen = 1 - seen_at_most(10, 0.001, 0)
    assert seen * (1 - 1e-6) <= delta <= seen * (1 + 1e-6)
    assert 0.999 * seen < lower_delta_of(loss.terms, Fraction(1)) <= delta
    # seen three times or more has a chance of 1.2e-7, seen twice of 4.5e-5: epsilon(1e-6) lies about two losses of 1250
    assert 2500 < low <= high < 2650
    assert (high - low) / high < 5e-3


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_a_thousand_million_tiny_losses(monkeypatch: pytest.MonkeyPatch, delta: float) -> None:
    """Of so many the sum is normal to nine digits: mu = q sqrt(T (e^(mu^2) - 1))."""
    mu = 1e-3 * float(mpmath.sqrt(10**9 * mpmath.expm1(mpmath.mpf(1e-5) ** 2)))
    with counted(monkeypatch) as points:
        low, high = (10**9 * PrivacyLoss.gaussian(mu=1e-5).sampled(1e-3)).bounds(delta)
    assert points[0] < MOST_POINTS
    limit = PrivacyLoss.gaussian(mu=mu).epsilon(delta)
    assert low <= limit * (1 + 1e-6)
    assert limit * (1 - 1e-6) <= high
    assert high - low <= 1e-2 * high + 1e-12


def test_a_record_that_is_hardly_ever_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """delta(0) of the whole is at most that of the sum's deviation, 1.3e-6 / 2, so at 1e-6 nothing is lost."""
    loss = 10**6 * PrivacyLoss.gaussian(mu=1).sampled(1e-9)
    with counted(monkeypatch) as points:
        low, high = loss.bounds(1e-6)
        tail = loss.delta(1)
    assert points[0] < MOST_POINTS
    assert (low, high) == (0.0, 0.0)
    # Pinsker: the total variation is at most sqrt(KL / 2), and KL at most the divergence of order 2
    divergence = 10**6 * sampled_gaussian_renyi(2, rate=1e-9, noise_multiplier=1, relation="add_remove")
    assert (divergence / 2) ** 0.5 < 1e-6
    assert 0 < tail < 1e-30


def test_discrete_gaussian_noise_of_hardly_any_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise is 0 but for e^-500: each release gives away its lattice point, at a loss of 500."""
    loss = 3 * PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=Fraction(1, 1000))
    with counted(monkeypatch) as points:
        low, high = loss.bounds(1e-6)
    assert points[0] < MOST_POINTS
    # P[loss = 1500] = 1 - 6e-218, so epsilon(delta) = 1500 + log(1 - delta) up to that
    exact = 1500 + float(mpmath.log1p(-(mpmath.mpf(10) ** -6)))
    assert low <= exact <= high
    assert high - exact < 1e-3
    assert loss.delta(1) == pytest.approx(1)


def test_discrete_laplace_noise_of_a_million_losses() -> None:
    """It lies between Laplace noise of the same scale and a little less of it."""
    low, high = (7 * PrivacyLoss.discrete_laplace(sensitivity=10**6, scale=10**7)).bounds(1e-6)
    beside = (7 * PrivacyLoss.laplace(0.1)).bounds(1e-6)
    assert low <= high
    assert (high - low) / high < 1e-4
    assert abs(high - beside[1]) < 1e-4


@pytest.mark.parametrize(
    "loss",
    [
        100 * PrivacyLoss.gaussian(mu=0.1).sampled(0.1),
        50 * PrivacyLoss.laplace(0.1),
        30 * PrivacyLoss.laplace(0.5).sampled(0.3),
        5 * PrivacyLoss.discrete_laplace(sensitivity=3, scale=2),
        20 * PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4),
        8 * PrivacyLoss.randomized_response(1, 3) + 3 * PrivacyLoss.gaussian(mu=0.3),
        6 * PrivacyLoss.from_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]),
        10 * PrivacyLoss.gaussian(mu=1).sampled(0.1, scheme="symmetric"),
    ],
    ids=repr,
)
def test_profiles_and_masses_agree(loss: PrivacyLoss) -> None:
    """Where both apply, two engines of different arithmetic enclose the same value."""
    composed = Composition(tuple((with_profile(term), count) for term, count in loss.terms))
    low, high = loss.bounds(1e-6)
    upper = composed.epsilon(1e-6, "upper")
    assert low <= upper
    assert upper <= high * (1 + 3e-4)
    if "symmetric" not in repr(loss):
        assert composed.epsilon(1e-6, "lower") <= high
    assert loss.delta(0.3) * (1 - 1e-2) <= composed.delta(0.3, "upper")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "loss",
    [
        PrivacyLoss.gaussian(mu=50).sampled(Fraction(1, 1000)),
        PrivacyLoss.gaussian(mu=1e-5).sampled(1e-3),
        PrivacyLoss.laplace(2).sampled(0.5),
        PrivacyLoss.discrete_laplace(sensitivity=7, scale=3),
    ],
    ids=repr,
)
def test_a_polygon_lies_on_its_side_of_the_profile_everywhere(loss: PrivacyLoss, turned: bool) -> None:
    """Sum the masses of either lattice in mpmath at places between its corners, and compare with the profile."""
    pair = with_profile(loss.terms[0][0])
    pair = pair.reversed() if turned else pair
    low, high = pair.span(1e-12)
    grid = Grid((high - low) / 60, core=40)
    above, below = profiled.upper_profiled(pair, grid, 1e-12), profiled.lower_profiled(pair, grid, 1e-12)
    for place in np.linspace(low - abs(low) / 9, high, 57).tolist():
        least, most = (
            float(pair.excess(np.array([place]), side)[0]) - float(mpmath.expm1(min(place, 0.0))) for side in (0, 1)
        )
        assert height(above, place) >= least * (1 - 1e-12)
        assert height(below, place) <= most * (1 + 1e-12)


def height(lattice: profiled.Lattice, loss: float) -> float:
    losses = [lattice.anchor + int(place) * lattice.step for place in lattice.places]
    parts = (
        mpmath.mpf(float(p)) * -mpmath.expm1(mpmath.mpf(loss) - mpmath.mpf(at))
        for at, p in zip(losses, lattice.mass, strict=True)
        if at > loss
    )
    return float(sum(parts, mpmath.mpf(lattice.infinite)))


def test_a_profile_that_is_a_thousandth_too_small_is_caught() -> None:
    """The central limit sees through an upper bound from the profile of noise that is 0.3 percent wider."""
    exact = 1e-3 * float(mpmath.sqrt(10**9 * mpmath.expm1(mpmath.mpf(1e-5) ** 2)))
    limit = PrivacyLoss.gaussian(mu=exact).epsilon(1e-6)
    honest, flawed = (
        Direction(((with_profile(PrivacyLoss.gaussian(mu=mu).sampled(1e-3).terms[0][0]), 10**9),))
        for mu in (1e-5, 0.997e-5)
    )
    assert honest.epsilon(1e-6, "upper") >= limit * (1 - 1e-6)
    assert flawed.epsilon(1e-6, "upper") < limit * (1 - 1e-4)


@pytest.mark.parametrize("order", [Fraction(1001, 1000), Fraction(3, 2), Fraction(33, 10), Fraction(127, 10)])
@pytest.mark.parametrize(("mu", "rate"), [(50, Fraction(1, 1000)), (30, Fraction(1, 2)), (1, Fraction(1, 100))])
def test_divergences_of_little_noise_against_quadrature(order: Fraction, mu: int, rate: Fraction) -> None:
    found = sampled_gaussian_renyi(order, rate=rate, noise_multiplier=Fraction(1, mu), relation="add_remove")
    with mpmath.workdps(60):
        a, q = mpmath.mpf(order.numerator) / order.denominator, mpmath.mpf(rate.numerator) / rate.denominator

        def integrand(t: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(t) * (1 - q + q * mpmath.exp(t * mu - mpmath.mpf(mu) ** 2 / 2)) ** a

        turn = mpmath.mpf(mu) / 2 + mpmath.log((1 - q) / q) / mu
        places = sorted(
            {-20, -5, 0, 5, turn - 1, turn, turn + 1, a * mu - 20, a * mu - 5, a * mu, a * mu + 5, a * mu + 20}
        )
        exact = mpmath.log(mpmath.quad(integrand, places)) / (a - 1)
    assert found == pytest.approx(float(exact), rel=1e-9)
    assert found >= float(exact) * (1 - 1e-12)
