"""Columns of each engine that compare texts in a way of their own are no keys of persons; their texts are."""

import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.tables.engines.postgres import PostgresEngine, PostgresTable
from discreet.tables.engines.spark import SparkEngine

PLAIN = {
    "duckdb": ["VARCHAR", "VARCHAR COLLATE C", "UUID", "ENUM('a', 'A')", "BIGINT", "DATE"],
    "postgres": ["TEXT", 'TEXT COLLATE "C"', 'TEXT COLLATE "pg_c_utf8"', "VARCHAR(9)", "CHAR(5)", "UUID", "BIGINT"],
    "spark": ["STRING", "STRING COLLATE UTF8_BINARY", "BIGINT", "DATE"],
}
FOLDED = {
    "duckdb": ["VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT"],
    "postgres": ["citext", "folded_base", "TEXT COLLATE folding", "folded_domain", "CHAR(5) COLLATE folding"],
    "spark": ["STRING COLLATE UTF8_LCASE", "STRING COLLATE UNICODE", "STRING COLLATE UNICODE_CI"],
}
VALUES = {"UUID": "00000000-0000-0000-0000-000000000007", "BIGINT": 7, "DATE": "2026-01-01"}

CITEXT = """
CREATE TYPE citext;
CREATE FUNCTION citextin(cstring) RETURNS citext AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION citextout(citext) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE citext (INPUT = citextin, OUTPUT = citextout, LIKE = text, CATEGORY = 'S', COLLATABLE = true);
CREATE DOMAIN folded_base AS citext;
CREATE COLLATION folding FROM "C";
UPDATE pg_catalog.pg_collation SET collisdeterministic = false WHERE collname = 'folding';
CREATE DOMAIN folded_domain AS TEXT COLLATE folding;
"""
"""What the extension citext declares, and a collation that says of itself what only those of ICU may."""


@pytest.fixture(scope="module")
def folding(request):
    """Types of PostgreSQL that fold texts."""
    connection = request.getfixturevalue("postgres_connection")
    connection.execute(CITEXT)
    yield
    for made in ("DOMAIN folded_domain", "DOMAIN folded_base", "COLLATION folding", "TYPE citext"):
        connection.execute(f"DROP {made} CASCADE")


def alike(engine, declared):
    return engine.load("visits", {"who": [VALUES.get(declared, "a")]}, {"who": declared})[1].alike


def test_columns_compared_byte_by_byte_are_keys(engine):
    for declared in PLAIN[engine.name]:
        assert alike(engine, declared) == {}, declared


def test_columns_that_fold_texts_are_told_with_what_to_write(engine, request):
    if engine.name == "postgres":
        request.getfixturevalue("folding")
    for declared in FOLDED[engine.name]:
        told = alike(engine, declared)
        assert set(told) == {"who"}, declared
        assert "different texts are the same" in told["who"], declared
        assert "for example" in told["who"], declared


def test_a_session_refuses_them_as_keys_of_persons_alone(engine, request):
    if engine.name == "postgres":
        request.getfixturevalue("folding")
    made, relation = engine.load("visits", {"who": ["a"]}, {"who": FOLDED[engine.name][0]})

    class Loaded(type(made)):
        """The same engine, in which the table is attached already."""

        def __init__(self):
            self.__dict__.update(vars(made))

        def attach(self, *_):
            return relation

        def close(self):
            """The loader closes it."""

    def opened(unit):
        return dp.Session("visits", unit=unit, budget=dp.Budget(1), engine=Loaded())

    with pytest.raises(InvalidParameter, match=r"visits\.who tells persons apart"):
        opened(dp.Person("who", groups=1, rows=1))
    assert opened(dp.Row()).query.table == "visits"


@pytest.mark.xdist_group("engines")
def test_what_the_message_says_helps_on_postgres(loaders, folding):
    loader = loaders("postgres")
    loader.connection.execute("CREATE TABLE people (who citext, other TEXT COLLATE folding)")
    loader.connection.execute('CREATE VIEW once AS SELECT lower(who::text COLLATE "C") AS who, other FROM people')
    made = PostgresEngine()
    loader.engines.append(made)
    assert set(made.attach("once", PostgresTable(loader.url, "public.once")).alike) == {"other"}
    loader.connection.execute("DROP TABLE people CASCADE")


@pytest.mark.xdist_group("engines")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_what_the_message_says_helps_on_spark(loaders):
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import StringType

    loader = loaders("spark")
    frame = loader.connection.sql("SELECT 'a' COLLATE UTF8_LCASE AS key")
    made = SparkEngine(loader.connection)
    loader.engines.append(made)
    assert set(made.attach("t", frame).alike) == {"key"}
    assert made.attach("t", frame.select(F.lower("key").cast(StringType()).alias("key"))).alike == {}
