"""A bound from below counts on a loss only where the loss says that some mechanism costs as much.

``bounds`` certifies both sides. Kinds of loss whose delta is only a bound were named in a list of exceptions, so a new
kind that nobody added to it was certified as a cost that some mechanism has. So was what a theorem put in the place of
the loss that was written: the bound for a group that meets a sample, the epsilon of a chain of pure steps as randomised
response, the worst of several parts.

Defence: each kind declares whether its delta is attained, and one that is silent is not; nothing that is not attained
raises a bound from below, and a loss remembers that a theorem made it larger.
Source: Found by using this library: a new kind of loss was certified from below because a list did not name it.
"""

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest

from discreet.accounting import PrivacyLoss, parallel
from discreet.accounting.terms import KINDS, Laplace, OneOf, Pure, Sampled, SampledSymmetric, attained, witness
from discreet.errors import UnknownKind

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


ADDED = "add_remove"
REDUCED = {
    "a group on a sample": L.gaussian(1).sampled(0.3).group(2),
    "a group on a fixed sample": L.gaussian(1).sampled(0.3, scheme="without_replacement").group(2),
    "a replaced record on a sample": L.gaussian(1).under(ADDED).sampled(0.3, relation="replace_one"),
    "a group of which epsilon is known": L.pure(1).group(2),
    "a group of which epsilon and delta are known": L.approximate(1, 0.1).group(2),
    "a group of answers": L.randomized_response(1, 3).group(2),
    "a group of a pair": L.from_pair([0.75, 0.25], [0.25, 0.75]).group(2),
    "a group of a pure sample": L.laplace(1).sampled(HALF).group(2),
    "epsilon and delta on a sample": L.approximate(1, 0.1).sampled(HALF),
    "epsilon and delta on a fixed sample": L.approximate(1, 0.1).sampled(HALF, scheme="without_replacement"),
    "draws with replacement": L.laplace(1).sampled(scheme="with_replacement", size=5, records=10),
    "different parts": parallel([L.laplace(1), L.laplace(HALF)], relation=ADDED),
    "a sample in each part": parallel([L.gaussian(1).sampled(0.3)] * 2, relation="replace_one"),
    "a vector that a chain does not reach": L.discrete_gaussian(squared_sensitivity=5, sigma_squared=4).group(2),
}
KEPT = {
    "gaussian": L.gaussian(1).group(2),
    "laplace": L.laplace(1).group(2),
    "discrete_laplace": L.discrete_laplace(sensitivity=1, scale=2).group(2),
    "bounded_range": L.bounded_range(1).group(2),
    "scalar": L.discrete_gaussian(squared_sensitivity=4, sigma_squared=9, scalar=True).group(2),
    "one_of": L.one_of([HALF, HALF], [L.gaussian(1), L.laplace(2)]).group(2),
    "one way": L.gaussian(1).sampled(0.3).group(2, one_way=True),
    "a group of one": L.pure(1).group(1),
    "one of the parts": parallel([L.pure(1), L.pure(HALF)], relation=ADDED),
    "equal parts": parallel([L.laplace(1)] * 2, relation="replace_one"),
    "a replaced record of a loss for both relations": L.gaussian(1).sampled(0.3, relation="replace_one"),
}


def copies(loss):
    """The same loss where it has come about in another way."""
    yield from (loss, 3 * loss, loss + L(), L() + loss, L.total([loss]), L.from_json(loss.to_json()), loss.group(2))
    if not loss.relation:
        yield loss.under("add_remove")


@pytest.mark.parametrize("how", REDUCED)
def test_what_a_theorem_made_larger_certifies_nothing(how):
    loss = REDUCED[how]
    assert loss.bounds(0.01)[1] == loss.epsilon(0.01) > 0
    assert [each.bounds(0.01)[0] for each in copies(loss)] == [0] * len(list(copies(loss)))


@pytest.mark.parametrize("how", KEPT)
def test_what_is_exact_is_still_bounded_from_below(how):
    low, high = KEPT[how].bounds(0.01)
    assert 0.9 * high < low <= high


def test_it_is_told_in_writing_and_a_record_without_it_reads_as_before():
    loss = L.pure(1).group(2)
    assert loss == L.pure(2)
    assert '"reduced": true' in loss.to_json()
    assert "reduced" not in L.pure(2).to_json()
    assert L.from_json(loss.to_json().replace(', "reduced": true', "")).bounds(0.01)[0] > 0
    with pytest.raises(UnknownKind):
        L.from_json(loss.to_json().replace('"reduced": true', '"reduced": 1'))


def test_the_check_catches_a_bound_that_no_chain_of_pure_steps_has():
    """A chain of two 1-DP steps moves a probability by at most ``1 - 1/e``: at 0.7 its epsilon is 0."""
    assert 1 - 1 / math.e < 0.7
    forgotten = dataclasses.replace(L.pure(1).group(2), reduced=False)
    assert forgotten.bounds(0.7)[0] > 0 == L.pure(1).group(2).bounds(0.7)[0]
