"""Whatever the text is: a query of known parts comes out, or an error in our own words; and no word is ignored."""

import ast
import re
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.tokens import Tokenizer

import discreet
from discreet.errors import InvalidParameter
from discreet.tables.aggregates import Aggregate
from discreet.tables.expressions import Call, Constant, Name
from discreet.tables.functions import FUNCTIONS
from discreet.tables.query import Query
from discreet.tables.sql import parse
from discreet.tables.sql.shape import shape

TABLES = {
    "visits": ["person", "city", "day", "time", "amount", "age", "note", "flag"],
    "regions": ["city", "region", "country"],
}
COLUMNS = {None: {column for columns in TABLES.values() for column in columns}, **TABLES}

TEXTS = [
    """SELECT city AS c , COUNT ( * ) AS n , SUM ( amount ) AS s FROM visits AS v WHERE age > 3 AND city IN ( 'a' , 'b'
    ) GROUP BY c HAVING n > 3 ORDER BY n DESC LIMIT 5""",
    """SELECT region AS r , AVG ( CLIP ( amount , 1 , 10 ) ) AS a FROM visits AS v LEFT JOIN regions AS x USING ( city )
    WHERE CASE WHEN age BETWEEN 1 AND 2 THEN flag ELSE city LIKE 'x' END GROUP BY 1 ORDER BY 1""",
    """WITH a AS ( SELECT city AS town , CAST ( age AS INT ) AS y FROM visits AS v WHERE note IS NOT NULL )
    SELECT town AS t , COUNT ( DISTINCT y ) AS n FROM a AS b JOIN regions AS r ON b . town = r . city GROUP BY town""",
    """SELECT EXTRACT ( YEAR FROM day ) AS y , PERCENTILE_CONT ( 0.5 ) WITHIN GROUP ( ORDER BY amount )
    FILTER ( WHERE flag ) AS p FROM ( SELECT * FROM visits AS v ) AS q WHERE NOT SUBSTRING ( city FROM 1 FOR 2 ) =
    TRIM ( city ) GROUP BY y""",
    """SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ( epsilon = 1 ) COUNT ( * ) AS n FROM visits AS v
    WHERE - amount * 2 / 3 < 1e3 OR flag = TRUE""",
]
WORDS = sorted(
    {word for word in Tokenizer.KEYWORDS if "{" not in word}
    | {word for text in TEXTS for word in text.split()}
    | set("?@$#~^%[]{}\\!&|;'\"`01é\x00")
    | {"|>", "=>", "->", ":=", "::", "||", "'x'", '"x"', '""', "''", "--", "/*", "*/", "0.5", "1e9"}
    | {"FOR UPDATE", "NULLS FIRST", "IGNORE NULLS", "WITH TIES", "ROWS", "ONLY", "SETTINGS", "SYMMETRIC", "TOP 5", "BY"}
    | {"NOT MATERIALIZED", "WITH ORDINALITY", "WITH FILL", "SIBLINGS", "getenv('HOME')", "read_csv('x')", "DROP TABLE"}
    | {"OVER ( )", "UNION ALL", "( SELECT 1 )", "USING SAMPLE 5", "AS STRUCT", "main . visits", "visits . *", "LOCKED"}
)
NEUTRAL = {"ASC", "INNER", "OUTER", "AS", "(", ")", ",", "--", ";"}
"""Words that may be written in some place without changing a query: brackets, ends, and what is meant without them."""


