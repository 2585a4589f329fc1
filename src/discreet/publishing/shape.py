"""The shape of a table: names and types of its columns, from metadata alone."""

from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InvalidParameter, MissingExtra
from discreet.tables.engines import engine_for

__all__ = ["Shape", "shape_of"]

TEXT_FILES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table with their types; of a text file, whose types nobody states, the names alone.

    ``columns`` is empty for a file that does not even list its names.
    """

    columns: dict[str, str | None]
    listed: bool = True


def shape_of(source: str, name: str) -> Shape:
    """Return the shape of a source; no row is read, and of a CSV file its first line alone."""
    suffixes = [suffix.lower() for suffix in Path(source.partition("#")[0]).suffixes]
    texts = "://" not in source and any(ending in suffixes[-2:] for ending in TEXT_FILES)
    if texts and any(ending in suffixes[-2:] for ending in TEXT_FILES[2:]):
        return Shape({}, listed=False)
    engine = engine_for(source, {})
    try:
        stored = engine.attach(name, source).columns
    except (InvalidParameter, MissingExtra):
        raise
    except Exception:  # what an engine says may hold values
        kind = "reached" if "://" in source else "read as a table"
        raise InvalidParameter(f"{_shown(source)} cannot be {kind}.") from None
    finally:
        engine.close()
    types = {"decimal": "float", "other": None}
    return Shape({column: None if texts else types.get(kind, kind) for column, kind in stored.items()})


def _shown(source: str) -> str:
    """Return a source without the password that an address may hold."""
    return "the database" if "://" in source else source
