"""An account of a ledger is an account: the same losses are admitted and refused, and nothing is forgotten."""

import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import Budget, PrivacyLoss
from discreet.accounting.budget import Cost
from discreet.errors import BudgetExceeded, DiscreetError, InvalidParameter, LedgerError, RelationMismatch
from discreet.ledger import Hold, Ledger, Purpose, policy
from discreet.ledger.units import AMOUNT, FAILURE

BUDGETS = {
    "pure": Budget(1),
    "basic": Budget(1, 1e-6, filter="basic"),
    "zcdp": Budget(1, 1e-6),
    "renyi": Budget(1, 1e-6, filter="renyi"),
    "gdp": Budget(1, 1e-6, filter="gdp"),
}
TENTH = PrivacyLoss.laplace(Fraction(1, 10))


@pytest.fixture
def ledger(place):
    with Ledger(place) as ledger:
        yield ledger


@pytest.fixture
def account(ledger):
    return ledger.account("visits", budget=Budget(1), who="ann")


def test_what_was_spent_is_there_after_opening_again(place):
    with Ledger(place) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
        ledger.account("shops", budget=Budget(2, 1e-6)).spend(PrivacyLoss.gaussian(mu=Fraction(1, 10)))
    with Ledger(place) as ledger:
        assert ledger.names == ["visits", "shops"]
        assert ledger.account("visits").spent == Cost(Fraction(1, 10))
        assert ledger.account("shops").spent == Cost(Fraction(1, 200))
        assert ledger.budget("shops") == Budget(2, 1e-6)
        assert [entry.kind for entry in ledger.entries("visits")] == ["open", "charge"]
        assert ledger.head("visits") == (2, ledger.entries("visits")[-1].hash)
        assert "visits" in repr(ledger)
        assert "of 1 spent, visits in" in repr(ledger.account("visits"))


def test_a_budget_is_fixed_when_an_account_is_opened(ledger, account):
    assert ledger.account("visits", budget=Budget(1)).spent == account.spent
    for other in (Budget(2), Budget(1, 1e-6), Budget(1, relation="add_remove")):
        with pytest.raises(LedgerError, match="another budget was given"):
            ledger.account("visits", budget=other)
    with pytest.raises(LedgerError, match=r"no account of shops.*It has: visits"):
        ledger.account("shops")
    for read in (ledger.budget, ledger.entries, ledger.head):
        with pytest.raises(LedgerError, match="no account of shops"):
            read("shops")


@pytest.mark.parametrize("name", ["", "x" * 201, "a\x00b", "\ud800", None, 7])
def test_names_that_cannot_be_stored_are_refused(ledger, name):
    with pytest.raises(InvalidParameter):
        ledger.account(name, budget=Budget(1))
    if name != "":
        with pytest.raises(InvalidParameter):
            ledger.account("visits", budget=Budget(1), who=name)


def test_texts_of_all_scripts_and_sizes_are_kept(ledger):
    name = "Besuche 訪問 زيارات 🏥 'quoted\"; --"
    account = ledger.account(name, budget=Budget(1), who="Зоя")
    query = "é🏥" * 500_000
    ticket = account.charge(TENTH, Purpose(query=query, why="por qué", key="🔑", fingerprint="f"))
    ticket.settle('{"é": "🏥"}')
    entry = ledger.entries(name)[1]
    assert (entry.who, entry.body["query"], entry.body["why"], entry.body["key"]) == ("Зоя", query, "por qué", "🔑")
    assert ledger.answer(name, entry.number) == '{"é": "🏥"}'
    ledger.verify()
    with pytest.raises(InvalidParameter, match="1,000,000"):
        Purpose(query="x" * 1_000_001)


@pytest.mark.parametrize("budget", [Budget(1e-13), Budget(10**7), Budget(1, 1e-19, filter="basic")], ids=repr)
def test_budgets_outside_of_the_units_are_refused(ledger, budget):
    with pytest.raises(LedgerError, match="units"):
        ledger.account("visits", budget=budget)
    assert ledger.names == []


# Against an account in memory ----------------------------------------------------------------------------------------

SIZES = st.fractions(Fraction(1, 10**9), Fraction(1, 2)) | st.floats(1e-9, 0.5)
LOSSES = st.one_of(
    SIZES.map(PrivacyLoss.laplace),
    SIZES.map(PrivacyLoss.pure),
    SIZES.map(lambda mu: PrivacyLoss.gaussian(mu=mu)),
    SIZES.map(lambda rho: PrivacyLoss.zcdp(rho)),
    st.builds(PrivacyLoss.approximate, SIZES, st.floats(1e-12, 1e-7)),
    st.builds(lambda n, e: n * PrivacyLoss.laplace(e), st.integers(1, 50), SIZES),
)
ONE_UNIT = Cost(Fraction(1, AMOUNT), Fraction(1, FAILURE))


