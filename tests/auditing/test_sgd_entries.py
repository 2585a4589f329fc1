"""Trainings as they are audited, and that an audit finds a tenth of the noise."""

import warnings

import pytest

torch = pytest.importorskip("torch")

from discreet.auditing.registry import Tier, examine  # noqa: E402
from discreet.auditing.sgd_entries import our_trainings  # noqa: E402
from discreet.errors import NotPrivateWarning  # noqa: E402
from discreet.learn.sgd import run as runs  # noqa: E402
from discreet.testing import seeded  # noqa: E402

torch.set_num_threads(1)

ENTRIES = {entry.name: entry for entry in our_trainings()}
SHORT = Tier(seconds=None, draws=200, alpha=1e-9)


@pytest.mark.parametrize("name", ENTRIES)
def test_all_gradients_are_looked_at(name):
    ((one, other),) = ENTRIES[name].neighbours
    assert (len(one), len(other)) == (1, 0)
    assert ENTRIES[name].release(one).shape == (2 * 3 + 1,)


def test_a_tenth_of_the_noise_is_caught(monkeypatch):
    """The right training stands the same audit in ``test_audit``."""
    kept = runs.begin
    monkeypatch.setattr(runs, "begin", lambda total, sigma, *rest: kept(total, sigma / 10, *rest))
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("a tenth"):
        assert examine(ENTRIES["training, passes, tree"], SHORT).refuted
