"""Keys that look alike must be the same everywhere, or different everywhere.

An engine may call "a" and "A" equal, or "a" and "a ", or two ways to compose "é", while the list of public keys, a
Python dictionary or another engine does not. Rows then fall into a group that is not theirs, or into none, and a join
matches one row with several.

Defence: keys are compared byte by byte, whatever the collation of a column; two declared keys that readers cannot tell
apart are refused; numbers, texts and truth are of different types and never meet; decimals make no keys.
Source: General knowledge about collations; Unicode Standard Annex 15.
"""

from collections import Counter

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.tables.engines import DuckDBEngine

ALIKE = [
    "a", "A", "a ", " a", "á", "a\u0301", "Á", "ﬁ", "fi", "ß", "ss", "ẞ", "İ", "i", "\u0131", "1", "01", "\uff11", "",
    " ", "\u00a0", "\u200b", "a\u200b", "Å", "A\u030a", "\u212b", "Σ", "\u03c3", "ς", "null", "NULL", "~", "true",
    "True",
]  # fmt: skip
DATA = pa.table({"key": [key for place, key in enumerate(ALIKE) for _ in range(place + 1)]})


def counted(release):
    """Tell whether every key has its own rows and no others."""
    return release() == Counter(DATA["key"].to_pylist())


def by_session(collation=None):
    """Return the exact rows of each group, with private keys, from a column of some collation."""
    connection = duckdb.connect()
    connection.register("arriving", DATA)
    kind = "VARCHAR" if collation is None else f"VARCHAR COLLATE {collation}"
    connection.execute(f"CREATE TABLE t (key {kind})")
    connection.execute("INSERT INTO t SELECT * FROM arriving")
    session = dp.Session("t", unit=dp.Row(), budget=dp.Budget(1e9, 1e-6), engine=DuckDBEngine(connection))
    query = session.query.group_by("key").agg(n=dp.count())
    plan = session.planned(query, epsilon=1)
    found = session._tables.engine.run(plan.rows.totals([])).to_pylist()
    return Counter({row["k_0"]: row["units"] for row in found})


@pytest.mark.parametrize("collation", [None, "NOCASE", "NOACCENT", "NFC", '"NOCASE.NOACCENT"'])
def test_every_key_has_its_own_rows(collation):
    name = None if collation is None else collation.strip('"')
    assert counted(lambda: by_session(name))


@pytest.mark.parametrize("place", range(len(ALIKE)))
def test_a_declared_key_is_itself_alone(place):
    session = dp.Session(DATA, name="t", unit=dp.Row(), budget=dp.Budget(1e9))
    query = session.query.group_by("key", keys={"key": [ALIKE[place]]}).agg(n=dp.count())
    assert session.release(query, epsilon=1e6)["n"].tolist() == [place + 1]


@pytest.mark.parametrize("pair", [("á", "a\u0301"), ("Å", "\u212b"), ("Å", "A\u030a")])
def test_declared_keys_that_nobody_can_tell_apart_are_refused(pair):
    with pytest.raises(InvalidParameter, match="look alike"):
        dp.Values(pair)
    session = dp.Session(DATA, name="t", unit=dp.Row(), budget=dp.Budget(1))
    with pytest.raises(InvalidParameter, match="look alike"):
        session.query.group_by("key", keys={"key": pair})


def test_types_never_meet():
    data = pa.table({"n": [0, 1, 1], "t": ["0", "1", "True"], "b": [False, True, True], "x": [0.0, -0.0, float("nan")]})
    session = dp.Session(data, name="t", unit=dp.Row(), budget=dp.Budget(1e9))
    wrong = {"n": ["1"], "t": [1], "b": [1]}
    for column, keys in wrong.items():
        with pytest.raises(InvalidParameter, match="are of type"):
            session.preview(session.query.group_by(column, keys={column: keys}).agg(n_=dp.count()))
    with pytest.raises(InvalidParameter, match="decimal"):
        session.query.group_by("x", keys={"x": [0.0]})
    with pytest.raises(InvalidParameter, match="bin"):
        session.preview(session.query.group_by("x").agg(n_=dp.count()))
    answer = session.release(session.query.group_by("n", "b", keys={"n": [0, 1]}).agg(c=dp.count()), epsilon=1e6)
    assert answer["c"].tolist() == [1, 0, 0, 2]


def test_joins_match_keys_that_are_the_same():
    public = {"names": pa.table({"key": ALIKE})}
    session = dp.Session(DATA, name="t", unit=dp.Row(), budget=dp.Budget(1e9), public=public)
    query = session.query.join("names", on="key").agg(n=dp.count())
    assert session.release(query, epsilon=1e6)["n"].tolist() == [DATA.num_rows]


def by_folding():
    return Counter(key.casefold().strip() for key in DATA["key"].to_pylist())


def by_collation():
    connection = duckdb.connect()
    connection.register("t", DATA)
    sql = "SELECT MIN(key), COUNT(*) FROM t GROUP BY key COLLATE NOCASE"
    return Counter(dict(connection.execute(sql).fetchall()))


def test_the_check_catches_keys_that_are_folded():
    assert not counted(by_folding)
    assert not counted(by_collation)
