"""Whether records touch each other: what other rows' gradients are made of must not move with a row.

Two passes over made-up records differ in some of the rows. What layers noted of all other rows, their inputs and the
gradients of their outputs, must be the same, up to what two passes over the very same records differ by.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from discreet.errors import InvalidParameter
from discreet.learn.sgd.contributions import Chosen, Contribution, Outer
from discreet.learn.sgd.layers.convolution import Patches

__all__ = ["Notes", "alive", "coarsest", "moved", "spread"]

Notes = Mapping[Tensor, Sequence[Contribution]]

ROUNDINGS = 4
"""Roundings of the largest value by which rows may differ that do not touch each other."""
BLURRED = 1e-3
"""How far apart two passes over the same records may be, as a share of the largest value."""


def moved(one: Notes, two: Notes, others: Tensor, noise: Sequence[float] | None = None) -> bool:
    """Tell whether what was noted of the ``others`` differs by more than the noise of each part."""
    for place, (a, b) in enumerate(_pairs(one, two)):
        x, y = a[others.to(a.device)], b[others.to(b.device)]
        if not x.numel():
            continue
        if not torch.equal(torch.isfinite(x), torch.isfinite(y)):
            return True
        unit = torch.finfo(x.dtype).eps if x.is_floating_point() else 0.0
        allowed = ROUNDINGS * unit * _largest(x) + ROUNDINGS * (noise[place] if noise is not None else 0.0)
        if _apart(x, y) > allowed:
            return True
    return False


def spread(one: Notes, two: Notes) -> list[float]:
    """Return how far apart two passes over the same records are, part by part."""
    found = []
    for a, b in _pairs(one, two):
        found.append(_apart(a, b))
        if found[-1] > BLURRED * _largest(a):
            raise InvalidParameter(
                "two passes over the same made-up records gave different gradients, so that it cannot be told whether "
                "records touch each other. Let the model and the loop draw from torch's, numpy's or Python's global "
                "generators, or from generators that are attributes of the model."
            )
    return found


def alive(notes: Notes) -> bool:
    """Tell whether any gradient is finite and not 0, so that a change could be seen."""
    gradients = (_rows(part)[-1] for parts in notes.values() for part in parts)
    return any(bool((torch.isfinite(part.detach()) & (part.detach() != 0)).any()) for part in gradients)


def coarsest(notes: Notes) -> float:
    """Return the largest share by which rounding to a type of what was noted may change a number."""
    tensors = (tensor for parts in notes.values() for part in parts for tensor in _rows(part))
    return max((torch.finfo(tensor.dtype).eps for tensor in tensors if tensor.is_floating_point()), default=0.0)


def _pairs(one: Notes, two: Notes) -> list[tuple[Tensor, Tensor]]:
    found = []
    for parameter, parts in one.items():
        others = two[parameter]
        sides = [[tensor for part in side for tensor in _rows(part)] for side in (parts, others)]
        shapes = [[tensor.shape for tensor in side] for side in sides]
        if shapes[0] != shapes[1]:
            raise InvalidParameter(
                "which layers of the model are run, or in which shapes, depends on what is in a batch. Then no "
                "record's part can be bounded. Run the same layers on every batch."
            )
        found += list(zip(*sides, strict=True))
    return found


def _rows(part: Contribution) -> list[Tensor]:
    """Return what a contribution is made of, examples along the first dimension, gradients last."""
    if isinstance(part, Outer):
        return [part.right, part.left]
    if isinstance(part, Chosen):
        return [part.index, part.rows]
    if isinstance(part, Patches):
        return [part.inputs, part.gradients]
    return [part.each()]


def _apart(x: Tensor, y: Tensor) -> float:
    if not x.numel():
        return 0.0
    return float((_finite(x) - _finite(y)).abs().max())


def _largest(x: Tensor) -> float:
    return float(_finite(x).abs().max()) if x.numel() else 0.0


def _finite(x: Tensor) -> Tensor:
    return torch.nan_to_num(x.detach().double(), nan=0.0, posinf=0.0, neginf=0.0)
