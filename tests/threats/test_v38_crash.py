"""A crash must not make a release free.

Who answers first and writes down the cost afterwards gives away the answer for nothing whenever the process dies in
between, and whoever wants that can make it die. Giving back what a failed release was charged is the same hole from the
other side.

Defence: a charge is on the disk before the data are read; what fails later stays spent. Killed writers and power cuts
are tried by the thousand in ``tests/ledger``.
Source: General knowledge about write-ahead logs.
"""

import signal
import subprocess
import sys
from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import ReleaseFailed
from discreet.ledger import Ledger, Purpose
from discreet.session import Session
from discreet.units import Row

WRITER = """
import os, signal, sys
from discreet.accounting import Budget, PrivacyLoss
from discreet.ledger import Ledger
account = Ledger(sys.argv[1]).account("visits", budget=Budget(1))
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def charge():
    account.spend(PrivacyLoss.pure(0.5))
def release():
    os.write(1, b"an answer")
for step in sys.argv[2].split():
    globals()[step]()
"""


def after_crash(path, steps):
    """Return whether an answer came out of a process that died, and what the ledger says was spent."""
    done = subprocess.run([sys.executable, "-c", WRITER, str(path), steps], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with Ledger(path) as ledger:
        return bool(done.stdout), ledger.account("visits").spent.amount


@pytest.mark.parametrize("steps", ["charge die release", "charge release die"])
def test_who_dies_after_the_charge_has_spent(tmp_path, steps):
    released, spent = after_crash(tmp_path / "ledger.sqlite", steps)
    assert spent == Fraction(1, 2)
    assert released == (steps == "charge release die")


def test_the_check_catches_a_charge_after_the_release(tmp_path):
    assert after_crash(tmp_path / "ledger.sqlite", "release die charge") == (True, 0)


def test_a_session_charges_before_it_reads_and_gives_nothing_back(tmp_path, monkeypatch):
    table = pa.table({"x": [1, 2, 3]})
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        account = ledger.account("t", budget=Budget(1))
        with Session(table, name="t", unit=Row(), budget=account) as session:
            engine = session._tables.engine
            seen = []

            def fail(*arguments, **options):
                seen.append(account.spent.amount)
                raise RuntimeError("a disk failed")

            monkeypatch.setattr(type(engine), "run", fail)
            with pytest.raises(ReleaseFailed):
                session.release("SELECT COUNT(*) AS n FROM t", epsilon=0.5)
        assert seen
        assert min(seen) >= Fraction(1, 2)
        assert account.spent.amount == seen[0]


def test_an_interrupted_key_is_not_charged_again_and_not_answered(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        account = ledger.account("visits", budget=Budget(1))
        account.charge(PrivacyLoss.pure(0.5), Purpose(key="k", fingerprint="f"))
        with pytest.raises(ValueError, match="stays spent"):
            account.charge(PrivacyLoss.pure(0.5), Purpose(key="k", fingerprint="f"))
        assert account.spent.amount == Fraction(1, 2)
