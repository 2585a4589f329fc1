"""Millions of exact normal variables at a time, and sums with them rounded to a grid, on any device.

A 32-bit word gives one draw: ten bits choose a layer of the staircase, the others are a sign and the first bits of a
place in it. That is enough to say in which cell of a wide grid a sum falls, unless it falls close to the edge of one;
there 32 more bits are drawn, and where float64 still leaves a doubt the number is refined as a rational. So each result
is the grid point nearest to the sum with an ideal, real-valued normal variable, and all guarantees of that variable
hold as post-processing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import torch
from flint import arb, ctx
from torch import Tensor

from discreet.errors import InvalidParameter
from discreet.exact import ball, log2_floor
from discreet.learn.sgd.fusing import fused
from discreet.learn.sgd.staircase import LAYER_BITS, LAYERS, TICKET_BITS, density, remainder, table
from discreet.noise.lazy import LazyUniform

__all__ = ["Draws", "Words", "coarse_grid", "draw", "in_cells", "ratio_of", "rounded"]

Words = Callable[[int], Tensor]
"""So many uniform 64-bit words, as int64 on the device that asks for them."""

PLACE_BITS = 31 - LAYER_BITS
GRID_BITS = 8
CHUNK = 1 << 17
EDGE = 1.25 * 2.0**-10
"""How close to an edge of a cell single precision decides nothing; the terms are added up in ``rounded``."""
FINE_EDGE = 2.0**-30
DOUBT = 2.0**-40
SMALL = 2.0**11
"""Sums of fewer cells than this are added to a variable in single precision as they are."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Normal variables: what is near to each times a ratio, the words it came from, and all that is known of the rest.

    A variable times the ratio is near to ``cells + parts``: a whole number, and one between -1/2 and 1/2. Variable
    ``rest[j]`` lies in ``low[j] + width[j] [place[j], place[j] + 1) / 2^53``.
    """

    ratio: float
    cells: Tensor
    parts: Tensor
    words: Tensor
    rest: Tensor
    low: Tensor
    width: Tensor
    place: Tensor

    def known(self, at: Tensor, words: Words) -> tuple[Tensor, Tensor, Tensor]:
        """Return low, width and place of some variables, with 32 bits more than those of the uniform parts had.

        A variable is asked for once: what is drawn for it is not kept.
        """
        given = self.words[at]
        layer = (given & (LAYERS - 1)).long()
        place = (given.long() >> LAYER_BITS << 32) | ((words(at.numel()) >> 32) & 0xFFFFFFFF)
        width, low = _ends(given.device)[layer], torch.zeros_like(place, dtype=torch.float64)
        others = layer >= table().steps
        spot = torch.searchsorted(self.rest, at[others])
        low[others], width[others], place[others] = self.low[spot], self.width[spot], self.place[spot]
        return low, width, place


def coarse_grid(sigma: float) -> Fraction:
    """Return the grid for noise in high dimension: the power of two about a three hundredth of its deviation.

    Rounding to it adds less than a part in 100,000 to the deviation.

    >>> coarse_grid(1.0)
    Fraction(1, 256)
    """
    return Fraction(2) ** (log2_floor(Fraction(sigma)) - GRID_BITS)


def ratio_of(sigma: float, grid: Fraction) -> float:
    """Return how many cells of the grid a deviation is."""
    return float(Fraction(sigma) / grid)


def draw(count: int, words: Words, ratio: float, used: Draws | None = None) -> Draws:
    """Draw independent standard normal variables from words, to be added to sums in cells: all that needs no sum.

    ``used`` are variables that are needed no more: as many new ones are written over them.
    """
    bits = words(max(1, -(-count // 2))).view(torch.int32)[:count]
    ends = (_ends(bits.device) * (ratio * 2.0**-PLACE_BITS)).float()
    rest = []
    if bits.device.type == "cpu":
        if used is not None and used.cells.numel() == count:
            cells, parts = used.cells, used.parts
        else:
            cells, parts = (torch.empty(count, dtype=torch.float32) for _ in range(2))
        placed = _placed_in_place(count)
        for start in range(0, count, CHUNK):
            few = slice(start, start + CHUNK)
            layer = placed(bits[few], ends, cells[few], parts[few])
            rest.append(_beyond(layer, table().steps - 1) + start)
    else:
        cells, parts, layer = fused(_placed)(bits, ends)
        rest.append(_beyond(layer, table().steps - 1))
    others = torch.cat([torch.empty(0, dtype=torch.int64, device=bits.device), *rest])
    low, width, place, signs = _rest(others.numel(), words, bits.device)
    return Draws(ratio, cells, parts, bits, others, low * signs, width * signs, place)


def _placed(bits: Tensor, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the middle of the place that each word names, in two parts, and the layer it lies in."""
    layer = bits & (LAYERS - 1)
    middle = ((bits >> LAYER_BITS).float() + 0.5) * torch.index_select(ends, 0, layer)
    cells = torch.round(middle)
    return cells, middle - cells, layer


