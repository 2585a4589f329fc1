"""Asking again must not draw fresh noise by accident.

A client that hears nothing asks again. If that is a new release, it pays twice, and whoever asks a hundred times
averages the noise away, as far as the budget goes. If answers are stored by a key that two questions share, one of them
gets the answer of the other.

Defence: a charge has a key of its own, unique in its account, and the same key gets the stored answer; so does the same
request on the same version of the data, and another request never does.
Source: General knowledge about retries.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.ledger import Ledger, Purpose
from discreet.session import Session
from discreet.units import Row

SQL = "SELECT COUNT(*) AS n FROM t"
LOSS = PrivacyLoss.pure(Fraction(1, 100))


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        yield ledger


@pytest.fixture
def session(ledger):
    table = pa.table({"x": list(range(1000))})
    account = ledger.account("t", budget=Budget(1))
    with Session(table, name="t", unit=Row(), budget=account, version="monday") as session:
        yield session


def answers(ask, times=30):
    """Return the different answers that one gets by asking again."""
    return {ask() for _ in range(times)}


def test_the_same_request_is_released_once(session):
    assert len(answers(lambda: int(session.release(SQL, epsilon=Fraction(1, 10))["n"][0]))) == 1
    assert session.spent <= Fraction(11, 100)


def test_the_check_catches_answers_that_are_drawn_anew(session):
    found = answers(lambda: int(session.release(SQL, epsilon=Fraction(1, 100), fresh=True)["n"][0]))
    assert len(found) > 1
    assert session.spent >= Fraction(30, 100)


def test_another_request_never_gets_a_stored_answer(session):
    first = session.release(SQL, epsilon=0.1, key="one")
    assert session.release(SQL, epsilon=0.1, key="one").stored
    for other in ("SELECT COUNT(x) AS n FROM t", "SELECT COUNT(*) AS m FROM t"):
        with pytest.raises(InvalidParameter, match="another request"):
            session.release(other, epsilon=0.1, key="one")
        assert not session.release(other, epsilon=0.1).stored
    assert not session.release(SQL, epsilon=0.2).stored
    assert not first.stored


def storm(account, threads=16):
    """Ask with one key from many threads until each has an answer; return the answers and the charges."""
    ready = threading.Barrier(threads)

    def ask(number):
        ready.wait()
        while True:
            try:
                ticket = account.charge(LOSS, Purpose(key="k", fingerprint="f"))
            except InvalidParameter:
                continue
            if ticket.stored is not None:
                return ticket.stored
            ticket.settle(f"noise {number}")
            return f"noise {number}"

    with ThreadPoolExecutor(threads) as pool:
        return set(pool.map(ask, range(threads)))


def test_a_storm_of_retries_is_one_release(ledger):
    account = ledger.account("visits", budget=Budget(1))
    assert len(storm(account)) == 1
    assert account.spent.amount == Fraction(1, 100)


class Forgetful:
    """It charges whoever asks."""

    def __init__(self, account):
        self.account = account

    def charge(self, loss, purpose):
        return self.account.charge(loss)


def test_the_check_catches_keys_that_are_not_kept(ledger):
    account = ledger.account("visits", budget=Budget(1))
    assert len(storm(Forgetful(account))) == 16
    assert account.spent.amount == Fraction(16, 100)
