"""The mechanism: what it may be given, what it says, and that nothing but public information shapes the output."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import discreet.mechanisms
from discreet.errors import InvalidParameter, NoTheorem
from discreet.mechanisms.admissible import Cauchy, Gaussian, Laplace, LaplaceLogNormal, PowerLaw, UniformLogNormal
from discreet.mechanisms.admissible.nearest import least_at_least, most_at_most
from discreet.mechanisms.smooth_noise import SmoothNoise, smooth_noise
from discreet.sensitivity.smooth import Levels, Median
from discreet.testing import check_mechanism


@dataclass(frozen=True)
class Middle:
    """The middle one of three numbers between 0 and 8: windows of order statistics with sentinels."""

    relation: str = "replace_one"
    range: tuple = (0, 8)
    bounds: tuple = (0, 8)
    size: int | None = 3
    dimension: int = 1
    norm: float = 1.0

    def at(self, records):
        n = len(records)
        x = np.concatenate([[0.0] * (n + 2), np.sort(np.clip(np.asarray(records, dtype=float), 0, 8)), [8.0] * (n + 2)])
        m = n + 2 + n // 2
        widths = [max(x[m + t] - x[m + t - k - 1] for t in range(k + 2)) for k in range(n + 1)]
        return Levels(value=float(x[m]), levels=np.array(widths))


@dataclass(frozen=True)
class Pair(Middle):
    """The middle one twice over, as a vector."""

    dimension: int = 2
    norm: float = 2.0
    bounds: None = None

    def at(self, records):
        one = super().at(records)
        return Levels(value=np.array([one.value, 8 - one.value]), levels=one.levels * math.sqrt(2))


NOISES = [
    PowerLaw(epsilon=1, beta=0.2),
    Cauchy(epsilon=1, beta=0.2),
    Laplace(epsilon=1, delta=1e-2, beta=0.1),
    Gaussian(epsilon=1, delta=1e-2, beta=0.1),
    LaplaceLogNormal(rho=0.5, beta=0.2),
    UniformLogNormal(rho=0.5, beta=0.2),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_keeps_the_contract(noise, monkeypatch):
    monkeypatch.setattr(discreet.mechanisms, type(noise).__name__, type(noise), raising=False)
    monkeypatch.setattr(discreet.mechanisms, "Middle", Middle, raising=False)
    mechanism = SmoothNoise(function=Middle(), noise=noise, grid=0.5)
    done = check_mechanism(mechanism, outputs=[k / 2 for k in range(17)])
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)


def test_the_grid_and_the_range_are_public():
    mechanism = SmoothNoise(function=Middle(), noise=NOISES[0])
    assert mechanism.grid == 2.0**-17
    for records in ([0, 0, 0], [0, 0, 8], [8, 8, 8]):
        for _ in range(50):
            released = mechanism.release(records)
            assert type(released) is float
            assert 0 <= released <= 8
            assert released % mechanism.grid == 0
    free = SmoothNoise(function=Middle(), noise=NOISES[1], clamp=False, grid=1)
    assert {free.release([0, 8, 8]) for _ in range(400)} - set(range(9))
    assert "clamp=False, grid=1" in repr(free)


def test_clamped_probabilities_sum_to_one_off_the_grid():
    mechanism = SmoothNoise(function=Middle(range=(-0.3, 8.2)), noise=NOISES[0], grid=1)
    outputs = [-0.3, *range(9), 8.2]
    assert math.fsum(math.exp(mechanism.log_probability([1, 2, 3], y)) for y in outputs) == pytest.approx(1)
    assert mechanism.log_probability([1, 2, 3], 0.5) == -math.inf
    assert mechanism.log_probability([1, 2, 3], 99) == -math.inf


def test_vectors():
    noise = Gaussian(epsilon=1, delta=1e-3, beta=0.05, dimension=2)
    mechanism = SmoothNoise(function=Pair(), noise=noise)
    released = mechanism.release([1, 2, 3])
    assert released.shape == (2,)
    assert np.all((released >= 0) & (released <= 8))
    coarse = SmoothNoise(function=Pair(), noise=noise, grid=4)
    total = [coarse.log_probability([1, 2, 3], (a, b)) for a in (0, 4, 8) for b in (0, 4, 8)]
    assert math.fsum(map(math.exp, total)) == pytest.approx(1)
    with pytest.raises(InvalidParameter, match="L1 norm"):
        SmoothNoise(function=Pair(), noise=PowerLaw(epsilon=1, beta=0.01, dimension=2))
    with pytest.raises(InvalidParameter, match="dimension="):
        SmoothNoise(function=Pair(), noise=NOISES[0])
    with pytest.raises(NoTheorem):
        mechanism.worst_case()


def test_refusals():
    for wrong in [
        lambda: SmoothNoise(function=abs, noise=NOISES[0]),
        lambda: SmoothNoise(function=Middle(), noise=1),
        lambda: SmoothNoise(function=Middle(), noise=NOISES[0], grid=3),
        lambda: SmoothNoise(function=Middle(), noise=NOISES[0], clamp=1),
    ]:
        with pytest.raises(InvalidParameter):
            wrong()


def test_foresight_is_about_an_example_and_no_error_is_promised():
    mechanism = SmoothNoise(function=Middle(), noise=NOISES[0], clamp=False)
    assert not hasattr(mechanism, "error")
    example = [3, 4, 5]
    expected = NOISES[0].reach(0.1) * Middle().at(example).smooth(0.2)
    assert mechanism.foresee(example, 0.1) == pytest.approx(expected, rel=1e-5)
    within = [abs(mechanism.release(example) - 4) <= mechanism.foresee(example, 0.1) for _ in range(3000)]
    assert 0.85 < np.mean(within) < 0.95
    assert "no error is promised" in mechanism._repr_html_()


def test_worst_case_under_add_remove_drops_a_record():
    here, there = SmoothNoise(function=Middle(relation="add_remove", size=None), noise=NOISES[0]).worst_case()
    assert len(there) == len(here) - 1


def test_the_choice_needs_no_data_and_follows_an_example():
    by_default = smooth_noise(Middle(), 1)
    assert by_default.loss.epsilon() <= 1
    tight = smooth_noise(Middle(), 1, like=[4, 4, 4])
    assert tight.foresee([4, 4, 4]) <= by_default.foresee([4, 4, 4]) * (1 + 1e-9)
    fixed = smooth_noise(Middle(), 1, beta=0.25)
    assert fixed.noise.beta == 0.25
    assert smooth_noise(Middle(), rho=0.5).loss.rho <= 0.5 * (1 + 1e-12)


SHARP = [Cauchy(epsilon=1380, beta=1), LaplaceLogNormal(rho=2.0**600, beta=1, sigma=0.5)]


@pytest.mark.parametrize("noise", SHARP, ids=lambda noise: type(noise).__name__)
def test_no_data_are_refused_because_their_noise_is_small(noise):
    mechanism = SmoothNoise(function=Median(bounds=(0, 1)), noise=noise)
    for moved in (0, 100, 340, 360, 500):
        data = [0.0] * (501 + moved) + [1.0] * (500 - moved)
        assert 0 <= mechanism.release(data) <= 1
        assert mechanism.log_probability(data, 0.0) <= 0


def test_ranges_too_wide_for_some_data_are_refused_before_there_are_any():
    for high, noise in ((1e301, PowerLaw(epsilon=1, beta=0.5)), (1e295, Cauchy(epsilon=1e-6, beta=1e-7))):
        with pytest.raises(InvalidParameter, match="too wide"):
            SmoothNoise(function=Median(bounds=(0, high)), noise=noise)
    with pytest.raises(InvalidParameter, match="coarser grid"):
        SmoothNoise(function=Median(bounds=(0, 1e200)), noise=NOISES[0], grid=2.0**-500)
    for high in (1e280, 1e-280):
        for noise in NOISES:
            mechanism = SmoothNoise(function=Median(bounds=(0, high)), noise=noise)
            for data in ([0.0] * 3, [0.0] * 1000 + [high] * 1001, [high / 3] * 2001, [0.0] * 400 + [high] * 900):
                assert 0 <= mechanism.release(data) <= high


def test_a_bound_beyond_all_floats_is_cut_at_a_constant():
    @dataclass(frozen=True)
    class Wild(Middle):
        def at(self, records):
            return Levels(value=1.0, levels=np.array([math.inf]))

    assert 0 <= SmoothNoise(function=Wild(), noise=NOISES[0]).release([1, 2, 3]) <= 8


def test_whole_numbers_and_the_floats_they_become():
    for centre in (0, 2**53, -(2**53), 2**54, -(2**54), 2**62):
        for bar in range(centre - 20, centre + 21):
            least, most = least_at_least(bar), most_at_most(bar)
            assert float(least) >= bar > float(least - 1)
            assert float(most) <= bar < float(most + 1)


@pytest.mark.parametrize("value", [2.0**53, 2.0**55, -(2.0**54)])
def test_the_law_is_that_of_the_floats_that_are_released(value, repeatable):
    """Steps of the grid beyond 2^53 are released as one; three in four of these draws hit a float nearby."""
    mechanism = SmoothNoise(
        function=Middle(range=(-(2**60), 2**60)), noise=PowerLaw(epsilon=1, beta=0.2), grid=1, clamp=False
    )
    object.__setattr__(mechanism.function, "at", lambda records: Levels(value=value, levels=np.array([1.0])))
    outputs = {value}
    for toward in (-math.inf, math.inf):
        here = value
        for _ in range(12):
            here = math.nextafter(here, toward)
            outputs.add(here)
    law = {y: math.exp(mechanism.log_probability([1, 2, 3], y)) for y in outputs if y % 1 == 0}
    drawn = [mechanism.release([1, 2, 3]) for _ in range(4000)]
    assert sum(law.values()) <= 1
    for y, chance in law.items():
        assert abs(drawn.count(y) - 4000 * chance) < 7 * math.sqrt(4000 * chance) + 7
    assert sum(law.values()) > 0.75
