"""Slow, independent implementations of the laws, scripted sources, and goodness of fit.

Statistical tests run on seeded words, so a test passes always or never. Their thresholds are set as if the words were
fresh: ``ALARM`` is the chance that one p-value of a right sampler falls below it; there are fewer than a thousand.
"""

from contextlib import contextmanager
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpz
from scipy import stats

from discreet.exact import ball
from discreet.noise import densities
from discreet.noise.bits import override

ALARM = 1e-9
MORE = 0x999999999999999A
"""The word that follows whenever a scripted source runs out: a uniform of 0.6, which rejection samplers accept."""

PRECISION = 600


def fit(samples, cdf, edges):
    """Return the chi-square p-value of samples against a distribution function, on bins ``(edge, next edge]``."""
    edges = np.unique(np.asarray(edges, dtype=float))
    expected = np.diff(np.concatenate([[0], np.asarray(cdf(edges), dtype=float), [1]])) * len(samples)
    counted = np.bincount(np.searchsorted(edges, np.asarray(samples, dtype=float)), minlength=edges.size + 1)
    counted, expected = merge(counted, expected)
    if counted.size == 1:
        return 1.0
    return float(stats.chisquare(counted, expected * counted.sum() / expected.sum()).pvalue)


def merge(counted, expected, least=20):
    """Join neighbouring bins until each expects at least 20 samples."""
    bins, c, e = [], 0, 0.0
    for count, mean in zip(counted, expected, strict=True):
        c, e = c + count, e + mean
        if e >= least:
            bins.append([c, e])
            c, e = 0, 0.0
    if not bins:
        bins.append([0, 0.0])
    bins[-1][0] += c
    bins[-1][1] += e
    return np.array([b[0] for b in bins]), np.array([b[1] for b in bins])


def tail(samples, t, p):
    """Return the exact binomial p-value of ``P[|Z| >= t] = p``."""
    beyond = int(np.count_nonzero(np.abs(samples) >= t))
    return stats.binomtest(beyond, len(samples), p).pvalue


def signs_ignore_sizes(samples):
    """Return the p-value of independence of the sign and the magnitude of the samples that are not 0."""
    samples = np.asarray(samples, dtype=float)
    samples = samples[samples != 0]
    if samples.size < 100:
        return 1.0
    size = np.searchsorted(np.quantile(np.abs(samples), [0.2, 0.4, 0.6, 0.8, 0.95]), np.abs(samples))
    table = np.array([np.bincount(size[samples > 0], minlength=6), np.bincount(size[samples < 0], minlength=6)])
    fair = stats.binomtest(int(table[0].sum()), int(table.sum()), 0.5).pvalue
    table = table[:, table.sum(0) >= 40]
    return min(fair, stats.chi2_contingency(table).pvalue if table.shape[1] > 1 else 1.0)


def residues_are_even(samples, modulus=16):
    """Return the p-value of uniform residues."""
    counts = np.bincount(np.array([int(z) % modulus for z in samples]), minlength=modulus)
    return stats.chisquare(counts).pvalue


def laplace_cdf(scale):
    """Return ``P[Z <= z]`` of the discrete Laplace law."""
    s = float(scale)
    a = np.exp(-1 / s)

    def cdf(z):
        z = np.floor(z)
        far = np.exp(-(np.where(z >= 0, z + 1, -z)) / s) / (1 + a)
        return np.where(z >= 0, 1 - far, far)

    return cdf


def geometric_cdf(scale):
    return lambda z: -np.expm1(-np.maximum(np.floor(z) + 1, 0) / float(scale))


def gaussian_cdf(sigma):
    """Return ``P[Z <= z]`` of the discrete Gaussian law, by summation or, from 10^4, to 10^-9."""
    s = float(sigma)
    if s > 1e4:
        return lambda z: stats.norm.cdf((np.floor(z) + 0.5) / s)
    reach = int(12 * s) + 5
    mass = np.exp(-((np.arange(-reach, reach + 1) / s) ** 2) / 2)
    cumulative = np.concatenate([[0], np.cumsum(mass) / mass.sum()])
    return lambda z: cumulative[np.clip(np.floor(z) + reach + 1, 0, 2 * reach + 1).astype(int)]


def integer_edges(scale, quantile):
    """Return bin edges: every integer where the law is narrow, whole numbers near its quantiles where it is wide."""
    if scale < 20:
        return np.arange(-400, 401)
    return np.floor(quantile(np.arange(1, 200) / 200) * float(scale))


class Scripted:
    """Gives the scripted words first and ``more`` for ever after, counting what it gave."""

    private = False

    def __init__(self, script=(), more=MORE):
        self.script, self.more, self.given = [int(w) for w in script], more, 0

    def words(self, count):
        self.given += count
        now, self.script = self.script[:count], self.script[count:]
        return np.array(now + [self.more] * (count - len(now)), dtype=np.uint64)


