"""Synthetic rows for other tools: Arrow, pandas, Polars, Parquet and CSV files, with the types that columns had."""

import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from discreet.errors import InvalidParameter, MissingExtra
from discreet.session.answer import Answer
from discreet.session.frames import csv_bytes
from discreet.tables.kinds import Kind, Value

__all__ = ["Rows", "write_rows"]

ENDINGS = (".parquet", ".csv")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Columns of values, one entry for each synthetic row.

    >>> rows = Rows({"age": [3, None], "sex": ["f", "m"]}, {"age": "int", "sex": "str"})
    >>> len(rows), list(rows)[1], rows["age"]
    (2, {'age': None, 'sex': 'm'}, [3, None])
    """

    columns: Mapping[str, list[Value]]
    kinds: Mapping[str, Kind]
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __iter__(self) -> Iterator[dict[str, Value]]:
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def __getitem__(self, name: str) -> list[Value]:
        return self.column(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.columns)

    def column(self, name: str) -> list[Value]:
        """Return a column as plain Python values."""
        if name not in self.columns:
            raise InvalidParameter(f"there is no column {name!r}. There are: {', '.join(self.columns)}.")
        return self.columns[name]

    def to_arrow(self) -> Any:  # noqa: ANN401  pyarrow is optional
        """Return a pyarrow table; the metadata of its schema carries the loss."""
        pa = _module("pyarrow")
        types = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "bool": pa.bool_(), "date": pa.date32()}
        arrays = [pa.array(values, type=types[self.kinds[name]]) for name, values in self.columns.items()]
        fields = [pa.field(name, array.type) for name, array in zip(self.columns, arrays, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=dict(self.metadata)))

    def to_pandas(self) -> Any:  # noqa: ANN401  pandas is optional
        """Return a pandas frame; whole numbers and truth values with gaps are of its nullable types."""
        pd = _module("pandas")
        gaps = {"int": "Int64", "bool": "boolean"}
        columns = {}
        for name, values in self.columns.items():
            kind = self.kinds[name]
            plain = {"int": "int64", "float": "float64", "bool": "bool"}.get(kind, "object")
            dtype = gaps.get(kind, plain) if None in values else plain
            columns[name] = pd.array(values, dtype=dtype) if dtype in gaps.values() else pd.Series(values, dtype=dtype)
        frame = pd.DataFrame(columns, index=range(len(self)))
        frame.attrs.update(self.metadata)
        return frame

    def to_polars(self) -> Any:  # noqa: ANN401  polars is optional
        """Return a Polars frame."""
        return _module("polars").from_arrow(self.to_arrow())

    def to_csv_bytes(self) -> bytes:
        """Return the rows as CSV in UTF-8, made safe for whoever opens it in a spreadsheet."""
        return csv_bytes(cast("Answer", self))


def write_rows(rows: Rows, path: str | os.PathLike[str]) -> None:
    """Write rows to a file that is either complete or not there: beside its place first, then moved onto it."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise InvalidParameter(f"rows are written to a file that ends in {' or '.join(ENDINGS)}.")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        if target.suffix.lower() == ".csv":
            beside.write_bytes(rows.to_csv_bytes())
        else:
            _module("pyarrow.parquet").write_table(rows.to_arrow(), beside)
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _module(name: str) -> Any:  # noqa: ANN401
    try:
        return import_module(name)
    except ImportError as missing:
        raise MissingExtra(name, "tables") from missing
