"""A person must have one key: values that are the same where they live must not be read as different ones.

Keys are read byte by byte. Where a column compares them in another way, as DuckDB does under NOCASE, PostgreSQL in
citext and pandas with 1, 1.0 and True among objects, Ada and ada are one person there and were two here: each of them
counted in full, and one person moved a count by as much as she had spellings.

Defence: such a column is refused as the key of persons when the session is opened, by its declared collation or by the
Python types in it, with what to write instead; no value is named.
Source: Found by using this library: customer keys in case-insensitive columns.
"""

from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.errors import InvalidInput, InvalidParameter
from discreet.tables.engines import DuckDBEngine

UNIT = dp.Person("who", groups=1, rows=1)


def opened(source, unit=UNIT, **settings):
    name = None if isinstance(source, str) else "t"
    return dp.Session(source, name=name, unit=unit, budget=dp.Budget(1e9, 1e-6), **settings)


def persons(source, **settings):
    """Return how many persons a session counts."""
    query = "SELECT COUNT(*) AS n FROM t"
    return opened(source, **settings).release(query, epsilon=1e6)["n"].tolist()[0]


def table_of(kind, setup=""):
    connection = duckdb.connect()
    if setup:
        connection.execute(setup)
    connection.execute(f'CREATE TABLE t (who {kind}, "also who" VARCHAR COLLATE NOCASE)')
    connection.execute("INSERT INTO t VALUES ('a', 'x'), ('A', 'X')")
    return connection


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NFC", "nocase", "NOCASE.NOACCENT"])
def test_a_collation_that_folds_is_refused(collation):
    with pytest.raises(InvalidParameter, match=r"COLLATE C AS key") as refused:
        opened("t", engine=table_of(f"VARCHAR COLLATE {collation}"))
    assert collation.upper() in str(refused.value)


@pytest.mark.parametrize("setting", ["nocase", "NOACCENT"])
def test_the_collation_of_a_whole_connection_is_that_of_its_columns(setting):
    with pytest.raises(InvalidParameter, match="tells persons apart"):
        opened("t", engine=table_of("VARCHAR", f"SET default_collation = '{setting}'"))


@pytest.mark.parametrize("scope", ["SESSION", "GLOBAL"])
@pytest.mark.parametrize("source", ["table", "frame", "file"])
def test_the_collation_of_a_connection_is_read_where_it_is_set(tmp_path, scope, source):
    """A cursor does not have the settings of the session that it is taken from."""
    (tmp_path / "t.csv").write_text("who\na\nA\n", encoding="utf-8")
    sources = {"table": "t", "frame": pd.DataFrame({"who": ["a", "A"]}), "file": tmp_path / "t.csv"}
    with pytest.raises(InvalidParameter, match="NOCASE"):
        opened(sources[source], engine=table_of("VARCHAR", f"SET {scope} default_collation = 'nocase'"))


def test_texts_are_compared_byte_by_byte_whatever_the_connection_does():
    session = opened("t", dp.Row(), engine=table_of("VARCHAR", "SET default_collation = 'nocase'"))
    found = session.release("SELECT COUNT(*) AS n, COUNT(DISTINCT who) AS d FROM t WHERE who <> 'a'", epsilon=1e6)
    assert (found["n"].tolist(), found["d"].tolist()) == ([1], [1])


def test_a_connection_that_does_not_answer_is_refused():
    connection = table_of("VARCHAR")
    connection.execute("BEGIN")
    with pytest.raises(duckdb.Error):
        connection.execute("SELECT error('stop')")
    with pytest.raises(InvalidInput, match="roll its transaction back"):
        opened("t", engine=connection)
    connection.close()
    with pytest.raises(InvalidInput, match="open it"):
        opened("t", engine=connection)


@pytest.mark.parametrize("kind", ["VARCHAR", "VARCHAR COLLATE C", "VARCHAR COLLATE POSIX", 'VARCHAR COLLATE "binary"'])
def test_bytes_are_a_key_whatever_other_columns_are(kind):
    assert persons("t", engine=table_of(kind)) == 2


