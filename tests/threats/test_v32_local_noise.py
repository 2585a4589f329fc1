"""Noise about a local sensitivity must not tell what that sensitivity is.

Two neighbours can have the same median while one more record moves the first by nothing and the second from one bound
to the other. Noise in proportion to the local sensitivity tells them apart at a glance, and so does noise with light
tails, such as Laplace or Gaussian noise, under a smooth bound if it is claimed to be purely private: far out, the wider
of two laws is any number of times as likely as the narrower.

Defence: noise takes its size from a smooth bound alone, comes from laws with proven constants for how fast that bound
may change, and says delta where its tails need one; every law and function is checked on all neighbours of small data.
Source: Nissim, Raskhodnikova and Smith, Smooth Sensitivity and Sampling, STOC 2007; McSherry on elastic sensitivity.
"""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from discreet import audit
from discreet.accounting import PrivacyLoss
from discreet.mechanisms import SmoothNoise, SmoothQuantile
from discreet.mechanisms.admissible import (
    Cauchy,
    Gaussian,
    Laplace,
    LaplaceLogNormal,
    Polynomial,
    PowerLaw,
    StudentT,
    UniformLogNormal,
)
from discreet.sensitivity.smooth import Median

CLIFF = ([0, 0, 0, 6, 6], [0, 0, 0, 0, 6])
PURE = [
    PowerLaw(epsilon=1, beta=0.2),
    Cauchy(epsilon=1, beta=0.5),
    StudentT(epsilon=1, beta=0.2),
    Polynomial(epsilon=1, beta=0.2),
]
OTHERS = [
    Laplace(epsilon=1, delta=1e-3, beta=0.12),
    Gaussian(epsilon=1, delta=1e-3, beta=0.07),
    LaplaceLogNormal(rho=0.5, beta=0.2),
    UniformLogNormal(rho=0.5, beta=0.2),
]
FEW = [k / 4 for k in range(-24, 48)]
FAR = [4.0 * k for k in range(-60, 63)]


class Here:
    """What a median sees, with its local sensitivity where a smooth bound belongs."""

    def __init__(self, found):
        self.value, self.local, self.distance = found.value, found.local, found.distance
        self.smooth = lambda beta: max(found.local(), 2.0**-10)


class Bare(Median):
    def at(self, records):
        return Here(Median.at(self, records))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed(Laplace):
    """Laplace noise that claims to need no delta."""

    @property
    def loss(self):
        return PrivacyLoss.pure(self.epsilon)


def release(noise, function=None, grid=0.25):
    return SmoothNoise(function=function or Median(bounds=(0, 6)), noise=noise, clamp=False, grid=grid)


def pairs():
    """All neighbours of five records among the bounds and the middle."""
    for rest in itertools.combinations_with_replacement((0, 3, 6), 4):
        for a, b in itertools.permutations((0, 3, 6), 2):
            yield [*rest, a], [*rest, b]


def law(mechanism, data, outputs):
    """Return the probabilities of outputs, and of all others together."""
    inside = np.exp([mechanism.log_probability(data, y) for y in outputs])
    return np.append(inside, max(1 - math.fsum(inside), 0.0))


def breaks(mechanism, neighbours, outputs=FEW):
    """Return by how much neighbours break the claim: the most that a divergence exceeds the claimed delta."""
    laws, worst = {}, -math.inf
    for pair in neighbours:
        for data in pair:
            if tuple(sorted(data)) not in laws:
                laws[tuple(sorted(data))] = law(mechanism, data, outputs)
        p, q = (laws[tuple(sorted(data))] for data in pair)
        for epsilon in (0.2, 0.5, 1.0, 1.5):
            divergence = math.fsum(np.maximum(p - math.exp(epsilon) * q, 0))
            worst = max(worst, divergence - mechanism.loss.delta(epsilon))
    return worst


@pytest.mark.parametrize("noise", PURE, ids=lambda noise: type(noise).__name__)
def test_no_neighbours_break_a_pure_claim(noise):
    mechanism = release(noise)
    assert breaks(mechanism, pairs()) <= 1e-9


@pytest.mark.parametrize("noise", [*PURE, *OTHERS], ids=lambda noise: type(noise).__name__)
def test_the_cliff_breaks_nothing(noise):
    mechanism = release(noise)
    assert breaks(mechanism, (CLIFF, CLIFF[::-1])) <= 1e-9


@pytest.mark.parametrize("noise", [PURE[0], PURE[1], OTHERS[0]], ids=lambda noise: type(noise).__name__)
def test_the_check_catches_noise_about_the_local_sensitivity(noise):
    mechanism = release(noise, Bare(bounds=(0, 6)))
    assert breaks(mechanism, (CLIFF, CLIFF[::-1])) > 0.1


def test_the_check_catches_light_tails_that_are_called_pure():
    honest = Laplace(epsilon=1, delta=0.05, beta=0.3)
    assert breaks(release(honest, grid=4), pairs(), FAR) <= 1e-9
    claimed = Claimed(epsilon=1, delta=0.05, beta=0.3)
    assert breaks(release(claimed, grid=4), pairs(), FAR) > 1e-4


def test_the_check_catches_a_tenth_less_noise():
    fitted = PowerLaw(epsilon=1, beta=0.2)
    less = replace(fitted)
    object.__setattr__(less, "factor", fitted.factor * 9 / 10)
    assert breaks(release(less), pairs()) > 1e-4


def test_the_auditor_finds_the_cliff():
    bare = release(PURE[0], Bare(bounds=(0, 6)))
    assert audit(bare.release, claims=bare.loss, neighbours=[CLIFF], draws=2000, alpha=1e-9).refuted
    honest = release(PURE[0])
    assert not audit(honest.release, claims=honest.loss, neighbours=[CLIFF], draws=2000, alpha=1e-9).refuted


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_histograms_have_the_same_cliff_and_it_is_covered(relation):
    mechanism = SmoothQuantile(bounds=(0, 6), epsilon=1, relation=relation)
    one, other = ([0, 6], [3, 2]), ([0, 6], [4, 1] if relation == "replace_one" else [3, 3])
    logs = [[mechanism.log_probability(x, y) for y in range(7)] for x in (one, other)]
    assert max(abs(a - b) for a, b in zip(*logs, strict=True)) <= 1 + 1e-9
