"""SmartNoise SQL on a pandas frame; see ``tables_query.py``.

Its epsilon is spent on each column apart. It bounds the rows of a user in the whole table, not in each city: 15 are the
same total. Public keys are what it calls not censoring dimensions, for it cannot be given a list.
"""

import warnings
from typing import Any

import pandas as pd
import snsql
from tables_query import CITIES, DELTA, EPSILON, HIGH, LOW, ROWS, main

QUERY = "SELECT city, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS spend FROM S.visits GROUP BY city"


def released(path: str, rows: int, options: dict[str, Any]) -> int:
    """Release count, sum and mean of each city."""
    table = {
        "rows": rows,
        "clamp_counts": False,
        "user_id": {"type": "int", "private_id": not options.get("row_privacy", False)},
        "city": {"type": "string"},
        "amount": {"type": "float", "lower": LOW, "upper": HIGH},
        **options,
    }
    frame = pd.read_parquet(path, columns=["user_id", "city", "amount"])
    privacy = snsql.Privacy(epsilon=EPSILON, delta=DELTA)
    reader = snsql.from_df(frame, privacy=privacy, metadata={"": {"S": {"visits": table}}})
    return len(reader.execute(QUERY)) - 1


def user(path: str, rows: int) -> int:
    """One user is protected; cities with few users do not appear."""
    return released(path, rows, {"max_ids": CITIES * ROWS, "sample_max_ids": True, "censor_dims": True})


def row(path: str, rows: int) -> int:
    """One row is protected; the cities are public."""
    return released(path, rows, {"row_privacy": True, "censor_dims": False})


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main("SmartNoise", "smartnoise-sql", {"user": user, "row": row})
