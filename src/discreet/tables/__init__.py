"""Private tables: schemas, expressions, queries, and the engines that aggregate where the data is."""

from discreet.tables.aggregates import (
    correlation,
    count,
    count_distinct,
    covariance,
    max,
    mean,
    median,
    min,
    quantile,
    quantiles,
    stddev,
    sum,
    top_k,
    variance,
)
from discreet.tables.expressions import col, lit, when
from discreet.tables.query import Query
from discreet.tables.schema import Bounds, Column, Schema, Values

__all__ = [
    "Bounds",
    "Column",
    "Query",
    "Schema",
    "Values",
    "col",
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "lit",
    "max",
    "mean",
    "median",
    "min",
    "quantile",
    "quantiles",
    "stddev",
    "sum",
    "top_k",
    "variance",
    "when",
]
