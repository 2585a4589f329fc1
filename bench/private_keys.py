"""Counts of very many private groups: how long a release takes beside the engine's own GROUP BY.

    python bench/private_keys.py [--keys 10000000]

Every key but a thousand belongs to one row, so that nearly nothing is shown. Prints the seconds of DuckDB's own exact
query, of the session's release, and of the mechanism on an array.
"""

import argparse
import time
import warnings

import duckdb
import numpy as np
import pyarrow as pa

import discreet as dp


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=10_000_000)
    options = parser.parse_args()
    keys = np.concatenate([np.arange(options.keys), np.repeat(np.arange(1000), 100)])
    table = pa.table({"k": keys})
    connection = duckdb.connect()
    connection.register("t", table)
    start = time.perf_counter()
    connection.execute("SELECT k, COUNT(*) AS n FROM t GROUP BY k").to_arrow_table()
    engine = time.perf_counter() - start
    warnings.simplefilter("ignore")
    session = dp.Session(table, name="t", schema={"k": "int"}, unit=dp.Row(), budget=dp.Budget(10, 1e-6))
    start = time.perf_counter()
    answer = session.release("SELECT k, COUNT(*) AS n FROM t GROUP BY k", epsilon=1, delta=1e-7)
    released = time.perf_counter() - start
    histogram = dp.mechanisms.StabilityHistogram(epsilon=1, delta=1e-7, relation="add_remove")
    start = time.perf_counter()
    bins = histogram.release(keys)
    alone = time.perf_counter() - start
    print(
        f"{options.keys:,} keys: exact GROUP BY {engine:.2f} s; release {released:.2f} s, {released / engine:.1f} times"
    )
    print(f"stability histogram of the same array {alone:.2f} s; shown: {len(answer)} and {len(bins)} keys")


if __name__ == "__main__":
    main()
