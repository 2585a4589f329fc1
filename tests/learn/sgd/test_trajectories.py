"""The picture of two descents shows real runs: each ends where its noise lets it."""

import numpy as np
import pytest
import torch

from discreet.learn.sgd.trajectories import START, trajectories


@pytest.fixture
def found(repeatable):
    return trajectories(steps=60, repeats=12)


def test_all_runs_begin_at_one_place_and_go_downhill(found):
    assert found.private.shape == (12, 61, 2)
    assert np.allclose(found.private[:, 0], START)
    assert np.allclose(found.plain[:, 0], START)
    least = found.loss(found.lowest)
    start = found.loss(found.plain[0, 0]) - least
    assert found.loss(found.plain[0, -1]) - least < 0.01 * start
    assert np.mean(found.loss(found.private[:, -1]) - least) < 0.1 * start


def test_private_steps_are_clipped_and_noisy(found):
    """At the start every gradient is far above the clip of 1, so the mean step of all runs is at most rate * clip."""
    first = found.private[:, 1] - found.private[:, 0]
    assert np.linalg.norm(first.mean(0)) < np.linalg.norm(found.plain[0, 1] - found.plain[0, 0])
    ends = found.private[:, -1].std(0)
    assert (ends > 0.05).all()


def test_the_loss_is_that_of_the_records(found):
    weights = np.array([0.3, -0.2])
    model = torch.tensor(found.features) @ torch.tensor(weights)
    assert found.loss(weights) == pytest.approx(float((model - torch.tensor(found.targets)).square().mean()))


def test_the_picture_has_two_panels_and_an_ellipse_around_the_ends(found):
    assert len(found.plot().to_dict()["hconcat"]) == 2
    away = found.ellipse() - found.private[:, -1].mean(0)
    inverse = np.linalg.inv(np.cov(found.private[:, -1].T))
    assert np.allclose(np.einsum("ni,ij,nj->n", away, inverse, away), -2 * np.log(0.05), rtol=1e-6)
