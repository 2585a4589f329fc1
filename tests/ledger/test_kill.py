"""Whoever is killed has spent what was released: charge, commit, then look."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import ledger_writers
import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import LedgerError
from discreet.ledger import Ledger, Purpose


def check(place, output, killed, least):
    """Every released answer was charged; the chain verifies; the next writer goes on."""
    lost, released = ledger_writers.released_without_charge(place, output)
    assert lost == []
    assert released > least
    with Ledger(place) as ledger:
        account = ledger.account("visits")
        before = account.spent.amount
        assert 0 <= before <= 1
        account.spend(PrivacyLoss.laplace(0.001))
        assert account.spent.amount > before
    assert killed["failed"] == 0


def test_killed_writers_leave_no_release_without_its_charge(file, tmp_path):
    killed = ledger_writers.run("kill", place=str(file), output=str(tmp_path / "released"), kills=200)
    assert killed["killed"] >= 200
    check(file, tmp_path / "released", killed, least=200)


@pytest.mark.xdist_group("engines")
def test_killed_clients_of_postgres_leave_no_release_without_its_charge(postgres_base, tmp_path):
    killed = ledger_writers.run("kill", place=postgres_base, output=str(tmp_path / "released"), kills=20)
    assert killed["killed"] >= 20
    check(postgres_base, tmp_path / "released", killed, least=20)


def test_the_check_catches_releases_before_the_charge(file, tmp_path):
    output = tmp_path / "released"
    ledger_writers.run("kill", place=str(file), output=str(output), kills=30, early=True)
    assert ledger_writers.released_without_charge(file, output)[0]


@pytest.mark.slow
def test_ten_thousand_kills(tmp_path):
    """In a hundred ledgers, since each writer verifies all of its ledger when it opens it."""
    killed = 0
    for seed in range(100):
        file, output = tmp_path / f"{seed}.sqlite", tmp_path / f"released {seed}"
        found = ledger_writers.run("kill", place=str(file), output=str(output), kills=100, seed=seed)
        check(file, output, found, least=50)
        killed += found["killed"]
    assert killed >= 10_000


def crash(server):
    """Kill the server and all that belongs to it, as a power cut would for what was in memory alone."""
    lock = Path(server.pgdata) / "postmaster.pid"
    postmaster = int(lock.read_text().split()[0])
    family = [postmaster, *map(int, Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split())]
    for process in family:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    while any(map(alive, family)):
        time.sleep(0.05)
    for left in (
        lock,
        *lock.parent.glob(".s.PGSQL.*"),
    ):  # a process that nobody has buried yet passes for one that runs
        left.unlink()


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def charged_through_crashes(server, base, crashes, seconds):
    """Charge from a thread while the server is killed and started again; return what was promised and is not there."""
    import threading

    promised, stop = [], threading.Event()

    def work():
        count = 0
        while not stop.is_set():
            try:
                with Ledger(base) as ledger:
                    account = ledger.account("visits", budget=Budget(1))
                    while not stop.is_set():
                        count += 1
                        account.charge(PrivacyLoss.laplace(1e-6), Purpose(key=str(count)))
                        promised.append(str(count))
            except LedgerError:
                time.sleep(0.1)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(crashes):
            time.sleep(seconds)
            crash(server)
            server.ensure_postgres_running()
    finally:
        stop.set()
        thread.join()
    with Ledger(base) as ledger:
        ledger.verify()
        charged = {entry.body["key"] for entry in ledger.entries("visits") if entry.kind == "charge"}
    return sorted(set(promised) - charged), len(promised)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_a_server_that_is_killed_loses_nothing_that_was_promised(postgres_server, postgres_base):
    lost, promised = charged_through_crashes(postgres_server, postgres_base, crashes=5, seconds=1.5)
    assert lost == []
    assert promised > 100


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_the_check_catches_a_server_that_does_not_flush(postgres_server, postgres_base, monkeypatch):
    from discreet.ledger import store

    monkeypatch.setattr(store, "SYNCHRONOUS", "SELECT 1")
    assert any(charged_through_crashes(postgres_server, postgres_base, crashes=3, seconds=1)[0] for _ in range(3))
