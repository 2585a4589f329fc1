"""Ctrl-C stops a scan on every engine as a KeyboardInterrupt; the charge stays, and the ledger shows it unanswered."""

import os
import signal
import threading
import time

import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.ledger import ledger_app
from discreet.tables.engines.duckdb import DuckDBEngine
from discreet.tables.engines.engine import interruptible
from discreet.tables.engines.postgres import PostgresEngine, PostgresTable
from discreet.tables.engines.spark import SparkEngine

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.skipif(os.name != "posix", reason="needs signals"),
]

SQL = "SELECT SUM(x) AS total FROM endless"
ROWS = 10**12  # hours of work


@pytest.fixture(autouse=True)
def listening():
    """A process that was started in the background ignores Ctrl-C: here it does not, and Spark's own way is kept."""
    before = signal.getsignal(signal.SIGINT)
    if before in (signal.SIG_IGN, None):
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def endless(engine):
    """Return an engine and a table that takes hours to read."""
    if engine.name == "duckdb":
        engine.connection.execute(f"CREATE OR REPLACE VIEW endless AS SELECT range % 7 AS x FROM range({ROWS})")
        return DuckDBEngine(engine.connection), "endless"
    if engine.name == "postgres":
        hours = "CASE WHEN pg_sleep(7200) IS NULL THEN 1 ELSE 2 END"
        engine.connection.execute(f"CREATE OR REPLACE VIEW endless AS SELECT {hours} AS x")
        return PostgresEngine(), PostgresTable(engine.url, "endless")
    frame = engine.connection.range(0, ROWS, 1, 64).selectExpr("id % 7 AS x")
    return SparkEngine(engine.connection), frame


def opened(endless, budget, progress=None):
    engine, source = endless
    return dp.Session(
        source,
        name="endless",
        schema={"x": dp.Bounds(0, 8)},
        unit=dp.Row(),
        budget=budget,
        engine=engine,
        progress=progress,
    )


def press_when(running):
    """Press Ctrl-C a moment after a query has begun to run."""

    def press():
        running.wait()
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


@pytest.fixture
def running(endless, monkeypatch):
    """An event that is set when a query begins to run."""
    begun, engine = threading.Event(), endless[0]
    run = engine.run

    def watched(sql):
        begun.set()
        return run(sql)

    monkeypatch.setattr(engine, "run", watched)
    return begun


def test_ctrl_c_is_a_keyboard_interrupt_and_the_charge_stays(endless, running, tmp_path):
    place = tmp_path / "ledger.sqlite"
    account = dp.Ledger(place).account("endless", budget=dp.Budget(1))
    with opened(endless, account) as session:
        press_when(running)
        with pytest.raises(KeyboardInterrupt):
            session.release(SQL, epsilon=0.25)
        assert float(account.spent.amount) == 0.25
        account.spend(dp.PrivacyLoss.pure(0.125))
    told = CliRunner().invoke(ledger_app, ["show", "--ledger", str(place)], env={"COLUMNS": "200"}).output
    assert told.count("charge, no answer") == 1  # the other one was for no query


def test_the_engine_can_be_asked_again(endless, running):
    engine = endless[0]
    with opened(endless, dp.Budget(1)) as session:
        press_when(running)
        with pytest.raises(KeyboardInterrupt):
            session.release(SQL, epsilon=0.25)
        assert engine.run("SELECT 1 AS one").to_pylist() == [{"one": 1}]


def test_a_bar_shows_a_share_or_nothing_but_that_something_runs(endless, running):
    shown, seen = [], threading.Event()

    def show(words, share):
        shown.append((words, share))
        if len(shown) > 2:
            seen.set()

    with opened(endless, dp.Budget(1), show) as session:
        press_when(seen)
        with pytest.raises(KeyboardInterrupt):
            session.release(SQL, epsilon=0.25)
    assert {words for words, _ in shown} == {"reading"}
    assert all(share is None or 0 <= share < 1 for _, share in shown)  # never that all is done


def test_a_scan_on_one_engine_moves_its_bar(all_engines):
    """DuckDB and Spark tell how far a scan is; PostgreSQL does not, so no share is made up."""
    for engine in all_engines:
        shares, enough = [], threading.Event()
        if engine.name == "duckdb":
            engine.connection.execute("CREATE OR REPLACE TABLE long AS SELECT range AS x FROM range(20000000)")
            own, sql = (
                DuckDBEngine(engine.connection),
                "SELECT SUM(length(md5(md5(md5(md5(x::VARCHAR)))))) AS n FROM long",
            )
        elif engine.name == "spark":
            own = SparkEngine(engine.connection)
            sql = f"SELECT SUM(id % 7) AS n FROM {own.attach('long', engine.connection.range(0, 10**10, 1, 200)).sql}"
        else:
            own, sql = PostgresEngine(), "SELECT pg_catalog.pg_sleep(7200)"
            own.attach("endless", PostgresTable(engine.url, "pg_catalog.pg_class"))

        def look(own=own, shares=shares, enough=enough, name=engine.name):
            while len({share for share in shares if share}) < 3 and not (name == "postgres" and len(shares) > 5):
                time.sleep(0.2)
                shares.append(own.progress())
            enough.set()

        threading.Thread(target=look, daemon=True).start()
        press_when(enough)
        with pytest.raises(KeyboardInterrupt):
            own.run(sql)
        known = [share for share in shares if share is not None]
        assert known == [] if engine.name == "postgres" else known == sorted(known)
        own.close()


def test_an_error_that_is_no_interrupt_passes():
    with pytest.raises(ZeroDivisionError), interruptible():
        _ = 1 / 0

    def driver():
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise RuntimeError("a row says: 17") from error

    with pytest.raises(KeyboardInterrupt) as stopped, interruptible():
        driver()
    assert stopped.value.__context__ is None
    assert stopped.value.__cause__ is None
