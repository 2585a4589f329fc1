"""One writer at a time, whatever else the process does: links, folders, forks, threads, two objects on one file."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Ledger, Purpose, forks
from discreet.ledger import file as file_module

TENTH = PrivacyLoss.laplace(Fraction(1, 10))


def elsewhere(place, code):
    """Run code on the ledger in another process and return what it prints."""
    start = (
        "from fractions import Fraction\nfrom discreet.ledger import Ledger\n"
        "from discreet.accounting import Budget, PrivacyLoss\n"
        f"ledger = Ledger({str(place)!r})\naccount = ledger.account('visits')\n"
    )
    done = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SPEND = "account.spend(PrivacyLoss.laplace(Fraction(1, 10)))\nledger.close()"
TELL = "print(account.spent.amount)"


def test_two_objects_on_one_file_in_one_process_keep_their_locks(file):
    """Closing any descriptor of a file drops the process's locks on it; the log would go, and what comes after."""
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        Ledger(file).close()
        elsewhere(file, SPEND)  # closes as if it were the last one
        account.spend(5 * TENTH)
        assert elsewhere(file, TELL) == "3/5"


def test_the_check_catches_a_descriptor_that_is_closed(file):
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        file.read_bytes()  # the locks are gone
        elsewhere(file, SPEND)
        with pytest.raises(LedgerError, match="beneath this process"):
            account.spend(5 * TENTH)


@pytest.fixture
def syncs(monkeypatch):
    """The inodes that were synced."""
    found, flush = [], file_module._flush

    def noted(descriptor):
        found.append(os.fstat(descriptor).st_ino)
        flush(descriptor)

    monkeypatch.setattr(file_module, "_flush", noted)
    return found


def log_of(path):
    return path.with_name(path.name + "-wal").stat().st_ino


def test_a_ledger_behind_a_link_is_synced(file, tmp_path, syncs):
    link = tmp_path / "folder" / "link.sqlite"
    link.parent.mkdir()
    with Ledger(file) as ledger:
        ledger.account("visits", budget=Budget(1))
    link.symlink_to(file)
    with Ledger(link) as ledger:
        syncs.clear()
        ledger.account("visits").spend(TENTH)
        assert syncs == [log_of(file)]


def test_a_relative_path_is_meant_from_where_it_was_given(file, tmp_path, monkeypatch, syncs):
    monkeypatch.chdir(tmp_path)
    with Ledger(file.name) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        monkeypatch.chdir("/")
        syncs.clear()
        account.spend(TENTH)
        assert syncs == [log_of(file)]
        ledger.store.close()
        account.spend(TENTH)


def test_every_charge_waits_for_the_disk(file, syncs):
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        for act in (
            lambda: account.spend(TENTH),
            lambda: account.charge(TENTH, Purpose(key="k", fingerprint="f")).settle("x"),
            lambda: account.charge(TENTH, Purpose(key="k", fingerprint="f")),
            lambda: account.grant("bob", share=1),
            lambda: account.hold(share=Fraction(1, 10), seconds=1),
            lambda: account.protect("rows"),
        ):
            syncs.clear()
            act()
            assert syncs


def test_a_disk_that_fails_is_told(file, monkeypatch):
    def fail(descriptor):
        raise OSError(5, "Input/output error")

    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        monkeypatch.setattr(file_module, "_flush", fail)
        with pytest.raises(LedgerError, match=r"Input/output error\. Nothing was released"):
            account.spend(TENTH)


# Forks ---------------------------------------------------------------------------------------------------------------


