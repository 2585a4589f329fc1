"""Ways in which a session once told more than it charged for, or could have."""

import logging
from dataclasses import replace
from datetime import date

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.accounting import PrivacyLoss
from discreet.errors import BudgetExceeded, InvalidInput, InvalidParameter, RelationMismatch, ReleaseFailed
from discreet.session.release import _Run
from discreet.tables.engines import DuckDBEngine

PEOPLE = pa.table({"user": [1, 2, 3], "name": ["Ann", "Eve", "Bob"], "x": [1, 2, 3]})


def session(table=PEOPLE, unit=None, **settings):
    chosen = {"name": "t", "budget": dp.Budget(1000, 1e-5), **settings}
    return dp.Session(table, unit=unit or dp.Row(), **chosen)


class Day(date):
    def isoformat(self):
        return "2026-01-01' OR (SELECT COUNT(*) FROM t0) > 0 OR DATE '2026-01-01"


class Text(str):
    def replace(self, *_):
        return "') OR (1 = 1) OR starts_with('"


class Number(int):
    def __format__(self, _):
        return "1) OR (1 = 1"


@pytest.mark.parametrize(
    "make",
    [
        lambda: dp.col("name") == Text("Bob"),
        lambda: dp.col("name").startswith(Text("B")),
        lambda: dp.col("name").slice(Number(1), 2) == "Bo",
        lambda: dp.lit(Day(2026, 1, 1)) == dp.lit(date(2026, 1, 1)),
        lambda: dp.col("x") + Number(1) > 1,
        lambda: dp.col("name").isin([Text("Bob")]),
    ],
)
def test_values_that_write_their_own_sql_are_refused(make):
    opened = session()
    with pytest.raises(InvalidParameter):
        opened.release(opened.query.where(make()).agg(n=dp.count()), epsilon=1)


def test_a_plan_cannot_take_more_than_the_budget_promises():
    small = session(budget=dp.Budget(1, 1e-6))
    with pytest.raises(BudgetExceeded):
        small.plan([small.query.agg(n=dp.count())], epsilon=50)
    assert small.spent == 0
    account = dp.Budget(1, 1e-6).open()
    with pytest.raises(BudgetExceeded):
        account.exhaust(PrivacyLoss.laplace(2))


def test_a_group_is_released_once():
    class One(int):
        pass

    query = session().query
    with pytest.raises(InvalidParameter, match="twice"):
        query.group_by("x", keys={"x": [1, One(1)]})
    again = replace(query.group_by("x", keys={"x": [1]}).agg(n=dp.count()), public={"x": (1, 1)})
    with pytest.raises(InvalidParameter, match="twice"):
        session().release(again, epsilon=1)


@pytest.mark.parametrize("key", [2**70, -(2**63) - 1])
def test_keys_that_no_engine_holds_are_refused_before_any_row_is_seen(key):
    with pytest.raises(InvalidParameter, match="64 bits"):
        session().query.group_by("x", keys={"x": [1, key]})


def test_dropped_groups_are_counted_by_their_persons_alone(monkeypatch):
    table = pa.table({"user": [1] * 4, "g": list("abcd"), "v": [None, "y", None, "z"]})
    opened = session(table, dp.Person("user", groups=1, rows=1))
    query = opened.query.group_by("g").agg(n=dp.count(), d=dp.count_distinct("v"))
    monkeypatch.setattr("discreet.session.noise.Noise.draw", lambda self, size, **_: [0] * size)
    monkeypatch.setattr(_Run, "_noise", lambda self, size, **_: {n: [0] * size for n in self.plan.noise})
    told = opened.release(query, epsilon=1, count_groups=True).parameters["groups_not_shown"]
    assert told == 1  # one group of one person, though distinct values may come from another


def test_a_failure_has_fixed_words_and_no_trace(monkeypatch, capfd):
    opened = session()
    monkeypatch.setattr(DuckDBEngine, "run", lambda self, sql: 1 / 0)
    with pytest.raises(ReleaseFailed) as caught:
        opened.release(opened.query.agg(n=dp.count()), epsilon=1)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert opened.spent > 0
    assert capfd.readouterr() == ("", "")
    assert any(isinstance(one, logging.NullHandler) for one in logging.getLogger("discreet.curator").handlers)


@pytest.mark.parametrize("groups", [1_000_000, 1001])
def test_many_groups_of_a_person_are_no_error(groups):
    opened = session(unit=dp.Person("user", groups=groups, rows=1))
    plan = opened.planned(opened.query.group_by("name").agg(n=dp.count()), epsilon=1)
    found = opened._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
    assert sorted(found["k_0"].to_pylist()) == ["Ann", "Bob", "Eve"]
    opened.release(plan.query, epsilon=1)  # a failure would be raised


@pytest.mark.parametrize("moment", [2**62, -(2**62), 10**15])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_moments_far_away_are_missing(moment, unit, zone):
    table = pa.table({"d": pa.array([0, moment], pa.int64()).cast(pa.timestamp(unit, zone))})
    opened = session(table)
    assert len(opened.release(opened.query.group_by(m=dp.col("d").month()).agg(n=dp.count()), epsilon=1)) == 12


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_moments_of_a_database_are_read_or_missing(unit):
    connection = duckdb.connect()
    connection.register("far", pa.table({"d": pa.array([0, 2**61], pa.int64()).cast(pa.timestamp(unit))}))
    connection.execute("CREATE TABLE t AS SELECT * FROM far")
    opened = session("t", engine=connection)
    assert len(opened.release(opened.query.group_by(m=dp.col("d").month()).agg(n=dp.count()), epsilon=1)) == 12


def test_a_curator_can_make_sure_that_all_can_be_read(tmp_path):
    offsets = pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]))
    bad = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff")])
    with pytest.raises(InvalidInput, match="UTF-8"):
        session(pa.table({"v": bad}))
    pq.write_table(pa.table({"v": bad}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInput, match="cannot be read"):
        session(tmp_path / "t.parquet").verify()
    session().verify()


def test_rows_and_persons_do_not_share_an_account():
    account = dp.Budget(1, 1e-6).open()
    session(budget=account)
    with pytest.raises(RelationMismatch, match="about rows"):
        session(unit=dp.Person("user", groups=1, rows=1), budget=account)


def test_texts_do_not_grow_until_the_memory_is_full():
    big = dp.when(dp.col("name") == "Bob", "a" * 1000).otherwise("")
    for _ in range(8):
        big = big.replace("a", "a" * 50)
    opened = session()
    with pytest.raises(InvalidParameter, match="replacing could make texts of 2500000 characters"):
        opened.preview(opened.query.where(big.length() > 5).agg(n=dp.count()), epsilon=50)
