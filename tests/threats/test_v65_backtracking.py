"""How long a query takes on one person's text must not be for the analyst to choose.

A pattern such as ``'%a%a%a%b'`` makes engines go back in a text again and again, and three nested replacements make
the text of one person long: a query took 0.9 s without her and 97 s with her. So no engine is given a pattern with a
percent sign: its parts are looked for from left to right, each behind the one before. Texts have a public length, at
which they are cut alike on every engine, and growth beyond is refused when a query is planned. A query that still
takes too long is stopped after a public time.

Defence: text functions take time in proportion to a text of a public length; a query is stopped after a public time,
charged and in fixed words.
Source: Found by using this library: LIKE on a text that three nested REPLACE made long for one person.
"""

import time

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter, ReleaseFailed
from discreet.session.limited import usual_timeout
from discreet.tables.dialects import DuckDB, PostgreSQL, Spark
from discreet.tables.engines import DuckDBEngine
from discreet.tables.expressions import Call, col
from discreet.tables.kinds import LONGEST
from discreet.tables.schema import Column
from discreet.tables.typed import Origin, Scope

PATTERNS = ["%a%a%b", "a%a%a%b", "%a_%a_%b", "%a_a%a_a%b", "a%aaaaaaaaab%", "%_a%_a%_b_"]
WHOLE = 2**17
SHORT, LONG = 2**6, 2**12
"""As many letters are read in many short texts as in few long ones: work in proportion to them costs the same."""


def counted(pattern, texts):
    """Return SQL that counts the texts of a table that a pattern matches."""
    dialect = DuckDB()
    scope = Scope(dialect, {(None, "x"): Origin("x", "x", "str", Column("str"))})
    found = scope.resolve(Call("like", (col("x"),), (pattern,)))
    query = f"SELECT * FROM {texts}"
    for level in range(1, found.level + 1):
        named = "".join(f', {sql} AS "{name}"' for name, sql in scope.stages.get(level, {}).items())
        query = f"SELECT s.*{named} FROM ({query}) s"
    return f"SELECT COUNT(*) FILTER (WHERE {found.sql}) AS n FROM ({query}) s"


def engines_own(pattern, texts):
    return f"SELECT COUNT(*) FILTER (WHERE x LIKE '{pattern}' ESCAPE '!') AS n FROM {texts}"


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as made:
        made.execute("SET threads = 1")
        for name, size in (("few", LONG), ("many", SHORT)):
            made.execute(f"CREATE TABLE {name} AS SELECT repeat('a', {size}) AS x FROM range({WHOLE // size})")
        yield made


def backtracks(connection, matching, pattern):
    """Whether the same number of letters takes 16 times as long where texts are 64 times as long."""
    times = {}
    for name in ("many", "few"):
        sql = matching(pattern, name)
        start = time.process_time()
        connection.execute(sql).fetchall()
        times[name] = time.process_time() - start
    return times["few"] > 16 * max(times["many"], 0.002)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_work_grows_in_proportion_to_a_text(connection, pattern):
    assert not backtracks(connection, counted, pattern)


def test_an_engine_that_goes_back_is_caught(connection):
    assert backtracks(connection, engines_own, "%a%b")


@pytest.mark.parametrize("dialect", [DuckDB(), PostgreSQL(), Spark()], ids=lambda one: one.name)
@pytest.mark.parametrize("pattern", [*PATTERNS, "%", "a%", "%a", "%a%", "a_b"])
def test_no_engine_is_given_a_pattern_that_repeats(dialect, pattern):
    scope = Scope(dialect, {(None, "x"): Origin("x", "x", "str", Column("str"))})
    found = scope.resolve(Call("like", (col("x"),), (pattern,)))
    sql = " ".join([found.sql, *(one for stage in scope.stages.values() for one in stage.values())])
    assert "LIKE" not in sql.replace("RLIKE", "")
    assert not any(letter in sql for letter in "%*{")


def test_texts_do_not_grow_beyond_a_public_length():
    scope = Scope(DuckDB(), {(None, "x"): Origin("x", "x", "str", Column("str", max_length=100))})
    tenfold = col("x").replace("a", "a" * 10)
    assert [scope.resolve(one).length for one in (col("x"), tenfold, tenfold.slice(1, 5))] == [100, 1000, 5]
    assert scope.resolve(tenfold.replace("a", "a" * 1000)).length == LONGEST
    for wide in (col("x").replace("a", "a" * 20_000), tenfold.replace("a", "a" * 10).replace("a", "a" * 1000)):
        with pytest.raises(InvalidParameter, match="max_length"):
            scope.resolve(wide)
    with pytest.raises(InvalidParameter, match="1000 characters"):
        scope.resolve(col("x").contains("a" * 1001))
    with pytest.raises(InvalidParameter, match="32 parts"):
        scope.resolve(Call("like", (col("x"),), ("%a" * 40,)))


