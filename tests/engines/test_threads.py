"""One session in eight threads, on every engine: no release fails, the total charged is exact, previews go on."""

import threading
from fractions import Fraction

import pytest
from test_releases import STORED, source_of

import discreet as dp

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
