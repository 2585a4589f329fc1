"""Clipping: each example's gradient is scaled to at most a norm, and the clipped gradients are added up.

Flat clipping bounds the norm over all parameters; per layer, each of L layers has ``clip / sqrt(L)``, so that the whole
keeps the same bound (McMahan, Ramage, Talwar and Zhang, ICLR 2018).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import torch
from torch import Tensor

from discreet.learn.sgd.contributions import Chosen, Contribution, InBlocks, Outer, merged, squared_norms
from discreet.learn.sgd.fusing import fused

__all__ = ["Clipped", "clipped"]

SAFE = 1 + 2.0**-10
"""Norms are taken for this much more than they were computed to be: rounding, also in sums of a million squares."""

AT_A_TIME = 1 << 24
"""Numbers that sums over blocks may take in memory at a time."""


@dataclass(frozen=True, slots=True)
class Clipped:
    """The sum of clipped gradients for each parameter, and by how much more examples lie below the clip than above.

    Both are as private as the data. One example adds a vector of norm at most ``clip`` to the sums, and 1/2 or -1/2 to
    ``balance``; one whose gradient is not finite adds nothing to the sums and counts as above. ``finite`` tells whether
    there was none; where that was not waited for and is false, the sums are of no use.
    """

    sums: dict[Tensor, Tensor]
    balance: Tensor
    finite: Tensor


def clipped(
    notes: Mapping[Tensor, Sequence[Contribution]],
    mask: Tensor,
    *,
    clip: float,
    scale: float,
    groups: Sequence[Sequence[Tensor]],
    rows: int | None = None,
    wait: bool = True,
) -> Clipped:
    """Clip the gradients of all examples and add them up.

    ``mask`` is false for padding, ``scale`` is what a mean over the batch divided by. Parameters of one group are
    clipped together, to ``clip / sqrt(number of groups)``. Sums over more than ``rows`` examples are made in float64,
    or of as many at a time and added up in float64; see ``discreet.learn.sgd.rounding``. Without ``wait`` nothing is
    done about gradients that are not finite.
    """
    bound = clip / math.sqrt(len(groups))
    notes = {parameter: merged(parts) for parameter, parts in notes.items()}
    sums: dict[Tensor, Tensor] = {}
    balance = torch.zeros((), dtype=torch.float64)
    finite = torch.ones((), dtype=torch.bool, device=mask.device)
    for group in groups:
        used = [parameter for parameter in group if notes[parameter]]
        if not used:
            sums.update({parameter: torch.zeros_like(parameter) for parameter in group})
            continue
        squares = torch.stack([squared_norms(notes[parameter]).to(mask.device) for parameter in used]).sum(0)
        norms = squares.sqrt() * scale
        keep = torch.isfinite(norms) & mask
        weights = torch.where(keep, scale * (bound / (norms * SAFE)).clamp(max=1.0), torch.zeros_like(norms))
        whole = torch.isfinite(norms).all()
        finite = finite & whole
        found = {p: _added(notes[p], weights, p, rows) for p in group}
        if wait and not whole:  # asked for late: an accelerator need not wait for the answer
            found = {p: _added([part.finite(keep) for part in notes[p]], weights, p, rows) for p in group}
        sums.update(found)
        below = (norms <= bound) & keep
        balance = (torch.where(below, 0.5, -0.5) * mask).sum(dtype=torch.float64)
    return Clipped(sums, balance, finite)


def _added(parts: Sequence[Contribution], weights: Tensor, parameter: Tensor, rows: int | None) -> Tensor:
    if not parts:
        return torch.zeros_like(parameter)
    if rows is None or len(weights) <= rows:
        return _together(parts, weights).reshape(parameter.shape)
    total = torch.zeros(parameter.shape, dtype=torch.float64, device=weights.device)
    even = next(few for few in range(rows, 0, -1) if len(weights) % few == 0)
    for part in parts:
        if isinstance(part, Chosen) or (isinstance(part, Outer) and weights.device.type == "cpu"):
            total += part.wide().weighted_sum(weights).reshape(parameter.shape)
            continue
        blocks = isinstance(part, InBlocks) and 2 * even > rows
        step = even * max(1, AT_A_TIME // parameter.numel()) if blocks else rows
        for start in range(0, len(weights), step):
            few = slice(start, start + step)
            one, held = part.some(few), weights[few]
            if isinstance(one, InBlocks) and blocks:
                add = fused(_increased) if total.is_cuda else _increased
                total = add(total, one.in_blocks(held, even).reshape(-1, *total.shape))
            else:
                total += one.weighted_sum(held).reshape(parameter.shape)
    return total


def _increased(total: Tensor, blocks: Tensor) -> Tensor:
    return total + blocks.sum(0, dtype=torch.float64)


def _together(parts: Sequence[Contribution], weights: Tensor) -> Tensor:
    """Return the sum of all parts; terms that may be longer than their sum are added up in float64."""
    many = [part.wide() if _has_positions(part) and weights.device.type == "cpu" else part for part in parts]
    total = many[0].weighted_sum(weights)
    if len(many) == 1:
        return total.to(weights.dtype)
    for part in many[1:]:
        total = total.double() + part.weighted_sum(weights)
    return total.to(weights.dtype)


def _has_positions(part: Contribution) -> TypeGuard[Outer | Chosen]:
    """Tell whether the gradient of an example is a sum of terms that are not written down."""
    return isinstance(part, Outer | Chosen) and (part.left if isinstance(part, Outer) else part.rows).shape[1] > 1
