"""Sums with normal noise on a graphics processor: two kernels, and no wait between them.

Element i of a sum has a normal variable that is a function of a key: a word of a ChaCha20 block chooses layer, sign and
place, and where the layer is one of the rest, further blocks that are its own give attempts in a fixed order. ``drawn``
is that function, in plain tensor arithmetic. The kernels compute the same in float64 and say of each element whether
that decides its cell: a value far from the edges of cells, of a variable that was kept with room to spare, is decided.
The others, one of 500 million, are listed, and the processor decides them as rationals, with bits drawn until they are
sure. So each result is the point of the grid nearest to the sum with an ideal, real-valued normal variable.

Triton compiles the kernels. It is not needed elsewhere, nor is this file read where there is no such device.
"""

import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from discreet.learn.sgd import kernels
from discreet.learn.sgd.chacha import CONSTANTS, _double_round, words_on
from discreet.learn.sgd.normal import (
    DOUBT,
    FINE_EDGE,
    _decided,
    _ends,
    _is_density,
    _staircase,
    _tried,
    coarse_grid,
    draw,
    in_cells,
    ratio_of,
    rounded,
)
from discreet.learn.sgd.staircase import LAYER_BITS, LAYERS, TICKET_BITS, table
from discreet.noise import source

__all__ = ["Started", "begin", "drawn", "usable"]

Key = npt.NDArray[np.int64]

LANES = 128
TILE = 8 * LANES
LARGEST = 1 << 30
TURNS = 64
"""How often two attempts at the rest are made before it is left to the definition, which is for one of ``10^27``."""
DOUBTS = 1 << 10
"""Room for doubts: 2 of ``LARGEST`` are expected, and more than these come with odds below ``10^-2000``."""


@dataclass(slots=True)
class Started:
    """Noise that is under way: ``out`` will hold it, and must not be shown to anyone before ``finish``.

    ``status`` holds how many elements were listed for the second kernel, and how many are in doubt. Until ``finish``
    the sum must stay as it was. What is released is the point of the grid times ``share``.
    """

    total: Tensor
    sigma: float
    grid: Fraction
    key: Key | None
    out: Tensor
    status: Tensor
    doubts: Tensor
    room: int
    share: float = 1.0
    _counts: Tensor = field(init=False)
    _ready: torch.cuda.Event | None = None

    def __post_init__(self) -> None:
        self._counts = self.status
        if self.status.is_cuda:
            self._counts = torch.empty(2, dtype=torch.int32, pin_memory=True).copy_(self.status, non_blocking=True)
            self._ready = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._ready.record()

    def finish(self) -> bool:
        """Wait for the kernels and decide what they left in doubt; tell whether there was any. The key is forgotten."""
        key, self.key = self.key, None
        if key is None:
            return False
        if self._ready is not None:
            self._ready.synchronize()
        listed, doubts = self._counts.tolist()
        flat = self.total.reshape(-1)
        if listed > self.room or doubts > DOUBTS:
            words = words_on(flat.device)
            draws = draw(flat.numel(), words, ratio_of(self.sigma, self.grid))
            self.out.copy_(rounded(self.total.clone(), self.sigma, self.grid, draws, words, self.share))
        elif doubts:
            at = self.doubts[:doubts].long().sort().values
            points = _points(flat[at].cpu(), self.sigma, self.grid, drawn(at.cpu(), key))
            self.out.view(-1)[at] = (points * self.share).to(self.out)
        else:
            return False
        return True


def begin(total: Tensor, sigma: float, grid: Fraction, kind: torch.dtype | None = None, share: float = 1.0) -> Started:
    """Launch the kernels that add noise of deviation sigma and round to the grid, under a key of their own.

    What is not finite counts as 0. Points of the grid, times ``share``, are given in the type of the sum, or in another
    ``kind``. Nothing here waits for the device.
    """
    return _launched(total, sigma, grid, source().words(4).view(np.int64), kind=kind, share=share)


def usable(device: torch.device, kind: torch.dtype, count: int) -> bool:
    """Tell whether the kernels work here; they are compiled and looked at once, beside the plain definition."""
    return (
        kernels.tl is not None
        and kind in (torch.float32, torch.float64)
        and count <= LARGEST
        and _checked(device, kind)
    )


