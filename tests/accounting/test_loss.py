"""Privacy losses as values: their algebra, their relations, their two curves."""

import itertools
import math
from fractions import Fraction

import pytest
from accounting_reference import losses, singles
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, RelationMismatch

few = settings(max_examples=25, deadline=None)
many = settings(max_examples=100, deadline=None)


@many
@given(losses, st.integers(0, 6))
def test_multiples_are_repeated_sums(loss, count):
    assert count * loss == loss * count == sum([loss] * count, PrivacyLoss())


@many
@given(losses, losses, losses)
def test_addition_is_commutative_and_associative_with_a_zero(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + PrivacyLoss() == a == PrivacyLoss() + a
    assert hash(a + b) == hash(b + a)


@many
@given(losses, st.integers(1, 3), st.integers(1, 3))
def test_groups_distribute_over_sums(loss, size, count):
    assert (count * loss).group(size) == count * loss.group(size)
    assert loss.group(1).rho == pytest.approx(loss.rho)


@few
@given(singles, st.integers(2, 4))
def test_groups_cost_no_less(loss, size):
    assert loss.group(size).rho >= loss.rho * (1 - 1e-12)
    assert loss.group(size).delta(1) >= loss.delta(1) * (1 - 1e-9)


@few
@given(losses, st.lists(st.just(0.0) | st.floats(1e-300, 50), min_size=2, max_size=4))
def test_delta_falls_with_epsilon(loss, epsilons):
    deltas = [loss.delta(e) for e in sorted(epsilons)]
    assert all(0 <= d <= 1 for d in deltas)
    assert all(a >= b * (1 - 1e-6) for a, b in itertools.pairwise(deltas))


@few
@given(losses, st.floats(1e-12, 0.5))
def test_epsilon_and_delta_are_inverse(loss, delta):
    epsilon = loss.epsilon(delta)
    if math.isinf(epsilon):
        assert loss.delta(10**6) > delta
    else:
        pure = loss.is_pure and epsilon >= loss.epsilon(0)
        assert pure or loss.delta(epsilon) <= delta * (1 + 1e-4)  # each has a lattice of its own
        far = epsilon > 100  # there a sum of epsilons may stand in for what float64 cannot tell
        assert epsilon == 0 or far or loss.delta(epsilon * (1 - 1e-6)) > delta * (1 - 1e-4)


@few
@given(losses, st.floats(1e-9, 0.4), st.floats(1e-9, 0.4))
def test_epsilon_falls_with_delta(loss, a, b):
    low, high = sorted((a, b))
    assert loss.epsilon(high) <= loss.epsilon(low) * (1 + 1e-9) <= loss.epsilon(0) * (1 + 1e-9)


@few
@given(losses, losses)
def test_more_releases_cost_more(a, b):
    for epsilon in (0, 0.5, 3):
        assert (a + b).delta(epsilon) >= max(a.delta(epsilon), b.delta(epsilon)) * (1 - 1e-6) - 1e-15


def test_a_pure_end_is_exact():
    for loss in (PrivacyLoss.laplace(Fraction(1, 3)), PrivacyLoss.pure(Fraction(1, 3))):
        assert loss.delta(Fraction(1, 3)) == 0
        assert Fraction(loss.epsilon()) >= Fraction(1, 3)
    both = PrivacyLoss.approximate(Fraction(1, 3), Fraction(1, 7))
    assert Fraction(both.epsilon(Fraction(1, 7))) == pytest.approx(1 / 3)
    assert both.epsilon(Fraction(1, 8)) == math.inf


# --- relations ---------------------------------------------------------------------------------------------------


def test_neutral_losses_adopt_a_relation():
    neutral, said = PrivacyLoss.laplace(1), PrivacyLoss.laplace(1).under("add_remove")
    assert (neutral + said).relation == (said + neutral).relation == "add_remove"
    assert (neutral + neutral).relation is None
    assert (3 * said).relation == said.group(2).relation == "add_remove"
    assert neutral != said


def test_relations_do_not_mix():
    a, b = (PrivacyLoss.laplace(1).under(r) for r in ("add_remove", "replace_one"))
    with pytest.raises(RelationMismatch, match="group"):
        a + b
    with pytest.raises(RelationMismatch):
        a.under("replace_one")
    with pytest.raises(RelationMismatch):
        PrivacyLoss.laplace(1).under("bounded")


# --- refusals ----------------------------------------------------------------------------------------------------

NONSENSE = [-1, math.nan, math.inf, "1", None, True, 1j, [1]]


@pytest.mark.parametrize("bad", NONSENSE)
def test_parameters_that_no_loss_could_have(bad):
    makers = [
        PrivacyLoss.pure,
        PrivacyLoss.laplace,
        PrivacyLoss.zcdp,
        PrivacyLoss.randomized_response,
        PrivacyLoss.laplace(1).delta,
        PrivacyLoss.laplace(1).epsilon,
        PrivacyLoss.laplace(1).renyi,
        lambda x: PrivacyLoss.gaussian(mu=x),
        lambda x: PrivacyLoss.gaussian(mu_squared=x),
        lambda x: PrivacyLoss.approximate(x, 0.1),
        lambda x: PrivacyLoss.approximate(1, x),
        lambda x: PrivacyLoss.discrete_laplace(sensitivity=x, scale=1),
        lambda x: PrivacyLoss.discrete_laplace(sensitivity=1, scale=x),
        lambda x: PrivacyLoss.discrete_gaussian(squared_sensitivity=x, sigma_squared=1),
        lambda x: PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=x),
        lambda x: PrivacyLoss.randomized_response(1, x),
        lambda x: PrivacyLoss.laplace(1).group(x),
        lambda x: PrivacyLoss.laplace(1) * x,
    ]
    for make in makers:
        with pytest.raises(InvalidParameter):
            make(bad)