@pytest.fixture(scope="module")
def one_ledger(tmp_path_factory):
    with Ledger(tmp_path_factory.mktemp("alike") / "ledger.sqlite") as ledger:
        yield ledger


@settings(max_examples=60)
@given(st.sampled_from(sorted(BUDGETS)), st.lists(LOSSES, max_size=12))
def test_the_same_losses_are_admitted_as_in_memory(one_ledger, kind, losses):
    name = uuid4().hex
    memory, kept = BUDGETS[kind].open(), one_ledger.account(name, budget=BUDGETS[kind])
    exact = Cost()
    for count, loss in enumerate(losses):
        try:
            kept.spend(loss)
        except DiscreetError as refused:
            # Only what memory refuses too, or would with the units that were rounded up so far, and one for the limit.
            slack = Cost(ONE_UNIT.amount * (count + 2), ONE_UNIT.failure * (count + 2))
            try:
                assert not (exact + memory.cost(loss) + slack).within(Cost(memory.rule.limit, memory.rule.failures))
            except DiscreetError as also:
                assert type(also) is type(refused)  # noqa: PT017
        else:
            exact += memory.cost(loss)
            memory.spend(loss)
        spent = kept.spent
        assert exact.within(spent)
        assert spent.within(exact + Cost(ONE_UNIT.amount * (count + 1), ONE_UNIT.failure * (count + 1)))
    entries = [entry for entry in one_ledger.entries(name) if entry.kind == "charge"]
    assert kept.spent.amount * AMOUNT == sum(entry.amount for entry in entries)
    assert kept.spent.failure * FAILURE == sum(entry.failure for entry in entries)
    assert kept.remaining.within(memory.remaining)
    assert (
        kept.largest_epsilon() <= memory.largest_epsilon()
        if kind != "gdp"
        else kept.largest_mu() <= memory.largest_mu()
    )
    told, honest = kept.odometer(), memory.odometer()
    assert told[1] == honest[1]
    assert honest[0] <= told[0]
    assert told[0] == honest[0] == math.inf or told[0] <= honest[0] * (1 + 1e-6) + 1e-4


@given(st.fractions(0, 4), st.fractions(0, 4))
def test_units_are_rounded_against_the_spender(cost, limit):
    from discreet.ledger.units import cost_in_units, cost_of_units, limit_in_units

    assert Cost(cost, cost).within(cost_of_units(*cost_in_units(Cost(cost, cost))))
    if limit * AMOUNT >= 1:
        assert cost_of_units(*limit_in_units(Cost(limit, limit))).within(Cost(limit, limit))


def test_ten_tenths_are_one_and_not_a_unit_more(account):
    for _ in range(10):
        account.spend(TENTH)
    assert account.remaining == Cost()
    for tiny in (Fraction(1, AMOUNT), 1e-300):
        with pytest.raises(BudgetExceeded):
            account.spend(PrivacyLoss.pure(tiny))


def test_negative_and_infinite_losses_are_refused(ledger, account):
    for bad in (lambda: PrivacyLoss.pure(-1), lambda: -1 * TENTH):
        with pytest.raises((DiscreetError, TypeError)):
            account.spend(bad())
    for bad in (PrivacyLoss.gaussian(mu=1), None, 0.1, float("nan")):
        with pytest.raises(DiscreetError):
            account.spend(bad)
    assert account.spent == Cost()
    ledger.verify()


def test_what_no_number_holds_is_refused_or_unknown(ledger):
    account = ledger.account("visits", budget=Budget(Fraction(2**62, AMOUNT)))  # the largest that there is
    with pytest.raises(BudgetExceeded):
        account.spend(PrivacyLoss.pure(10**30))
    wide = ledger.account("wide", budget=Budget(4_000_000, 0.5))
    for _ in range(3):
        wide.spend(PrivacyLoss.pure(1_000_000).sampled(1e-300))
    assert wide.odometer()[0] > 0
    ledger.verify()


def test_relations_and_units_do_not_mix(ledger):
    account = ledger.account("visits", budget=Budget(1))
    account.protect("persons by user")
    account.protect("persons by user")
    account.spend(_related("add_remove"))
    with pytest.raises(RelationMismatch):
        account.protect("rows")
    with pytest.raises(RelationMismatch):
        account.spend(_related("replace_one"))
    assert account.relation == "add_remove"
    kinds = [entry.kind for entry in ledger.entries("visits")]
    assert kinds == ["open", "protect", "charge", "refuse"]


def _related(relation):
    from discreet.mechanisms import Geometric
    from discreet.sensitivity import Count

    return Geometric(sensitivity=1, epsilon=Fraction(1, 10)).of(Count(), relation=relation).loss


