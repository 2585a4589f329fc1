"""Texts that are no text, too large or too deep, and names that could be taken for others."""

import pytest

from discreet.errors import InvalidQuery
from discreet.tables.sql import parse

TABLES = {"visits": ["person", "city", "amount", "age", "flag"]}


@pytest.mark.parametrize(
    "text", [None, b"SELECT COUNT(*) AS n FROM visits", 3, "", ";", "-- nothing", "SELECT\x00", "\ud800"]
)
def test_what_is_no_text_of_a_query_is_refused(text):
    with pytest.raises(InvalidQuery):
        parse(text, TABLES)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT COUNT({'(' * 60}amount{')' * 60}) AS n FROM visits",
        f"SELECT COUNT({'(' * 3000}amount{')' * 3000}) AS n FROM visits",
        f"SELECT COUNT({'NOT ' * 3000}flag) AS n FROM visits",
        f"SELECT COUNT({'- ' * 3000}amount) AS n FROM visits",
        f"SELECT COUNT({'CASE WHEN flag THEN ' * 40}1{' END' * 40}) AS n FROM visits",
        f"SELECT COUNT({' + '.join(['amount'] * 3000)}) AS n FROM visits",
        f"SELECT COUNT(*) AS n FROM visits WHERE {' OR '.join(['flag'] * 3000)}",
        f"SELECT COUNT(*) AS n FROM {'(SELECT * FROM ' * 100}visits{')' * 100}",
        f"SELECT COUNT(*) AS n FROM visits WHERE city IN ({', '.join(['1'] * 20_000)})",
        "SELECT COUNT(*) AS n FROM visits" + " " * 100_000,
    ],
)
def test_texts_that_are_too_large_are_refused(text):
    with pytest.raises(InvalidQuery, match=r"at most|nested too deeply"):
        parse(text, TABLES)


def test_columns_that_double_in_every_query_are_refused():
    steps = [f"q{i} AS (SELECT x + x AS x FROM q{i - 1})" for i in range(1, 60)]
    text = f"WITH q0 AS (SELECT amount AS x FROM visits), {', '.join(steps)} SELECT SUM(x) AS s FROM q59"
    with pytest.raises(InvalidQuery, match="at most 5000 parts in 100 levels"):
        parse(text, TABLES)


def test_long_lists_and_ninety_conditions_are_read():
    cities = ", ".join(f"'{i}'" for i in range(4000))
    assert len(parse(f"SELECT COUNT(*) AS n FROM visits WHERE city IN ({cities})", TABLES).filters[0].options) == 4000
    parse(f"SELECT COUNT(*) AS n FROM visits WHERE {' OR '.join(f'age = {i}' for i in range(90))}", TABLES)


def test_a_column_with_a_dot_is_not_taken_for_one_of_a_table():
    tables = {"a": ["b", "k"], "c": ["a.b", "k"]}
    with pytest.raises(InvalidQuery, match=r"'a\.b' may mean"):
        parse('SELECT COUNT("a.b") AS n FROM a JOIN c USING (k)', tables)
    assert parse('SELECT COUNT("a.b") AS n FROM c', tables).aggregates[0][1].arguments[0].name == "a.b"