def opened(**options):
    texts = ["a" * 200, "a" * 3000, "ab", None]
    table = pa.table({"user": [1, 2, 3, 4], "x": texts})
    return dp.Session(table, name="t", unit=dp.Person("user", groups=1, rows=1), budget=dp.Budget(1000), **options)


def test_a_text_is_cut_where_its_declared_length_ends():
    with opened(schema={"x": Column("str", max_length=2, nulls="-", values=("aa", "ab", "-"))}) as session:
        answer = session.release("SELECT x, COUNT(*) AS n FROM t GROUP BY x", epsilon=100)
        session.verify()
    assert dict(zip(answer.keys["x"], answer["n"].tolist(), strict=True)) == {"aa": 2, "ab": 1, "-": 1}


def test_a_key_that_is_too_long_is_nobody():
    longer = ["a" * (LONGEST + 1) + letter for letter in "xyz"]
    table = pa.table({"user": [*longer, *(f"user {place}" for place in range(2000))], "one": [1] * 2003})
    person = dp.Person("user", groups=1, rows=1)
    with dp.Session(table, name="t", unit=person, budget=dp.Budget(1000)) as session:
        answer = session.release("SELECT COUNT(DISTINCT user) AS n FROM t", epsilon=100)
    assert answer["n"].tolist() == [2000]


# The time of a query.

SLOW = "SELECT COUNT(*) AS n FROM range(2000) a, range(2000) b WHERE (a.range * b.range) % 7 = 1"


def stops(engine):
    """Whether a query of some tenths of a second is stopped after a hundredth of one, and the next one runs."""
    try:
        engine.run(SLOW, seconds=0.01)
    except TimeoutError:
        return engine.run("SELECT 1 AS one").column("one").to_pylist() == [1]
    return False


class Patient(DuckDBEngine):
    """Takes a time and does not look at it."""

    def run(self, sql, *, seconds=None):
        return super().run(sql)


def test_a_query_is_stopped_when_its_time_is_over():
    assert stops(DuckDBEngine())


def test_texts_made_of_texts_are_calculated_once():
    """What is written several times in each of ten steps would be calculated some ten thousand times."""
    x = "x"
    for _ in range(10):
        x = f"REPLACE(REPLACE({x}, 'a', 'bb'), 'b', 'a')"
    with opened() as session:
        plan = session.planned(f"SELECT COUNT(*) AS n FROM t WHERE {x} = 'q'", epsilon=1)
        sql = plan.rows.totals(list(plan.measures.values()))
        assert sql.count("REPLACE(") == sql.count("SUBSTRING(REPLACE(") * 2 >= 20  # each stands once, at one place
        assert session.release(f"SELECT COUNT(*) AS n FROM t WHERE {x} = 'q'", epsilon=100)["n"][0] == 0


def test_an_engine_that_goes_on_is_caught():
    assert not stops(Patient())


def test_a_stopped_release_stays_charged_and_says_what_every_failed_one_says():
    with opened(timeout=1e-9) as session:
        with pytest.raises(ReleaseFailed) as stopped:
            session.release("SELECT COUNT(*) AS n FROM t", epsilon=1)
        assert session.spent == 1
    assert str(stopped.value) == str(ReleaseFailed())
    assert stopped.value.__cause__ is None
    assert stopped.value.__context__ is None


def test_the_usual_time_is_public_and_far_above_what_a_table_takes():
    size, person = 200_000, dp.Person("user", groups=2, rows=1)
    assert usual_timeout(None, None, person) is None
    assert usual_timeout(None, None, dp.Row()) is None
    assert usual_timeout(float("inf"), size, person) is None
    table = pa.table({"user": list(range(size)) * 2, "city": [f"city {place % 9}" for place in range(2 * size)]})
    with dp.Session(table, name="t", unit=person, budget=dp.Budget(10, 1e-7), size=size) as session:
        start = time.process_time()
        session.release("SELECT city, COUNT(*) AS n FROM t WHERE city LIKE '%i%t%_%' GROUP BY city", epsilon=1)
        assert 30 * (time.process_time() - start) < usual_timeout(None, size, person) == 1000
    for wrong in (0, -1, float("nan"), True, "60"):
        with pytest.raises(InvalidParameter, match="seconds"):
            usual_timeout(wrong, None, person)
