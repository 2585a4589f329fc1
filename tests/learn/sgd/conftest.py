"""One thread for torch, as several tests run at a time; ``sgd_brute_force`` is made importable."""

import sys
import warnings
from pathlib import Path

import pytest
import torch

from discreet.errors import NotPrivateWarning
from discreet.testing import seeded

sys.path.insert(0, str(Path(__file__).parent))
torch.set_num_threads(1)


@pytest.fixture
def repeatable(request):
    """Draw noise from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield
