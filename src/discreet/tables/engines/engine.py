"""What an engine does: hold tables, and answer a query with an Arrow table of aggregates."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.tables.dialects import Dialect, Stored

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Engine", "Relation"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A table that an engine can read: what stands after FROM, and how its columns are stored, from metadata alone.

    ``alike`` has the columns in which values that are read as different ones may name the same, and says why.
    """

    sql: str
    columns: dict[str, Stored]
    alike: Mapping[str, str] = field(default_factory=dict)


class Engine(ABC):
    """One connection to where data lives. What it raises never reaches an analyst: the session catches it."""

    dialect: Dialect

    @abstractmethod
    def attach(self, name: str, source: object, declared: Sequence[str] = ()) -> Relation:
        """Make a source readable; names and types are read, rows are not.

        A file without metadata has the columns that are declared.
        """

    @abstractmethod
    def run(self, sql: str, *, seconds: float | None = None) -> "pa.Table":
        """Return the result of a query, or stop it after so many seconds and raise."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds."""
