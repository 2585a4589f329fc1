"""A released table for other tools: numpy, Arrow, pandas, Polars, CSV files."""

import json
import os
import secrets
from collections.abc import Sequence
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import MissingExtra
from discreet.session.text_table import visible
from discreet.session.values import write

if TYPE_CHECKING:
    from discreet.session.answer import Answer

__all__ = ["arrow_table", "csv_bytes", "numpy_column", "pandas_frame", "polars_frame", "write_csv"]

SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1
DECIMAL_DIGITS = 38

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the start of a formula, in quotes or not."""


def numpy_column(values: Sequence[object]) -> np.ndarray:
    """Return numbers as int64 or float64 with NaN for None, True and False as bool, the rest as objects.

    >>> numpy_column([1, 2]).dtype.name, numpy_column([1.5, None]).tolist(), numpy_column(["a", None]).dtype.name
    ('int64', [1.5, nan], 'object')
    """
    known = [x for x in values if x is not None]
    if known and len(known) == len(values) and _all(known, bool):
        return np.array(values, dtype=np.bool_)
    if known and len(known) == len(values) and _fits(known):
        return np.array(values, dtype=np.int64)
    if (known and _all(known, float)) or (_fits(known) and all(abs(x) <= 1 << 53 for x in known)):  # type: ignore[arg-type]
        return np.array([np.nan if x is None else x for x in values], dtype=np.float64)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def arrow_table(answer: "Answer") -> Any:  # noqa: ANN401  pyarrow is optional
    """Return a pyarrow table whose schema carries the loss, the parameters and what else makes the numbers readable."""
    pa = _module("pyarrow")
    arrays = {name: _arrow_column(pa, answer.column(name), name in answer.keys) for name in answer.names}
    fields = [pa.field(name, array.type) for name, array in arrays.items()]
    return pa.Table.from_arrays(list(arrays.values()), schema=pa.schema(fields, metadata=_metadata(answer)))


def pandas_frame(answer: "Answer") -> Any:  # noqa: ANN401  pandas is optional
    """Return a pandas frame; whole numbers with gaps are of its nullable type, ``attrs`` carries the loss."""
    pd = _module("pandas")
    columns = {}
    for name in answer.names:
        values = answer.column(name)
        gaps = None in values and _fits([x for x in values if x is not None]) and any(x is not None for x in values)
        plain = [_text(x) if isinstance(x, str) else x for x in values]
        columns[name] = pd.array(plain, dtype="Int64") if gaps else numpy_column(plain)
    frame = pd.DataFrame(columns, index=range(len(answer)))
    frame.attrs.update(_metadata(answer))
    return frame


def polars_frame(answer: "Answer") -> Any:  # noqa: ANN401  polars is optional
    """Return a Polars frame; it has no place for metadata."""
    pl = _module("polars")
    return pl.from_arrow(arrow_table(answer))


def csv_bytes(answer: "Answer") -> bytes:
    """Return a table as CSV in UTF-8. Numbers are as they are, and None is an empty field without quotes.

    Text is quoted, and made safe for whoever opens the file in a spreadsheet or prints it: a text that starts like a
    formula has an apostrophe before it, and characters that move a cursor, turn text around or show nothing are written
    as escapes. Keys that must be exact are read from Arrow, pandas, Polars, Parquet or JSON, which change nothing.
    """
    columns = [answer.column(name) for name in answer.names]
    lines = [",".join(map(_csv_field, answer.names))]
    lines += [",".join(_csv_field(column[i]) for column in columns) for i in range(len(answer))]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def write_csv(answer: "Answer", path: str | os.PathLike[str]) -> None:
    """Write a file that is either complete or not there: beside its place first, then moved onto it.

    What it holds is said by ``csv_bytes``.
    """
    target = Path(path)
    text = csv_bytes(answer)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _metadata(answer: "Answer") -> dict[str, str]:
    return {
        "discreet.loss": answer.loss.to_json(),
        "discreet.parameters": json.dumps(write(answer.parameters), allow_nan=False),
        "discreet.level": json.dumps(answer.level),
        "discreet.notes": json.dumps(answer.notes),
        "discreet.private": json.dumps(answer.private),
    }


def _arrow_column(pa: Any, values: Sequence[object], is_key: bool) -> Any:  # noqa: ANN401
    """Return an array of the narrowest type that holds every value exactly; text if there is none."""
    known = [x for x in values if x is not None]
    if not known:
        return pa.array(values, type=pa.string() if is_key else pa.float64())
    if _all(known, bool):
        return pa.array(values, type=pa.bool_())
    if _fits(known):
        return pa.array(values, type=pa.int64())
    if all(type(x) is int and abs(x) < 10**DECIMAL_DIGITS for x in known):
        return pa.array(values, type=pa.decimal128(DECIMAL_DIGITS, 0))
    if _all(known, float):
        return pa.array(values, type=pa.float64())
    if _all(known, date):
        return pa.array(values, type=pa.date32())
    if _all(known, datetime) and len({x.tzinfo for x in known}) == 1:  # type: ignore[attr-defined]
        return pa.array(values)
    return pa.array([None if x is None else _text(x) for x in values], type=pa.string())


def _csv_field(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + _harmless(value).replace('"', '""') + '"'
    return _text(value)


def _harmless(text: str) -> str:
    r"""Return a text that no spreadsheet runs and no terminal obeys.

    >>> _harmless("Oslo"), _harmless("=1+1"), _harmless("-40"), _harmless("a\x1b[2J")
    ('Oslo', "'=1+1", "'-40", 'a\\x1b[2J')
    """
    starts = text.startswith(FORMULA) or text.lstrip().startswith(FORMULA)
    return ("'" if starts else "") + visible(text)


def _text(value: object) -> str:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case date():
            return value.isoformat()
    return repr(value)


def _all(values: Sequence[object], kind: type) -> bool:
    return all(type(x) is kind for x in values)


def _fits(values: Sequence[object]) -> bool:
    return all(type(x) is int and SMALLEST <= x <= LARGEST for x in values)


def _module(name: str) -> Any:  # noqa: ANN401
    try:
        return import_module(name)
    except ImportError as missing:
        raise MissingExtra(name, "tables") from missing
