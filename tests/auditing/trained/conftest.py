"""One thread for torch, as several tests run at a time, and noise that is the same each time."""

import warnings

import pytest
import torch

from discreet.errors import NotPrivateWarning
from discreet.testing import seeded

torch.set_num_threads(1)


@pytest.fixture
def repeatable(request):
    """Draw noise from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield
