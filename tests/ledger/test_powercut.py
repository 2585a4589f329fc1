"""A power cut takes back nothing that was promised.

Writers run with a library beneath them that writes down every change of a file and every sync (``powercut.c``). For
many moments, what a disk may hold if the power went then is rebuilt and opened. It must verify, agree with its anchor,
and hold every charge and answer that was acknowledged. What was not acknowledged may be there or not.
"""

import random
import shutil
import subprocess

import ledger_writers
import pytest
from powercut_disk import WAYS, Disk, cuts

from discreet.errors import LedgerError
from discreet.ledger import Ledger

HERE = ledger_writers.Path(ledger_writers.__file__).parent


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The library that writes down; it needs a C compiler, and so do these tests."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "a C compiler is needed for the test of power cuts: apt install gcc"
    made = tmp_path_factory.mktemp("powercut") / "powercut.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, HERE / "powercut.c", "-ldl"], check=True)
    return made


def written(library, folder, **settings):
    """Run writers and return what they did to their disk."""
    disk = folder / "disk"
    for name in ("ledger", "anchor"):
        (disk / name).mkdir(parents=True)
    ledger_writers.run(
        "acknowledge",
        environment={
            "LD_PRELOAD": str(library),
            "POWERCUT_JOURNAL": str(folder / "journal"),
            "POWERCUT_FOLDER": f"{disk}/",
        },
        place=str(disk / "ledger" / "ledger.sqlite"),
        anchor=str(disk / "anchor" / "heads"),
        acknowledged=str(disk / "acknowledged"),
        **settings,
    )
    return Disk(folder / "journal")


def broken_promises(disk, folder, count, seed=1):
    """Cut the power so many times and return what was lost, or why the ledger did not open."""
    dice, found = random.Random(seed), []
    for cut in cuts(disk, count, seed):
        for way in WAYS:
            target = folder / "found"
            shutil.rmtree(target, ignore_errors=True)
            disk.rebuild(cut, way, dice, folder / "disk", target)
            promised = disk.promised(cut)
            place = target / "ledger" / "ledger.sqlite"
            if place.exists() and dice.random() < 0.5:
                place.with_name("ledger.sqlite-shm").write_bytes(dice.randbytes(32768))
            if not place.exists() and not promised:
                continue
            (target / "anchor").mkdir(exist_ok=True)
            (target / "ledger").mkdir(exist_ok=True)
            try:
                lost = missing(place, target / "anchor" / "heads", promised)
            except LedgerError as error:
                lost = [str(error)]
            found += [(cut, way, one) for one in lost]
    return found


def missing(place, anchor, promised):
    with Ledger(place, anchor=anchor) as ledger:
        entries = ledger.entries("visits") if "visits" in ledger.names else []
        charged = {entry.body["key"]: entry.number for entry in entries if entry.kind == "charge"}
        lost = [one for one in promised if one.split()[1] not in charged]
        for one in promised:
            kind, key = one.split()
            if kind == "settle" and key in charged and ledger.answer("visits", charged[key]) != f"answer {key}":
                lost.append(one)
        return lost


def test_a_power_cut_takes_back_nothing_that_was_promised(library, tmp_path):
    disk = written(library, tmp_path, processes=3, rounds=6, charges=8)
    assert len(disk.promises) > 50
    assert broken_promises(disk, tmp_path, count=20) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_power_cuts(library, tmp_path, seed):
    disk = written(library, tmp_path, processes=4, rounds=10, charges=12, seed=seed)
    assert broken_promises(disk, tmp_path, count=100, seed=seed) == []


def test_the_check_catches_a_ledger_that_does_not_sync(library, tmp_path):
    disk = written(library, tmp_path, processes=3, rounds=3, charges=8, without="sync")
    assert broken_promises(disk, tmp_path, count=10)


def test_a_log_that_a_reader_made_is_found_again(library, tmp_path):
    disk = written(library, tmp_path, processes=1)
    assert disk.promises
    assert broken_promises(disk, tmp_path, count=10) == []


@pytest.mark.parametrize("processes", [1, 3])
def test_the_check_catches_logs_that_alone_are_synced(library, tmp_path, processes):
    disk = written(library, tmp_path, processes=processes, rounds=6, charges=8, without="synchronous")
    assert broken_promises(disk, tmp_path, count=10)
