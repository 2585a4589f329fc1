"""What all tests share."""

import re


def pytest_make_parametrize_id(config, val, argname):
    """Name values by their repr, without memory addresses: parallel workers must agree on the names of tests."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(val))[:80]
