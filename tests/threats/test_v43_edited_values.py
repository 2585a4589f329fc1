"""What was accounted for must not be edited afterwards.

In the analyst's own process a list of spent budgets can be emptied, a scale set to zero after the loss was read, a
shared dictionary changed behind the back of whoever holds it. No Python object resists an attacker in its own process,
and the boundary that does is another process. But nothing must be editable by accident or by a plain assignment.

Defence: mechanisms, queries, losses, budgets and units are frozen values that share nothing that can change; an
account shows what was spent through properties without setters; an account of a ledger keeps nothing that counts in the
process, and what another process wrote is what holds.
Source: Found while comparing libraries: an accountant whose list of spends could be cleared.
"""

import copy
import dataclasses
from fractions import Fraction

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.accounting.budget import Spent
from discreet.accounting.filters import Basic
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.ledger import Ledger
from discreet.mechanisms import (
    STAT,
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    RandomRecord,
    Warner,
    YesBiased,
    compose,
    group,
    parallel,
    repeat,
)
from discreet.sensitivity import Count, Counts, Histogram, Mean, Sum, Variance
from discreet.units import Person, Row

HEADS = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
VALUES = [
    STAT(query=float, size=3, epsilon=1),
    BoundedCount(size=3, epsilon=1),
    DiscreteGaussian(sensitivity=1, sigma=1),
    Exponential(epsilon=1),
    Gaussian(sensitivity=1, sigma=1),
    Geometric(sensitivity=1, epsilon=1),
    Laplace(sensitivity=1, epsilon=1),
    NoisyMax(epsilon=1),
    PermuteAndFlip(epsilon=1),
    Quantile(bounds=(0, 1), epsilon=1, relation="add_remove"),
    RandomizedResponse(epsilon=1),
    RandomRecord(size=3),
    Warner(truth=0.75),
    YesBiased(),
    HEADS,
    compose(HEADS),
    repeat(HEADS, 2),
    group(HEADS, 2),
    parallel({1: HEADS}, by=int, relation="add_remove"),
    HEADS.clamped(0, 1),
    Geometric(sensitivity=1, epsilon=1).domain,
    HEADS.domain,
    Count(),
    Counts(wheres=(bool,)),
    Histogram(bins=(1, 2)),
    Mean(bounds=(0, 1), size=3),
    Sum(bounds=(0, 1)),
    Variance(bounds=(0, 1), size=3),
    PrivacyLoss.pure(1),
    PrivacyLoss.gaussian(1).terms[0][0],
    PrivacyLoss.renyi_curve([(2, 0.1)]),
    Budget(1),
    Budget(1).open().rule,
    Budget(1).open().spent,
    Row(),
    Person("user"),
]


@dataclasses.dataclass
class Editable:
    """A mechanism whose noise can be switched off after its loss was read: what must not exist."""

    epsilon: float = 1.0


def can_be_edited(value):
    """Return the names of what a plain assignment or deletion changes."""
    names = {field.name for field in dataclasses.fields(value)} | {"loss", "domain", "anything_else"}
    return {name for name in names if _changes(value, name)}


def _changes(value, name):
    try:
        setattr(value, name, 0)
    except (AttributeError, TypeError):
        return False
    return True


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_frozen(value):
    before = repr(value)
    assert not can_be_edited(value)
    assert repr(value) == before
    for field in dataclasses.fields(value):
        with pytest.raises((AttributeError, TypeError)):
            delattr(value, field.name)


def test_the_check_catches_what_can_be_edited():
    assert can_be_edited(Editable()) == {"epsilon", "loss", "domain", "anything_else"}


def test_values_keep_nothing_that_others_can_change():
    bounds, curve, parts = [0, 1], [(2, 0.1), (8, 0.4)], {1: HEADS}
    quantile = Quantile(bounds=bounds, epsilon=1, relation="add_remove")
    loss = PrivacyLoss.renyi_curve(curve)
    split = parallel(parts, by=int, relation="add_remove")
    seen = (repr(quantile), loss.epsilon(1e-6), split.loss)
    bounds[1], curve[0] = 1000, (2, 0.0)
    parts[1] = parts[2] = Geometric(sensitivity=1, epsilon=100).of(Count(), relation="add_remove")
    assert (repr(quantile), loss.epsilon(1e-6), split.loss) == seen
    with pytest.raises(TypeError):
        split.mechanisms[1] = HEADS


def test_what_was_spent_has_no_setter():
    account = Budget(1).open()
    account.spend(PrivacyLoss.pure(1))
    for name in ("spent", "remaining", "relation", "anything_else"):
        with pytest.raises(AttributeError):
            setattr(account, name, 0)
    for method in ("clear", "reset", "refund", "pop"):
        assert not hasattr(account, method)
    with pytest.raises(TypeError, match="twice"):
        copy.copy(account)
    assert account.remaining.amount == 0


def forget(account):
    """Do to an account what an analyst can do to any object of their own process."""
    object.__setattr__(account, "_state", Spent())


def left_after_forgetting(account):
    account.spend(PrivacyLoss.pure(1))
    forget(account)
    return account.remaining.amount


def test_what_a_ledger_holds_is_not_in_the_process(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        account = ledger.account("visits", budget=Budget(1))
        assert left_after_forgetting(account) == 0
        for name in ("spent", "remaining", "name", "who", "anything_else"):
            with pytest.raises(AttributeError):
                setattr(account, name, 0)
        with pytest.raises(BudgetExceeded):
            account.spend(PrivacyLoss.pure(1))


def test_the_check_catches_an_account_in_memory():
    assert left_after_forgetting(Budget(1).open()) == 1


@pytest.mark.parametrize(("name", "value"), [("rule", Basic(Fraction(100), Fraction(0))), ("delta", Fraction(1, 2))])
def test_the_limit_of_an_account_has_no_setter(name, value):
    with pytest.raises(AttributeError):
        setattr(Budget(1).open(), name, value)


def test_an_account_is_not_opened_again():
    account = Budget(1).open()
    account.spend(PrivacyLoss.pure(1))
    with pytest.raises(InvalidParameter, match="opened once"):
        account.__init__(Basic(Fraction(1), Fraction(0)))
