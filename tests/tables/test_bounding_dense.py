"""Persons numbered over a wide range are grouped without hashing, and bounded as ever."""

import dataclasses
import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.tables.engines import DuckDBEngine
from discreet.tables.order import Salt

SETTING = "SELECT current_setting('perfect_ht_threshold')"
DEFAULT = duckdb.connect().execute(SETTING).fetchone()


def written(path):
    """Write a file in which persons have 0 to 120 groups, most of them several times, and wide numbers."""
    rng = random.Random(5)
    rows = [
        (person * 2_500 - 30_000, f"tag {rng.randrange(150)}", rng.uniform(-1, 9))
        for person in range(200)
        for _ in range(rng.choice([1, 2, 5, 20, 400]))
    ]
    user, tag, x = zip(*rows, strict=True)
    pq.write_table(pa.table({"user": user, "tag": tag, "x": x}), path)
    return path


@pytest.mark.parametrize("groups", [1, 2, 3, 8])
def test_dense_groups_change_no_answer(tmp_path, groups):
    path = written(tmp_path / "log.parquet")
    found, salt = [], Salt.fresh()
    for memory in (None, "1GB"):
        session = dp.Session(
            path,
            name="t",
            schema={"x": dp.Bounds(0, 7)},
            unit=dp.Person("user", groups=groups, rows=2),
            budget=dp.Budget(1, 1e-6),
            memory=memory,
            threads=2,
        )
        query = session.query.group_by("tag").agg(rows=dp.count(), total=dp.sum("x"))
        plan, engine = session.planned(query, epsilon=1), session._tables.engine
        for fast in (True, False):
            plan.rows.bounding = dataclasses.replace(plan.rows.bounding, fast=fast, salt=salt)
            sql = plan.rows.totals(list(plan.measures.values()))
            found.append(sorted(map(str, engine.run(sql).to_pylist())))
            dense = "PERFECT_HASH_GROUP_BY" in str(engine.run(f"EXPLAIN {sql}").to_pylist())
            assert dense == (fast and memory is None)
    assert found[0]
    assert all(one == found[0] for one in found)


def test_a_connection_that_is_given_keeps_its_settings():
    connection = duckdb.connect()
    engine = DuckDBEngine(connection)
    assert engine.run(SETTING).column(0).to_pylist() != list(DEFAULT)
    assert connection.execute(SETTING).fetchone() == DEFAULT


def places(**options):
    """Return how many groups get places of their own, over all threads."""
    engine = DuckDBEngine(**options)
    (bits,) = engine.run(SETTING).column(0).to_pylist()
    return 2 ** int(bits) * options["threads"]


def test_memory_for_dense_groups_does_not_grow_with_threads():
    assert {places(threads=threads) for threads in (1, 2, 4, 16, 128)} == {2**21}
    assert places(threads=3) <= 2**21


def test_no_dense_groups_where_memory_is_limited():
    assert places(threads=1, memory="1GB") == 2 ** int(DEFAULT[0])
