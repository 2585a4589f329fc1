"""ChaCha20 as tensor arithmetic: secure words made where they are needed, on the accelerator.

Bernstein, "ChaCha, a variant of Salsa20", 2008; RFC 8439. Every call takes a fresh key of 256 bits from the secure
source, so no state is kept and nothing can be replayed. Torch's own generators are counter based too, but their key is
a seed of 64 bits that everyone can set and read.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from discreet.learn.sgd.fusing import fused
from discreet.noise import source

__all__ = ["keystream", "words_on"]

CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
WORDS_PER_BLOCK = 8


def words_on(device: torch.device) -> Callable[[int], Tensor]:
    """Return a function that gives uniform 64-bit words, as int64, on a device.

    >>> words_on(torch.device("cpu"))(3).dtype
    torch.int64
    """
    if device.type == "cpu":
        return lambda count: torch.from_numpy(source().words(count).view(np.int64))

    def words(count: int) -> Tensor:
        key = torch.from_numpy(source().words(4).view(np.int32)).to(device)
        blocks = -(-count // WORDS_PER_BLOCK)
        return keystream(key, blocks, fused(_double_round)).reshape(-1).view(torch.int64)[:count]

    return words


def keystream(key: Tensor, blocks: int, turn: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """Return the blocks 0, 1, ... of the key stream with nonce 0: sixteen rows of 32-bit words, a column for a block.

    >>> hex(int(keystream(torch.zeros(8, dtype=torch.int32), 1)[0, 0]) & 0xFFFFFFFF)
    '0xade0b876'
    """
    turn = turn or _double_round
    zero = torch.zeros(blocks, dtype=torch.int32, device=key.device)
    constants = torch.tensor(CONSTANTS, dtype=torch.int32, device=key.device)
    counter = torch.arange(blocks, dtype=torch.int32, device=key.device)
    start = torch.stack([*(zero + word for word in torch.cat([constants, key])), counter, zero, zero, zero])
    state = start
    for _ in range(10):
        state = turn(state)
    return state + start


def _double_round(state: Tensor) -> Tensor:
    """Return the state after a round of columns and a round of diagonals."""
    x = list(state.unbind(0))
    for diagonal in (0, 1):
        for k in range(4):
            a, b, c, d = (4 * row + (k + row * diagonal) % 4 for row in range(4))
            x[a], x[b], x[c], x[d] = _quarter(x[a], x[b], x[c], x[d])
    return torch.stack(x)


def _quarter(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    a = a + b
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 12)
    a = a + b
    d = _turned(d ^ a, 8)
    c = c + d
    b = _turned(b ^ c, 7)
    return a, b, c, d


def _turned(x: Tensor, by: int) -> Tensor:
    return (x << by) | ((x >> (32 - by)) & ((1 << by) - 1))
