"""Clipping: each example's gradient is scaled to at most a norm, and the clipped gradients are added up.

Flat clipping bounds the norm over all parameters; per layer, each of L layers has ``clip / sqrt(L)``, so that the whole
keeps the same bound (McMahan, Ramage, Talwar and Zhang, ICLR 2018).
"""

import math
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import torch
from torch import Tensor

from discreet.learn.sgd.contributions import Chosen, Contribution, InBlocks, Outer, merged, squared_norms
from discreet.learn.sgd.fusing import fused
from discreet.learn.sgd.products import added, usable

__all__ = ["Clipped", "clipped"]

SAFE = 1 + 2.0**-10
"""Norms are taken for this much more than they were computed to be: rounding, also in sums of a million squares."""

AT_A_TIME = 1 << 24
"""Numbers that sums over blocks may take in memory at a time."""


@dataclass(frozen=True, slots=True)
class Clipped:
    """The sum of clipped gradients for each parameter, and by how much more examples lie below the clip than above.

    ``flat`` holds the sums of all parameters in a row, and ``sums`` are views of it. Sums and ``balance`` are as
    private as the data. One example adds a vector of norm at most ``clip`` to the sums, and 1/2 or -1/2 to ``balance``;
    one whose gradient is not finite adds nothing to the sums and counts as above. ``finite`` tells whether there was
    none; where that was not waited for and is false, the sums are of no use.
    """

    flat: Tensor
    sums: dict[Tensor, Tensor]
    balance: Tensor
    finite: Tensor


def clipped(
    notes: MutableMapping[Tensor, list[Contribution]],
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
    done about gradients that are not finite. Notes are taken out of ``notes``, so that each is forgotten once added.
    """
    bound = clip / math.sqrt(len(groups))
    held = {parameter: merged(notes.pop(parameter)) for parameter in list(notes)}
    flat, sums = _room(list(held), mask, wide=rows is not None and len(mask) > rows)
    balance = torch.zeros((), dtype=torch.float64)
    finite = torch.ones((), dtype=torch.bool, device=mask.device)
    clipped_ones = {parameter for group in groups for parameter in group}
    for parameter, parts in held.items():
        if not parts or parameter not in clipped_ones:
            sums[parameter].zero_()
    for group in groups:
        used = [parameter for parameter in group if held[parameter]]
        if not used:
            continue
        squares = torch.stack([squared_norms(held[parameter]).to(mask.device) for parameter in used]).sum(0)
        norms = squares.sqrt() * scale
        keep = torch.isfinite(norms) & mask
        weights = torch.where(keep, scale * (bound / (norms * SAFE)).clamp(max=1.0), torch.zeros_like(norms))
        whole = torch.isfinite(norms).all()
        finite = finite & whole
        clean = not wait or bool(whole)
        for p in used:
            parts = held.pop(p)
            _add(parts if clean else [part.finite(keep) for part in parts], weights, sums[p], rows)
            del parts
        below = (norms <= bound) & keep
        balance = (torch.where(below, 0.5, -0.5) * mask).sum(dtype=torch.float64)
    return Clipped(flat, sums, balance, finite)


def _room(parameters: Sequence[Tensor], mask: Tensor, *, wide: bool) -> tuple[Tensor, dict[Tensor, Tensor]]:
    """Return a row for the sums of all parameters, in float64 if it is wide, and where in it each of them is."""
    wide = wide or any(parameter.dtype == torch.float64 for parameter in parameters)
    sizes = [parameter.numel() for parameter in parameters]
    flat = torch.empty(sum(sizes), dtype=torch.float64 if wide else torch.float32, device=mask.device)
    parts = zip(parameters, torch.split(flat, sizes), strict=True)
    return flat, {parameter: part.view(parameter.shape) for parameter, part in parts}


def _add(parts: Sequence[Contribution], weights: Tensor, total: Tensor, rows: int | None) -> None:
    """Write the weighted sum of all parts to ``total``."""
    if rows is None or len(weights) <= rows:
        _together(parts, weights, total)
        return
    alone = parts[0]
    if len(parts) == 1 and isinstance(alone, Outer) and usable(alone.left, alone.right, rows):
        added(alone.left, alone.right, weights, rows, total)
        return
    total.zero_()
    even = next(few for few in range(rows, 0, -1) if len(weights) % few == 0)
    for part in parts:
        if isinstance(part, Chosen) or (isinstance(part, Outer) and weights.device.type == "cpu"):
            total += part.wide().weighted_sum(weights).reshape(total.shape)
            continue
        blocks = isinstance(part, InBlocks) and 2 * even > rows
        step = even * max(1, AT_A_TIME // max(1, total.numel())) if blocks else rows
        for start in range(0, len(weights), step):
            few = slice(start, start + step)
            one, held = part.some(few), weights[few]
            if isinstance(one, InBlocks) and blocks:
                add = fused(_increased) if total.is_cuda else _increased
                total.copy_(add(total, one.in_blocks(held, even).reshape(-1, *total.shape)))
            else:
                total += one.weighted_sum(held).reshape(total.shape)


def _increased(total: Tensor, blocks: Tensor) -> Tensor:
    return total + blocks.sum(0, dtype=torch.float64)


def _together(parts: Sequence[Contribution], weights: Tensor, total: Tensor) -> None:
    """Write the sum of all parts; terms that may be longer than their sum are added up in float64."""
    many = [part.wide() if _has_positions(part) and weights.device.type == "cpu" else part for part in parts]
    alone = many[0]
    if len(many) == 1 and isinstance(alone, Outer) and alone.left.dtype == alone.right.dtype == total.dtype:
        alone.weighted_into(weights, total)
        return
    found = alone.weighted_sum(weights)
    for part in many[1:]:
        found = found.double() + part.weighted_sum(weights)
    total.copy_(found.to(weights.dtype).reshape(total.shape))


def _has_positions(part: Contribution) -> TypeGuard[Outer | Chosen]:
    """Tell whether the gradient of an example is a sum of terms that are not written down."""
    return isinstance(part, Outer | Chosen) and (part.left if isinstance(part, Outer) else part.rows).shape[1] > 1
