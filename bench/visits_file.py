"""The log of visits as a Parquet file: row groups, cities and kinds by dictionary.

    python bench/visits_file.py OUTPUT.parquet [--rows 10000000] [--users 500000] [--cities 1000]

Users go anywhere (no home city): the largest number of pairs of user and city, hence the hardest case.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.datasets import visits
from discreet.datasets.visits import KINDS

GROUP = 122_880
"""Rows in a row group, as DuckDB writes them."""

FORM = {"compression": "snappy", "use_dictionary": ["city", "kind"]}


def table(rows: int, users: int, cities: int) -> pa.Table:
    """Return the visits as an Arrow table."""
    log = visits(rows, users, cities, home=0.0)
    return pa.table(
        {
            "user_id": log.user_id,
            "city": coded(log.city_code, log.cities.tolist()),
            "day": log.day,
            "amount": log.amount,
            "age": log.age.astype(np.int32),
            "kind": coded(log.kind_code, list(KINDS)),
            "returned": log.returned,
            "rating": pa.array(log.rating, from_pandas=True),
        }
    )


def coded(codes: np.ndarray, names: list[str]) -> pa.DictionaryArray:
    """Return strings as places in a list of names."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names))


def write(path: Path, rows: int, users: int, cities: int) -> None:
    """Write the file, and beside it the names of all cities, which are public; it gets its name when it is whole."""
    part = path.with_suffix(".part")
    whole = table(rows, users, cities)
    pq.write_table(whole, part, row_group_size=GROUP, store_schema=False, **FORM)
    names = whole["city"].chunk(0).dictionary.to_pylist()
    path.with_suffix(".keys.json").write_text(json.dumps(names))
    part.rename(path)


def enlarge(source: Path, path: Path, times: int) -> None:
    """Write a file ``times`` as long: each copy of the source has users of its own, so no number becomes rarer."""
    file = pq.ParquetFile(source)
    stride = 1 + max(
        file.metadata.row_group(k).column(file.schema_arrow.get_field_index("user_id")).statistics.max
        for k in range(file.num_row_groups)
    )
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, file.schema_arrow, store_schema=False, **FORM) as output:
        for copy in range(times):
            for batch in file.iter_batches(batch_size=GROUP):
                user = pa.array(batch.column("user_id").to_numpy() + copy * stride)
                place = batch.schema.get_field_index("user_id")
                output.write_batch(batch.set_column(place, "user_id", user), row_group_size=GROUP)
    part.rename(path)


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--users", type=int, default=None, help="a twentieth of the rows unless told")
    parser.add_argument("--cities", type=int, default=1_000)
    options = parser.parse_args()
    write(options.output, options.rows, options.users or max(1, options.rows // 20), options.cities)


if __name__ == "__main__":
    main()