class Passing:
    """Passes on the words of another source after a change, counting them."""

    private = False

    def __init__(self, inner, change=lambda words: words):
        self.inner, self.change, self.given = inner, change, 0

    def words(self, count):
        self.given += count
        return self.change(self.inner.words(count))


@contextmanager
def drawing_from(source):
    token = override.set(source)
    try:
        yield source
    finally:
        override.reset(token)


@contextmanager
def precisely(bits=PRECISION):
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


def uniform(prefix, bits, more=MORE):
    """Return the whole number behind a scripted word, followed by ``more`` eight times, as an exact ball."""
    for _ in range(8):
        prefix, bits = prefix << 64 | more, bits + 64
    return arb(fmpz(prefix)) / arb(fmpz(1) << bits)


def floor(x):
    """Return the whole part of a ball, which must not straddle a whole number."""
    whole = x.floor().unique_fmpz()
    assert whole is not None, "the reference needs more precision"
    return int(whole)


def sure(x, y):
    """Tell whether x < y for two balls, which must not overlap."""
    assert (x < y) or (x >= y), "the reference needs more precision"
    return bool(x < y)


def laplace_of(word, scale, more=MORE):
    """Return the discrete Laplace sample that a word and those after it stand for."""
    s = ball(Fraction(scale))
    magnitude = floor(s * ((2 / (1 + (-1 / s).exp())).log() - uniform(word >> 1, 63, more).log()))
    return -magnitude if word & 1 else magnitude


def around(boundary, bits):
    """Return the words of a given length whose cells touch a boundary in (0, 1), and their neighbours."""
    cell = floor(boundary * (1 << bits))
    return [c for c in (cell - 2, cell - 1, cell, cell + 1, cell + 2) if 0 <= c < 1 << bits]


EDGES = [0, 1, 2, 2**46 - 1, 2**46, 2**46 + 1, 2**62 - 1, 2**62, 2**63 - 513, 2**63 - 512, 2**63 - 2, 2**63 - 1]
"""63-bit cells at the ends of what the samplers believe and of what float64 can tell from 1."""


def signed(cells):
    """Return words for 63-bit cells, with both signs."""
    return [c << 1 | sign for c in cells for sign in (0, 1)]


def polynomial_survival(gamma):
    def survival(z):
        g = ball(gamma)
        half = (arb.pi() / g) / (arb.pi() / g).sin()
        return 1 - z * (-(z**g)).hypgeom_2f1(1, 1 / g, 1 + 1 / g) / half if z > 0 else arb(1)

    return survival


def student_survival(degrees):
    """Sum the finite series for a whole, even number of degrees."""

    def survival(z):
        cosine = 1 / (1 + z * z / degrees)
        term = total = arb(1)
        for j in range(1, degrees // 2):
            term = term * cosine * (2 * j - 1) / (2 * j)
            total += term
        return 1 - total * z / (degrees + z * z).sqrt()

    return survival


def student_three_survival(z):
    x = z / arb(3).sqrt()
    return 1 - 2 * (x.atan() + x / (1 + x * x)) / arb.pi()


def cauchy_survival(z):
    return 1 - 2 * z.atan() / arb.pi()


def power_law_survival(exponent):
    return lambda z: (1 + z) ** (1 - ball(exponent))


def exponential_survival(z):
    return (-z).exp() if z > 0 else arb(1)


def uniform_survival(z):
    return arb(1) if z <= 0 else arb(0) if z >= 1 else 1 - z


DENSITIES = [
    (densities.Laplace(), exponential_survival),
    (densities.Exponential(), exponential_survival),
    (densities.Gaussian(), lambda z: 1 - (z / arb(2).sqrt()).erf()),
    (densities.Gumbel(), lambda z: 1 - (-(-z).exp()).exp()),
    (densities.Uniform(), uniform_survival),
    (densities.Cauchy(), cauchy_survival),
    (densities.PowerLaw(Fraction(11, 10)), power_law_survival(Fraction(11, 10))),
    (densities.PowerLaw(3), power_law_survival(3)),
    (densities.PowerLaw(10**6), power_law_survival(10**6)),
    (densities.StudentT(1), cauchy_survival),
    (densities.StudentT(3), student_three_survival),
    (densities.StudentT(1000), student_survival(1000)),
    (densities.Polynomial(Fraction(11, 10)), polynomial_survival(Fraction(11, 10))),
    (densities.Polynomial(2), cauchy_survival),
    (densities.Polynomial(4), polynomial_survival(4)),
    (densities.Polynomial(29.5), polynomial_survival(29.5)),
    (densities.Polynomial(64), polynomial_survival(64)),
]
