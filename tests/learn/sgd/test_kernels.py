"""Noise by kernels: the law of its definition, doubts that are resolved exactly, and kernels that compute the same.

The kernels run in Triton's interpreter, where Triton is there. Statistical tests have false alarms of one in a thousand
for a fresh key; theirs is fixed, so that they pass always or never.
"""

import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from scipy import stats

from discreet.learn.sgd import launching, normal
from discreet.learn.sgd.launching import DOUBTS, LANES, TILE, Started, drawn
from discreet.learn.sgd.noise import Ahead, noisy
from discreet.learn.sgd.normal import coarse_grid
from discreet.learn.sgd.staircase import LAYERS, table
from discreet.noise import source

CPU = torch.device("cpu")
KEY = np.array([-(1 << 62) + 12345, 77, -3, 1 << 50])


def points(total, sigma, key=KEY):
    return launching._points(total, sigma, coarse_grid(sigma), drawn(torch.arange(total.numel()), key))


def started(total, sigma, listed, doubts):
    """What kernels would leave that listed some elements as doubtful, and wrote nothing for them."""
    out = points(total, sigma).to(total.dtype)
    out[doubts] = math.nan
    marks = torch.zeros(DOUBTS, dtype=torch.int32)
    marks[: min(len(doubts), DOUBTS)] = torch.tensor(doubts[:DOUBTS], dtype=torch.int32)
    status = torch.tensor([listed, len(doubts)], dtype=torch.int32)
    return Started(total, sigma, coarse_grid(sigma), KEY, out, status, marks, 4096)


def test_blocks_are_those_of_chacha():
    counters = torch.tensor([0, 1, 7, (1 << 30) - 1])
    for nonce in (0, 1, 64):
        ours = launching._stream(KEY, counters, nonce)
        for i, counter in enumerate(counters.tolist()):
            start = counter.to_bytes(4, "little") + nonce.to_bytes(4, "little") + bytes(8)
            block = Cipher(algorithms.ChaCha20(KEY.tobytes(), start), mode=None).encryptor().update(bytes(64))
            assert ours[i].numpy().tobytes() == block


