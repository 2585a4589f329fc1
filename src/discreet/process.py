"""Which process holds something that can be used up: a budget, a conversation, a training.

A fork copies all of it, and every copy would go on as if it were the only one. So whatever keeps what is left in memory
remembers the process in which it was made, and goes on in that one alone.
"""

import os

from discreet.errors import BudgetExceeded

__all__ = ["Process", "check_process", "process"]

Process = tuple[int, int]
"""The number of a process, and how many forks led to it: numbers of processes are used again."""


class _Forks:
    count = 0


def process() -> Process:
    """Return what tells this process from those that it was forked from, and from those forked from it."""
    return os.getpid(), _Forks.count


def check_process(made_in: Process, what: str, fix: str) -> None:
    """Refuse to go on with something that was made in another process.

    >>> check_process(process(), "this account", "Spend from it where it was opened.")
    """
    if made_in != process():
        raise BudgetExceeded(
            f"{what} was opened in another process, which goes on with it: a fork copies what is left, and each copy "
            f"would spend it again. Nothing was spent: release nothing. {fix}"
        )


def _forked() -> None:
    _Forks.count += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
