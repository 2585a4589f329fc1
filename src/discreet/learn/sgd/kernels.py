"""The kernels behind ``launching`` and ``products``, in Triton, which compiles them where there is a device for them.

Those of noise compute in float64 what ``launching.drawn`` defines, and list what that leaves undecided. There integers
are unsigned, so that shifts bring zeros; floats come as their bits, as Triton takes floats for single ones; and
constants are those that single precision holds exactly.
"""
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-incomplete-defs
# mypy: disable-error-code="valid-type"

from typing import Any

__all__ = ["densities", "first", "product", "second", "tl", "turned"]

tl: Any = None
constexpr: Any = int
try:
    import triton

    tl, jit, constexpr = triton.language, triton.jit, triton.language.constexpr
    kernel = triton.jit(
        do_not_specialize=["count", "room", "k0", "k1", "k2", "k3", "inverse", "ratio", "grid", "limit", "share"]
    )
except ImportError:

    def jit(function: Any) -> Any:  # noqa: ANN401
        """Leave a function as it is: without Triton none is called."""
        return function

    kernel = jit


@jit
def _real(bits):
    return bits.to(tl.int64).to(tl.float64, bitcast=True)


@jit
def _even(x):
    """Round to whole numbers, halves to even ones: float64 has no others from 2^52 on. No zero is negative."""
    whole = tl.where(
        x < 0, (x - 4503599627370496.0) + 4503599627370496.0, (x + 4503599627370496.0) - 4503599627370496.0
    )
    return tl.where(tl.abs(x) < 4503599627370496.0, whole, x)


@jit
def _density(x, root):
    return root * tl.exp(-x * x * 0.5)


@jit
def densities(points, found, root, count: constexpr):
    """Write the half normal density at some points, to be looked at."""
    at = tl.arange(0, count)
    tl.store(found + at, _density(tl.load(points + at), _real(root)))


@jit
def _turned(x, by: constexpr):
    return (x << by) | (x >> (32 - by))


@jit
def _quarter(a, b, c, d):
    a = a + b
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 12)
    a = a + b
    d = _turned(d ^ a, 8)
    c = c + d
    b = _turned(b ^ c, 7)
    return a, b, c, d


@jit
def _word(low, high):
    return low.to(tl.uint64) | (high.to(tl.uint64) << 32)


@jit
def _block(k0, k1, k2, k3, counter, nonce):
    """Return the eight words of ChaCha20 blocks."""
    zero = counter & 0
    s4, s5 = zero + k0.to(tl.uint32), zero + (k0.to(tl.int64) >> 32).to(tl.uint32)
    s6, s7 = zero + k1.to(tl.uint32), zero + (k1.to(tl.int64) >> 32).to(tl.uint32)
    s8, s9 = zero + k2.to(tl.uint32), zero + (k2.to(tl.int64) >> 32).to(tl.uint32)
    s10, s11 = zero + k3.to(tl.uint32), zero + (k3.to(tl.int64) >> 32).to(tl.uint32)
    x0, x1, x2, x3 = zero + 0x61707865, zero + 0x3320646E, zero + 0x79622D32, zero + 0x6B206574
    x4, x5, x6, x7, x8, x9, x10, x11 = s4, s5, s6, s7, s8, s9, s10, s11
    x12, x13, x14, x15 = counter, nonce, zero, zero
    for _ in range(10):
        x0, x4, x8, x12 = _quarter(x0, x4, x8, x12)
        x1, x5, x9, x13 = _quarter(x1, x5, x9, x13)
        x2, x6, x10, x14 = _quarter(x2, x6, x10, x14)
        x3, x7, x11, x15 = _quarter(x3, x7, x11, x15)
        x0, x5, x10, x15 = _quarter(x0, x5, x10, x15)
        x1, x6, x11, x12 = _quarter(x1, x6, x11, x12)
        x2, x7, x8, x13 = _quarter(x2, x7, x8, x13)
        x3, x4, x9, x14 = _quarter(x3, x4, x9, x14)
    w0, w1 = _word(x0 + 0x61707865, x1 + 0x3320646E), _word(x2 + 0x79622D32, x3 + 0x6B206574)
    w2, w3 = _word(x4 + s4, x5 + s5), _word(x6 + s6, x7 + s7)
    w4, w5 = _word(x8 + s8, x9 + s9), _word(x10 + s10, x11 + s11)
    w6, w7 = _word(x12 + counter, x13 + nonce), _word(x14, x15)
    return w0, w1, w2, w3, w4, w5, w6, w7


