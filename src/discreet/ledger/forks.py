"""Forks: no open connection is carried into another process.

The locks of SQLite belong to a process, and a child that was forked with an open database believes that it still holds
them: two processes would then spend without seeing each other. Sockets to PostgreSQL are not shared either. So whoever
keeps connections gives them back right before a fork, which waits for transactions to end, and both sides connect anew.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet

from discreet.errors import LedgerError

__all__ = ["closed_before_forks", "in_use"]

PATIENCE = 60
"""Seconds that a fork waits for transactions of other threads."""


class Keeper(Protocol):
    """Whoever keeps connections between transactions."""

    def close(self) -> None:
        """Give all of them back."""
        ...


class Gate:
    """Counts the threads that use a connection, and is shut while the process forks."""

    def __init__(self) -> None:
        self.moved = threading.Condition(threading.Lock())
        self.inside = threading.local()
        self.count = 0
        self.forking = self.torn = False
        self.keepers: WeakSet[Keeper] = WeakSet()

    def enter(self) -> None:
        """Come in; a thread that is inside already is not kept waiting."""
        depth = getattr(self.inside, "depth", 0)
        if not depth:
            with self.moved:
                self.moved.wait_for(lambda: not self.forking)
                self.count += 1
        self.inside.depth = depth + 1

    def leave(self) -> None:
        """Go out."""
        self.inside.depth -= 1
        if not self.inside.depth:
            with self.moved:
                self.count -= 1
                self.moved.notify_all()

    def shut(self) -> None:
        """Let nobody in, wait until everybody else is out, and close all that is kept."""
        own = min(1, getattr(self.inside, "depth", 0))
        self.moved.acquire()
        self.forking = True
        self.moved.wait_for(lambda: self.count <= own, timeout=PATIENCE)
        for keeper in list(self.keepers):
            keeper.close()

    def open(self) -> None:
        """Let everybody in again."""
        self.forking = False
        self.moved.notify_all()
        self.moved.release()

    def open_in_child(self) -> None:
        """Start anew: the threads that were inside or waited are not in this process."""
        self.torn, self.forking, self.count = self.count > 0, False, 0
        self.moved, self.inside = threading.Condition(threading.Lock()), threading.local()


GATE = Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.shut, after_in_parent=GATE.open, after_in_child=GATE.open_in_child)


def closed_before_forks(keeper: Keeper) -> None:
    """Have a keeper's connections closed before each fork of this process."""
    GATE.keepers.add(keeper)


@contextmanager
def in_use() -> Iterator[None]:
    """Keep the process from forking as long as a connection is in use."""
    if GATE.torn:
        raise LedgerError("this process was forked in the middle of a charge and can use no ledger. Start a new one.")
    GATE.enter()
    try:
        yield
    finally:
        GATE.leave()