def test_no_word_is_used_twice():
    at = torch.arange(5 * TILE)
    used = (at // TILE * LANES + at % LANES) * 8 + at % TILE // LANES
    assert torch.equal(used.sort().values, at)
    whole = drawn(at, KEY)
    some = torch.tensor([4, 4000, 1023, 1024])
    for part, alone in zip(whole, drawn(some, KEY), strict=True):
        assert torch.equal(part[some], alone)


@pytest.mark.parametrize("sigma", [0.7, 300.0])
def test_the_definition_is_normal(sigma):
    count, grid = 400_000, coarse_grid(sigma)
    total = torch.linspace(-3, 3, count, dtype=torch.float64).round()  # points of both grids
    found = ((points(total, sigma) - total) / float(grid)).numpy()
    ratio = sigma / float(grid)
    edges = np.arange(-1200.5, 1201, 20)
    counts = np.histogram(found, [-np.inf, *edges, np.inf])[0]
    odds = np.diff([0, *stats.norm.cdf(edges / ratio), 1])
    assert stats.chisquare(counts, count * odds).pvalue > 1e-3
    gap = np.abs(np.cumsum(counts) / count - np.cumsum(odds)).max()
    assert gap * math.sqrt(count) < math.sqrt(math.log(2 / 1e-3) / 2)  # Massart's bound


def test_the_rest_of_the_definition_is_what_is_left():
    at = torch.arange(1_500_000)
    low, width, place = drawn(at, KEY)
    words = launching._stream(KEY, torch.arange(-(-len(at) // TILE) * LANES), 0).view(-1, LANES, 8)
    layer = words.permute(0, 2, 1).reshape(-1)[: len(at)] & (LAYERS - 1)
    rest = layer >= table().steps
    x = (low + width * (place.double() * 2.0**-53))[rest].numpy()
    edges = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 3.0, float(table().ends[0]), 39.0])
    ends = np.minimum(table().ends[:, None], edges) / (LAYERS * table().ends[:, None])
    odds = np.diff(2 * stats.norm.cdf(edges)) - np.diff(ends.sum(0))
    counts = np.histogram(np.abs(x), edges)[0]
    assert counts.sum() == len(x)
    assert stats.chisquare(counts, len(x) * odds / odds.sum()).pvalue > 1e-3
    assert abs((x > 0).mean() - 0.5) < 3.3 * 0.5 / math.sqrt(len(x))


@pytest.mark.parametrize("constant", ["FINE_EDGE", "DOUBT"])
def test_exact_decisions_agree_with_those_of_floats(repeatable, monkeypatch, constant):
    """A value that float64 decides is decided alike as a rational, and an attempt alike in balls."""
    at = torch.arange(3000 if constant == "FINE_EDGE" else 60_000)
    total = torch.linspace(-3, 3, len(at), dtype=torch.float64)
    fast = launching._points(total, 1.0, Fraction(1, 256), drawn(at, KEY))
    if constant == "FINE_EDGE":
        monkeypatch.setattr(normal, "FINE_EDGE", 0.5)
    else:
        monkeypatch.setattr(normal, "_doubt", lambda device: 1e9)
    assert torch.equal(fast, launching._points(total, 1.0, Fraction(1, 256), drawn(at, KEY)))


def test_a_sum_on_the_very_edge_is_refined(repeatable):
    """The sum is chosen so that the 53 known bits of the variable leave open to which side of an edge it falls."""
    at = torch.tensor([5])
    low, width, place = drawn(at, KEY)
    exact = Fraction(float(low)) + Fraction(float(width)) * (int(place) * 2 + 1) / 2**54
    total = torch.tensor([float(Fraction(1, 512) - exact)], dtype=torch.float64)
    cells = {float(launching._points(total, 1.0, Fraction(1, 256), (low, width, place))) for _ in range(60)}
    assert cells == {0.0, 1 / 256}


def test_doubts_are_resolved_by_the_definition(repeatable):
    total = torch.linspace(-4, 4, 3000)
    total[0] = math.nan
    begun = started(total, 0.7, 9, [0, 17, 2999, 1500])
    assert begun.finish()
    assert torch.equal(begun.out, points(total, 0.7).float())
    assert begun.key is None
    begun.out.fill_(7.0)
    assert not begun.finish()
    assert bool((begun.out == 7.0).all())
    assert not started(total, 0.7, 9, []).finish()


@pytest.mark.parametrize("counts", [(4097, 0), (3, DOUBTS + 1)])
def test_lists_that_are_full_are_drawn_anew(repeatable, counts):
    total = torch.zeros(2000)
    begun = started(total, 1.0, counts[0], list(range(counts[1])))
    assert begun.finish()
    found = begun.out
    assert float((found == points(total, 1.0).float()).float().mean()) < 0.05
    assert 0.9 < float(found.std()) < 1.1


def test_room_is_enough():
    """Chernoff's bound on more than is listed, at the worst size, and on doubts."""
    mean = np.geomspace(1e-3, 1e8, 4001)
    room = 2 * mean + 4095
    assert (-mean + room * (1 + np.log(mean / room))).max() < -2000 * math.log(10)
    doubts = 2.01 * launching.LARGEST * (normal.FINE_EDGE + 1e-10)
    assert DOUBTS * (1 + math.log(doubts / DOUBTS)) < -2000 * math.log(10)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_no_zero_is_negative(repeatable, kind):
    """Its sign would tell that of the sum."""
    total = torch.full((50_000,), -1e-9, dtype=kind)
    for found in (noisy(total, 1.0, "secure", Ahead(CPU)), points(total, 1.0)):
        assert int((found == 0).sum()) > 30
        assert not bool(torch.signbit(found[found == 0]).any())


INTERPRETED = """
import math, sys
import numpy as np
import torch
torch.set_num_threads(1)
from discreet.learn.sgd import kernels, launching, normal, products
from discreet.learn.sgd.normal import coarse_grid

key = np.array([-(1 << 62) + 12345, 77, -3, 1 << 50])
for kind, count, sigma, edge in ((torch.float32, 2061, 0.7, 2.0**-30), (torch.float64, 1500, 3e-5, 0.05)):
    grid = coarse_grid(sigma)
    total = (torch.linspace(-3, 3, count, dtype=torch.float64) ** 15 * sigma).to(kind)
    total[:4] = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
    at = torch.arange(count)
    expected = launching._points(total, sigma, grid, launching.drawn(at, key)).to(kind)
    begun = launching._launched(total, sigma, grid, key, edge)
    listed, doubts = begun.status.tolist()
    assert torch.equal(begun.out, expected), kind
    assert listed > 0 and (doubts > 100 or edge < 0.01), (listed, doubts)
    begun.out[begun.doubts[:doubts].long()] = math.nan
    assert begun.finish() == bool(doubts)
    assert torch.equal(begun.out, expected), kind
    assert not bool(torch.signbit(expected[expected == 0]).any())

launching.DOUBT = 1e9  # every attempt at the rest is undecided, and left to the definition
begun = launching._launched(total, sigma, grid, key)
listed, doubts = begun.status.tolist()
assert listed == doubts > 0, (listed, doubts)
assert begun.finish() and torch.equal(begun.out, expected)
launching.DOUBT, launching.TURNS = normal.DOUBT, 1  # so are those that two attempts do not give
begun = launching._launched(total, sigma, grid, key)
assert 0 < int(begun.status[1]) < listed
assert begun.finish() and torch.equal(begun.out, expected)
assert not launching.begin(total[:0], sigma, grid).finish()

launching.DOUBT, launching.TURNS = normal.DOUBT, 64
begun = launching._launched(total, sigma, grid, key, 0.05, torch.float32, 1 / 3)
assert begun.finish() and torch.equal(begun.out, (expected * (1 / 3)).float())

assert products._alike(torch.device("cpu"), "ieee")
kept = products.added
products.added = lambda left, right, weights, rows, *rest: kept(left, right, weights, 2 * rows, *rest)
assert not products._alike(torch.device("cpu"), "ieee"), "blocks of twice as many rows"
"""


def test_kernels_compute_the_definition():
    pytest.importorskip("triton", reason="the kernels are written in Triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", INTERPRETED], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_kernels_are_not_used_where_they_do_not_work(monkeypatch):
    def broken(*args):
        raise RuntimeError("no compiler")

    monkeypatch.setattr(launching, "_launched", broken)
    launching._checked.cache_clear()
    assert not launching.usable(CPU, torch.float32, 10)
    assert not launching.usable(CPU, torch.float16, 10)
    assert not launching.usable(CPU, torch.float32, launching.LARGEST + 1)
    launching._checked.cache_clear()


def test_every_call_takes_a_key_of_its_own(monkeypatch):
    keys = []
    monkeypatch.setattr(launching, "_launched", lambda total, sigma, grid, key, **_: keys.append(key.tobytes()))
    for _ in range(2):
        launching.begin(torch.zeros(1), 1.0, coarse_grid(1.0))
    assert source().private
    assert len(set(keys)) == 2
    assert all(len(key) == 32 for key in keys)
