"""Records that once moved a clipped sum by more than the clip: terms that cancel, squares that vanish, long vectors."""

import pytest
import torch
from torch import nn

from discreet.learn.sgd.clipping import clipped
from discreet.learn.sgd.contributions import Chosen, Each, Outer, squared_norms
from discreet.learn.sgd.layers.convolution import Geometry, Patches

ROOM = 1 + 1 / 60


def moved(parts, others, shape, scale=1.0, clip=1.0):
    """Return how far the last of the examples moves the clipped sum of all of them."""
    parameter = nn.Parameter(torch.zeros(shape))
    found = []
    for last in (True, False):
        mask = torch.ones(others + 1, dtype=torch.bool)
        mask[-1] = last
        sums = clipped({parameter: parts}, mask, clip=clip, scale=scale, groups=[[parameter]], rows=264).sums
        found.append(sums[parameter].double())
    return float((found[0] - found[1]).norm())


def positions(others, large):
    """Return inner and outer factors: others of norm 1, and one example with two large terms that cancel."""
    left, right = torch.zeros(others + 1, 2, 1), torch.zeros(others + 1, 2, 1)
    left[:, 0] = right[:, 0] = 1.0
    left[-1, 1] = -1.0
    right[-1] = large
    return left, right


@pytest.mark.parametrize("large", [1e4, 1e7, 1e10, 1e15])
def test_terms_of_one_example_that_cancel(large):
    left, right = positions(7, large)
    assert moved([Outer(left, right)], 7, (1, 1)) <= ROOM
    apart = [Outer(left[:, k : k + 1], right[:, k : k + 1]) for k in (0, 1)]
    assert moved(apart, 7, (1, 1)) <= ROOM
    assert moved([Each((left * right)[:, k]) for k in (0, 1)], 7, (1,)) <= ROOM
    assert moved([Each((left * right)[:, 0]), Outer(left[:, 1:], right[:, 1:])], 7, (1, 1)) <= ROOM
    rows = Chosen(torch.zeros(8, 2, dtype=torch.long), left * right, 1)
    assert moved([rows], 7, (1, 1)) <= ROOM
    assert moved([Each((left * right)[:, 0]), Chosen(rows.index[:, 1:], rows.rows[:, 1:], 1)], 7, (1, 1)) <= ROOM


@pytest.mark.parametrize("large", [1e4, 1e10])
def test_patches_of_one_image_that_cancel(large):
    x, gradients = torch.zeros(40, 1, 64), torch.zeros(40, 1, 62)
    x[:, :, 0] = gradients[:, :, 0] = 1.0
    x[-1], gradients[-1, 0, -1] = large, -1.0
    part = Patches(x, gradients, torch.Size((1, 1, 3)), Geometry((3,), (1,), (0,), (1,), 1))
    assert moved([part], 39, (1, 1, 3)) <= ROOM


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("width", [2, 40])
def test_gradients_whose_squares_are_lost(count, width):
    left = torch.full((1, count, width), 2.6e-23)
    right = torch.full((1, count, width), 1e18)
    assert moved([Outer(left, right)], 0, (width, width), scale=264.0, clip=1e-3) <= 1e-3 * ROOM
    assert moved([Outer(right, left)], 0, (width, width), scale=264.0, clip=1e-3) <= 1e-3 * ROOM


@pytest.mark.parametrize("size", [1 << 22, (1 << 24) + 5])
def test_long_gradients_of_like_entries(size):
    for value in (1.0, 0.7, 1.2345):
        norm = float(squared_norms([Each(torch.full((1, size), value))]).sqrt())
        assert norm * (1 + 2.0**-10) >= float(torch.tensor(value).double()) * size**0.5


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_sums_are_made_in_single_precision_at_least(kind):
    ones = torch.ones(260, 1, 1, dtype=kind)
    for others in (255, 256, 257, 258):
        for part in (Outer(ones[: others + 1], ones[: others + 1]), Each(ones[: others + 1, 0])):
            assert moved([part], others, (1, 1)) <= ROOM
        index = torch.zeros(others + 1, 1, dtype=torch.long)
        assert moved([Chosen(index, ones[: others + 1], 1)], others, (1, 1)) <= ROOM
        part = Patches(
            ones[: others + 1],
            ones[: others + 1],
            torch.Size((1, 1, 1)),
            Geometry((1,), (1,), (0,), (1,), 1),
        )
        assert moved([part], others, (1, 1, 1)) <= ROOM


def test_a_parameter_may_be_a_single_number():
    assert moved([Each(torch.full((8,), 5.0))], 7, ()) <= ROOM
