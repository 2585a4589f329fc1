"""``check_mechanism`` must catch what it says it catches: each fault alone is found, and named in words."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest

from discreet import Geometric, PrivacyLoss
from discreet.mechanisms import Shift
from discreet.noise import discrete_laplace
from discreet.testing import check_mechanism
from discreet.testing.rebuild import rebuild


@dataclass(frozen=True, kw_only=True)
class Honest:
    """Satisfies ``epsilon``-DP whenever whole numbers change by at most 1."""

    epsilon: float = 0.5
    drawn: float = 1.0
    told: float = 1.0
    promised: float = 1.0
    loss_factor: float = 1.0

    @property
    def domain(self):
        return Shift(sensitivity=1, whole=True)

    @property
    def loss(self):
        return PrivacyLoss.discrete_laplace(sensitivity=1, scale=1 / (self.epsilon * self.loss_factor))

    def release(self, value, /):
        return value + discrete_laplace(self.drawn / self.epsilon)

    def error(self, beta):
        return math.ceil(self.promised * Geometric(sensitivity=1, epsilon=self.epsilon).error(beta))

    def log_probability(self, x, y, /):
        return Geometric(sensitivity=1, epsilon=self.epsilon / self.told).log_probability(x, y)

    def worst_case(self):
        return 0, 1


def test_an_honest_mechanism_passes():
    assert check_mechanism(Honest()).skipped == ()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"loss_factor": 0.99}, "on the worst case, claimed"),
        ({"promised": 0.5}, "was exceeded in"),
        ({"drawn": 0.6, "promised": 2}, "do not follow"),
    ],
)
def test_faults_are_found(fault, message):
    with pytest.raises(AssertionError, match=message):
        check_mechanism(Honest(**fault))


def test_a_mutable_mechanism_is_found():
    @dataclass(kw_only=True)
    class Mutable:
        """Satisfies nothing."""

        epsilon: float = 0.5
        domain = Shift(sensitivity=1, whole=True)
        loss = PrivacyLoss.pure(1)

        def release(self, value, /):
            return value

    with pytest.raises(AssertionError, match="frozen"):
        check_mechanism(Mutable())


def test_positional_parameters_are_found():
    @dataclass(frozen=True)
    class Positional:
        """Satisfies nothing."""

        epsilon: float = 0.5
        domain = Shift(sensitivity=1, whole=True)
        loss = PrivacyLoss.pure(1)

        def release(self, value, /):
            return value

    with pytest.raises(AssertionError, match="keyword-only"):
        check_mechanism(Positional())


def test_a_claim_without_words_is_found():
    silent = dataclasses.make_dataclass("Silent", [], bases=(Honest,), frozen=True, kw_only=True)
    silent.__doc__ = "Adds noise."
    with pytest.raises(AssertionError, match="Satisfies"):
        check_mechanism(silent())


def test_a_float_of_the_wrong_type_is_found():
    class Floating(Honest):
        """Satisfies ``epsilon``-DP whenever whole numbers change by at most 1."""

        def release(self, value, /):
            return np.float64(super().release(value))

    with pytest.raises(AssertionError, match="int in must give a int out"):
        check_mechanism(Floating())


@pytest.mark.parametrize(
    "text", ["open('x')", "().__class__", "1 + 1", "Fraction", "lambda: 0", "[x for x in ()]", "("]
)
def test_reprs_are_never_evaluated(text):
    with pytest.raises(ValueError, match=r"repr|name"):
        rebuild(text, {"Fraction": int})
