"""Many processes at one account: never overspent, nothing lost, one answer for one key."""

from collections import Counter
from fractions import Fraction

import ledger_writers
import pytest

from discreet.accounting import Budget
from discreet.ledger import Ledger


def test_processes_charge_to_the_brink_and_not_beyond(place):
    found = ledger_writers.run("brink", place=str(place), processes=8, charges=40, share="1/200")
    admitted = sum(one["admitted"] for one in found)
    assert (admitted, sum(one["refused"] for one in found)) == (200, 120)
    with Ledger(place) as ledger:
        assert ledger.account("visits").remaining.amount == 0
        entries = ledger.entries("visits")
        assert [entry.number for entry in entries] == list(range(1, 322))
        assert Counter(entry.kind for entry in entries) == {"open": 1, "charge": 200, "refuse": 120}
        by_writer = Counter(entry.who for entry in entries if entry.kind == "charge")
        assert by_writer == {f"writer {n}": one["admitted"] for n, one in enumerate(found) if one["admitted"]}
        ledger.verify()


def test_the_check_catches_a_charge_that_is_not_alone(file, monkeypatch):
    """Two who look before either writes: the later one overwrites what the other spent, or is stopped by the table."""
    from discreet.accounting import PrivacyLoss
    from discreet.errors import LedgerError

    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        old = account._row
        with ledger.store.reading() as connection:
            row = old(connection)
        account.spend(PrivacyLoss.laplace(Fraction(1, 2)))
        monkeypatch.setattr(type(account), "_row", lambda self, connection: row)
        with pytest.raises(LedgerError, match=r"one answer|refused"):
            account.spend(PrivacyLoss.laplace(Fraction(1, 2)))


def test_one_key_is_charged_once_however_often_it_is_tried(place):
    found = ledger_writers.run("storm", place=str(place), processes=8, threads=16)
    assert len({answer for one in found for answer in one}) == 1
    assert sum(len(one) for one in found) == 128
    assert "answer of" in found[0][0]
    with Ledger(place) as ledger:
        kinds = Counter(entry.kind for entry in ledger.entries("visits"))
        assert kinds == {"open": 1, "charge": 1, "settle": 1}
        assert ledger.account("visits").spent.amount == Fraction(1, 4)


def test_many_make_a_new_ledger_at_once(tmp_path):
    for attempt in range(2):
        place = tmp_path / f"ledger {attempt}.sqlite"
        found = ledger_writers.run("brink", place=str(place), processes=8, charges=1, share="1/100")
        assert [one.get("admitted") for one in found] == [1] * 8, found
        with Ledger(place) as ledger:
            assert ledger.account("visits").spent.amount == Fraction(8, 100)
