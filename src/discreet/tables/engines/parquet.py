"""What the metadata of Parquet files says of their columns, where DuckDB would find out only from the rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from discreet.errors import InvalidParameter

__all__ = ["milliseconds", "stored_columns"]


def stored_columns(connection: Any, files: Sequence[str]) -> list[tuple[str, str, bool]]:  # noqa: ANN401  of DuckDB
    """Return every column of every file: its name, its type, and whether it holds timestamps in milliseconds."""
    return list(_columns(connection, files))


def milliseconds(columns: Iterable[tuple[str, str, bool]]) -> set[str]:
    """Return the columns of timestamps in milliseconds, whose conversion to microseconds fails far from today.

    Files that store a column differently are refused: DuckDB turns all into the type of the first file while it reads,
    and a value that does not fit in stops the query.
    """
    types: dict[str, str] = {}
    found = set()
    for name, stored, slow in columns:
        if types.setdefault(name, stored) != stored:
            raise InvalidParameter(
                f"the files store the column {name} in different types. Write all files with the same types."
            )
        if slow:
            found.add(name)
    return found


def _columns(connection: Any, files: Sequence[str]) -> Iterator[tuple[str, str, bool]]:  # noqa: ANN401
    """Yield the columns of every file with their types, without the parts of those that are nested."""
    rows = connection.execute(
        "SELECT file_name, name, coalesce(num_children, 0), duckdb_type, converted_type = 'TIMESTAMP_MILLIS' "
        "OR logical_type LIKE 'TimestampType%MilliSeconds()%' FROM parquet_schema($1)",
        [list(files)],
    ).fetchall()
    file, inside = None, 0
    for name_of_file, name, children, stored, slow in rows:
        if name_of_file != file:  # the first entry stands for the whole file
            file, inside = name_of_file, 0
            continue
        if not inside:
            yield str(name), str(stored), bool(slow)
        inside = max(0, inside - 1) + int(children)
