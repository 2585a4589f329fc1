"""A budget must refuse, and not only count.

A meter that shows how much was spent, and answers all the same, protects nobody: fifty queries at epsilon 1 were
answered with a total of 95 on display. Refusal must come before the release, and at the very point where the budget
ends.

Defence: an account is a filter; a loss that does not fit is refused whole, changes nothing, and no later loss, order
or size brings more out of it.
Source: Rogers, Roth, Ullman and Vadhan, Privacy Odometers and Filters, NeurIPS 2016.
"""

import copy
import pickle
from fractions import Fraction

import pytest

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.accounting.filters import Zcdp
from discreet.errors import BudgetExceeded, DiscreetError
from discreet.ledger import Ledger
from discreet.mechanisms import Gaussian, Geometric, Laplace, compose, repeat

BUDGETS = [
    Budget(1),
    Budget(1, 1e-6),
    Budget(1, 1e-6, filter="basic"),
    Budget(1, 1e-6, filter="renyi"),
    Budget(1, 1e-6, filter="gdp"),
]
LOSSES = {
    "laplace": Laplace(sensitivity=1, epsilon=0.25).loss,
    "gaussian": Gaussian(sensitivity=1, sigma=20).loss,
    "geometric": Geometric(sensitivity=1, epsilon=0.25).loss,
    "plan": compose(Laplace(sensitivity=1, epsilon=0.1), repeat(Laplace(sensitivity=1, epsilon=0.05), 2)).loss,
    "approximate": PrivacyLoss.approximate(0.01, 1e-8),
}
MANY = 500


def admitted(account, loss, attempts=MANY):
    """Return how many equal losses are admitted before the first refusal; None if all are."""
    for count in range(attempts):
        try:
            account.spend(loss)
        except DiscreetError:
            return count
    return None


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@pytest.mark.parametrize("name", LOSSES)
def test_every_account_refuses_in_the_end(budget, name):
    account = budget.open()
    count = admitted(account, LOSSES[name])
    assert count is not None
    assert account.remaining.amount >= 0
    assert account.remaining.failure >= 0
    assert (count * LOSSES[name]).epsilon(budget.delta) <= budget.epsilon


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_a_refusal_changes_nothing_and_lasts(budget):
    account, loss = budget.open(), LOSSES["gaussian" if budget.delta else "laplace"]
    admitted(account, loss)
    before = (account.spent, account.remaining, account.odometer())
    assert [admitted(account, k * loss) for k in (1, 2, 1000, 1)] == [0, 0, 0, 0]
    assert (account.spent, account.remaining, account.odometer()) == before


def test_it_ends_exactly_where_it_was_said():
    account = Budget(1).open()
    assert admitted(account, PrivacyLoss.pure(Fraction(1, 7))) == 7
    with pytest.raises(BudgetExceeded, match="0 of 1 is left"):
        account.spend(PrivacyLoss.pure(1e-300))


def test_splitting_a_loss_brings_no_more_out_of_it():
    for parts in (1, 3, 10, 64):
        account = Account(Zcdp(Fraction(1)), delta=1e-6)
        loss = PrivacyLoss.zcdp(Fraction(1, 2 * parts))
        assert admitted(account, loss) == 2 * parts


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@pytest.mark.parametrize("name", LOSSES)
def test_an_account_in_a_ledger_refuses_no_later(tmp_path, budget, name):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        account = ledger.account("visits", budget=budget)
        count = admitted(account, LOSSES[name], attempts=100)
        in_memory = admitted(budget.open(), LOSSES[name], attempts=100)
        assert count == in_memory or (count is not None and (in_memory is None or count < in_memory))
        assert account.remaining.amount >= 0
        assert account.remaining.failure >= 0


def test_a_ledger_refuses_where_it_was_said_for_whoever_opens_it(tmp_path):
    count = 0
    for _ in range(5):
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            count += admitted(ledger.account("visits", budget=Budget(1)), PrivacyLoss.pure(Fraction(1, 8)))
    assert count == 8


def test_there_is_no_second_copy_to_spend(tmp_path):
    account = Budget(1).open()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        kept = ledger.account("visits", budget=Budget(1))
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="twice"):
                duplicate(kept)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="twice"):
            duplicate(account)


def test_nothing_is_given_back():
    account = Budget(1).open()
    account.spend(PrivacyLoss.pure(1))
    for refund in (-1, Fraction(-1, 2)):
        with pytest.raises((DiscreetError, TypeError)):
            account.spend(PrivacyLoss.pure(refund))
        with pytest.raises((DiscreetError, TypeError)):
            account.spend(refund * PrivacyLoss.pure(1))
    assert account.remaining.amount == 0


class Meter:
    """It counts and never refuses: what must not be called a budget."""

    def __init__(self):
        self.total = PrivacyLoss()

    def spend(self, loss):
        self.total += loss


class Late:
    """It refuses once the budget is exceeded, which is one release too late."""

    def __init__(self, epsilon):
        self.epsilon, self.total = epsilon, PrivacyLoss()

    def spend(self, loss):
        if self.total.epsilon() > self.epsilon:
            raise BudgetExceeded("too late.")
        self.total += loss


def test_the_check_catches_meters():
    assert admitted(Meter(), LOSSES["laplace"]) is None
    count = admitted(Late(1), LOSSES["laplace"])
    assert (count * LOSSES["laplace"]).epsilon() > 1
