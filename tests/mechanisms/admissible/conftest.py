"""Shared fixtures; ``admissible_reference`` is made importable because tests are collected in importlib mode."""

import sys
import warnings
from pathlib import Path

import pytest

from discreet.errors import NotPrivateWarning
from discreet.testing import seeded

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def repeatable(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield
