"""PipelineDP on its local backend; see ``tables_query.py``."""

from typing import Any

import pipeline_dp as pdp
import pyarrow.parquet as pq
from tables_query import CITIES, DELTA, EPSILON, HIGH, LOW, ROWS, main, names


def released(path: str, identifier: Any, keys: list[str] | None, cities: int, rows: int) -> int:
    """Release count, sum and mean of each city; the identifier is a function of a row and its place."""
    columns = pq.read_table(path, columns=["user_id", "city", "amount"]).to_pydict().values()
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
    result = pdp.DPEngine(accountant, pdp.LocalBackend()).aggregate(
        [(place, *row) for place, row in enumerate(zip(*columns, strict=True))],
        pdp.AggregateParams(
            metrics=[pdp.Metrics.COUNT, pdp.Metrics.SUM, pdp.Metrics.MEAN],
            noise_kind=pdp.NoiseKind.LAPLACE,
            max_partitions_contributed=cities,
            max_contributions_per_partition=rows,
            min_value=LOW,
            max_value=HIGH,
        ),
        pdp.DataExtractors(
            privacy_id_extractor=identifier,
            partition_extractor=lambda row: row[2],
            value_extractor=lambda row: row[3],
        ),
        public_partitions=keys,
    )
    accountant.compute_budgets()
    return len(list(result))


def user(path: str, _: int) -> int:
    """One user is protected; cities with few users do not appear."""
    return released(path, lambda row: row[1], None, CITIES, ROWS)


def row(path: str, _: int) -> int:
    """One row is protected, by its place as the identifier; the cities are public."""
    return released(path, lambda row: row[0], names(path), 1, 1)


if __name__ == "__main__":
    main("PipelineDP", "pipeline-dp", {"user": user, "row": row})
