"""Tables that no engine reads are refused when a session opens, in words of their own and without a value."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidInput, InvalidParameter

CANARY = "canary-7919"


def opened(frame):
    return dp.Session(frame, name="t", unit=dp.Row(), budget=dp.Budget(1))


REFUSED = {
    "names that differ in case": (pd.DataFrame({"a": [1], "A": [2]}), "upper and lower case.*: A, a"),
    "one name twice": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "each is there once: a"),
    "names that differ in case in Arrow": (pa.table({"a": [1], "A": [2]}), "upper and lower case"),
    "one name twice in Arrow": (pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]), "each is there once"),
    "an empty name": (pd.DataFrame({"": [1]}), "not empty"),
    "a name with a zero": (pa.table({"a\0b": [1]}), "a name that is a text"),
    "names of two levels": (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "several levels"),
    "no columns": (pd.DataFrame(), "at least one column"),
    "complex numbers": (pd.DataFrame({"a": [1j]}), "the column a of type Complex128DType"),
    "a sparse column": (pd.DataFrame({"a": pd.arrays.SparseArray([1, 0])}), "the column a of type SparseDtype"),
    "wide decimals": (pa.table({"a": pa.array([1], pa.decimal256(60, 0))}), r"a \(decimal256\(60, 0\)\)"),
    "Polars objects": (pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), "Python objects.*: a"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_cannot_be_read_is_refused_in_words(name):
    frame, words = REFUSED[name]
    with pytest.raises(InvalidInput, match=words) as refused:
        opened(frame)
    assert refused.value.__context__ is refused.value.__cause__ is None


@pytest.mark.parametrize("one", [pd.Series([1]), pl.Series([1]), None, [1], {"t": None}])
def test_what_is_no_table_is_refused(one):
    with pytest.raises(InvalidParameter, match="a table is a path"):
        opened(one) if not isinstance(one, dict) else dp.Session(one, unit=dp.Row(), budget=dp.Budget(1))


READ = {
    "half precision": (pd.DataFrame({"a": np.array([1, 2], dtype="float16")}), "float"),
    "half precision in Arrow": (pa.table({"a": pa.array([np.float16(1)], pa.float16())}), "float"),
    "sets": (pd.DataFrame({"a": [{1, 2}, None]}), "str"),
    "categories of several types": (pd.DataFrame({"a": pd.Categorical([1, "x", 2.5])}), "str"),
    "categories that are intervals": (pd.DataFrame({"a": pd.cut([1, 2, 3], 2)}), "str"),
    "categories that are texts": (pd.DataFrame({"a": pd.Categorical(["x", "y"])}), "str"),
    "nested values": (pa.table({"a": [[1]]}), "other"),
    "names that are numbers": (pd.DataFrame({0: [1]}), "int"),
}


@pytest.mark.parametrize("name", READ)
def test_odd_types_that_can_be_read_are(name):
    frame, stored = READ[name]
    with opened(frame) as session:
        (column,) = session._tables["t"].relation.columns.values()
        assert column == stored
        assert len(session.release("SELECT COUNT(*) AS n FROM t")) == 1


def test_no_refusal_holds_a_value():
    class Odd:
        def __str__(self):
            raise ValueError(CANARY)

    with pytest.raises(InvalidInput, match="the column a") as refused:
        opened(pd.DataFrame({"a": [Odd()]}))
    assert CANARY not in repr(refused.value)
    assert refused.value.__context__ is None


def test_the_header_of_a_file_too(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("a,A\n1,2\n")
    with pytest.raises(InvalidParameter, match=re.escape("must name every column once")):
        opened(place)


def engine_words(error):
    """Return everything that an error and those that led to it say."""
    found = []
    while error is not None:
        found.append(f"{type(error).__module__}.{type(error).__name__} {error}")
        error = error.__cause__ or error.__context__
    return found


def refused(ask, match):
    with pytest.raises((InvalidInput, InvalidParameter), match=match) as caught:
        ask()
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert CANARY not in repr(caught.value)


URLS = [
    f"postgresql://bob:{CANARY} ret@127.0.0.1:1/shop#public.t",
    f"postgresql://bob:sek@{CANARY}@127.0.0.1:1/shop#public.t",
    f"postgresql://bob:sek/{CANARY}@127.0.0.1:1/shop#public.t",
    f"postgresql://bob:{CANARY}#ret@127.0.0.1:1/shop#public.t",
    f"postgresql://bob:{CANARY}%zz@127.0.0.1:1/shop#public.t",
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_that_cannot_be_read_shows_no_password(url, caplog):
    refused(lambda: opened(url), "the URL of a PostgreSQL table cannot be read")
    assert CANARY not in caplog.text


def test_a_database_that_does_not_answer_is_said_in_fixed_words(caplog):
    url = f"postgresql://bob:{CANARY}@127.0.0.1:1/shop#public.t"
    refused(lambda: opened(url), "^the table t cannot be opened. The curator's log says why.$")
    assert "connection" in caplog.text
    assert CANARY not in caplog.text


def test_an_engine_that_cannot_be_opened_is_said_in_fixed_words():
    data = pa.table({"a": [1]})
    settings = {"name": "t", "unit": dp.Row(), "budget": dp.Budget(1)}
    refused(lambda: dp.Session(data, memory=CANARY, **settings), "^the engine cannot be opened. The curator's log")


def test_texts_that_are_none_and_broken_first_lines_leave_no_trace(tmp_path):
    sizes, letters = pa.py_buffer(np.array([0, 3], dtype=np.int32)), pa.py_buffer(b"\xff\xfeZ")
    refused(lambda: opened(pa.table({"a": pa.Array.from_buffers(pa.string(), 1, [None, sizes, letters])})), "UTF-8")
    place = tmp_path / "t.csv"
    place.write_text(f'"a,b\n{CANARY},2\n')
    refused(lambda: opened(place), "CSV|first line")
    refused(lambda: opened(tmp_path / "none.csv"), "there is no file")


JOINED = "SELECT COUNT(*) AS n FROM t JOIN cities ON t.c = cities.name WHERE cities.large"


@pytest.fixture
def joined(tmp_path):
    place = tmp_path / "cities.parquet"
    pq.write_table(pa.table({"name": ["a", "b"], "large": [True, False]}), place)
    with dp.Session(
        {"t": pa.table({"u": [1, 2], "c": ["a", CANARY]})},
        public={"cities": place},
        unit=dp.Person("u", groups=1, rows=1),
        budget=dp.Budget(10),
    ) as session:
        session.preview(JOINED, epsilon=1)
        yield session, place


@pytest.mark.parametrize("change", ["gone", "broken"])
def test_a_public_table_that_is_gone_is_said_in_fixed_words(joined, change, caplog):
    session, place = joined
    place.unlink()
    if change == "broken":
        place.write_text(CANARY)
    for ask in (session.preview, session.release):
        refused(lambda ask=ask: ask(JOINED, epsilon=1), "^the public table cities cannot be read. The curator's log")
    assert session.spent == 0
    assert "duckdb" in caplog.text


def test_an_engine_whose_words_go_through_is_caught(joined, monkeypatch):
    session, place = joined
    monkeypatch.setattr("discreet.session.sources._or_refused", lambda words, ask: ask())
    place.unlink()
    with pytest.raises(Exception, match="cities") as raised:
        session.preview(JOINED, epsilon=1)
    assert any("duckdb" in words for words in engine_words(raised.value))
