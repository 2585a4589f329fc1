"""How each engine spells what the plans need."""

from discreet.tables.dialects.dialect import Dialect, Stored
from discreet.tables.dialects.duckdb import DuckDB
from discreet.tables.dialects.postgres import PostgreSQL
from discreet.tables.dialects.spark import Spark

__all__ = ["Dialect", "DuckDB", "PostgreSQL", "Spark", "Stored"]
