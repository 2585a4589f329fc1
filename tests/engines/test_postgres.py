"""The conduct of the PostgreSQL engine: it reads, in its own settings, what the catalogue says."""

import builtins
import time

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidInput, InvalidParameter, MissingExtra
from discreet.tables.engines.postgres import PostgresEngine, PostgresTable

pytestmark = pytest.mark.xdist_group("engines")


@pytest.fixture
def visits(postgres_connection, postgres_url):
    """A schema with a table of odd types."""
    for sql in (
        "DROP SCHEMA IF EXISTS sales CASCADE",
        "CREATE SCHEMA sales",
        "CREATE TYPE sales.mood AS ENUM ('good', 'bad')",
        "CREATE DOMAIN sales.price AS numeric CHECK (value >= 0)",
        "CREATE DOMAIN sales.fee AS sales.price",
        'CREATE TABLE sales."Visits" (person bigint, mood sales.mood, fee sales.fee, gone int, "a b" text, at json)',
        'ALTER TABLE sales."Visits" DROP COLUMN gone',
        """INSERT INTO sales."Visits" VALUES (1, 'good', 2.5, 'x', '{}'), (2, NULL, NULL, '', NULL)""",
    ):
        postgres_connection.execute(sql)
    return PostgresTable(postgres_url, "sales.Visits")


@pytest.fixture
def engine():
    engine = PostgresEngine()
    yield engine
    engine.close()


def test_the_catalogue_says_names_and_types(engine, visits):
    relation = engine.attach("visits", visits)
    assert relation.sql == '"sales"."Visits"'
    assert relation.columns == {"person": "int", "mood": "str", "fee": "decimal", "a b": "str", "at": "other"}
    d = engine.dialect
    table = engine.run(
        f"SELECT {d.read('mood', 'str', 'str')} AS m, {d.read('fee', 'decimal', 'float')} AS f FROM {relation.sql}"
    )
    assert sorted(table.to_pylist(), key=str) == [{"m": "good", "f": 2.5}, {"m": None, "f": None}]


def test_a_url_names_the_table_after_a_hash(engine, visits):
    assert engine.attach("v", f"{visits.url}#sales.Visits").sql == '"sales"."Visits"'


def test_without_a_hash_the_table_has_the_name_that_it_is_attached_as(engine, visits, postgres_connection):
    postgres_connection.execute("CREATE TABLE IF NOT EXISTS plain (x int)")
    assert engine.attach("plain", visits.url).sql == '"public"."plain"'


def test_what_is_not_there_is_refused(engine, visits):
    with pytest.raises(InvalidParameter, match=r"no table sales\.nothing"):
        engine.attach("visits", PostgresTable(visits.url, "sales.nothing"))
    with pytest.raises(InvalidParameter, match="PostgresTable"):
        engine.attach("visits", "visits.parquet")
    with pytest.raises(InvalidParameter, match="one database"):
        engine.attach("visits", PostgresTable(visits.url + "&application_name=other", "sales.Visits"))


def test_a_password_is_not_shown():
    assert "secret" not in repr(PostgresTable("postgresql://me:secret@localhost/shop", "visits"))


def test_nothing_can_be_written(engine, visits, postgres_connection):
    import psycopg

    relation = engine.attach("visits", visits)
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        engine.run(f"DELETE FROM {relation.sql}")
    with pytest.raises(psycopg.errors.SyntaxError):
        engine.run("SELECT 1; SELECT 2")
    assert engine.run(f"SELECT COUNT(*) AS n FROM {relation.sql}").to_pylist() == [{"n": 2}]


def test_settings_of_the_server_change_no_meaning(engine, visits, postgres_connection):
    settings = {
        "TimeZone": "'America/New_York'",
        "DateStyle": "'German'",
        "extra_float_digits": "-15",
        "standard_conforming_strings": "off",
        "transform_null_equals": "on",
    }
    for name, value in settings.items():
        postgres_connection.execute(f"ALTER ROLE postgres SET {name} = {value}")
    try:
        engine.attach("visits", visits)
        d = engine.dialect
        (row,) = engine.run(
            f"SELECT {d.string(chr(92) + 'n')} AS s, CAST(DATE '2024-06-01' AS TEXT) AS d, NULL = NULL AS n, "
            "CAST(TIMESTAMPTZ '2024-06-01 00:00Z' AS TIMESTAMP)::text AS t, CAST(0.1 + 0.2::float8 AS TEXT) AS f"
        ).to_pylist()
        assert row == {"s": "\\n", "d": "2024-06-01", "n": None, "t": "2024-06-01 00:00:00", "f": "0.30000000000000004"}
    finally:
        for name in settings:
            postgres_connection.execute(f"ALTER ROLE postgres RESET {name}")