@jit
def _settled(total, low, width, place, inverse, ratio, grid):
    """Return the point nearest to each sum as float64 has it, and how far the sum is from it, in cells."""
    part = total.to(tl.float64) * inverse
    part = tl.where(tl.abs(part) < float("inf"), part, 0.0)
    whole = _even(part)
    value = (part - whole) + ratio * (low + width * (place * 1.1102230246251565e-16))
    cell = _even(value)
    return (whole + cell) * grid, tl.abs(value - cell)


@kernel
def first(
    total, out, ends, status, listed, count, room, k0, k1, k2, k3, inverse, ratio, grid, limit, share,
    steps: constexpr, layer_bits: constexpr, lanes: constexpr,
):  # fmt: skip
    """Add noise where a layer is a uniform part: a ChaCha20 block a lane, and eight elements a block.

    What is left to do is listed: elements of the rest by their number, those in doubt by -1 less their number.
    """
    inverse, ratio, grid, limit, share = _real(inverse), _real(ratio), _real(grid), _real(limit), _real(share)
    lane = tl.arange(0, lanes)
    counter = (tl.program_id(0) * lanes + lane).to(tl.uint32)
    w0, w1, w2, w3, w4, w5, w6, w7 = _block(k0, k1, k2, k3, counter, counter & 0)
    at = tl.program_id(0) * 8 * lanes + lane
    for _ in tl.static_range(8):
        inside = at < count
        layer = (w0 & ((1 << layer_bits) - 1)).to(tl.int32)
        sign = 1 - 2 * ((w0 >> layer_bits) & 1).to(tl.int32)
        width = tl.load(ends + layer) * sign.to(tl.float64)
        place = (w0 >> 11).to(tl.int64).to(tl.float64)
        value = tl.load(total + at, mask=inside, other=0.0)
        point, distance = _settled(value, 0.0, width, place, inverse, ratio, grid)
        tl.store(out + at, (point * share).to(out.dtype.element_ty), mask=inside & (layer < steps))
        chosen = inside & ((layer >= steps) | (distance > limit))
        slot = tl.atomic_add(status + (at & 0), 1, mask=chosen, sem="relaxed")
        tl.store(listed + slot, tl.where(layer >= steps, at, -1 - at), mask=chosen & (slot < room))
        w0, w1, w2, w3, w4, w5, w6, w7 = w1, w2, w3, w4, w5, w6, w7, w0
        at += lanes


@jit
def _interval(ticket, sums, intervals: constexpr):
    """Return how many sums are at most a ticket."""
    k, step = (ticket & 0).to(tl.int32), 1024
    for _ in tl.static_range(11):
        below = tl.load(sums + tl.minimum(k + step, intervals) - 1) <= ticket
        k = tl.where((k + step <= intervals) & below, k + step, k)
        step = step // 2
    return k


