"""Engines: where tables live and aggregates are computed."""

from collections.abc import Mapping
from typing import Any

from discreet.tables.engines.duckdb import DuckDBEngine
from discreet.tables.engines.engine import Engine, Relation
from discreet.tables.engines.postgres import SCHEMES, PostgresEngine, PostgresTable

__all__ = ["DuckDBEngine", "Engine", "PostgresTable", "Relation", "engine_for"]


def engine_for(source: object, settings: Mapping[str, Any]) -> Engine:
    """Return the engine that can read a source."""
    module = type(source).__module__.partition(".")[0]
    if isinstance(source, PostgresTable) or (isinstance(source, str) and source.startswith(SCHEMES)):
        return PostgresEngine()
    if module == "pyspark":
        from discreet.tables.engines.spark import SparkEngine

        return SparkEngine(source.sparkSession)  # type: ignore[attr-defined]
    return DuckDBEngine(**settings)