def _placed_in_place(count: int) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    """Return ``_placed`` for pieces on the processor, with the same room for each."""
    whole = torch.empty(2, min(CHUNK, count), dtype=torch.int32)

    def placed(bits: Tensor, ends: Tensor, cells: Tensor, parts: Tensor) -> Tensor:
        layer, signed = whole[0, : len(bits)], whole[1, : len(bits)]
        torch.bitwise_and(bits, LAYERS - 1, out=layer)
        torch.bitwise_right_shift(bits, LAYER_BITS, out=signed)
        torch.index_select(ends, 0, layer, out=cells)
        parts.copy_(signed).add_(0.5).mul_(cells)
        torch.round(parts, out=cells)
        parts.sub_(cells)
        return layer

    return placed


def rounded(total: Tensor, sigma: float, grid: Fraction, draws: Draws, words: Words, share: float = 1.0) -> Tensor:
    """Write the points of the grid nearest to ``total + sigma Z``, decided exactly, times ``share``, over the total.

    What is not a finite number of cells counts as 0. In cells of the grid, with ``sigma / grid < 2^9``, a variable is
    known to ``4.03 * 2^-22 * 2^9 < 2^-10.9``; the roundings to single precision of the end of its layer, of its product
    with the place and of the sum, all below ``2^11.1``, are each at most ``2^-13``. Together they stay below ``EDGE``.
    """
    flat = total.view(-1)
    ratio = ratio_of(sigma, grid)
    if draws.ratio != ratio:
        raise InvalidParameter(f"these variables were drawn for a ratio of {draws.ratio}, and this noise has {ratio}.")
    if not (1 <= ratio <= 2 ** (GRID_BITS + 1) and float(grid) * torch.finfo(flat.dtype).max > 1):
        raise InvalidParameter(f"noise of deviation {sigma:g} cannot be added to {flat.dtype} on a grid of {grid}.")
    cells = _cells_in_place(flat) if flat.device.type == "cpu" else fused(_cells)
    step = CHUNK if flat.device.type == "cpu" else max(flat.numel(), 1)
    doubts, kept = [draws.rest], [flat[draws.rest]]
    for start in range(0, flat.numel(), step):
        few = slice(start, start + step)
        point, distance = cells(flat[few], draws.cells[few], draws.parts[few], float(grid))
        unsure = _beyond(distance, 0.5 - EDGE) + start
        doubts.append(unsure)
        kept.append(flat[unsure])
        _placed_on(point, float(grid) * share, flat[few])
    at, inverse = torch.unique(torch.cat(doubts), return_inverse=True)
    if at.numel():
        values = torch.empty_like(flat[at])
        values[inverse] = torch.cat(kept)
        points = _decided(in_cells(values, float(grid)).double(), ratio, float(grid), draws.known(at, words))
        flat[at] = _placed_on((points / float(grid)).to(flat.dtype), float(grid) * share, torch.empty_like(flat[at]))
    return total


def in_cells(values: Tensor, grid: float) -> Tensor:
    """Return values with 0 for those that are no finite number of cells in their own type."""
    return torch.where(torch.isfinite(values * (1 / grid)), values, torch.zeros_like(values))


def _placed_on(point: Tensor, step: float, out: Tensor) -> Tensor:
    """Write multiples of a step, which depend on the multiple alone: a zero of either sign is 0."""
    torch.add(_zero(out.device, out.dtype), point, alpha=step, out=out)
    return out


def _cells(values: Tensor, cells: Tensor, parts: Tensor, grid: float) -> tuple[Tensor, Tensor]:
    """Return the point of the grid that each sum seems to be nearest to, and how far it is from it, both in cells."""
    part = torch.nan_to_num(values * (1 / grid), 0.0, 0.0, 0.0)
    whole = torch.round(part)
    value = (part - whole).float() + parts
    cell = torch.round(value)
    return (whole + cell) + cells, (value - cell).abs()


def _cells_in_place(flat: Tensor) -> Callable[[Tensor, Tensor, Tensor, float], tuple[Tensor, Tensor]]:
    """Return ``_cells`` for pieces of a tensor on the processor, with the same room for each: it stays in the cache."""
    point, value = torch.empty(2, min(CHUNK, flat.numel()), dtype=torch.float32)
    fast = flat.dtype == torch.float32

    def cells(values: Tensor, cells: Tensor, parts: Tensor, grid: float) -> tuple[Tensor, Tensor]:
        near, away = point[: len(values)], value[: len(values)]
        if fast:
            torch.add(parts, values, alpha=1 / grid, out=away)
            least, most = away.aminmax()
            if float(least) > -SMALL and float(most) < SMALL:
                torch.round(away, out=near)
                away.sub_(near).abs_()
                return near.add_(cells), away
        return _cells(values, cells, parts, grid)

    return cells


