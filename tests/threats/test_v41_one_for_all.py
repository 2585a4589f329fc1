"""One analyst must not be able to burn the budget of all.

A budget belongs to the data, and many share it. One careless loop, or one who wants the others to see nothing, spends
it within a second. Reserving it and never spending does the same.

Defence: the keeper grants each person a part and a number of charges a day, or the same to everybody; what is kept for
somebody is kept from all others for a time; no part reaches beyond the whole, and nobody reserves beyond their part.
Source: General knowledge about shared quotas.
"""

from fractions import Fraction

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger, Purpose

STEP = PrivacyLoss.pure(Fraction(1, 100))


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.account("visits", budget=Budget(1), who="keeper")
        yield ledger


def burnt(ledger, who, purpose=None):
    """Return how many hundredths somebody can take by asking for ever."""
    account, count = ledger.account("visits", who=who), 0
    while True:
        try:
            account.charge(STEP, purpose)
        except BudgetExceeded:
            return count
        count += 1


def test_a_part_is_all_that_one_can_burn(ledger):
    ledger.account("visits").grant("*", share=Fraction(1, 5))
    assert [burnt(ledger, who) for who in ("mallory", "ann", "bob")] == [20, 20, 20]
    assert burnt(ledger, "mallory") == 0


def test_a_quota_stops_a_loop(ledger):
    ledger.account("visits").grant("mallory", share=1, per_day=3)
    assert burnt(ledger, "mallory") == 3
    assert burnt(ledger, "ann") == 97


def test_parts_that_add_up_to_more_than_the_whole_do_not_make_it_larger(ledger):
    for who in ("ann", "bob", "zoe"):
        ledger.account("visits").grant(who, share=Fraction(1, 2))
    assert sum(burnt(ledger, who) for who in ("ann", "bob", "zoe")) == 100


def test_what_is_held_for_one_is_there_for_them(ledger):
    hold = ledger.account("visits", who="ann").hold(share=Fraction(3, 10), seconds=3600)
    assert burnt(ledger, "mallory") == 70
    assert burnt(ledger, "mallory", Purpose(hold=hold.number)) == 0
    assert burnt(ledger, "ann", Purpose(hold=hold.number)) == 30


def test_nobody_holds_everything_for_ever(ledger):
    ledger.account("visits").grant("*", share=Fraction(1, 5))
    mallory, held = ledger.account("visits", who="mallory"), 0
    with pytest.raises(BudgetExceeded):
        mallory.hold(share=1, seconds=10**9)
    while held < 100:
        try:
            mallory.hold(share=Fraction(1, 100), seconds=10**9)
        except BudgetExceeded:
            break
        held += 1
    assert held == 20
    assert burnt(ledger, "ann") == 20


def test_the_check_catches_a_budget_that_all_share_without_parts(ledger):
    assert burnt(ledger, "mallory") == 100
    assert burnt(ledger, "ann") == 0
