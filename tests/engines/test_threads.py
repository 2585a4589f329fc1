"""One session in eight threads, on every engine: no release fails, the total charged is exact, previews go on."""

import runpy
import threading
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.session import limited

_RELEASES = runpy.run_path(str(Path(__file__).with_name("test_releases.py")))  # another room has a file of this name
STORED, source_of = _RELEASES["STORED"], _RELEASES["source_of"]

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

THREADS, RELEASES = 8, 10
ROWS = {
    "world": [0] * 60,
    "user": [f"u{i}" for i in range(60)],
    "city": ["Bonn", "Ulm", None] * 20,
    "amount": [float(i) for i in range(60)],
}
QUERIES = [
    "SELECT city, COUNT(*) AS n, SUM(amount) AS total FROM t GROUP BY city",
    "SELECT MEDIAN(amount) AS q FROM t",
    "SELECT COUNT(DISTINCT user) AS n FROM t",
    "SELECT COUNT(*) AS n FROM t JOIN cities ON t.city = cities.name WHERE cities.large",
]


def in_threads(work):
    """Run work(thread, turn) ten times in each of eight threads at once, and return what failed."""
    failed, start = [], threading.Barrier(THREADS)

    def run(thread):
        start.wait()
        for turn in range(RELEASES):
            try:
                work(thread, turn)
            except Exception as error:
                failed.append(repr(error))

    threads = [threading.Thread(target=run, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


@pytest.fixture
def session(engine):
    connection, source = source_of(engine, ROWS, STORED)
    _, cities = source_of(engine, {"name": ["Bonn", "Ulm"], "large": [True, False]}, {"name": "str", "large": "bool"})
    with dp.Session(
        {"t": source},
        schema={"t": {"amount": dp.Bounds(0, 64), "city": dp.Values(["Bonn", "Ulm"])}},
        public={"cities": cities},
        unit=dp.Person("user", groups=1, rows=1),
        budget=dp.Budget(1000),
        engine=connection,
    ) as opened:
        yield opened


def test_eighty_releases_in_eight_threads(session):
    answers = []

    def work(thread, turn):
        sql = QUERIES[(thread + turn) % len(QUERIES)]
        if turn % 3 == 0:
            session.preview(sql, epsilon=2)
        answers.append((sql, session.release(sql, epsilon=Fraction(2))))

    assert not in_threads(work)
    assert len(answers) == THREADS * RELEASES
    assert session.spent == 2 * THREADS * RELEASES
    counts = [answer.columns["n"].value[0] for sql, answer in answers if sql == QUERIES[2]]
    assert all(abs(count - 60) < 60 for count in counts)  # each got the result of its own query


def test_plans_and_copies_beside_each_other(session):
    def work(thread, turn):
        if thread % 2:
            session.plan(QUERIES[:2], epsilon=1, last=False)
        elif turn < 3:
            session.synthesize(epsilon=1, columns={"amount": 4, "city": None} if turn else {"amount": 4})

    assert not in_threads(work)
    assert session.spent == 4 * RELEASES + 4 * 3


class Busy:
    """A clock on which an hour passes while somebody waits for the engine, and nothing else takes time."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


def released_after_a_wait(session, engine, monkeypatch):
    """Release while another thread keeps the engine busy for an hour; return what was raised, if anything."""
    clock, found = Busy(), []
    monkeypatch.setattr("discreet.session.limited.time", clock)
    monkeypatch.setattr(session, "_timeout", 600.0)
    taken, waits = threading.Event(), threading.Event()
    turn = type(engine).turn

    def seen():
        if threading.current_thread() is other:
            waits.set()
        return turn(engine)

    def release():
        taken.wait()
        try:
            session.release(QUERIES[0], epsilon=1)
        except Exception as error:
            found.append(error)

    other = threading.Thread(target=release)
    other.start()
    monkeypatch.setattr(engine, "turn", seen)
    with turn(engine):
        taken.set()
        waits.wait(timeout=60)
        clock.now += 3600
    other.join()
    return found


def test_waiting_for_others_takes_no_time_of_a_query(session, monkeypatch):
    assert not released_after_a_wait(session, session._tables.engine, monkeypatch)


def test_a_time_that_counts_from_the_start_is_caught(session, monkeypatch):
    def run(self, sql, *, seconds=None):
        begun = limited.time.monotonic()
        with self.turn():
            if limited.time.monotonic() - begun > self._left:
                raise TimeoutError
            return self.engine.run(sql, seconds=self._left)

    monkeypatch.setattr(limited.Limited, "run", run)
    (error,) = released_after_a_wait(session, session._tables.engine, monkeypatch)
    assert isinstance(error, dp.errors.ReleaseFailed)
    assert session.spent == 1


def test_the_time_of_all_statements_adds_up(session, monkeypatch):
    clock = Busy()
    monkeypatch.setattr(limited, "time", clock)
    engine = limited.Limited(session._tables.engine, 600.0)
    run = engine.engine.run

    def slow(sql, *, seconds):
        given.append(seconds)
        clock.now += 400
        return run(sql)

    given = []
    monkeypatch.setattr(engine.engine, "run", slow)
    engine.run("SELECT 1 AS one")
    clock.now += 3600
    engine.run("SELECT 1 AS one")
    with pytest.raises(TimeoutError):
        engine.run("SELECT 1 AS one")
    assert given == [600, 200]