def vocabulary():
    """Every word of every text in the rooms whose errors may be seen."""
    rooms = Path(discreet.__file__).parent
    found = {"str", "bytes", "int", "NoneType"}
    for path in [*rooms.glob("tables/**/*.py"), rooms / "exact.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(re.findall(r"\w+", node.value))
    return found


OURS = vocabulary()


def known(one):
    """Whether an expression is made of columns, constants and functions of the list, all the way down."""
    match one:
        case Name(name, table):
            return name in COLUMNS[table]
        case Constant(value, _):
            return value is None or type(value) in (bool, int, float, str, date, datetime)
        case Call(function, arguments, _):
            return function in FUNCTIONS and all(map(known, arguments))
    return False


def check(text):
    """Return the query of a text, or None where it is refused as it should be."""
    try:
        query = parse(text, TABLES)
    except InvalidParameter as error:
        said = re.sub(r"'(\\.|[^'\\])*'|\"(\\.|[^\"\\])*\"", "", str(error))
        assert "\x1b" not in said
        strange = {word for word in re.findall(r"\w+", said) if not word.isdigit()} - OURS
        assert not strange, f"{strange} in {said}"
        return None
    assert type(query) is Query
    assert query.aggregates
    assert not query.derived
    assert not query.public
    assert {query.table, *(join.table for join in query.joins)} <= set(TABLES)
    assert all(isinstance(one, Aggregate) for _, one in query.aggregates)
    asked = [argument for _, one in query.aggregates for argument in one.arguments]
    assert all(known(one) for one in (*query.filters, *(key for _, key in query.keys), *asked))
    shown = {name for name, _ in (*query.keys, *query.aggregates)}
    assert {order.column for order in query.order} <= shown
    if query.kept is not None:
        names, parts = set(), [query.kept]
        while parts:
            part = parts.pop()
            names |= {part.name} if isinstance(part, Name) else set()
            parts += part.arguments if isinstance(part, Call) else ()
        assert names <= shown
    return query


def parts(query):
    return repr(
        (
            query.table,
            [(join.table, join.on, join.outer) for join in query.joins],
            [shape(condition) for condition in query.filters],
            [(name, shape(one)) for name, one in (*query.keys, *query.aggregates)],
            None if query.kept is None else shape(query.kept),
            query.order,
            query.most,
            query.epsilon,
            query.delta,
        )
    )


@pytest.mark.parametrize("text", TEXTS)
def test_the_texts_to_start_from_are_queries(text):
    assert check(text) is not None


@settings(max_examples=1500)
@given(st.data())
def test_a_word_more_is_refused_or_means_something(data):
    text = data.draw(st.sampled_from(TEXTS))
    word = data.draw(st.sampled_from(WORDS))
    place = data.draw(st.integers(0, len(text.split())))
    before = text.split()
    query = check(" ".join([*before[:place], word, *before[place:]]))
    if query is not None and word not in NEUTRAL:
        assert parts(query) != parts(check(text))


@settings(max_examples=600)
@given(st.data())
def test_a_word_less_or_another_is_refused_or_means_something(data):
    words = data.draw(st.sampled_from(TEXTS)).split()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words) - 1))
        words[place : place + 1] = data.draw(st.lists(st.sampled_from(WORDS), max_size=1))
        if not words:
            break
    check(" ".join(words))


@settings(max_examples=600)
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_a_soup_of_words(words):
    check(" ".join(words))
    check("SELECT COUNT(*) AS n FROM visits " + " ".join(words))
    check("SELECT COUNT(" + " ".join(words) + ") AS n FROM visits")


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_any_text(text):
    check(text)
    check(f"SELECT COUNT(*) AS n FROM visits WHERE {text}")
    check(f"SELECT COUNT(*) AS \"{text}\" FROM visits WHERE city = '{text}'")


CLASSES = sorted(
    (
        one
        for one in vars(exp).values()
        if isinstance(one, type) and issubclass(one, exp.Expression) and one.__module__.startswith("sqlglot")
    ),
    key=lambda one: one.__name__,
)


@st.composite
def trees(draw, depth=3):
    """Any part that sqlglot knows, with any settings that it may have."""
    if not depth or draw(st.booleans()):
        return draw(
            st.sampled_from(
                [exp.column("amount"), exp.Literal.number(1), exp.Literal.string("x"), exp.Star(), exp.null()]
            )
        ).copy()
    kind = draw(st.sampled_from(CLASSES))
    made = {}
    for setting, needed in kind.arg_types.items():
        if needed or draw(st.integers(0, 3)) == 0:
            some = draw(st.integers(0, 4))
            many = setting in ("expressions", "ifs", "joins", "columns", "using")
            made[setting] = (
                [draw(trees(depth=depth - 1))] if many else True if some == 4 else draw(trees(depth=depth - 1))
            )
    return kind(**made)


@settings(max_examples=800, suppress_health_check=[HealthCheck.too_slow])
@given(
    trees(), st.sampled_from(["SELECT COUNT({}) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits WHERE {}", "{}"])
)
def test_any_part_that_sqlglot_can_write(tree, place):
    try:
        written = tree.sql()
    except Exception:  # many parts cannot be written with such settings
        return
    check(place.format(written))
