"""Text from an analyst never becomes text for an engine.

A proxy that rewrites SQL passes on what it does not understand: a second statement behind a semicolon, a file read in
FROM, a system table, a function of the engine, a hint, or a word that its parser drops. Here a text is read into a tree
of which every part must be on a list, every word of the text must be found in the tree, and the query that comes out is
made of columns, constants and listed functions alone. What an engine sees is written anew, with constants in quotes.

Defence: every part of the text is on a list or refused; engines see SQL written anew from columns and constants.
Source: CWE-89.
"""

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from discreet.errors import InvalidParameter
from discreet.tables.dialects import DuckDB, PostgreSQL, Spark
from discreet.tables.expressions import Call, Constant, Name
from discreet.tables.functions import FUNCTIONS
from discreet.tables.sql import parse

TABLES = {"visits": ["person", "city", "amount"]}

ESCAPES = [
    "SELECT COUNT(*) AS n FROM visits; DROP TABLE visits",
    "SELECT COUNT(*) AS n FROM visits; COPY visits TO '/tmp/x'",
    "SELECT COUNT(*) AS n FROM visits WHERE city = ''; DELETE FROM visits; --'",
    "SELECT COUNT(*) AS n FROM visits UNION ALL SELECT person FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE city = '' UNION SELECT person FROM visits --'",
    "SELECT COUNT(*) AS n FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) AS n FROM 'visits.parquet'",
    "SELECT COUNT(*) AS n FROM information_schema.tables",
    "SELECT COUNT(*) AS n FROM pg_catalog.pg_shadow",
    "SELECT COUNT(*) AS n FROM sqlite_master",
    "SELECT COUNT(*) AS n FROM main.visits",
    "SELECT COUNT(*) AS n FROM visits JOIN secrets USING (person)",
    "SELECT COUNT(*) AS n FROM visits, (SELECT person FROM visits) AS x",
    "SELECT COUNT(getenv('HOME')) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE pg_sleep(10) IS NULL",
    "SELECT COUNT(*) AS n FROM visits WHERE lo_import('/etc/passwd') > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE reflect('java.lang.System', 'exit', 1) = 0",
    "SELECT COUNT(my_function(amount)) AS n FROM visits",
    'SELECT COUNT("abs"(amount)) AS n FROM visits',
    "SELECT COUNT(*) AS n FROM visits WHERE city = (SELECT MIN(city) FROM visits)",
    "SELECT COUNT(*) AS n FROM visits WHERE 1 = ANY (SELECT 1 FROM visits)",
    "WITH x AS (INSERT INTO visits VALUES (1) RETURNING 1) SELECT COUNT(*) AS n FROM visits",
    "SELECT /*+ SET_VAR(sql_mode = '') */ COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n INTO OUTFILE '/tmp/x' FROM visits",
    "SELECT COUNT(*) AS n FROM visits FOR UPDATE",
    "SELECT COUNT(* EXCEPT) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits *",
    "EXPLAIN ANALYZE SELECT COUNT(*) AS n FROM visits",
    "PRAGMA show_tables",
    "ATTACH 'x.db'",
    "SET enable_external_access = true",
    "CREATE VIEW v AS SELECT * FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, privacy_unit_column = city) COUNT(*) AS n FROM visits",
]


@pytest.mark.parametrize("text", ESCAPES)
def test_escapes_are_refused(text):
    with pytest.raises(InvalidParameter):
        parse(text, TABLES)


def test_the_parser_alone_would_let_many_of_them_through():
    passed = 0
    for text in ESCAPES:
        try:
            trees = sqlglot.parse(text)
        except sqlglot.errors.SqlglotError:
            continue
        passed += len(trees) == 1 and isinstance(trees[0], exp.Select)
    assert passed > 15


def test_a_word_that_the_parser_drops_is_a_real_danger():
    assert sqlglot.parse_one("SELECT COUNT(* EXCEPT) AS n FROM visits *").sql() == "SELECT COUNT(*) AS n FROM visits"


def test_the_check_catches_a_reader_that_drops_words(monkeypatch):
    text = "SELECT COUNT(* EXCEPT) AS n FROM visits *"
    with pytest.raises(InvalidParameter, match="has no meaning where it stands"):
        parse(text, TABLES)
    monkeypatch.setattr("discreet.tables.sql.statement.check_nothing_lost", lambda words, root: None)
    assert repr(parse(text, TABLES)) == "Query('visits').agg(n=count())"


payloads = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30),
    st.lists(
        st.sampled_from(["'", '"', "`", "\\", ";", "--", "/*", "*/", "%", "$$", " OR 1=1", "\n", "\u02bc", "x"])
    ).map("".join),
)


@given(payloads)
def test_a_constant_is_a_constant_whatever_it_holds(payload):
    query = parse("SELECT COUNT(*) AS n FROM visits WHERE city = '" + payload.replace("'", "''") + "'", TABLES)
    (condition,) = query.filters
    assert isinstance(condition, Call)
    name, constant = condition.arguments
    assert (condition.function, name.name) == ("equal", "city")
    assert isinstance(constant, Constant)
    assert constant.value == payload


@pytest.mark.parametrize(
    ("dialect", "name"),
    [(DuckDB(), "duckdb"), (PostgreSQL(), "postgres"), (Spark(), "spark")],
    ids=lambda x: str(x)[:9],
)
@given(payloads)
def test_an_engine_reads_the_constant_as_one_word(dialect, name, payload):
    (word,) = sqlglot.tokenize(dialect.string(payload), read=name)
    assert word.token_type.name in ("STRING", "RAW_STRING")
    assert word.text == payload


@given(payloads)
def test_an_engine_gives_the_constant_back(payload):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as engine:
        assert engine.execute(f"SELECT {DuckDB().string(payload)}").fetchone() == (payload,)


@given(payloads)
def test_a_payload_that_closes_its_string_is_no_other_query(payload):
    try:
        query = parse(f"SELECT COUNT(*) AS n FROM visits WHERE city = '{payload}'", TABLES)
    except InvalidParameter:
        return
    parts = [*query.filters, *(argument for _, one in query.aggregates for argument in one.arguments)]
    while parts:
        part = parts.pop()
        assert isinstance(part, Call | Constant | Name)
        if isinstance(part, Call):
            assert part.function in FUNCTIONS
            parts += part.arguments
        if isinstance(part, Name):
            assert part.name in TABLES["visits"]
    assert (query.table, query.joins) == ("visits", ())


@given(payloads)
def test_names_are_those_of_the_session(payload):
    quoted = '"' + payload.replace('"', '""') + '"'
    for text in (f"SELECT COUNT({quoted}) AS n FROM visits", f"SELECT COUNT(*) AS n FROM {quoted}"):
        try:
            query = parse(text, TABLES)
        except InvalidParameter:
            continue
        assert payload in (*TABLES, *TABLES["visits"])
        assert query.table == "visits"