# Keys, answers, the cache --------------------------------------------------------------------------------------------


def test_a_key_is_charged_once_and_answered_again(ledger, account):
    purpose = Purpose(query="q", key="one", fingerprint="f")
    ticket = account.charge(TENTH, purpose)
    assert ticket.stored is None
    with pytest.raises(InvalidParameter, match="no stored answer"):
        account.charge(TENTH, purpose)
    ticket.settle("the answer")
    assert account.charge(TENTH, purpose).stored == "the answer"
    assert account.charge(PrivacyLoss.laplace(100), purpose).stored == "the answer"
    with pytest.raises(InvalidParameter, match="another request"):
        account.charge(TENTH, Purpose(query="q", key="one", fingerprint="g"))
    with pytest.raises(LedgerError, match="one answer for each charge"):
        ticket.settle("another answer")
    assert account.spent == Cost(Fraction(1, 10))
    assert ledger.answer("visits", ticket.number) == "the answer"
    assert ledger.answer("visits", 99) is None


def test_a_request_is_answered_from_the_ledger_unless_the_data_changed_or_a_fresh_one_is_wanted(account):
    account.charge(TENTH, Purpose(fingerprint="f", version="monday")).settle("monday's")
    assert account.charge(TENTH, Purpose(fingerprint="f", version="monday")).stored == "monday's"
    assert account.charge(TENTH, Purpose(fingerprint="f", version="tuesday")).stored is None
    assert account.charge(TENTH, Purpose(fingerprint="g", version="monday")).stored is None
    fresh = account.charge(TENTH, Purpose(fingerprint="f", version="monday", fresh=True))
    assert fresh.stored is None
    assert account.charge(TENTH, Purpose(fingerprint="f", version="monday")).stored == "monday's"
    fresh.settle("a fresh one")
    assert account.charge(TENTH, Purpose(fingerprint="f", version="monday")).stored == "a fresh one"
    assert account.charge(TENTH, Purpose()).stored is None
    assert account.spent == Cost(Fraction(5, 10))


def test_repeatable_noise_is_recorded_and_answers_no_private_request(ledger, account):
    seeded = account.charge(TENTH, Purpose(fingerprint="f", key="test", private=False))
    seeded.settle("repeatable")
    assert ledger.entries("visits")[1].body["private"] is False
    assert account.charge(TENTH, Purpose(fingerprint="f")).stored is None
    assert account.charge(TENTH, Purpose(fingerprint="f", private=False)).stored == "repeatable"
    with pytest.raises(InvalidParameter, match="another request"):
        account.charge(TENTH, Purpose(fingerprint="f", key="test"))


def test_refusals_are_recorded(ledger, account):
    with pytest.raises(BudgetExceeded):
        account.charge(PrivacyLoss.laplace(2), Purpose(query="SELECT 1", why="curious", key="k"))
    entry = ledger.entries("visits")[-1]
    assert (entry.kind, entry.who, entry.amount, entry.failure) == ("refuse", "ann", 0, 0)
    assert (entry.body["query"], entry.body["why"]) == ("SELECT 1", "curious")
    assert "1 of 1 is left" in entry.body["reason"]
    assert account.charge(TENTH, Purpose(key="k")).stored is None  # a refused key was not used


# Allowances, quotas, holds -------------------------------------------------------------------------------------------


def test_nobody_spends_more_than_granted(ledger, account):
    account.grant("ann", share=Fraction(1, 5))
    account.grant("*", amount=Fraction(1, 10))
    bob, zoe = ledger.account("visits", who="bob"), ledger.account("visits", who="zoe")
    for person, times in ((account, 2), (bob, 1), (zoe, 1)):
        for _ in range(times):
            person.spend(TENTH)
        with pytest.raises(BudgetExceeded, match=f"what {person.who} may spend"):
            person.spend(TENTH)
    account.grant("ann", share=1)
    for _ in range(6):
        account.spend(TENTH)
    with pytest.raises(BudgetExceeded, match="0 of 1 is left"):
        account.spend(PrivacyLoss.laplace(Fraction(1, AMOUNT)))
    ledger.verify()


@pytest.mark.parametrize("wrong", [{}, {"share": 1, "amount": 1}, {"share": 2}, {"share": 0}, {"amount": 3}])
def test_parts_that_make_no_sense_are_refused(account, wrong):
    with pytest.raises(InvalidParameter):
        account.grant("bob", **wrong)
    with pytest.raises(InvalidParameter):
        account.hold(**wrong, seconds=1)


