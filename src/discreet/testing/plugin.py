"""The pytest plugin: ``pytest --privacy-tier nightly`` tells every ``assert_private`` how hard to try.

It also offers ``assert_private`` as a fixture.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest

__all__ = ["assert_private", "pytest_addoption", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("discreet", "differential privacy")
    group.addoption("--privacy-tier", choices=("fast", "nightly", "release"), help="how hard assert_private tries")


def pytest_configure(config: pytest.Config) -> None:
    """Hand the tier to this process and to those that it starts."""
    tier = config.getoption("--privacy-tier")
    if tier:
        os.environ["DISCREET_TIER"] = tier


@pytest.fixture(name="assert_private")
def assert_private() -> Callable[..., Any]:
    """Return ``discreet.testing.assert_private``."""
    from discreet.testing.private import assert_private as check

    return check
