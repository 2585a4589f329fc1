"""Tumult Analytics on Spark in local mode, with the machine's cores; see ``tables_query.py``.

Private keys are a query of their own, with a third of the budget; count and sum get a third each.
"""

import logging
import os
import sys
import tempfile

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

from pyspark.sql import SparkSession
from tables_query import CITIES, DELTA, EPSILON, HIGH, LOW, ROWS, main, names
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

WAREHOUSE = tempfile.TemporaryDirectory(prefix="tumult-")
"""Where it keeps tables of its own; gone when the script ends."""


def spark() -> SparkSession:
    """Return the one Spark session."""
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.warehouse.dir", WAREHOUSE.name).getOrCreate()


def started(_: str, __: int) -> int:
    """Start Spark."""
    spark().sparkContext.setLogLevel("ERROR")
    logging.disable(logging.WARNING)
    return spark().range(1000).count()


def user(path: str, _: int) -> int:
    """One user is protected; cities with few users do not appear."""
    session = Session.from_dataframe(
        privacy_budget=ApproxDPBudget(EPSILON, DELTA),
        source_id="visits",
        dataframe=spark().read.parquet(path).select("user_id", "city", "amount"),
        protected_change=AddRowsWithID("user_id"),
    )
    bounded = QueryBuilder("visits").enforce(MaxGroupsPerID("city", CITIES)).enforce(MaxRowsPerGroupPerID("city", ROWS))
    found = session.evaluate(bounded.get_groups(["city"]), ApproxDPBudget(EPSILON / 3, DELTA))
    keys = KeySet.from_dataframe(found)
    return released(session, bounded, keys, ApproxDPBudget(EPSILON / 3, 0))


def row(path: str, _: int) -> int:
    """One row is protected; the cities are public."""
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(EPSILON),
        source_id="visits",
        dataframe=spark().read.parquet(path).select("city", "amount"),
        protected_change=AddOneRow(),
    )
    keys = KeySet.from_dict({"city": names(path)})
    return released(session, QueryBuilder("visits"), keys, PureDPBudget(EPSILON / 2))


def released(session: Session, query: QueryBuilder, keys: KeySet, share: ApproxDPBudget | PureDPBudget) -> int:
    """Release count and sum of each city, and the mean as their quotient."""
    n = session.evaluate(query.groupby(keys).count(name="n"), share)
    total = session.evaluate(query.groupby(keys).sum("amount", low=LOW, high=HIGH, name="total"), share)
    table = n.join(total, "city")
    return len(table.withColumn("spend", table["total"] / table["n"]).toPandas())


if __name__ == "__main__":
    main("Tumult", "tmlt.analytics", {"user": user, "row": row}, warm=started)
