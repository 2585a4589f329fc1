"""Weighted sums of outer products on a graphics processor, in float64 over blocks of rows that are never written down.

A clipped sum over many rows is added up in single precision over a few rows at a time, and in float64 over those (see
``discreet.learn.sgd.rounding``). A product for each block takes as much memory as there are blocks, and as much time to
read them again. Here one kernel keeps both sums of a tile where it computes: a product then takes about as long as one
that rounds everything in single precision. Its factors are written as columns before, which the device multiplies
fastest. The order of all sums is fixed.
"""

from functools import cache

import torch
from torch import Tensor

from discreet.learn.sgd import kernels

__all__ = ["added", "usable"]

TALL = WIDE = 128
DEEP = 32
GROUP = 8
TURNED = 64
LEAST = 64
"""Factors with fewer columns than this are better multiplied otherwise."""
LARGEST = 1 << 31


def usable(left: Tensor, right: Tensor, rows: int) -> bool:
    """Tell whether sums over so many rows at a time can be made here, and are worth it.

    They are where products may take tf32 factors. The kernels are compiled and looked at once.
    """
    return (
        kernels.tl is not None
        and left.is_cuda
        and torch.backends.cuda.matmul.allow_tf32
        and left.dtype == right.dtype == torch.float32
        and rows >= DEEP
        and min(left.shape[2], right.shape[2]) >= LEAST
        and max(_room(left) * max(left.shape[2], right.shape[2]), left.shape[2] * right.shape[2]) < LARGEST
        and _checked(left.device)
    )


def added(left: Tensor, right: Tensor, weights: Tensor, rows: int, out: Tensor, precision: str = "tf32") -> None:
    """Write ``sum over examples e and positions t of weights[e] left[e, t] right[e, t]^T`` to a contiguous ``out``.

    Sums are in float64 but over at most ``rows`` examples at a time.
    """
    positions, room = left.shape[1], _room(left)
    with torch.cuda.device_of(out):  # type: ignore[no-untyped-call]
        a, b = _as_columns(left, weights, room), _as_columns(right, None, room)
        tiles = -(-a.shape[0] // TALL) * -(-b.shape[0] // WIDE)
        kernels.product[(tiles,)](
            *(a, b, out, a.shape[0], b.shape[0], room, rows // DEEP * DEEP * positions),
            *(TALL, WIDE, DEEP, GROUP, precision),
            num_warps=8,
            num_stages=4,
        )


def _room(left: Tensor) -> int:
    """Return how many columns all rows take, filled up to whole steps of the kernel."""
    return -(-left.shape[0] * left.shape[1] // DEEP) * DEEP


def _as_columns(values: Tensor, weights: Tensor | None, room: int) -> Tensor:
    examples, positions, width = values.shape
    flat = values.reshape(examples * positions, width)
    flat = flat if flat.stride(1) == 1 else flat.contiguous()
    out = flat.new_empty(width, room)
    kernels.turned[(-(-room // TURNED), -(-width // TURNED))](
        *(flat, flat if weights is None else weights, out, len(flat), width, flat.stride(0), room, positions),
        *(weights is not None, TURNED, TURNED),
    )
    return out


@cache
def _checked(device: torch.device) -> bool:
    try:
        return _alike(device)
    except Exception:  # whatever a compiler may raise, there is another way to the same sum
        return False


def _alike(device: torch.device, precision: str = "tf32") -> bool:
    """Tell whether the kernels add up what they should, and over no more rows in single precision than they should.

    Small whole numbers are multiplied exactly. The second sum is ``2^24 + 1 + ... + 1``, a block each: in single
    precision it would stay what it was.
    """
    at = torch.arange(200 * 3 * 96, device=device).reshape(200, 3, 96).float()
    left, right = at % 13 - 6, (at * 7 % 11)[:, :, :70] - 5
    weights = torch.arange(200, device=device).float() % 4
    out = torch.empty(96, 70, dtype=torch.float64, device=device)
    added(left, right, weights, 70, out, precision)
    exact = torch.einsum("e,eti,etj->ij", weights.double().cpu(), left.double().cpu(), right.double().cpu())
    ones = torch.zeros(5 * DEEP, 1, LEAST, device=device)
    ones[::DEEP] = 1.0
    scale = torch.ones(5 * DEEP, device=device)
    scale[0] = 2.0**24
    sums = torch.empty(LEAST, LEAST, dtype=torch.float64, device=device)
    added(ones, ones, scale, DEEP, sums, precision)
    return torch.equal(out.cpu(), exact) and bool((sums == 2.0**24 + 4).all())
