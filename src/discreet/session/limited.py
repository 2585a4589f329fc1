"""How long a query may take: a public time, after which its engine is stopped.

Whether a query ends in time depends on data, so a stopped one is a release that failed like any other: the words are
fixed, and what was charged stays spent. The time that is taken where nobody says one is therefore far above what a
table of the declared size needs; without a declared size there is none.
"""

import math
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from discreet.errors import InvalidParameter
from discreet.tables.engines import Engine, Relation
from discreet.units import Person, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

__all__ = ["Limited", "usual_timeout"]

PATIENCE = 600.0
"""Seconds for a table of any size: a cluster may have to start."""

ROW = 1e-3
"""Seconds for each row that can count. One machine reads a thousand rows in that time."""


def usual_timeout(timeout: object, size: int | None, unit: Row | Person) -> float | None:
    """Return how many seconds a query may take: what was said, or plenty for a table of the declared size.

    >>> usual_timeout(None, 20_000, Person("user", groups=3, rows=5)), usual_timeout(60, None, Row())
    (900.0, 60.0)
    >>> usual_timeout(None, None, Row()) is None
    True
    """
    if timeout is not None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise InvalidParameter("timeout is a number of seconds above 0; math.inf is none.")
        return None if math.isinf(timeout) else float(timeout)
    if size is not None and (type(size) is not int or size < 0):
        raise InvalidParameter("size is the public number of people, about: a whole number, 0 at least.")
    each = (unit.groups or 1) * (unit.rows or 1) if isinstance(unit, Person) else 1
    size = unit.size if size is None and isinstance(unit, Row) else size
    return None if size is None else PATIENCE + ROW * size * each


class Limited(Engine):
    """An engine for one query, which has so many seconds for its statements; waiting for others does not count."""

    def __init__(self, engine: Engine, seconds: float) -> None:
        self.engine, self.dialect = engine, engine.dialect
        self._left = seconds

    def attach(self, name: str, source: object, declared: "Sequence[str]" = ()) -> Relation:
        """As the engine itself."""
        return self.engine.attach(name, source, declared)

    def run(self, sql: str, *, seconds: float | None = None) -> "pa.Table":
        """Return the result of a query in the time that is left."""
        with self.turn():
            if self._left <= 0:
                raise TimeoutError("a query was not begun: its time was over.")
            begun = time.monotonic()
            try:
                return self.engine.run(sql, seconds=self._left if seconds is None else min(self._left, seconds))
            finally:
                self._left -= time.monotonic() - begun

    def turn(self) -> AbstractContextManager[object]:
        """As the engine itself."""
        return self.engine.turn()

    def progress(self) -> float:
        """As the engine itself, if it can tell."""
        told = getattr(self.engine, "progress", None)
        return -1.0 if told is None else float(told())

    def close(self) -> None:
        """Do nothing: the engine goes on."""
