"""A table with words in it that no message may ever show, a file about it, and a way to destroy all its rows."""

import pyarrow as pa

CANARY = "canary-7919"

FILE = """\
title: Visits to clinics, 2026
dataset:
  name: visits
  source: visits.parquet
  size: 2000
unit: {person: user_id, groups: 3, rows: 5}
columns:
  amount: {min: 0, max: 500}
  age: {min: 0, max: 120}
  kind: {values: [meal, shop, trip]}
budget: {epsilon: 1, delta: 1e-7}
spend: {epsilon: 0.5}
releases:
  - table: by_kind
    sql: |
      SELECT kind, COUNT(*) AS n, AVG(amount) AS spend
      FROM visits
      GROUP BY kind
    spend: 40%
  - table: by_kind_fields
    where: day >= DATE '2026-07-01'
    group_by: [kind]
    columns: {n: COUNT(*), spend: AVG(amount)}
  - histogram: ages
    column: age
    width: 40
  - quantiles: amounts
    column: amount
    at: [0.25, 0.5, 0.75]
    by: [kind]
"""
"""A file in order, of 30 lines."""


def table(rows=600):
    days = pa.array([20454 + i % 365 for i in range(rows)], pa.int32()).cast(pa.date32())
    return pa.table(
        {
            "user_id": [i % 200 for i in range(rows)],
            "city": [f"{CANARY}-{i % 7}" for i in range(rows)],
            "kind": [("meal", "shop", "trip")[i % 3] for i in range(rows)],
            "day": days,
            "amount": [7919.0 + i for i in range(rows)],
            "age": [20 + i % 60 for i in range(rows)],
            "rating": [float(i % 5) for i in range(rows)],
        }
    )


def corrupted(path):
    """Destroy every page of a Parquet file; its metadata, at the end, stays whole."""
    data = bytearray(path.read_bytes())
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[4:start] = b"\xff" * (start - 4)
    path.write_bytes(bytes(data))