def forked(work):
    """Run something in a fork and return what it printed, while the parent goes on."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            said = work()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, str(said).encode())
        os._exit(0)
    os.close(writer)
    return child, reader


def told(running):
    child, reader = running
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("how", ["the same object", "a new one"])
def test_a_fork_and_its_parent_see_each_other(place, how):
    wait, go = os.pipe()
    with Ledger(place) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        account.spend(TENTH)

        def work():
            own = account if how == "the same object" else Ledger(place).account("visits")
            own.spend(TENTH)
            os.read(wait, 1)  # the parent has closed its own meanwhile, as if it were the last
            own.spend(5 * TENTH)
            return own.spent.amount

        running = forked(work)
        account.spend(TENTH)
        time.sleep(0.3)
    os.write(go, b"x")
    assert told(running) == "4/5"
    with Ledger(place) as ledger:
        assert ledger.account("visits").spent.amount == Fraction(8, 10)
        ledger.verify()
    os.close(wait)
    os.close(go)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_waits_for_the_charges_of_other_threads(file, monkeypatch):
    monkeypatch.setattr(forks, "PATIENCE", 5)
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        stop = threading.Event()

        def spend():
            while not stop.is_set():
                account.spend(PrivacyLoss.laplace(Fraction(1, 10**6)))

        with ThreadPoolExecutor(2) as pool:
            working = [pool.submit(spend) for _ in range(2)]
            try:
                loss = PrivacyLoss.laplace(Fraction(1, 10**6))
                said = [told(forked(lambda: account.spend(loss))) for _ in range(5)]
            finally:
                stop.set()
            assert said == ["None"] * 5
            for one in working:
                one.result()
        ledger.verify()
        kinds = [entry.kind for entry in ledger.entries("visits")]
        assert account.spent.amount == Fraction(kinds.count("charge"), 10**6)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_in_the_middle_of_a_charge_cannot_charge(file, monkeypatch):
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        with ledger.store.reading():
            running = forked(lambda: account.spend(TENTH))
        assert "forked in the middle" in told(running)
        account.spend(TENTH)


# Threads and patience ------------------------------------------------------------------------------------------------


def test_threads_share_an_account(place):
    with Ledger(place) as ledger, ThreadPoolExecutor(24) as pool:
        account = ledger.account("visits", budget=Budget(1))

        def spend(_):
            try:
                account.spend(PrivacyLoss.laplace(Fraction(1, 50)))
            except BudgetExceeded:
                return 0
            return 1

        assert sum(pool.map(spend, range(80))) == 50
        assert account.remaining.amount == 0
        ledger.verify()


@pytest.mark.parametrize("holder", ["sqlite", "the line", "a thread"])
def test_patience_ends(file, monkeypatch, holder):
    import fcntl
    import sqlite3

    from discreet.ledger import store

    monkeypatch.setattr(store, "PATIENCE", 0.2)
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        account.spend(TENTH)
        other = sqlite3.connect(file, isolation_level=None)
        line = os.open(f"{file}-queue", os.O_RDWR)
        if holder == "sqlite":
            other.execute("BEGIN IMMEDIATE")
        elif holder == "the line":
            fcntl.flock(line, fcntl.LOCK_EX)
        else:
            ledger.store._file._threads.acquire()
        with pytest.raises(LedgerError, match=r"writing for long\. Nothing was charged"):
            account.spend(TENTH)
        if holder == "sqlite":
            other.execute("ROLLBACK")
        elif holder == "a thread":
            ledger.store._file._threads.release()
        os.close(line)
        other.close()
        account.spend(TENTH)
        assert account.spent.amount == Fraction(2, 10)


# PostgreSQL ----------------------------------------------------------------------------------------------------------


@pytest.mark.xdist_group("engines")
class TestPostgres:
    """What PostgreSQL does in its own way."""

    def test_who_waited_sees_what_was_held_and_granted_meanwhile(self, postgres_base):
        """A row that is locked after waiting is new, and all else that the same statement read is old."""
        with Ledger(postgres_base) as ledger, ThreadPoolExecutor(1) as pool:
            keeper = ledger.account("visits", budget=Budget(1), who="keeper")
            ann = ledger.account("visits", who="ann")
            written = threading.Event()
            write = type(keeper)._write

            def slowly(self, connection, row, kind, *rest, **options):
                if kind == "hold":
                    written.set()
                    time.sleep(0.5)
                return write(self, connection, row, kind, *rest, **options)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(type(keeper), "_write", slowly)
                holding = pool.submit(lambda: keeper.hold(share=1, seconds=3600))
                written.wait()
                with pytest.raises(BudgetExceeded):
                    ann.spend(TENTH)
                holding.result()

    @pytest.mark.parametrize("level", ["repeatable read", "serializable"])
    def test_the_server_may_prefer_another_isolation(self, postgres_base, level):
        import psycopg

        base = psycopg.conninfo.conninfo_to_dict(postgres_base)["dbname"]
        with psycopg.connect(postgres_base, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {base} SET default_transaction_isolation = '{level}'")
        with psycopg.connect(postgres_base) as connection:
            assert connection.execute("SHOW transaction_isolation").fetchone() == (level,)
        test_threads_share_an_account(postgres_base)

    def test_settings_in_the_url_are_kept(self, postgres_base):
        import psycopg

        with psycopg.connect(postgres_base, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA apart")
            with Ledger(f"{postgres_base}&options=-csearch_path%3Dapart") as ledger:
                ledger.account("visits", budget=Budget(1)).spend(TENTH)
            assert connection.execute("SELECT COUNT(*) FROM apart.discreet_entry").fetchone() == (2,)

    def test_accounts_do_not_wait_for_each_other(self, postgres_base):
        with Ledger(postgres_base) as ledger:
            one, two = (ledger.account(name, budget=Budget(1)) for name in ("visits", "shops"))
            with ledger.store.writing(one._place):
                two.spend(TENTH)
            assert (one.spent.amount, two.spent.amount) == (0, Fraction(1, 10))

    def test_patience_ends(self, postgres_base, monkeypatch):
        import psycopg

        from discreet.ledger import store

        monkeypatch.setattr(store, "PATIENCE", 1)
        with Ledger(postgres_base) as ledger, psycopg.connect(postgres_base, autocommit=True) as other:
            account = ledger.account("visits", budget=Budget(1))
            other.execute(f"SELECT pg_advisory_lock({store.LOCKS}, {account._place})")
            with pytest.raises(LedgerError, match="busy"):
                account.spend(TENTH)
            other.execute("SELECT pg_advisory_unlock_all()")
            account.spend(TENTH)
            assert account.spent.amount == Fraction(1, 10)

    def test_a_writer_that_stops_in_the_middle_is_thrown_out(self, postgres_base, monkeypatch):
        from discreet.ledger import store

        with Ledger(postgres_base) as ledger:
            account = ledger.account("visits", budget=Budget(1))
            monkeypatch.setattr(store, "PATIENCE", 1)
            stopped = ledger.store.writing(account._place)
            stopped.__enter__()
            monkeypatch.setattr(store, "PATIENCE", 20)
            account.spend(TENTH)
            with pytest.raises(LedgerError, match="cannot be reached"):
                stopped.__exit__(None, None, None)
            account.spend(TENTH)
            assert account.spent.amount == Fraction(2, 10)

    def test_a_charge_is_flushed_before_it_returns(self, postgres_base):
        assert sum(flushed(postgres_base)) >= 8  # the server may write something of its own in between

    def test_the_check_catches_commits_that_wait_for_nobody(self, postgres_base, monkeypatch):
        from discreet.ledger import store

        monkeypatch.setattr(store, "SYNCHRONOUS", "SELECT 1")
        assert sum(flushed(postgres_base)) <= 5


def flushed(base):
    """Charge ten times, and return whether the log was on the disk up to its end each time."""
    import psycopg

    found = []
    with psycopg.connect(base, autocommit=True) as connection, Ledger(base) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        connection.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
        connection.execute("ALTER SYSTEM SET wal_writer_flush_after = '1GB'")
        connection.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)
        for _ in range(10):
            account.spend(PrivacyLoss.laplace(Fraction(1, 100)))
            ended = "SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()"
            found.append(connection.execute(ended).fetchone()[0])
        connection.execute("ALTER SYSTEM RESET ALL")
        connection.execute("SELECT pg_reload_conf()")
    return found
