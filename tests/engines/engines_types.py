"""What the types of a schema are called in each engine."""

TYPES = {
    "duckdb": {"decimal": "DECIMAL(38, 10)", "float": "DOUBLE", "str": "VARCHAR"},
    "postgres": {"decimal": "NUMERIC", "float": "DOUBLE PRECISION", "str": "TEXT"},
    "spark": {"decimal": "DECIMAL(38, 10)", "float": "DOUBLE", "str": "STRING", "timestamp": "TIMESTAMP_NTZ"},
}
"""What a stored type is called; any other name is an engine's own type and used as it is."""

SHARED = {"bool": "BOOLEAN", "date": "DATE", "int": "BIGINT", "timestamp": "TIMESTAMP"}
