"""OpenDP on Polars; see ``tables_query.py``.

The margins are as tight as public knowledge of the file allows: a loose one makes the noise of float sums absurd. Users
keep their first cities in order of name, for the random choice stops with an error in 0.16. Cities are cut before rows,
the faster order.
"""

from typing import Any

import opendp.prelude as odp
import polars as pl
from tables_query import CITIES, DELTA, EPSILON, HIGH, LOW, ROWS, main, names

LARGEST = 5
"""No city has more than one row in so many."""


def context(path: str, rows: int, unit: Any, groups: int, delta: float | None) -> Any:
    """Return a context with the whole budget for one query."""
    return odp.Context.compositor(
        data=pl.scan_parquet(path).select("user_id", "city", "amount"),
        privacy_unit=unit,
        privacy_loss=odp.loss_of(epsilon=EPSILON, delta=delta) if delta else odp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
        margins=[
            odp.polars.Margin(by=[], max_length=rows),
            odp.polars.Margin(by=["city"], max_length=rows // LARGEST, max_groups=groups),
        ],
    )


def aggregated(query: Any) -> Any:
    """Return count and sum of each city."""
    amount = pl.col("amount").fill_null(0.0).fill_nan(0.0)
    return query.group_by("city").agg(odp.len(signed=False).alias("n"), amount.dp.sum((LOW, HIGH)).alias("total"))


def released(query: Any) -> int:
    """Release the table, with the mean as quotient."""
    return query.release().collect().with_columns(spend=pl.col("total") / pl.col("n")).height


def user(path: str, rows: int) -> int:
    """One user is protected; cities with few users do not appear."""
    unit = odp.unit_of(contributions=1, identifier="user_id")
    query = context(path, rows, unit, len(names(path)), DELTA).query()
    query = query.truncate_num_groups(CITIES, by=["city"], keep="first").truncate_per_group(ROWS, by=["city"])
    return released(aggregated(query))


def row(path: str, rows: int) -> int:
    """One row is protected; the cities are public."""
    keys = names(path)
    query = context(path, rows, odp.unit_of(contributions=1), len(keys), None).query()
    return released(aggregated(query).with_keys(pl.LazyFrame({"city": keys})))


if __name__ == "__main__":
    odp.enable_features("contrib")
    main("OpenDP", "opendp", {"user": user, "row": row})
