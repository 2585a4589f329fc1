"""A public table must be checked where it is read: what was checked before may be another table by then.

A join counts a private row once for each public row that it meets, so a key must stand once in a public table. That was
looked up when a query was planned, and the table was read again when it was released: a file replaced in between, or a
view that gives other rows each time, multiplied one private row by as much as it liked.

Defence: the statement that reads a public table keeps those of its rows alone whose key stands once in what it reads;
the check when a query is planned is there for the message.
Source: Found by using this library: a list of cities that was written anew while a report ran.
"""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidParameter

PRIVATE = pa.table({"who": [1, 2, 3, 4], "city": ["a", "a", "b", "z"], "spent": [5, 5, 5, 5]})
ONCE = {"city": ["a", "b"], "land": ["N", "S"]}
TWICE = {"city": ["a"] * 1000 + ["b"], "land": ["N"] * 1000 + ["S"]}
NULLS = {"city": [None] * 50 + ["a"], "land": ["N"] * 51}
UNITS = [dp.Row(), dp.Person("who", groups=2, rows=5)]


def write(path, columns):
    if path.suffix == ".parquet":
        table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
        pq.write_table(table, path)
    else:
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def opened(place, unit=UNITS[0], **settings):
    schema = {"spent": dp.Bounds(0, 10)}
    public = {"cities": place}
    budget = dp.Budget(1e12, 1e-6)
    return dp.Session(PRIVATE, name="visits", schema=schema, unit=unit, budget=budget, public=public, **settings)


def queries(session, how="inner"):
    joined = session.query.join("cities", on="city", how=how)
    return {
        "rows": joined.agg(n=dp.count()),
        "groups": joined.group_by("land").agg(n=dp.count()),
        "sums": joined.agg(n=dp.sum("spent")),
        "values": joined.agg(n=dp.count_distinct("spent")),
        "ranks": joined.agg(n=dp.quantiles("spent", [0.5])),
    }


def weights(session, plan):
    """Return how much each private row counts in the first query that a plan asks."""
    run, counted = session._tables.engine.run, []
    ranked = [column.cells for column in plan.columns if hasattr(column, "cells")]
    if ranked:
        counted = [int(row["w"]) / 2**16 for row in run(plan.rows.cells(ranked[0])).to_pylist()]
    else:
        counted = [int(row["units"]) for row in run(plan.rows.totals([])).to_pylist()]
    return sum(counted)


def multiplied(place, name, unit=UNITS[0], how="inner", after=TWICE):
    """Return how much counts if a file is replaced after a query was planned."""
    write(place, ONCE)
    session = opened(place, unit)
    plan = session.planned(queries(session, how)[name], epsilon=1e6)
    write(place, after)
    found = weights(session, plan)
    session.close()
    return found


@pytest.mark.parametrize("name", ["rows", "groups", "sums", "values", "ranks"])
@pytest.mark.parametrize("unit", UNITS, ids=["rows", "persons"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_private_row_meets_one_public_row_at_most(tmp_path, name, unit, ending):
    for how in ("inner", "left"):
        place = tmp_path / f"cities.{ending}"
        assert multiplied(place, name, unit, how) <= PRIVATE.num_rows


def test_the_others_are_answered_as_before(tmp_path):
    place = tmp_path / "cities.csv"
    write(place, ONCE)
    session = opened(place)
    query = queries(session)["groups"]
    plan = session.planned(query, epsilon=1e6)
    assert session._run(plan)["n"].tolist() == [2, 1]
    write(place, TWICE)
    assert session._run(plan)["n"].tolist() == [0, 1]  # a is there a thousand times, b once


def test_missing_keys_meet_nothing(tmp_path):
    place = tmp_path / "cities.parquet"
    assert multiplied(place, "rows", after=NULLS) == 2
    assert multiplied(place, "rows", how="left", after=NULLS) == PRIVATE.num_rows


def test_a_table_with_a_key_twice_is_refused_when_a_query_is_planned(tmp_path):
    place = tmp_path / "cities.csv"
    write(place, TWICE)
    session = opened(place)
    with pytest.raises(InvalidParameter, match="several times"):
        session.preview(queries(session)["rows"])
    assert session.spent == 0


def test_a_view_that_gives_other_rows_each_time():
    connection = duckdb.connect()
    connection.register("visits", PRIVATE)
    connection.execute("CREATE TABLE visits_ AS SELECT * FROM visits")
    connection.execute("CREATE SEQUENCE looks")
    rows = "SELECT unnest(CASE WHEN nextval('looks') > 1 THEN ['a', 'a', 'a', 'b'] ELSE ['a', 'b'] END) AS city"
    connection.execute(f"CREATE VIEW cities AS {rows}")
    budget = dp.Budget(1e12, 1e-6)
    session = dp.Session("visits_", unit=dp.Row(), budget=budget, public={"cities": "cities"}, engine=connection)
    plan = session.planned(session.query.join("cities", on="city").agg(n=dp.count()), epsilon=1e6)
    assert session._run(plan)["n"].tolist() == [1]


def test_keys_of_two_columns_and_names_that_are_taken(tmp_path):
    place = tmp_path / "cities.csv"
    columns = {"city": ["a", "a", "b"], "spent": ["5", "6", "5"], "KEY_0_times": ["x", "y", "z"], "key_1_": ["p"] * 3}
    write(place, columns)
    session = opened(dp.Table(place, {"spent": "int"}))
    query = session.query.join("cities", on=["city", "spent"]).group_by("KEY_0_times", "key_1_").agg(n=dp.count())
    plan = session.planned(query, epsilon=1e6)
    assert dict(zip(plan.public_keys, session._run(plan)["n"].tolist(), strict=True)) == {
        ("x", "p"): 2,
        ("y", "p"): 0,
        ("z", "p"): 1,
    }
    write(place, columns | {"spent": ["5", "05", "5"]})
    assert session._run(plan)["n"].tolist() == [0, 0, 1]


def test_public_keys_and_two_public_tables(tmp_path):
    lands = tmp_path / "lands.csv"
    write(tmp_path / "cities.csv", ONCE)
    write(lands, {"land": ["N", "S"], "sea": ["yes", "no"]})
    public = {"cities": tmp_path / "cities.csv", "lands": lands}
    session = dp.Session(PRIVATE, name="visits", unit=dp.Row(), budget=dp.Budget(1e12), public=public)
    joined = session.query.join("cities", on="city").join("lands", on={"cities.land": "land"})
    plan = session.planned(joined.group_by("sea").agg(n=dp.count()), epsilon=1e6)
    assert session._run(plan)["n"].tolist() == [1, 2]
    write(lands, {"land": ["N"] * 9 + ["S"], "sea": ["yes"] * 9 + ["no"]})
    assert session._run(plan)["n"].tolist() == [1, 0]


def test_the_check_catches_a_table_that_is_checked_first_and_read_later(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.session.reading._once", lambda table, _, values, __: (table.relation.sql, values))
    for ending in ("csv", "parquet"):
        assert multiplied(tmp_path / f"cities.{ending}", "rows") > 1000
        assert multiplied(tmp_path / f"cities.{ending}", "ranks") > 1000
