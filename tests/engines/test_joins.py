"""Joins with public tables on every engine: a table that changes after a query was planned multiplies no row."""

import json

import pytest

import discreet as dp
from discreet.tables.engines import DuckDBEngine
from discreet.tables.engines.postgres import PostgresEngine, PostgresTable
from discreet.tables.engines.spark import SparkEngine

VISITS = [(1, "a", 5), (2, "a", 5), (3, "b", 5), (4, "z", 5)]
SIZE = 1000
"""Spark reads as many bytes of a file as it had when it was opened."""

TYPES = {"duckdb": ("BIGINT", "VARCHAR"), "postgres": ("BIGINT", "TEXT"), "spark": ("BIGINT", "STRING")}


class Database:
    """A table of visits and one of cities, whose rows can be replaced."""

    def __init__(self, loader, folder):
        self.loader, self.folder = loader, folder
        self.whole, self.text = TYPES[loader.name]
        self.run = loader.connection.sql if loader.name == "spark" else loader.connection.execute

    def write(self, cities):
        if self.loader.name == "spark":
            lines = "".join(json.dumps({"city": city, "land": land}) + "\n" for city, land in cities)
            (self.folder / "cities.json").write_text(lines.ljust(SIZE, "\n"), encoding="utf-8")
            return
        listed = ", ".join(f"('{city}', '{land}')" for city, land in cities)
        self.run("DELETE FROM joined_cities")
        self.run(f"INSERT INTO joined_cities VALUES {listed}")

    def __enter__(self):
        if self.loader.name != "spark":
            self.run(f"CREATE TABLE joined_visits (who {self.whole}, city {self.text}, spent {self.whole})")
            self.run(f"CREATE TABLE joined_cities (city {self.text}, land {self.text})")
            for who, city, spent in VISITS:
                self.run(f"INSERT INTO joined_visits VALUES ({who}, '{city}', {spent})")
        return self

    def __exit__(self, *_):
        if self.loader.name != "spark":
            self.run("DROP TABLE joined_visits")
            self.run("DROP TABLE joined_cities")

    def sources(self):
        """Return an engine and both sources, read anew by every query."""
        if self.loader.name == "duckdb":
            return DuckDBEngine(self.loader.connection), "joined_visits", "joined_cities"
        if self.loader.name == "postgres":
            url = self.loader.url
            return PostgresEngine(), PostgresTable(url, "joined_visits"), PostgresTable(url, "joined_cities")
        spark = self.loader.connection
        visits = spark.createDataFrame(VISITS, "who BIGINT, city STRING, spent BIGINT")
        spark.sql("DROP VIEW IF EXISTS joined_cities")
        path = self.folder / "cities.json"
        spark.sql(f"CREATE TEMP VIEW joined_cities (city STRING, land STRING) USING json OPTIONS (path '{path}')")
        return SparkEngine(spark), visits, spark.table("joined_cities")


def counted(engine, folder, unit):
    """Return the rows by land before and after the cities were replaced, for one plan."""
    with Database(engine, folder) as database:
        database.write([("a", "N"), ("b", "S")])
        made, visits, cities = database.sources()
        engine.engines.append(made)
        session = dp.Session(
            visits, name="visits", unit=unit, budget=dp.Budget(1e12, 1e-6), public={"cities": cities}, engine=made
        )
        query = session.query.join("cities", on="city", how="left").group_by("land", keys={"land": ["N", "S", None]})
        plan = session.planned(query.agg(n=dp.count()), epsilon=1e6)
        before = session._run(plan)["n"].tolist()
        database.write([("a", "N"), ("b", "S"), ("a", "N"), ("a", "S")])
        return before, session._run(plan)["n"].tolist()


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("who", groups=2, rows=5)], ids=["rows", "persons"])
def test_a_private_row_meets_one_public_row_at_most(engine, tmp_path, unit):
    assert counted(engine, tmp_path, unit) == ([2, 1, 1], [0, 1, 3])


def test_the_check_catches_a_table_that_is_read_as_it_is(engine, tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.session.reading._once", lambda table, _, values, __: (table.relation.sql, values))
    assert counted(engine, tmp_path, dp.Row()) == ([2, 1, 1], [4, 3, 1])