@pytest.mark.parametrize("per_day", [-1, 1.5, True, 2**31])
def test_quotas_are_whole_numbers(account, per_day):
    with pytest.raises(InvalidParameter, match="whole number"):
        account.grant("bob", share=1, per_day=per_day)
    with pytest.raises(InvalidParameter, match="who is the name"):
        account.grant("", share=1)


def test_a_quota_is_for_one_day(account, monkeypatch):
    account.grant("ann", share=1, per_day=2)
    account.spend(TENTH)
    account.spend(TENTH)
    with pytest.raises(BudgetExceeded, match="2 charges a day"):
        account.spend(TENTH)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    monkeypatch.setattr(policy, "now", lambda: tomorrow)
    account.spend(TENTH)


def test_what_is_held_is_kept_from_others(ledger, account):
    hold = account.hold(share=Fraction(4, 5), seconds=3600)
    assert hold == Hold(hold.number, "ann", Fraction(4, 5), Fraction(0), hold.until)
    bob = ledger.account("visits", who="bob")
    bob.spend(2 * TENTH)
    with pytest.raises(BudgetExceeded):
        bob.spend(TENTH)
    with pytest.raises(BudgetExceeded, match="not yours"):
        bob.charge(TENTH, Purpose(hold=hold.number))
    with pytest.raises(BudgetExceeded, match="less than this is free"):
        bob.hold(share=Fraction(1, 10), seconds=1)
    account.charge(3 * TENTH, Purpose(hold=hold.number))
    with pytest.raises(BudgetExceeded):
        bob.spend(TENTH)
    account.drop(hold)
    bob.spend(5 * TENTH)
    assert account.remaining == Cost()
    for gone in (hold, 99, "x", 2**70):
        with pytest.raises(InvalidParameter):
            account.drop(gone)
    ledger.verify()


def test_a_hold_ends(ledger, account, monkeypatch):
    hold = account.hold(share=1, seconds=60)
    bob = ledger.account("visits", who="bob")
    with pytest.raises(BudgetExceeded):
        bob.spend(TENTH)
    later = datetime.now(UTC) + timedelta(seconds=61)
    monkeypatch.setattr(policy, "now", lambda: later)
    bob.spend(TENTH)
    with pytest.raises(BudgetExceeded, match="is over"):
        account.charge(TENTH, Purpose(hold=hold.number))
    ledger.verify()


def test_nobody_holds_more_than_granted(ledger, account):
    account.grant("*", share=Fraction(1, 5))
    account.hold(share=Fraction(1, 10), seconds=60)
    with pytest.raises(BudgetExceeded, match="may spend"):
        account.hold(share=Fraction(2, 10), seconds=60)
    account.hold(share=Fraction(1, 10), seconds=60)
    with pytest.raises(BudgetExceeded, match="may spend"):
        account.hold(share=Fraction(1, 10), seconds=60)


# The last charge -----------------------------------------------------------------------------------------------------

MANY = 36 * PrivacyLoss.laplace(0.04)


def test_a_last_charge_takes_all_of_an_unused_account(ledger):
    account = ledger.account("visits", budget=Budget(1, 1e-6))
    with pytest.raises(BudgetExceeded):
        account.spend(MANY)
    account.charge(MANY, Purpose(query="plan"), last=True)
    assert account.remaining == Cost()
    assert account.odometer()[0] == math.inf
    assert ledger.entries("visits")[-1].body["last"] is True
    with pytest.raises(BudgetExceeded):
        account.spend(PrivacyLoss.laplace(1e-6))
    ledger.verify()


def test_what_fits_is_charged_as_it_is_even_if_it_may_be_the_last(ledger):
    account = ledger.account("visits", budget=Budget(1, 1e-6))
    account.charge(PrivacyLoss.laplace(0.04), last=True)
    assert account.remaining.amount > 0
    with pytest.raises(BudgetExceeded, match="spent first"):
        account.exhaust(MANY)


def test_a_last_charge_leaves_what_is_held(ledger):
    account = ledger.account("visits", budget=Budget(1, 1e-6), who="ann")
    account.hold(share=Fraction(1, 100), seconds=3600, who="bob")
    with pytest.raises(BudgetExceeded):
        account.exhaust(MANY)
    own = ledger.account("own", budget=Budget(1, 1e-6), who="ann")
    own.charge(MANY, Purpose(hold=own.hold(share=1, seconds=60).number), last=True)
    assert own.remaining == Cost()
    ledger.verify()


def test_a_reader_writes_nothing(place):
    with Ledger(place) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    with Ledger(place, read_only=True) as ledger:
        account = ledger.account("visits")
        assert account.spent == Cost(Fraction(1, 10))
        for act in (lambda: account.spend(TENTH), lambda: ledger.account("shops", budget=Budget(1))):
            with pytest.raises(LedgerError, match="reading alone"):
                act()
