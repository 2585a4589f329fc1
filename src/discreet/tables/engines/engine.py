"""What an engine does: hold tables, and answer a query with an Arrow table of aggregates."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.tables.dialects import Dialect, Stored

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Engine", "Relation", "interruptible"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A table that an engine can read: what stands after FROM, and how its columns are stored, from metadata alone.

    ``alike`` has the columns in which values that are read as different ones may name the same, and says why.
    """

    sql: str
    columns: dict[str, Stored]
    alike: Mapping[str, str] = field(default_factory=dict)


class Engine(ABC):
    """One connection to where data lives. What it raises never reaches an analyst: the session catches it.

    Several threads may use it at once: ``run`` answers them one after another, or side by side where it can.
    """

    dialect: Dialect
    closed = False

    @abstractmethod
    def attach(self, name: str, source: object, declared: Sequence[str] = ()) -> Relation:
        """Make a source readable; names and types are read, rows are not.

        A file without metadata has the columns that are declared.
        """

    def turn(self) -> AbstractContextManager[object]:
        """Wait until no other query is in the way of those that the same thread runs inside; time counts from then."""
        return nullcontext()

    @abstractmethod
    def run(self, sql: str, *, seconds: float | None = None) -> "pa.Table":
        """Return the result of a query, or stop it after so many seconds and raise."""

    def progress(self) -> float | None:
        """Return which part of the running query is done, from 0 to 1; None if the engine cannot tell."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds, for good: it is ``closed`` from now on."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Make Ctrl-C a KeyboardInterrupt again: drivers turn it into an error of their own, which looks like a failure."""
    stopped = False
    try:
        yield
    except Exception as error:
        stopped = _is_interrupt(error)
        if not stopped:
            raise
    if stopped:
        interrupt = KeyboardInterrupt()
        try:
            raise interrupt
        finally:
            interrupt.__context__ = None  # it holds no trace of the engine's own


def _is_interrupt(error: BaseException) -> bool:
    found: BaseException | None = error
    for _ in range(10):
        if found is None or isinstance(found, KeyboardInterrupt):
            break
        found = found.__cause__ or found.__context__
    return isinstance(found, KeyboardInterrupt)
