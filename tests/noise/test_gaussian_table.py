"""The table of the discrete Gaussian law: its enclosures, its cells, and draws that hang on the last bit."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from noise_reference import ALARM, Scripted, ball, drawing_from, fit, gaussian_cdf, integer_edges
from scipy import stats

from discreet.exact import Precision
from discreet.noise import discrete_gaussian
from discreet.noise.gaussian_table import OPEN, GaussianTable, pays

SIGMAS = [Fraction(1, 8), Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(10), Fraction(333, 7), Fraction(512)]


def distribution(sigma, far):
    """Return 2^64 F(z) for z from -far on, summed at 700 bits over more terms than count; errors are below 2^-500."""
    reach = int(45 * sigma) + 40
    mass = [ball(-Fraction(k * k) / (2 * sigma**2)).exp() for k in range(reach + 1)]
    total = 2 * sum(mass[1:], arb(0)) + mass[0]
    outside = sum(mass[far + 1 :], arb(0))
    found, summed = [], outside
    for z in range(-far, far + 1):
        summed = summed + mass[abs(z)]
        found.append(summed / total * arb(2) ** 64)
    return found


def encloses(table, shift=0):
    """Tell whether every enclosure holds the value of F, and is no wider than rounding both ways makes it."""
    far = max(abs(table.first), abs(table.first + table.below.size - 1)) + 1
    with Precision():
        ctx.prec = 700
        truth = distribution(table.sigma, far)
        for i, (low, high) in enumerate(zip(table.below, table.above, strict=True)):
            value = truth[table.first + i + far]
            if not (arb(int(low) + shift) <= value <= arb(int(high) + shift)) or int(high) - int(low) > 1:
                return False
    return True


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_enclosures_hold_the_distribution_function(sigma):
    table = GaussianTable.of(sigma)
    assert encloses(table)
    assert int(table.below[0]) < 2**10 * 512  # little is left beyond the ends
    assert int(table.above[-1]) > 2**64 - 2**10 * 512


@pytest.mark.parametrize("shift", [-2, 2])
def test_the_check_catches_a_table_that_is_off_by_a_part_in_2_to_the_63(shift):
    assert not encloses(GaussianTable.of(Fraction(10)), shift)


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_a_cell_decides_only_if_all_of_it_gives_one_number(sigma):
    table = GaussianTable.of(sigma)
    low, high = ([int(x) for x in side] for side in (table.below, table.above))
    for cell in range(0, 1 << 16, 1 if sigma < 5 else 7):
        first, last = cell << 48, (cell + 1 << 48) - 1
        surely = int(np.searchsorted(table.above, np.uint64(first), side="right"))
        maybe = int(np.searchsorted(table.below, np.uint64(last), side="right"))
        z = table.cells[cell]
        if z == OPEN:
            assert surely != maybe or surely in (0, len(low))
        else:
            assert z == table.first + surely
            assert surely == maybe
            assert high[surely - 1] <= first
            assert last < low[surely]


def exactly(sigma, word, more):
    """Return the number that the uniform of these 64 bits and then ``more`` for ever gives, by the definition."""
    with Precision():
        ctx.prec = 700
        uniform, bits = word, 64
        for _ in range(6):
            uniform, bits = uniform << 64 | more, bits + 64
        far = int(14 * sigma) + 5
        values = distribution(sigma, far)
        return next(
            z
            for z, value in zip(range(-far, far + 1), values, strict=True)
            if arb(uniform) < value * arb(2) ** (bits - 64)
        )


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(3), Fraction(10)], ids=str)
@pytest.mark.parametrize("more", [0, 0x123456789ABCDEF0, 2**64 - 1])
def test_words_at_the_very_edge_are_decided_exactly(sigma, more):
    """Uniforms in the cell of 2^-64 that holds a value of F, and at both ends, where sixty-four bits do not decide."""
    table = GaussianTable.of(sigma)
    middle = table.below.size // 2
    edges = [*(int(table.below[i]) for i in (0, 1, middle, middle + 1, table.below.size - 1)), 0, 2**64 - 1]
    wanted = {*edges, *(edge + 1 for edge in edges if edge < 2**64 - 1)} - {0 if more == 0 else -1}
    wanted -= {2**64 - 1 if more == 2**64 - 1 else -1}  # 0 and 1 themselves belong to no number
    words = np.array(sorted(wanted), dtype=np.uint64)
    with drawing_from(Scripted([], more=more)) as source:
        found = table.decided(words)
        assert source.given > 0  # more bits were asked for, and only where they were needed
    assert found.tolist() == [exactly(sigma, int(word), more) for word in words]


def test_every_bit_is_used_once():
    """Four draws take one word; those in open cells one more each."""
    table = GaussianTable.of(Fraction(10))
    open_cells = np.flatnonzero(table.cells == OPEN)
    closed = np.flatnonzero(table.cells != OPEN)
    first = int(closed[100]) | int(open_cells[30]) << 16 | int(closed[200]) << 32 | int(open_cells[40]) << 48
    with drawing_from(Scripted([first, 1 << 63, 5 << 40])) as source:
        found = table.draw(4)
        assert source.given == 3
    expected = table.decided(
        np.array([int(open_cells[30]) << 48 | 1 << 47, int(open_cells[40]) << 48 | 5 << 24], dtype=np.uint64)
    )
    assert found.tolist() == [table.cells[closed[100]], expected[0], table.cells[closed[200]], expected[1]]


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_the_law(sigma):
    table = GaussianTable.of(sigma)
    drawn = table.draw(400_000)
    assert fit(drawn, gaussian_cdf(sigma), integer_edges(sigma, stats.norm.ppf)) > ALARM


@pytest.mark.usefixtures("deterministic")
def test_the_law_catches_cells_that_are_off_by_one():
    table = GaussianTable.of(Fraction(10))
    wrong = dataclasses.replace(table, cells=np.where(table.cells == OPEN, OPEN, table.cells + (table.cells > 0)))
    assert fit(wrong.draw(400_000), gaussian_cdf(10), integer_edges(10, stats.norm.ppf)) < ALARM


@pytest.mark.usefixtures("deterministic")
def test_it_is_taken_where_it_pays():
    assert pays(Fraction(10), 10**5)
    for sigma, count in ((Fraction(1, 9), 10**6), (Fraction(513), 10**7), (Fraction(10), 1000)):
        assert not pays(sigma, count)
    with drawing_from(Scripted(more=0x0123_4567_89AB_CDEF)) as source:
        assert discrete_gaussian(10, size=100_000).shape == (100_000,)
        assert source.given < 60_000  # a rejection sampler takes two words for each at least
