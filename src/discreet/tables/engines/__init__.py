"""Engines: where tables live and aggregates are computed."""

from collections.abc import Mapping
from typing import Any

from discreet.errors import InvalidParameter
from discreet.tables.engines.duckdb import DuckDBEngine
from discreet.tables.engines.engine import Engine, Relation
from discreet.tables.engines.files import UnlikeFiles
from discreet.tables.engines.postgres import SCHEMES, PostgresEngine, PostgresTable

__all__ = ["DuckDBEngine", "Engine", "PostgresTable", "Relation", "UnlikeFiles", "engine_for"]


def engine_for(source: object, settings: Mapping[str, Any], connection: object = None) -> Engine:
    """Return the engine that can read a source, or that of a DuckDB connection or Spark session one has."""
    if isinstance(connection, Engine):
        return connection
    if connection is not None:
        owner = type(connection).__module__.partition(".")[0]
        if owner in ("duckdb", "_duckdb"):
            return DuckDBEngine(connection, **settings)
        if owner == "pyspark":
            from discreet.tables.engines.spark import SparkEngine

            return SparkEngine(connection)  # type: ignore[arg-type]
        raise InvalidParameter(
            f"engine is a DuckDB connection, a Spark session or an Engine, got {type(connection).__name__}."
        )
    module = type(source).__module__.partition(".")[0]
    if isinstance(source, PostgresTable) or (isinstance(source, str) and source.startswith(SCHEMES)):
        return PostgresEngine()
    if module == "pyspark":
        from discreet.tables.engines.spark import SparkEngine

        return SparkEngine(source.sparkSession)  # type: ignore[attr-defined]
    return DuckDBEngine(**settings)