def drawn(index: Tensor, key: Key) -> tuple[Tensor, Tensor, Tensor]:
    """Return the variables of some elements, on the processor: ``low + width [place, place + 1) / 2^53`` holds each.

    Undecided attempts at the rest are decided exactly.

    >>> low, width, place = drawn(torch.arange(3), np.zeros(4, dtype=np.int64))
    >>> (low + width * (place.double() / 2**53)).round(decimals=2).tolist()
    [1.37, -0.35, 1.69]
    """
    blocks, back = torch.unique(index // TILE * LANES + index % LANES, return_inverse=True)
    words = _stream(key, blocks, 0)[back, index % TILE // LANES]
    layer = words & (LAYERS - 1)
    width = _ends(index.device)[layer] * (1 - 2 * (words >> LAYER_BITS & 1))
    place = words >> 11 & ((1 << 53) - 1)
    low = torch.zeros_like(width)
    missing, turn = torch.nonzero(layer >= table().steps).view(-1), 0
    while missing.numel():
        turn += 1
        words = _stream(key, index[missing], turn)
        for first in (0, 3):
            tried, kept = _tried(*words[:, first : first + 3].T)
            at = missing[kept]
            low[at], width[at] = (tried[:2] * tried[3])[:, kept]
            place[at] = tried[2, kept].long()
            missing, words = missing[~kept], words[~kept]
    return low, width, place


def _stream(key: Key, counter: Tensor, nonce: int) -> Tensor:
    """Return ChaCha20 blocks by their numbers: a row of eight 64-bit words for each."""
    zero = torch.zeros_like(counter, dtype=torch.int32)
    fixed = (zero + word for word in (*CONSTANTS, *key.view(np.int32).tolist()))
    start = torch.stack([*fixed, counter.int(), zero + nonce, zero, zero])
    state = start
    for _ in range(10):
        state = _double_round(state)
    return (state + start).T.reshape(-1).view(torch.int64).view(-1, 8)


def _points(values: Tensor, sigma: float, grid: Fraction, known: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    return _decided(in_cells(values.double(), float(grid)), float(Fraction(sigma) / grid), float(grid), known)


def _finite(values: Tensor) -> Tensor:
    return torch.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


def _launched(
    total: Tensor,
    sigma: float,
    grid: Fraction,
    key: Key,
    edge: float = FINE_EDGE,
    kind: torch.dtype | None = None,
    share: float = 1.0,
) -> Started:
    """Launch both kernels.

    A layer is of the rest with odds of 3 in 1024. By Chernoff's bound, more than twice the expected number and 4096
    are listed with odds below ``10^-2000``, whatever the size; then all is drawn anew in ``finish``. Floats are handed
    over by their bits, as Triton would make them single.
    """
    flat, device = total.reshape(-1), total.device
    count, steps = flat.numel(), table().steps
    room = 2 * (count * (LAYERS - steps) // LAYERS) + 4096
    out = torch.empty_like(flat, dtype=kind)
    status = torch.zeros(2, dtype=torch.int32, device=device)
    listed, doubts = (torch.empty(size, dtype=torch.int32, device=device) for size in (room, DOUBTS))
    scale = [_bits(float(value)) for value in (1 / grid, Fraction(sigma) / grid, grid, 0.5 - edge, share)]
    keys = key.tolist()
    with torch.cuda.device_of(flat):  # type: ignore[no-untyped-call]
        if count:
            kernels.first[(-(-count // TILE),)](
                flat, out, _ends(device), status, listed, count, room, *keys, *scale, steps, LAYER_BITS, LANES
            )
            kernels.second[(-(-room // LANES),)](
                *(flat, out, *_staircase(device), status, listed, doubts, room, *keys, *scale),
                *(_bits(DOUBT), _bits(math.sqrt(2 / math.pi))),
                *(len(table().low), 64 - TICKET_BITS, DOUBTS, TURNS, LANES),
            )
        return Started(total, sigma, grid, key, out.view(total.shape), status, doubts, room, share)


def _bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


@cache
def _checked(device: torch.device, kind: torch.dtype) -> bool:
    try:
        return _alike(device, kind)
    except Exception:  # whatever a compiler may raise, there is another way to the same law
        return False


def _alike(device: torch.device, kind: torch.dtype) -> bool:
    """Tell whether the kernels give what the definition gives, list what is near an edge, and know the density."""
    count, sigma, edge = 20 * TILE - 7, 0.7, 2.0**-7
    grid, key = coarse_grid(sigma), np.array([-0x123456789ABCDEF, 3, -7, 1 << 40])
    total = torch.linspace(-3.0, 3.0, count, dtype=kind) ** 15
    total[:3] = torch.tensor([math.nan, math.inf, -math.inf])
    started = _launched(total.to(device), sigma, grid, key, edge)
    low, width, place = drawn(torch.arange(count), key)
    value = _finite(total).double() / float(grid)
    value -= value.round()
    value += float(Fraction(sigma) / grid) * (low + width * (place.double() * 2.0**-53))
    doubtful = torch.nonzero((value - value.round()).abs() > 0.5 - edge).view(-1)
    found = started.doubts[: int(started.status[1])].long().sort().values.cpu()
    points = torch.linspace(0.0, 9.0, 64, dtype=torch.float64, device=device)
    densities = torch.empty_like(points)
    kernels.densities[(1,)](points, densities, _bits(math.sqrt(2 / math.pi)), 64)
    return (
        torch.equal(started.out.cpu(), _points(total, sigma, grid, (low, width, place)).to(kind))
        and torch.equal(found, doubtful)
        and _is_density(points, densities)
    )
