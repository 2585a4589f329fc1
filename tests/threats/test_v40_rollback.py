"""Restoring a backup must not restore the budget.

A ledger is a file or a database, and those are restored from last week's copy, cloned, or made anew with the container
they live in. Each time the budget is as full as it was then, and the answers since are out in the world. Somebody with
an editor can do the same by hand.

Defence: entries are chained by hashes up to the totals, and an anchor kept elsewhere refuses a ledger that is older
than what it has seen, went on differently, or is new in the place of a lost one.
Source: General knowledge about append-only logs.
"""

import shutil
import sqlite3
from fractions import Fraction

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import DiscreetError
from discreet.ledger import Ledger

HALF = PrivacyLoss.pure(Fraction(1, 2))


def lost(path):
    path.unlink()


def edited(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE discreet_account SET spent_amount = 0, pure = 0")
    connection.close()


def shortened(path):
    with sqlite3.connect(path) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("DELETE FROM discreet_entry WHERE number > 1")
        first = "(SELECT hash FROM discreet_entry)"
        connection.execute(f"UPDATE discreet_account SET spent_amount = 0, pure = 0, number = 1, head = {first}")
    connection.close()


def restored(path):
    shutil.copy(path.with_name("backup"), path)


def spent_again(folder, reset, **options):
    """Spend a budget, reset the ledger, and return how much more can be spent."""
    path = folder / "ledger.sqlite"
    with Ledger(path, **options) as ledger:
        ledger.account("visits", budget=Budget(1))
    shutil.copy(path, path.with_name("backup"))
    with Ledger(path, **options) as ledger:
        for _ in range(2):
            ledger.account("visits").spend(HALF)
    reset(path)
    total = Fraction(0)
    try:
        with Ledger(path, **options) as ledger:
            account = ledger.account("visits", budget=Budget(1))
            for _ in range(2):
                account.spend(HALF)
                total += Fraction(1, 2)
    except DiscreetError:
        return total
    return total


@pytest.mark.parametrize("reset", [restored, lost, edited, shortened])
def test_nothing_brings_the_budget_back(tmp_path, reset):
    elsewhere = tmp_path / "another disk"
    elsewhere.mkdir()
    (tmp_path / "disk").mkdir()
    assert spent_again(tmp_path / "disk", reset, anchor=elsewhere / "heads") == 0


def test_without_an_anchor_an_edit_is_still_seen(tmp_path):
    assert spent_again(tmp_path, edited) == 0


@pytest.mark.parametrize("reset", [restored, lost, shortened])
def test_the_check_catches_a_ledger_without_an_anchor(tmp_path, reset):
    assert spent_again(tmp_path, reset) == 1
