"""A progress bar for long scans and long fits, on the curator's terminal.

How long a query runs depends on data, so the bar is drawn only where somebody asks for it or sits at the terminal of
the process that holds the data; it is never part of an answer.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.tables.engines import Engine

__all__ = ["Bar", "Tell", "Watcher"]

Bar = Callable[[str, float | None], None]
"""Shows what is being done, and which share of it is; None while nobody can tell."""

Tell = Callable[[str, int, int], None]
"""Is told a phase of some work, how many parts of it are done, and how many there are."""

PATIENCE = 2.0
"""Seconds before a bar appears on a terminal."""

STEP = 0.5
"""Seconds between two looks at how far something is."""


class Watcher:
    """Shows how far an engine is, if it can tell, and how far work on what it found is.

    ``show`` is a bar of somebody else, or says whether one is drawn on the terminal, every half second after the first
    two.

    >>> shown = []
    >>> with Watcher(lambda words, share: shown.append((words, share))).working() as tell:
    ...     tell("estimate", 1, 4)
    >>> shown[-1]
    ('estimate', 0.25)
    """

    def __init__(self, show: bool | Bar | None = None) -> None:
        self.bar = show if callable(show) else None
        self.show = bool(sys.stderr.isatty() if show is None else show)

    @contextmanager
    def watching(self, engine: Engine) -> Iterator[None]:
        """Watch the query that runs inside."""
        if not self.show:
            yield
            return
        over = False

        def told() -> tuple[str, float | None]:
            try:
                return "reading", 1.0 if over else engine.progress()
            except Exception:  # a driver that cannot be asked now
                return "reading", None

        with self._shown(told):
            yield
            over = True

    @contextmanager
    def working(self) -> Iterator[Tell]:
        """Watch work that tells how far it is."""
        state: tuple[str, float | None] = ("", None)

        def tell(phase: str, done: int, total: int) -> None:
            nonlocal state
            state = (phase, done / max(total, 1))

        if not self.show:
            yield tell
            return
        with self._shown(lambda: state):
            yield tell

    @contextmanager
    def _shown(self, told: Callable[[], tuple[str, float | None]]) -> Iterator[None]:
        done, bar = threading.Event(), self.bar or _drawn

        def step() -> None:
            words, share = told()
            bar(words, share if share is None else max(0.0, min(1.0, share)))

        def show() -> None:
            drawn = False
            over = done.wait(0.0 if self.bar else PATIENCE)
            while not over:
                drawn = True
                step()
                over = done.wait(STEP)
            if self.bar:
                step()
            elif drawn:
                sys.stderr.write("\r" + " " * 52 + "\r")

        thread = threading.Thread(target=show, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _drawn(words: str, share: float | None) -> None:
    """Draw a bar; where no share is known, only that something runs."""
    told = f"{'running':<25}     " if share is None else f"{'█' * int(25 * share):<25} {100 * share:3.0f}%"
    sys.stderr.write(f"\r{words:<15} {told}")
    sys.stderr.flush()
