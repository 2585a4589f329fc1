"""What all tests share."""

import re

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_make_parametrize_id(config, val, argname):
    """Name values by their repr, where that is the same in every worker: no memory addresses, no sets."""
    if isinstance(val, set | frozenset):
        return None
    return re.sub(r" at 0x[0-9a-f]+", "", repr(val))[:80]
