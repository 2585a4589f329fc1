"""Processes that write to a ledger at the same time, and others that are killed while they do.

Run as a program: ``python ledger_writers.py task '{"settings": ...}'`` prints what it found as JSON. It starts without
threads and forks its writers, so that a hundred of them take a second.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import BudgetExceeded, DiscreetError, InvalidParameter
from discreet.ledger import Ledger, Purpose


def run(task, *, environment=None, python=sys.executable, **settings):
    """Run a task of this file in a process of its own and return what it found."""
    done = subprocess.run(
        [python, __file__, task, json.dumps(settings)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def crowd(count, work):
    """Fork so many processes, have each do its work, and return what they all found."""
    pipes = []
    for index in range(count):
        reader, writer = os.pipe()
        if not os.fork():
            os.close(reader)
            try:
                found = work(index)
            except BaseException as error:
                found = {"error": f"{type(error).__name__}: {error}"}
            with os.fdopen(writer, "w") as file:
                json.dump(found, file)
            os._exit(0)
        os.close(writer)
        pipes.append(reader)
    found = []
    for reader in pipes:
        with os.fdopen(reader) as file:
            found.append(json.load(file))
    for _ in pipes:
        os.wait()
    return found


def brink(place, processes, charges, share, anchor=None):
    """Open one ledger from many processes at once and charge until far beyond the end; count what was admitted."""

    def work(index):
        with Ledger(place, anchor=anchor) as ledger:
            account = ledger.account("visits", budget=Budget(1), who=f"writer {index}")
            admitted = refused = 0
            for _ in range(charges):
                try:
                    account.spend(PrivacyLoss.laplace(Fraction(share)))
                    admitted += 1
                except BudgetExceeded:
                    refused += 1
            return {"admitted": admitted, "refused": refused}

    return crowd(processes, work)


def storm(place, processes, threads):
    """Ask with one key from many processes and threads until each has the answer."""
    from concurrent.futures import ThreadPoolExecutor

    def work(index):
        with Ledger(place) as ledger:
            account = ledger.account("visits", budget=Budget(1))

            def ask(thread):
                purpose = Purpose(query="SELECT COUNT(*) FROM visits", key="one", fingerprint="same")
                for _ in range(1000):
                    try:
                        ticket = account.charge(PrivacyLoss.laplace(Fraction(1, 4)), purpose)
                    except InvalidParameter:  # charged, and the answer is not there yet
                        time.sleep(0.005)
                        continue
                    if ticket.stored is None:
                        time.sleep(0.05)
                        ticket.settle(f"answer of {index}.{thread}")
                        return f"answer of {index}.{thread}"
                    return ticket.stored
                return "none"

            with ThreadPoolExecutor(threads) as pool:
                return list(pool.map(ask, range(threads)))

    return crowd(processes, work)


def release_for_ever(place, output, index, early=False):
    """Charge, release into a file and settle, again and again until killed; ``early`` releases before the charge."""
    with Ledger(place) as ledger:
        account = ledger.account("visits", who=f"writer {index}")
        file = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        count = 0
        while True:
            key = f"{os.getpid()}-{count}"
            line = f"{key}\n".encode()
            if early:
                os.write(file, line)
                os.fsync(file)
                time.sleep(0.002)
            ticket = account.charge(PrivacyLoss.laplace(Fraction(1, 10**6)), Purpose(key=key, fingerprint="x" + key))
            if not early:
                os.write(file, line)
                os.fsync(file)
            ticket.settle(f"released {key}")
            count += 1


def kill(place, output, kills, writers=4, early=False, seed=0):
    """Keep some writers running and kill one after another at random moments; return how many were."""
    random.seed(seed)
    running, failed = [], 0
    with Ledger(place) as ledger:
        ledger.account("visits", budget=Budget(1))
    for number in range(kills + writers - 1):
        child = os.fork()
        if not child:
            try:
                release_for_ever(place, output, number, early)
            except DiscreetError as error:
                print(error, file=sys.stderr)
            os._exit(1)
        running.append(child)
        if len(running) >= writers:
            time.sleep(random.uniform(0.01, 0.09))
            victim = running.pop(random.randrange(len(running)))
            failed += stopped(victim)
    for victim in running:
        failed += stopped(victim)
    return {"killed": kills + len(running), "failed": failed}


def stopped(victim):
    """Kill a writer, and return whether it had stopped by itself, which none may."""
    os.kill(victim, signal.SIGKILL)
    return not os.WIFSIGNALED(os.waitpid(victim, 0)[1])


def leave_out(without):
    """Take one way to the disk out of the ledger."""
    from discreet.ledger.file import LedgerFile
    from discreet.ledger.store import Store

    if without == "sync":
        Store._sync = lambda self, connection: None
    if without == "synchronous":
        prepared = LedgerFile._prepare

        def prepare(self, connection):
            prepared(self, connection)
            connection.execute("PRAGMA synchronous=OFF")

        LedgerFile._prepare = prepare


def acknowledge(place, anchor, acknowledged, processes, rounds=1, charges=1, without="", seed=0):
    """Open, charge, settle and close, over and over; say in a file what was promised, once it was.

    ``without`` leaves out one way to the disk, to show that it is needed.
    """
    leave_out(without)
    if processes == 1:
        return acknowledge_beside_a_reader(place, anchor, acknowledged, without)

    def work(index):
        dice = random.Random(seed * 1000 + index)
        file = os.open(acknowledged, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        for turn in range(rounds):
            with Ledger(place, anchor=anchor) as ledger:
                account = ledger.account("visits", budget=Budget(1))
                for count in range(dice.randint(0, charges)):
                    key = f"{index}-{turn}-{count}"
                    purpose = Purpose(query="x" * dice.choice([10, 1000, 100_000]), key=key, fingerprint=f"f{key}")
                    ticket = account.charge(PrivacyLoss.laplace(Fraction(1, 10**6)), purpose)
                    os.write(file, f"charge {key}\n".encode())
                    if dice.random() < 0.5:
                        ticket.settle(f"answer {key}")
                        os.write(file, f"settle {key}\n".encode())
        return index

    return crowd(processes, work)


def acknowledge_beside_a_reader(place, anchor, acknowledged, without):
    """Charge through a log that another process made, which only reads: whose name nobody else may have synced."""
    with Ledger(place, anchor=anchor) as ledger:
        ledger.account("visits", budget=Budget(1))
    with Ledger(place, anchor=anchor) as ledger:
        ledger.account("visits").remaining  # noqa: B018
        again = [sys.executable, __file__, "acknowledge_once"]
        settings = {"place": place, "anchor": anchor, "acknowledged": acknowledged, "without": without}
        subprocess.run([*again, json.dumps(settings)], check=True, stdout=subprocess.DEVNULL)
    return 1


def acknowledge_once(place, anchor, acknowledged, without):
    """Charge once, and be gone before the ledger is closed."""
    leave_out(without)
    ledger = Ledger(place, anchor=anchor)
    ledger.account("visits").charge(PrivacyLoss.laplace(Fraction(1, 10**6)), Purpose(key="0"))
    file = os.open(acknowledged, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(file, b"charge 0\n")
    os._exit(0)


def released_without_charge(place, output):
    """Return the released answers that have no charge in the ledger, and how many were released."""
    with Ledger(place) as ledger:
        ledger.verify()
        charged = {entry.body["key"] for entry in ledger.entries("visits") if entry.kind == "charge"}
    path = Path(output)
    released = path.read_text().split("\n")[:-1] if path.exists() else []
    return sorted(set(released) - charged), len(released)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](**json.loads(sys.argv[2]))))
