"""Refused charges are summarised and limited, and no error carries what a database said."""

import json
import traceback

import pytest
from sqlalchemy.exc import OperationalError

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Ledger
from discreet.ledger.account import MOST_REFUSALS, REFUSED_QUERY
from discreet.ledger.purpose import Purpose
from discreet.ledger.store import _translated

QUERY = "SELECT COUNT(*) AS n FROM visits WHERE " + " OR ".join(f"age = {i}" for i in range(5000))


def refused(account, times):
    for _ in range(times):
        with pytest.raises(BudgetExceeded):
            account.charge(PrivacyLoss.pure(2), Purpose(query=QUERY))


def test_a_refused_charge_keeps_the_beginning_of_its_query(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    refused(ledger.account("visits", budget=Budget(1)), 1)
    entry = ledger.entries("visits")[-1]
    assert entry.kind == "refuse"
    assert entry.body["query"] == QUERY[:REFUSED_QUERY]
    assert len(entry.body["query_sha256"]) == 64
    assert len(json.dumps(dict(entry.body))) < 1000
    ledger.verify(deep=True)


def test_refusals_in_a_loop_do_not_make_the_ledger_grow(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    account = ledger.account("visits", budget=Budget(1))
    refused(account, MOST_REFUSALS + 60)
    kinds = [entry.kind for entry in ledger.entries("visits")]
    assert kinds.count("refuse") == MOST_REFUSALS
    account.charge(PrivacyLoss.pure(1), Purpose(query=QUERY))  # what fits is charged, and written in full
    entry = ledger.entries("visits")[-1]
    assert (entry.kind, entry.body["query"]) == ("charge", QUERY)
    ledger.verify(deep=True)


def test_so_do_refused_holds(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    account = ledger.account("visits", budget=Budget(1))
    account.charge(PrivacyLoss.pure(1))
    for _ in range(MOST_REFUSALS + 20):
        with pytest.raises(BudgetExceeded):
            account.hold(share=1, seconds=60)
    assert [entry.kind for entry in ledger.entries("visits")].count("refuse") == MOST_REFUSALS


def test_a_ledger_error_holds_nothing_of_the_driver(tmp_path):
    def fails():
        with _translated("ledger.sqlite"):
            raise OperationalError("SELECT secret", {}, Exception("disk I/O error at canary-7919"))

    with pytest.raises(LedgerError) as error:
        fails()
    assert error.value.__context__ is error.value.__cause__ is None
    assert "canary" not in "".join(traceback.format_exception(error.value, chain=True))


def test_a_damaged_ledger_says_nothing_of_sqlite(tmp_path):
    place = tmp_path / "ledger.sqlite"
    Ledger(place).account("visits", budget=Budget(1))
    for path in tmp_path.glob("ledger.sqlite*"):
        path.write_bytes(b"SQLite format 3\x00" + b"canary-7919" * 2000)
    with pytest.raises(LedgerError) as error:
        Ledger(place)
    assert error.value.__context__ is error.value.__cause__ is None
