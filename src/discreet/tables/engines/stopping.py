"""Stopping a query whose time is over."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["stopped_after"]

AGAIN = 0.1
"""Seconds between two calls: the first may come before an engine has begun, and be forgotten."""


@contextmanager
def stopped_after(seconds: float | None, stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` when the time is over, until what runs inside has ended; what it raises is then a ``TimeoutError``.

    >>> import time
    >>> calls = []
    >>> with stopped_after(0.05, lambda: calls.append(1)):
    ...     time.sleep(0.5)
    >>> len(calls) > 0
    True
    """
    if seconds is None:
        yield
        return
    done, over = threading.Event(), threading.Event()

    def watch() -> None:
        waiting = not done.wait(min(max(seconds, 0.0), threading.TIMEOUT_MAX))
        while waiting:
            over.set()
            with suppress(Exception):  # whatever is wrong with the engine, the query shows
                stop()
            waiting = not done.wait(AGAIN)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    except Exception as error:
        if over.is_set():
            raise TimeoutError(f"a query was stopped after {seconds:.3g} seconds.") from error
        raise
    finally:
        done.set()
        thread.join()