@pytest.mark.parametrize("bad", [0, 1, Fraction(5, 2)])
def test_randomised_response_has_two_answers_at_least(bad):
    with pytest.raises(InvalidParameter):
        PrivacyLoss.randomized_response(1, bad)


def test_other_refusals():
    for wrong in (lambda: PrivacyLoss.gaussian(), lambda: PrivacyLoss.gaussian(1, mu_squared=1)):
        with pytest.raises(InvalidParameter):
            wrong()
    with pytest.raises(InvalidParameter):
        PrivacyLoss.laplace(1).renyi(1)
    with pytest.raises(InvalidParameter):
        PrivacyLoss.approximate(1, 1.5)
    with pytest.raises(InvalidParameter):
        PrivacyLoss.laplace(1).epsilon(1)
    with pytest.raises(TypeError):
        PrivacyLoss.laplace(1) + 1


# --- extremes ----------------------------------------------------------------------------------------------------

EXTREME = {
    **{
        f"{make}({e})": getattr(PrivacyLoss, make)(e)
        for make in ("pure", "laplace", "zcdp", "randomized_response")
        for e in (1e-300, 1e-9, 1e3)
    },
    **{f"gaussian({s})": PrivacyLoss.gaussian(mu=1 / s) for s in (1e-6, 1e-3, 1e3, 1e6)},
    **{f"discrete_laplace({s})": PrivacyLoss.discrete_laplace(sensitivity=1, scale=s) for s in (1e-6, 1e-3, 1e3, 1e6)},
    **{
        f"discrete_gaussian({s})": PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=s * s)
        for s in (1e-6, 1e-3, 1e3, 1e6)
    },
    "approximate": PrivacyLoss.approximate(1e3, 1e-300),
    "many": 10**6 * PrivacyLoss.laplace(1e-6) + 10**9 * PrivacyLoss.approximate(1e-9, 1e-12),
}


@pytest.mark.parametrize("loss", EXTREME.values(), ids=EXTREME)
def test_extreme_parameters_give_honest_numbers(loss):
    for epsilon in (0, 1e-300, 1e-9, 1, 1e3):
        assert 0 <= loss.delta(epsilon) <= 1
    for delta in (0, 1e-300, 1e-9, 0.5):
        assert loss.epsilon(delta) >= 0
    assert loss.rho >= 0
    assert loss.renyi(Fraction(3, 2)) >= 0


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_groups_of_an_approximate_loss_never_overflow(size):
    grouped = PrivacyLoss.approximate(100, 1e-6).group(size)
    assert 1e-6 <= grouped.delta(100 * size) <= 1
