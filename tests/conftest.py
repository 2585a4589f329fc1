"""What all tests share."""

import re
import sys

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_make_parametrize_id(config, val, argname):
    """Name values by their repr, where that is the same in every worker: no memory addresses, no sets."""
    if isinstance(val, set | frozenset):
        return None
    return re.sub(r" at 0x[0-9a-f]+", "", repr(val))[:80]


@pytest.fixture
def instructions():
    """Count the bytecode instructions that a call executes: work that no other program on the machine changes.

    Loops in compiled code count once, so a bound tells that no loop of Python follows the size of an input.
    """

    def count(run):
        executed = 0

        def trace(frame, event, _):
            nonlocal executed
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            executed += event == "opcode"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            run()
        finally:
            sys.settrace(before)
        return executed

    return count
