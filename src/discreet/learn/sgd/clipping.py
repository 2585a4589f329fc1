"""Clipping: each example's gradient is scaled to at most a norm, and the clipped gradients are added up.

Flat clipping bounds the norm over all parameters; per layer, each of L layers has ``clip / sqrt(L)``, so that the whole
keeps the same bound (McMahan, Ramage, Talwar and Zhang, ICLR 2018).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.learn.sgd.contributions import Chosen, Contribution, Each, Outer, squared_norms

__all__ = ["Clipped", "clipped"]

SAFE = 1 + 2.0**-10
"""Norms are taken for this much more than they were computed to be: rounding, also in sums of a million squares."""


@dataclass(frozen=True, slots=True)
class Clipped:
    """The sum of clipped gradients for each parameter, and by how much more examples lie below the clip than above.

    Both are as private as the data. One example adds a vector of norm at most ``clip`` to the sums, and 1/2 or -1/2 to
    ``balance``; one whose gradient is not finite adds nothing to the sums and counts as above.
    """

    sums: dict[Tensor, Tensor]
    balance: Tensor


def clipped(
    notes: Mapping[Tensor, Sequence[Contribution]],
    mask: Tensor,
    *,
    clip: float,
    scale: float,
    groups: Sequence[Sequence[Tensor]],
    rows: int | None = None,
) -> Clipped:
    """Clip the gradients of all examples and add them up.

    ``mask`` is false for padding, ``scale`` is what a mean over the batch divided by. Parameters of one group are
    clipped together, to ``clip / sqrt(number of groups)``. Sums over more than ``rows`` examples are made in float64,
    or of as many at a time and added up in float64; see ``discreet.learn.sgd.rounding``.
    """
    bound = clip / math.sqrt(len(groups))
    sums: dict[Tensor, Tensor] = {}
    balance = torch.zeros((), dtype=torch.float64)
    for group in groups:
        used = [parameter for parameter in group if notes[parameter]]
        if not used:
            sums.update({parameter: torch.zeros_like(parameter) for parameter in group})
            continue
        squares = torch.stack([squared_norms(notes[parameter]).to(mask.device) for parameter in used]).sum(0)
        norms = squares.sqrt() * scale
        keep = torch.isfinite(norms) & mask
        weights = torch.where(keep, scale * (bound / (norms * SAFE)).clamp(max=1.0), torch.zeros_like(norms))
        finite = torch.isfinite(norms).all()
        found = {p: _added(notes[p], weights, p, rows) for p in group}
        if not finite:  # asked for late: an accelerator need not wait for the answer
            found = {p: _added([part.finite(keep) for part in notes[p]], weights, p, rows) for p in group}
        sums.update(found)
        below = (norms <= bound) & keep
        balance = (torch.where(below, 0.5, -0.5) * mask).sum(dtype=torch.float64)
    return Clipped(sums, balance)


def _added(parts: Sequence[Contribution], weights: Tensor, parameter: Tensor, rows: int | None) -> Tensor:
    if not parts:
        return torch.zeros_like(parameter)
    if rows is None or len(weights) <= rows:
        return _together(parts, weights).reshape(parameter.shape)
    total = torch.zeros(parameter.shape, dtype=torch.float64, device=weights.device)
    even = next(few for few in range(rows, 0, -1) if len(weights) % few == 0)
    for part in parts:
        if isinstance(part, Outer | Chosen):
            total += part.wide().weighted_sum(weights).reshape(parameter.shape)
            continue
        if isinstance(part, Each) and 2 * even > rows:
            total += part.in_blocks(weights, even).sum(0, dtype=torch.float64).reshape(parameter.shape)
            continue
        for start in range(0, len(weights), rows):
            few = slice(start, start + rows)
            total += part.some(few).weighted_sum(weights[few]).reshape(parameter.shape)
    return total


def _together(parts: Sequence[Contribution], weights: Tensor) -> Tensor:
    total = parts[0].weighted_sum(weights)
    for part in parts[1:]:
        total = total + part.weighted_sum(weights)
    return total
