"""A progress bar for long scans, on the curator's terminal.

How long a query runs depends on data, so the bar is drawn only where somebody asks for it or sits at the terminal of
the process that holds the data; it is never part of an answer.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.tables.engines import Engine

__all__ = ["Watcher"]

PATIENCE = 2.0
"""Seconds before a bar appears."""


class Watcher:
    """Draws how far an engine is, if it can tell, every half second after the first two."""

    def __init__(self, show: bool | None = None) -> None:
        self.show = sys.stderr.isatty() if show is None else show

    @contextmanager
    def watching(self, engine: Engine) -> Iterator[None]:
        """Watch the query that runs inside."""
        done = threading.Event()
        told = getattr(engine, "progress", None)
        if not self.show or told is None:
            yield
            return

        def draw() -> None:
            shown = done.wait(PATIENCE)
            while not shown:
                percent = max(0.0, min(100.0, float(told())))
                bar = "█" * int(percent / 4)
                sys.stderr.write(f"\rreading {bar:<25} {percent:3.0f}%")
                sys.stderr.flush()
                if shown := done.wait(0.5):
                    sys.stderr.write("\r" + " " * 42 + "\r")

        thread = threading.Thread(target=draw, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