VIEWS = {
    "as it is": ("SELECT * FROM u", False),
    "a function of it": ("SELECT lower(who) AS who FROM u", False),
    "a choice": ("SELECT CASE WHEN TRUE THEN who END AS who FROM u", False),
    "of another collation": ("SELECT plain COLLATE NOACCENT AS who FROM u", False),
    "in one way": ("SELECT lower(who) COLLATE C AS who FROM u", True),
    "of a file": ("SELECT who FROM read_csv('{file}')", True),
    "of a file, folded": ("SELECT who COLLATE NOCASE AS who FROM read_csv('{file}')", False),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_have_the_collation_of_what_they_show(tmp_path, name):
    sql, allowed = VIEWS[name]
    (tmp_path / "t.csv").write_text("who\na\nA\n", encoding="utf-8")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE u (who VARCHAR COLLATE NOCASE, plain VARCHAR)")
    connection.execute("INSERT INTO u VALUES ('a', 'a'), ('A', 'A')")
    connection.execute(f"CREATE VIEW t AS {sql.format(file=tmp_path / 't.csv')}")
    if allowed:
        assert persons("t", engine=connection) == (1 if "lower" in sql else 2)
        return
    with pytest.raises(InvalidParameter, match="tells persons apart"):
        opened("t", engine=connection)


def test_looking_leaves_nothing_behind_and_reads_no_row():
    connection = duckdb.connect()
    connection.execute("CREATE VIEW t AS SELECT error('read') AS who")
    opened("t", engine=connection)
    assert connection.execute("SELECT COUNT(*) FROM duckdb_tables()").fetchone() == (0,)


def test_rows_that_are_protected_by_themselves_have_no_key():
    assert opened("t", dp.Row(), engine=table_of("VARCHAR COLLATE NOCASE")).query.table == "t"


def test_every_private_table_is_looked_at():
    connection = table_of("VARCHAR")
    connection.execute("CREATE TABLE more (who VARCHAR COLLATE NOCASE)")
    with pytest.raises(InvalidParameter, match=r"more\.who"):
        dp.Session({"t": "t", "more": "more"}, unit=UNIT, budget=dp.Budget(1), engine=connection)


# Python objects.


class Word(str, Enum):  # noqa: UP042  it is written as Word.ADA
    ADA = "Ada"


class Number(IntEnum):
    ONE = 1


MIXED = {
    "a number and its text": [1, "1"],
    "whole and real": [1, 1.0],
    "a number and a truth": [1, True],
    "a truth of numpy": [1, np.True_],
    "reals": [1.0, 2.0],
    "negative zero": [0.0, -0.0],
    "decimals": [Decimal("1"), Decimal("1.0")],
    "a day and a moment": [date(2026, 1, 1), datetime(2026, 1, 1)],  # noqa: DTZ001
    "a text and its enumeration": ["Ada", Word.ADA],
    "a number and its enumeration": [1, Number.ONE],
    "truths": [True, False],
    "bytes": ["a", b"a"],
}
ALIKE = {
    "texts": ["a", "A", None],
    "texts of numpy": ["a", np.str_("b")],
    "whole numbers": [1, 2, None],
    "whole numbers with a gap": [1, 2, float("nan")],
    "whole numbers of numpy": [1, np.int64(2), np.uint8(3)],
    "days": [date(2026, 1, 1), date(2026, 1, 2), pd.NaT],
    "marks": [UUID(int=1), UUID(int=2), pd.NA],
    "nothing": [None, float("nan")],
}


def frame(values):
    return pd.DataFrame({"who": pd.Series(values, dtype=object), "x": range(len(values))})


@pytest.mark.parametrize("name", MIXED)
def test_objects_that_are_written_in_several_ways_are_refused(name):
    for values in (MIXED[name], MIXED[name][::-1]):
        with pytest.raises(InvalidParameter, match="one way") as refused:
            opened(frame(values))
        assert not any(repr(value) in str(refused.value) for value in values)


@pytest.mark.parametrize("name", ALIKE)
def test_objects_of_one_sort_are_a_key(name):
    values = ALIKE[name]
    assert persons(frame(values)) == sum(not pd.isna(value) for value in values)


@pytest.mark.parametrize("values", [[1, "1"], ["1", 1.5], [Decimal("1"), Decimal("1.50")]])
def test_categories_that_are_written_in_several_ways_are_refused(values):
    with pytest.raises(InvalidParameter, match="one way"):
        opened(pd.DataFrame({"who": pd.Series(values).astype("category")}))


def test_halves_of_surrogate_pairs_are_no_key():
    """All are read as one sign, so that several persons would be one, who is bounded as one."""
    for values in (["x\ud800", "x\udfff", "x?"], ["a", "\udc00"]):
        with pytest.raises(InvalidParameter, match="surrogate"):
            opened(frame(values))
        assert opened(frame(values), dp.Row()).query.table == "t"


def test_mixed_objects_may_stand_in_other_columns():
    data = frame(["a", "b"]).assign(x=pd.Series([1, "1"], dtype=object))
    assert persons(data) == 2


def folded(make):
    """Tell whether one person in two spellings counts once, or is refused."""
    try:
        return make() == 1
    except InvalidParameter:
        return True


def test_the_check_catches_keys_that_are_only_read_byte_by_byte(monkeypatch):
    sources = [
        lambda: persons("t", engine=DuckDBEngine(table_of("VARCHAR COLLATE NOCASE"))),
        lambda: persons(frame([1, 1.0])),
    ]
    assert all(map(folded, sources))
    monkeypatch.setattr("discreet.tables.engines.duckdb.collated_columns", lambda *_: {})
    monkeypatch.setattr("discreet.tables.engines.duckdb.mixed_columns", lambda *_: {})
    assert not any(map(folded, sources))