def test_functions_of_others_are_not_found_under_built_in_names(engine, visits, postgres_connection):
    postgres_connection.execute(
        "CREATE OR REPLACE FUNCTION public.starts_with(varchar, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    )
    postgres_connection.execute("ALTER ROLE postgres SET search_path = public, pg_catalog")
    try:
        engine.attach("visits", visits)
        assert engine.run("SELECT starts_with('a'::varchar, 'b'::varchar) AS r").to_pylist() == [{"r": False}]
    finally:
        postgres_connection.execute("ALTER ROLE postgres RESET search_path")


def test_a_timeout_ends_a_query(visits):
    import psycopg

    engine = PostgresEngine(timeout=0.2)
    engine.attach("visits", visits)
    started = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        engine.run("SELECT pg_sleep(20)")
    assert time.monotonic() - started < 10
    assert engine.run("SELECT 1 AS one").to_pylist() == [{"one": 1}]
    engine.close()
    with pytest.raises(InvalidParameter, match="timeout"):
        PostgresEngine(timeout=0)


def test_types_of_results_do_not_depend_on_rows(engine, visits):
    relation = engine.attach("visits", visits)
    query = f"SELECT SUM(person) AS s, MIN(CAST(person AS BIGINT)) AS i, MIN(mood::text) AS t FROM {relation.sql}"
    full, empty = engine.run(query), engine.run(query + " WHERE FALSE")
    assert full.schema == empty.schema == pa.schema({"s": pa.decimal128(38, 0), "i": pa.int64(), "t": pa.string()})


def test_a_lost_connection_is_opened_anew(engine, visits, postgres_connection):
    import psycopg

    engine.attach("visits", visits)
    (pid,) = engine.run("SELECT pg_backend_pid() AS pid").column("pid").to_pylist()
    postgres_connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
    with pytest.raises(psycopg.OperationalError):
        engine.run("SELECT 1 AS one")
    assert engine.run("SELECT 1 AS one").to_pylist() == [{"one": 1}]


def test_without_psycopg_the_error_says_what_to_install(engine, monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("psycopg"):
            raise ImportError
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"discreet\[postgres\]"):
        engine.attach("visits", "postgresql://localhost/shop")


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE {t}; CREATE TABLE {t} (who numeric, city text)",
        "DROP TABLE {t}; CREATE TABLE {t} (who text, city text)",
        "ALTER TABLE {t} ALTER who TYPE int",
        "ALTER TABLE {t} ADD COLUMN more int",
        "DROP TABLE {t}",
    ],
)
def test_columns_that_change_later_are_found(engine, postgres_connection, postgres_url, sql):
    """Read as whole numbers, persons 0.6 and 0.8 of a table with other types would be one."""
    postgres_connection.execute("DROP TABLE IF EXISTS later")
    postgres_connection.execute("CREATE TABLE later (who bigint, city text)")
    relation = engine.attach("later", PostgresTable(postgres_url, "later"))
    counted = f"SELECT COUNT(*) AS n FROM {relation.sql}"
    postgres_connection.execute("INSERT INTO later VALUES (1, 'a')")
    assert engine.run(counted).to_pylist() == [{"n": 1}]
    for statement in sql.format(t="later").split("; "):
        postgres_connection.execute(statement)
    with pytest.raises(InvalidInput, match="Open a new session"):
        engine.run("SELECT 1 AS n")


def test_columns_that_change_while_rows_are_read_are_found(engine, postgres_connection, postgres_url, monkeypatch):
    postgres_connection.execute("DROP TABLE IF EXISTS later")
    postgres_connection.execute("CREATE TABLE later (who bigint)")
    relation = engine.attach("later", PostgresTable(postgres_url, "later"))
    looked, check = [], PostgresEngine._check_tables

    def raced(self, cursor):
        check(self, cursor)
        if not looked:
            postgres_connection.execute("ALTER TABLE later ALTER who TYPE numeric")
        looked.append(1)

    monkeypatch.setattr(PostgresEngine, "_check_tables", raced)
    with pytest.raises(InvalidInput, match="Open a new session"):
        engine.run(f"SELECT COUNT(*) AS n FROM {relation.sql}")
    assert looked


def test_a_public_table_that_is_dropped_is_said_in_fixed_words(visits, postgres_connection):
    postgres_connection.execute("CREATE TABLE moods (name text)")
    url = visits.url
    with dp.Session(
        {"visits": visits},
        public={"moods": f"{url}#public.moods"},
        unit=dp.Person("person", groups=1, rows=1),
        budget=dp.Budget(1),
    ) as session:
        postgres_connection.execute("DROP TABLE moods")
        query = session.query.join("moods", on={"mood": "name"}).agg(n=dp.count())
        for ask in (session.preview, session.release):
            with pytest.raises(InvalidInput, match=r"^the (public table moods|columns of a table) ") as refused:
                ask(query, epsilon=1)
            assert refused.value.__context__ is refused.value.__cause__ is None
        assert session.spent == 0


def test_a_closed_engine_is_not_opened_anew(visits):
    engine = PostgresEngine()
    engine.attach("visits", visits)
    engine.close()
    with pytest.raises(InvalidParameter, match="the engine is closed"):
        engine.run("SELECT 1 AS one")
