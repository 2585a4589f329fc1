"""Places where no ledger can be, or where one was damaged: a sentence that helps, and nothing is charged."""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from fractions import Fraction

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import LedgerError
from discreet.ledger import Ledger, Purpose

TENTH = PrivacyLoss.laplace(Fraction(1, 10))
DRIVER = ("sqlalche", "psycopg", "sqlite3", "Traceback", "secret", "background on this error", "sqlalche.me")


def refused(place, **options):
    """Return why a ledger does not open; the sentence is ours alone."""
    with pytest.raises(LedgerError) as found:
        Ledger(place, **options)
    said = str(found.value)
    assert not any(word.lower() in said.lower().replace("+psycopg://", "") for word in DRIVER), said
    assert found.value.__cause__ is None
    assert said.endswith(".")
    return said


def test_odd_files_and_folders(tmp_path):
    (tmp_path / "text").write_text("budget: 1\n" * 1000)
    (tmp_path / "short").write_text("x")
    (tmp_path / "binary").write_bytes(random.Random(1).randbytes(10_000))
    for name in ("text", "short", "binary"):
        before = (tmp_path / name).read_bytes()
        assert "a file of another kind" in refused(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    assert "is a folder" in refused(tmp_path)
    assert "no folder" in refused(tmp_path / "missing" / "ledger.sqlite")
    assert "no ledger at" in refused(tmp_path / "missing", read_only=True)
    assert "no folder" in refused(tmp_path / "text" / "ledger.sqlite")
    os.mkfifo(tmp_path / "pipe")
    assert "cannot be read" in refused(tmp_path / "pipe")
    for place in ("", "  ", 7, None, "a\x00b"):
        assert "a ledger is a path" in refused(place)
    assert "no URL" in refused("://")
    assert "no URL" in refused("postgresql://host:port/base")
    assert "not in mysql" in refused("mysql://host/base")
    assert "needs a file" in refused("sqlite://")


def test_an_empty_file_becomes_a_ledger(file):
    file.touch()
    with Ledger(file) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    (file.parent / "empty").touch()
    assert "holds no ledger yet" in refused(file.parent / "empty", read_only=True)


def test_another_database_is_left_as_it_is(file):
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE discreet_entry (x)")
    connection.close()
    assert refused(file)
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (1,)
    connection.close()


def test_a_newer_ledger_is_left_to_newer_versions(place):
    with Ledger(place) as ledger, ledger.store.writing() as connection:
        connection.exec_driver_sql("UPDATE discreet_version SET version_num = 'thousandth'")
    assert "written by a newer discreet" in refused(place)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "ledger.sqlite"
    with Ledger(path) as ledger:
        account = ledger.account("visits", budget=Budget(1), who="ann")
        account.grant("ann", share=1)
        for number in range(30):
            ticket = account.charge(PrivacyLoss.laplace(Fraction(1, 100)), Purpose(key=str(number), query="q" * 50))
            ticket.settle("answer")
    with Ledger(path) as ledger:
        return path.read_bytes(), ledger.entries("visits"), ledger.verify()


def same_or_refused(path, whole):
    """A damaged ledger does not open, or what it holds is untouched."""
    try:
        with Ledger(path) as ledger:
            found = ledger.entries("visits"), ledger.verify(deep=False)
    except LedgerError:
        return "refused"
    assert found == whole[1:]
    return "same"


def damaged(path, content, whole):
    for rest in ("-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    path.write_bytes(content)
    return same_or_refused(path, whole)


def test_flipped_bits_are_seen_or_harmless(whole, file):
    dice, found = random.Random(7), []
    for _ in range(150):
        content = bytearray(whole[0])
        for _ in range(dice.choice([1, 1, 4])):
            content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        found.append(damaged(file, bytes(content), whole))
    assert found.count("refused") > 30


def test_cut_off_and_scribbled_files_are_seen(whole, file):
    dice = random.Random(8)
    length = len(whole[0])
    for size in (100, 512, 4096, length // 2, length - 4096, length - 1):
        assert damaged(file, whole[0][:size], whole) == "refused", size
    for _ in range(25):
        content = bytearray(whole[0])
        start = dice.randrange(length - 4096)
        content[start : start + 4096] = dice.randbytes(4096)
        damaged(file, bytes(content), whole)


def test_a_damaged_log_loses_no_more_than_the_log(whole, file):
    """What was only in a log that is damaged is gone; an anchor tells. What is left is a chain that verifies."""
    file.write_bytes(whole[0])
    ledger = Ledger(file)
    ledger.account("visits", who="ann").spend(PrivacyLoss.laplace(Fraction(1, 100)))
    log = file.with_name(file.name + "-wal")
    copies = file.read_bytes(), bytearray(log.read_bytes())
    ledger.close()
    dice = random.Random(9)
    for number in range(20):
        place = file.with_name(f"copy{number}.sqlite")
        content = bytearray(copies[1])
        content[dice.randrange(len(content))] ^= 255
        place.write_bytes(copies[0])
        place.with_name(place.name + "-wal").write_bytes(content)
        with Ledger(place) as again:
            assert len(again.entries("visits")) in (len(whole[1]), len(whole[1]) + 1)


# Where nothing can be written ----------------------------------------------------------------------------------------


def in_namespace(script, *, mounts):
    """Run a script with mounts of its own; None where the system allows none."""
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode
    ):
        return None
    whole = f"{mounts} && exec {sys.executable} -c '{script}'"
    done = subprocess.run(["unshare", "-m", "sh", "-c", whole], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


SAYS = """
from discreet.ledger import Ledger
from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import LedgerError
def tell(work):
    try:
        print("done", work())
    except LedgerError as error:
        print("told", error)
"""


def test_a_folder_that_is_read_only(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with Ledger(place) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    script = SAYS + (
        f'tell(lambda: Ledger("{place}"))\ntell(lambda: Ledger("{tmp_path}/new.sqlite"))\n'
        f'tell(lambda: Ledger("{place}", read_only=True).account("visits").spent.amount)\n'
    )
    said = in_namespace(script, mounts=f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind {tmp_path}")
    if said is None:  # no mounts here: a place that nobody can write to, not even the keeper of the machine
        assert "no ledger can be written at /proc" in refused("/proc/ledger.sqlite")
        return
    lines = said.splitlines()
    assert "cannot be written, nor a log beside it. Nothing can be charged here" in lines[0]
    assert "no ledger can be written at" in lines[1]
    assert lines[2] == "done 1/10"


def test_a_reader_without_rights_sees_what_is_in_the_log(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with Ledger(place) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)  # is in the log alone as long as this is open
        script = SAYS + f'tell(lambda: Ledger("{place}", read_only=True).account("visits").spent.amount)\n'
        said = in_namespace(script, mounts=f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind {tmp_path}")
        assert said in (None, "done 1/10\n")


def test_a_full_disk(file):
    """A limit on the size of files fails as a full disk does: in the middle of a write."""
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        size = file.with_name(file.name + "-wal").stat().st_size
        failed = 0
        for room in (0, 100, 5_000, 20_000):
            spent, done = account.spent.amount, 0
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, limits[1]))
            try:
                account.charge(TENTH, Purpose(query="x" * 100_000))
                done = 1
            except LedgerError as error:
                failed += "disk" in str(error)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert account.spent.amount == spent + done * Fraction(1, 10)
        assert failed
        ledger.verify()
        account.charge(TENTH, Purpose(query="x" * 100_000))
        ledger.verify()


def test_a_disk_without_any_room(tmp_path):
    script = SAYS + (
        f'ledger = Ledger("{tmp_path}/ledger.sqlite")\naccount = ledger.account("visits", budget=Budget(1))\n'
        "from discreet.ledger import Purpose\nfrom fractions import Fraction\n"
        "loss = PrivacyLoss.laplace(Fraction(1, 100))\n"
        'for _ in range(30): tell(lambda: account.charge(loss, Purpose(query="x" * 50_000)).number)\n'
        "ledger.close()\n"
        f'tell(lambda: sorted(Ledger("{tmp_path}/ledger.sqlite", read_only=True).verify()))\n'
    )
    said = in_namespace(script, mounts=f"mount -t tmpfs -o size=700k none {tmp_path}")
    if said is not None:
        lines = said.splitlines()
        assert "done 2" in lines[0]
        assert "told" in lines[-2]
        assert "no room left on the disk" in lines[-2] or "is full or failed" in lines[-2]
        assert lines[-1] == "done ['visits']"


# Servers -------------------------------------------------------------------------------------------------------------


def test_a_server_that_is_not_there():
    for url in (
        "postgresql://ann:secret@127.0.0.1:1/base",
        "postgresql://127.0.0.1:1/base?user=ann&password=secret",
        "postgresql://ann:secret@no.such.host.invalid/base",
    ):
        said = refused(url)
        assert "cannot be reached" in said
        assert "base" in said


@pytest.mark.xdist_group("engines")
def test_a_base_that_is_not_there_and_a_password_that_is_wrong(postgres_server):
    assert "cannot be reached" in refused(postgres_server.get_uri("no_such_base"))
    wrong = postgres_server.get_uri().replace("postgres:@", "nobody:secret@")
    assert "cannot be reached" in refused(wrong)


@pytest.mark.xdist_group("engines")
def test_a_server_that_goes_away_and_comes_back(postgres_base):
    import psycopg

    with Ledger(postgres_base) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        account.spend(TENTH)
        with psycopg.connect(postgres_base, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        with pytest.raises(LedgerError, match=r"cannot be reached\. Nothing was released"):
            account.spend(TENTH)
        account.spend(TENTH)
        assert account.spent.amount == Fraction(2, 10)