def _decided(values: Tensor, ratio: float, grid: float, known: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    low, width, place = known
    cells = values / grid
    whole = torch.round(cells)
    cells -= whole
    value = cells + ratio * (low + width * (place.double() * 2.0**-53))
    near = torch.round(value)
    for i in _beyond((value - near).abs_(), 0.5 - FINE_EDGE).tolist():
        start = Fraction(float(cells[i])) + Fraction(ratio) * Fraction(float(low[i]))
        near[i] = _nearest(start, Fraction(ratio) * Fraction(float(width[i])), int(place[i]))
    return (whole + near) * grid + 0.0


def _nearest(start: Fraction, width: Fraction, place: int) -> int:
    """Return the whole number nearest to ``start + width (place + U) / 2^53``, drawing bits of U until it is known."""
    u = LazyUniform(place, 53)
    while True:
        ends = sorted(start + width * Fraction(u.prefix + k, 1 << u.bits) for k in (0, 1))
        first, last = ((2 * end + 1) // 2 for end in ends)
        if first == last:
            return int(first)
        u.refine()


def _rest(count: int, words: Words, device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw from what the uniform parts leave of the half normal density, by rejection under its staircase, and signs.

    A sign is the lowest bit of the word whose highest 53 are the coin of an attempt, which it does not depend on.
    """
    found: list[Tensor] = [torch.empty(4, 0, dtype=torch.float64, device=device)]
    missing = count
    while missing > 0:
        tries = 3 * missing + 32  # about four of ten are kept; a few too many save whole rounds
        tried, kept = _tried(*words(3 * tries).view(3, tries))
        found.append(tried[:, kept])
        missing -= found[-1].shape[1]
    whole = torch.cat(found, 1)[:, :count]
    return whole[0], whole[1], whole[2].long(), whole[3]


def _tried(ticket: Tensor, place: Tensor, coin: Tensor) -> tuple[Tensor, Tensor]:
    """Return low, width, place and sign of attempts at the rest, three words each, and which of them are kept."""
    low, width, taken, height, sums = _staircase(ticket.device)
    sign = 1 - 2 * (coin & 1)
    ticket = ticket >> (64 - TICKET_BITS) & ((1 << TICKET_BITS) - 1)
    k = torch.searchsorted(sums, ticket, right=True).clamp(max=len(low) - 1)
    place, coin = (part >> 11 & ((1 << 53) - 1) for part in (place, coin))
    x = low[k] + width[k] * (place.double() * 2.0**-53)
    left = (2 / torch.pi) ** 0.5 * torch.exp(-x * x / 2) - taken[k] - height[k] * (coin.double() * 2.0**-53)
    kept = (left > 0) & (ticket < sums[-1])
    for i in torch.nonzero((left.abs() <= _doubt(ticket.device)) & (ticket < sums[-1])).view(-1).tolist():
        kept[i] = _accepted(int(k[i]), LazyUniform(int(place[i]), 53), LazyUniform(int(coin[i]), 53))
    return torch.stack([low[k], width[k], place.double(), sign.double()]), kept


def _accepted(k: int, u: LazyUniform, coin: LazyUniform) -> bool:
    """Decide whether a coin lies below the share that is left at u of interval k.

    Bits of u beyond the first 53 are drawn anew if the place is asked for again. That matters only where both this and
    the cell were in doubt, in less than one of ``2^60`` draws.
    """
    made = table()

    def threshold() -> arb:
        while u.bits < ctx.prec:
            u.refine()
        x = ball(Fraction(float(made.low[k]))) + ball(Fraction(float(made.width[k]))) * u.ball()
        return remainder(made, k, x) / ball(made.exact_height(k))

    return coin.below(threshold)


def _beyond(values: Tensor, limit: float) -> Tensor:
    """Return the places of values above a limit; where they are few, numpy finds them much faster than torch."""
    if values.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(values.numpy() > limit))
    return torch.nonzero(values > limit).view(-1)


@cache
def _zero(device: torch.device, kind: torch.dtype) -> Tensor:
    return torch.zeros((), dtype=kind, device=device)


@cache
def _ends(device: torch.device) -> Tensor:
    """Return the ends of all layers; 0 for the rest."""
    ends = torch.zeros(LAYERS, dtype=torch.float64)
    ends[: table().steps] = torch.from_numpy(table().ends)
    return ends.to(device)


@cache
def _staircase(device: torch.device) -> tuple[Tensor, ...]:
    made = table()
    parts = (made.low, made.width, made.taken, made.height, made.sums)
    return tuple(torch.from_numpy(part).to(device) for part in parts)


@cache
def _doubt(device: torch.device) -> float:
    """Return how small a difference float64 leaves in doubt: infinite where ``exp`` is not to be trusted."""
    points = torch.linspace(0.0, 9.0, 64, dtype=torch.float64, device=device)
    found = (2 / torch.pi) ** 0.5 * torch.exp(-points * points / 2)
    return DOUBT if _is_density(points, found) else float("inf")


def _is_density(points: Tensor, found: Tensor) -> bool:
    """Tell whether what was found for the half normal density is right, far below what is left in doubt."""
    return all(
        bool(abs(ball(Fraction(float(value))) - density(ball(Fraction(float(point))))) < DOUBT / 16)
        for value, point in zip(found.tolist(), points.tolist(), strict=True)
    )