@kernel
def second(
    total, out, lows, widths, taken, height, sums, status, listed, doubts, room, k0, k1, k2, k3,
    inverse, ratio, grid, limit, share, doubt, root,
    intervals: constexpr, shift: constexpr, most: constexpr, turns: constexpr, lanes: constexpr,
):  # fmt: skip
    """Draw what is listed from the rest, by rejection, and list what is in doubt: a lane an element.

    Attempts are made in the order of the definition. One that is undecided ends them, and so does the last turn: what
    is left in doubt is drawn by the definition itself.
    """
    slot = tl.program_id(0) * lanes + tl.arange(0, lanes)
    live = slot < tl.minimum(tl.load(status), room)
    entry = tl.load(listed + slot, mask=live, other=0)
    at = tl.where(entry < 0, -1 - entry, entry)
    fresh = live & (entry >= 0)
    pending, unsure = fresh.to(tl.int32), (live & (entry < 0)).to(tl.int32)
    low = tl.zeros([lanes], tl.float64)
    width, place = low, low
    doubt, root, turn = _real(doubt), _real(root), 0
    while (tl.max(pending, 0) > 0) & (turn < turns):
        turn += 1
        w0, w1, w2, w3, w4, w5, _w6, _w7 = _block(k0, k1, k2, k3, at.to(tl.uint32), ((at & 0) + turn).to(tl.uint32))
        for _ in tl.static_range(2):
            k = _interval((w0 >> shift).to(tl.int64), sums, intervals)
            valid = k < intervals
            k = tl.minimum(k, intervals - 1)
            spot = (w1 >> 11).to(tl.int64).to(tl.float64)
            coin = (w2 >> 11).to(tl.int64).to(tl.float64)
            sign = (1 - 2 * (w2 & 1).to(tl.int32)).to(tl.float64)
            start, length = tl.load(lows + k), tl.load(widths + k)
            under = tl.load(taken + k) + tl.load(height + k) * (coin * 1.1102230246251565e-16)
            left = _density(start + length * (spot * 1.1102230246251565e-16), root) - under
            ends = (pending > 0) & valid & (left >= -doubt)
            unsure = tl.where(ends & (left <= doubt), 1, unsure)
            low, width = tl.where(ends, start * sign, low), tl.where(ends, length * sign, width)
            place = tl.where(ends, spot, place)
            pending = tl.where(ends, 0, pending)
            w0, w1, w2 = w3, w4, w5
    value = tl.load(total + at, mask=fresh, other=0.0)
    point, distance = _settled(value, low, width, place, _real(inverse), _real(ratio), _real(grid))
    tl.store(out + at, (point * _real(share)).to(out.dtype.element_ty), mask=fresh)
    chosen = live & ((unsure + pending > 0) | (distance > _real(limit)))
    mark = tl.atomic_add(status + 1 + (at & 0), 1, mask=chosen, sem="relaxed")
    tl.store(doubts + mark, at, mask=chosen & (mark < most))


@jit
def turned(
    values, weights, out, count, width, stride, room, positions,
    weighted: constexpr, few: constexpr, wide: constexpr,
):  # fmt: skip
    """Write ``count`` rows of values as columns, each times the weight of its example, and zeros up to ``room``."""
    k, j = tl.program_id(0) * few + tl.arange(0, few), tl.program_id(1) * wide + tl.arange(0, wide)
    row = tl.load(
        values + k[:, None] * stride + j[None, :], mask=(k < count)[:, None] & (j < width)[None, :], other=0.0
    )
    if weighted:
        row = row * tl.load(weights + k // positions, mask=k < count, other=0.0)[:, None]
    tl.store(out + j[:, None] * room + k[None, :], tl.trans(row), mask=(k < room)[None, :] & (j < width)[:, None])


@jit
def product(
    left, right, out, rows, columns, room: constexpr, block: constexpr,
    tall: constexpr, wide: constexpr, deep: constexpr, group: constexpr, precision: constexpr,
):  # fmt: skip
    """Write ``left right^T``, added up in single precision over blocks of columns and in float64 over blocks.

    Both have ``room`` columns; ``room`` and ``block`` are multiples of ``deep``. Programs that are near each other in
    time read the same rows, ``group`` tiles of them.
    """
    program, across = tl.program_id(0), tl.cdiv(columns, wide)
    start = program // (group * across) * group
    size = tl.minimum(tl.cdiv(rows, tall) - start, group)
    i = (start + program % (group * across) % size) * tall + tl.arange(0, tall)
    j = program % (group * across) // size * wide + tl.arange(0, wide)
    k = tl.arange(0, deep)
    total = tl.zeros((tall, wide), tl.float64)
    part = tl.zeros((tall, wide), tl.float32)
    for step in range(room // deep):
        at = step * deep + k
        a = tl.load(left + i[:, None] * room + at[None, :], mask=(i < rows)[:, None], other=0.0)
        b = tl.load(right + at[:, None] + j[None, :] * room, mask=(j < columns)[None, :], other=0.0)
        part = tl.dot(a, b, part, input_precision=precision)
        if (step + 1) % (block // deep) == 0:
            total += part.to(tl.float64)
            part = tl.zeros((tall, wide), tl.float32)
    total += part.to(tl.float64)
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    tl.store(out + i[:, None] * columns + j[None, :], total.to(out.dtype.element_ty), mask=inside)
