"""A bound from below counts on a loss only where the loss says that some mechanism costs as much.

``bounds`` certifies both sides. Kinds of loss whose delta is only a bound were named in a list of exceptions, so a new
kind that nobody added to it was certified as a cost that some mechanism has.

Defence: each kind declares whether its delta is attained, and one that is silent is not; nothing that is not attained
raises a bound from below.
Source: Found by using this library: a new kind of loss was certified from below because a list did not name it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest

from discreet.accounting import PrivacyLoss
from discreet.accounting.terms import KINDS, Laplace, OneOf, Pure, Sampled, SampledSymmetric, attained, witness

L = PrivacyLoss
HALF = Fraction(1, 2)
ATTAINED = {
    "approximate": L.approximate(1, 1e-3),
    "bounded_range": L.bounded_range(1),
    "discrete_gaussian": L.discrete_gaussian(squared_sensitivity=1, sigma_squared=4),
    "discrete_laplace": L.discrete_laplace(sensitivity=1, scale=2),
    "gaussian": L.gaussian(1),
    "gaussian_mixture": L.gaussian_mixture([0, 1], [0.5, 0.5]),
    "laplace": L.laplace(1),
    "one_of": L.one_of([HALF, HALF], [L.pure(1), L.laplace(2)]),
    "pair": L.from_pair([0.75, 0.25], [0.25, 0.75]),
    "pure": L.pure(1),
    "randomized_response": L.randomized_response(1, 3),
    "sampled": L.gaussian(1).sampled(0.3),
    "sampled_symmetric": L.gaussian(1).sampled(0.3, scheme="without_replacement"),
}
ONLY_BOUNDS = {
    "one_of_each": L.one_of_each([HALF, HALF], [L.pure(1), L.pure(2)]),
    "overflow": L.overflow(1e-9),
    "renyi_curve": L.renyi_curve([(2, 0.1), (8, 0.5)]),
    "shuffled": L.shuffled(1, 50),
    "zcdp": L.zcdp(0.5),
    "discrete_gaussian that is not summed": L.discrete_gaussian(squared_sensitivity=25, sigma_squared=10**8),
}


@dataclass(frozen=True)
class Silent:
    """A new kind that bounds a release of nothing by what randomised response costs, and says nothing about that."""

    epsilon: Fraction
    kind: ClassVar[str] = "silent"

    @property
    def pure(self):
        return self.epsilon

    @property
    def rho(self):
        return Pure(self.epsilon).rho

    def delta(self, epsilon, /):
        return Pure(self.epsilon).delta(epsilon)

    def renyi(self, alpha, /):
        return Pure(self.epsilon).renyi(alpha)

    def pair(self):
        return Pure(self.epsilon).pair()

    def group(self, size, /):
        return type(self)(size * self.epsilon)


@dataclass(frozen=True)
class Boasting(Silent):
    """The same, but it claims to be attained, which is false."""

    kind: ClassVar[str] = "boasting"
    attained: ClassVar[bool] = True


def uses(kind):
    """Every way in which a loss may be made of a kind."""
    term = kind(Fraction(2))
    return {
        "alone": ((term, 1),),
        "several times": ((term, 5),),
        "twice as large": ((term.group(2), 1),),
        "chosen": ((OneOf((HALF, HALF), (term, Pure(Fraction(0)))), 1),),
        "on a Poisson sample": ((Sampled(term, HALF), 1),),
        "on a fixed sample": ((SampledSymmetric(term, HALF), 1),),
        "chosen on a sample": ((Sampled(OneOf((HALF, HALF), (term, Pure(Fraction(0)))), HALF), 3),),
        "beside nothing": ((term, 1), (Laplace(Fraction(1, 10**9)), 1)),
    }


def certified(kind):
    """Return the uses in which more than nothing is certified of a release of nothing."""
    return [name for name, terms in uses(kind).items() for delta in (0, 1e-9, 1e-3) if L(terms).bounds(delta)[0] > 1e-8]


def test_every_kind_is_listed_here():
    assert set(ATTAINED) | {loss.terms[0][0].kind for loss in ONLY_BOUNDS.values()} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_declares_it(kind):
    assert "attained" in vars(KINDS[kind])


@pytest.mark.parametrize("kind", ATTAINED)
def test_what_is_attained_is_bounded_from_below(kind):
    loss = ATTAINED[kind]
    assert attained(loss.terms[0][0])
    low, high = loss.bounds(1e-2)
    assert 0.9 * high < low <= high


@pytest.mark.parametrize("kind", ONLY_BOUNDS)
@pytest.mark.parametrize("delta", [0, 1e-9, 1e-3])
def test_what_only_bounds_certifies_nothing(kind, delta):
    loss = ONLY_BOUNDS[kind]
    ((term, _),) = loss.terms
    assert not attained(term)
    assert witness(term) is None
    if kind == "zcdp":  # Gaussian noise is one mechanism of the description, and that is what is certified
        noise = L.gaussian(1)
        assert loss.bounds(delta)[0] <= noise.epsilon(delta)
    else:
        assert loss.bounds(delta)[0] == (3 * loss).bounds(delta)[0] == 0


@pytest.mark.parametrize("kind", [kind for kind in ONLY_BOUNDS if kind not in ("zcdp", "shuffled")])
def test_beside_other_losses_it_adds_nothing(kind):
    known = 3 * L.laplace(0.5)
    low, high = (known + ONLY_BOUNDS[kind]).bounds(1e-3)
    assert low <= known.epsilon(1e-3) <= high


def test_a_new_kind_that_says_nothing_certifies_nothing():
    assert not attained(Silent(Fraction(1)))
    assert certified(Silent) == []
    assert all(L(terms).bounds(1e-3)[1] > 0 for terms in uses(Silent).values())


@pytest.mark.parametrize("said", [1, "yes", math.inf, None, [True]])
def test_only_true_counts(said):
    class Vague(Silent):
        kind = "vague"
        attained = said

    assert not attained(Vague(Fraction(1)))


def test_the_check_catches_a_kind_that_claims_what_is_false():
    assert set(certified(Boasting)) == set(uses(Boasting))
