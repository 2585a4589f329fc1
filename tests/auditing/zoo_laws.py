"""The laws of the specimens on their neighbours, from their definitions; nothing here comes from the zoo.

The codes keep all that tells neighbours apart, unless it is said that they do not.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
from scipy import stats
from zoo_kinds import (
    KINKS,
    Law,
    binomial,
    cells,
    chosen,
    clipped,
    first_above,
    halves,
    laplace,
    nodes,
    normal,
    point,
    shift,
    table,
    told,
    two_sided,
    up_to,
    value_that_passed,
    whole,
    winner,
)

LAWS = {}

# --- noise -------------------------------------------------------------------------------------------------------

A = math.exp(-1)
CUT = {k: math.exp(-abs(k)) / sum(math.exp(-abs(j)) for j in range(-3, 4)) for k in range(-3, 4)}


def moved(law, by):
    return {k + by: mass for k, mass in law.items()}


def not_negative(x):
    law = {k: mass for k, mass in two_sided(x, 1).items() if k >= 0}
    return {k: mass / sum(law.values()) for k, mass in law.items()}


def folded(x):
    out = Counter()
    for k, mass in two_sided(0, 1).items():
        out[x + abs(k)] += mass
    return dict(out)


def discrete_gaussian(x, sigma):
    weights = {k: math.exp(-((k / sigma) ** 2) / 2) for k in range(-30, 31)}
    return {k + x: weight / sum(weights.values()) for k, weight in weights.items()}


def coordinates(count, scale, x, y):
    """Return the law of how many coordinates are at most x, when each is x or y = x + 1 plus noise."""
    a = math.exp(-1 / scale)
    assert y == x + 1
    return binomial(count, 1 / (1 + a), a / (1 + a), lambda out: (out <= x).sum(axis=1))


def gaussian(sigma):
    return cells(normal(sigma), normal(sigma, 1), -12 * sigma, 12 * sigma + 1)


SWAPPED = -1 / math.log(1 - math.exp(-0.5))

LAWS |= {
    "halved-sensitivity": lambda: shift(1, -1, 1),
    "full-sensitivity": lambda: shift(2, -1, 1),
    "wrong-norm": lambda: coordinates(16, 4, 0, 1),
    "right-norm": lambda: coordinates(16, 16, 0, 1),
    "inverted-scale": lambda: shift(0.5, 0, 1),
    "geometric-count": lambda: shift(2, 0, 1),
    "swapped-geometric": lambda: shift(SWAPPED, 0, 1),
    "truncated-noise": lambda: whole(CUT, moved(CUT, 1)),
    "one-sided-noise": lambda: whole(folded(0), folded(1)),
    "redrawn-until-valid": lambda: whole(not_negative(0), not_negative(1)),
    "raised-to-zero": lambda: whole(clipped(two_sided(0, 1), 0, 99), clipped(two_sided(1, 1), 0, 99)),
    "gaussian-as-pure": lambda: whole(discrete_gaussian(0, 1), discrete_gaussian(1, 1)),
    "discrete-gaussian": lambda: whole(discrete_gaussian(0, 1), discrete_gaussian(1, 1)),
    "classical-gaussian": lambda: gaussian(math.sqrt(2 * math.log(1.25 / 0.3)) / 6),
    "sigma-as-variance": lambda: gaussian((2 * math.log(1250)) ** 0.25),
    "analytic-gaussian": lambda: gaussian(2.75),
    "lattice-gaussian": lambda: gaussian(4),
    "lattice-laplace": lambda: cells(laplace(1), laplace(1, 1), -20, 21),
}

# --- randomness --------------------------------------------------------------------------------------------------

LAWS |= {
    "no-noise": told(),
    "fixed-seed": told(),
    "seed-from-data": told(),
    "nan-budget": told(),
    "shared-noise": told(lambda out: out[1] - out[0]),
    "own-noise": lambda: shift(2, 3, 4, lambda out: out[:, 1]),
    "answered-twice": lambda: coordinates(2, 1, 5, 6),
    "answered-twice-paid-twice": lambda: coordinates(2, 2, 5, 6),
    "valid-budget": lambda: shift(1, 5, 6),
}

# --- sums --------------------------------------------------------------------------------------------------------


def in_half_precision(records):
    added = np.float16(0)
    for record in records:
        added = np.float16(added + np.float16(record))
    return int(added)


def sums_of(specimen):
    return shift(2048, *(in_half_precision(x) for x in specimen.neighbours))


def ratios():
    laws = []
    for x in (2, 3):
        law = Counter()
        for (a, one), (b, other) in product(two_sided(x, 2).items(), repeat=2):
            law[float(Fraction(a, max(b, 1)))] += one * other
        laws.append(dict(law))
    return table(*laws)


def nearest(p, q):
    return table(
        {0: sum(m for k, m in p.items() if k <= 2), 4: sum(m for k, m in p.items() if k > 2)},
        {0: sum(m for k, m in q.items() if k < 2), 2: q[2], 4: sum(m for k, m in q.items() if k > 2)},
    )


def sixths(x, size):
    return {k * 6 // size: mass for k, mass in two_sided(x, 1).items()}


LAWS |= {
    "unclipped-sum": lambda: shift(1, 2, 12),
    "clipped-sum": lambda: shift(1, 2, 3),
    "bounds-from-data": lambda: whole({0: 1.0}, two_sided(1, 1)),
    "clamped-to-data-range": lambda: whole(clipped(two_sided(4, 1), 0, 3), clipped(two_sided(5, 1), 0, 9)),
    "clamped-to-true-size": lambda: whole(clipped(two_sided(3, 1), 0, 3), clipped(two_sided(4, 1), 0, 4)),
    "clamped-to-public-range": lambda: whole(clipped(two_sided(3, 1), 0, 10), clipped(two_sided(4, 1), 0, 10)),
    "nearest-record": lambda: nearest(two_sided(1, 1), two_sided(2, 1)),
    "noise-scaled-by-true-size": lambda: cells(laplace(1, 1), laplace(0.5, 0.5), -20, 21),
    "mean-divided-by-true-size": lambda: whole(sixths(2, 2), sixths(3, 3), lambda out: 6 * out),
    "mean-of-noisy-parts": ratios,
    "nan-poisons-sum": told(math.isnan),
    "nan-dropped": lambda: shift(1, 1, 1),
    "empty-is-exact": lambda: whole({0: 1.0}, two_sided(1, 1)),
    "empty-is-ordinary": lambda: shift(1, 0, 1),
    "int8-wraparound": lambda: shift(100, 127, -128),
    "wide-sum": lambda: shift(100, 127, 128),
    "float-sum-depends-on-order": sums_of,
    "exact-sum": lambda: shift(2048, 6000, 6000),
}

# --- tables ------------------------------------------------------------------------------------------------------


def kept(above):
    law = two_sided(1, 1)
    shown = {k: mass for k, mass in law.items() if k > above}
    return table({0: 1}, {0: sum(m for k, m in law.items() if k <= above), **shown}, lambda out: out.get("a", 0))


LAWS |= {
    "raw-group-keys": told(lambda out: "c" in out),
    "public-group-keys": lambda: shift(1, 0, 1, lambda out: np.array([row["c"] for row in out])),
    "threshold-with-decimal-logarithm": lambda: kept(3),
    "threshold-not-strict": lambda: kept(6),
    "threshold": lambda: kept(7),
    "exact-null-count": told(lambda out: out[1]),
    "noisy-null-count": lambda: shift(1, 0, 1, lambda out: out[:, 1]),
    "unbounded-contributions": lambda: shift(1, 3, 8),
    "bounded-contributions": lambda: shift(1, 3, 4),
}

# --- responses ---------------------------------------------------------------------------------------------------


def truth(epsilon):
    return math.exp(epsilon) / (1 + math.exp(epsilon))


def answers(p, categories=2):
    other = (1 - p) / (categories - 1)
    return table(*({k: p if k == x else other for k in range(categories)} for x in (0, 1)))


def two_bits(p):
    laws = [{(a, b): (p if a else 1 - p) * (1 - p if b else p) for a in (0, 1) for b in (0, 1)}]
    laws.append({(b, a): mass for (a, b), mass in laws[0].items()})
    return table(*laws, key=lambda out: tuple(out[:2]))


LAWS |= {
    "yes-biased-response": lambda: table({0: 0.5, 1: 0.5}, {1: 1}),
    "fair-coin-response": lambda: answers(0.75),
    "response-with-odds-epsilon": lambda: answers(0.2),
    "response-with-binary-odds": lambda: answers(truth(1), 10),
    "response-among-ten": lambda: answers(math.e / (math.e + 9), 10),
    "response-not-memoised": lambda: binomial(32, 1 - truth(1), truth(1), lambda out: out.sum(axis=1)),
    "response-memoised": lambda: table(
        {0: truth(1), 32: 1 - truth(1)}, {0: 1 - truth(1), 32: truth(1)}, key=lambda out: sum(out)
    ),
    "unary-bits-charged-once": lambda: two_bits(truth(1)),
    "unary-bits": lambda: two_bits(truth(0.5)),
}

# --- selection ---------------------------------------------------------------------------------------------------


def softmax(rate, own, others):
    return math.exp(rate * own) / (math.exp(rate * own) + 9 * math.exp(rate * others))


def flipped():
    z, w = nodes([0, 1])
    return chosen(0.1, float((w * (1 - z * math.exp(-1)) ** 9).sum()))


def frequent(counts):
    weights = {value: math.exp(count / 2) for value, count in counts.items()}
    return {value: weight / sum(weights.values()) for value, weight in weights.items()}


def ones(out):
    return (out == 0).sum(axis=1)


LAWS |= {
    "exponential-without-two": lambda: chosen(0.1, softmax(1, 1, -1)),
    "exponential-with-two": lambda: chosen(0.1, softmax(0.5, 1, -1)),
    "noisy-max-half-noise": lambda: chosen(0.1, winner((1, -1), 1)),
    "noisy-max": lambda: chosen(0.1, winner((1, -1), 2)),
    "noisy-max-with-value": lambda: cells(
        lambda t: laplace(2)(t) ** 10, lambda t: laplace(2, 1)(t) ** 10, -40, 50, lambda out: out[:, 1]
    ),
    "permute-and-flip": flipped,
    "permute-and-flip-as-bounded-range": lambda: binomial(20, 1 - math.exp(-1 / 8) / 2, math.exp(-1 / 8) / 2, ones),
    "exponential-as-bounded-range": lambda: binomial(20, truth(1 / 8), 1 - truth(1 / 8), ones),
    "candidates-from-data": lambda: table(frequent({0: 2, 1: 2}), frequent({0: 2, 1: 2, 7: 1})),
    "candidates-from-a-list": lambda: table(
        *(frequent({**dict.fromkeys(range(10), 0), 0: 2, 1: 2, 7: c}) for c in (0, 1))
    ),
}

# --- sparse vector -----------------------------------------------------------------------------------------------


def crossed(cdf):
    """Return the law of two comparisons with one noisy threshold, of 0 and 1 or of 1 and 0."""
    below, between = cdf(0), cdf(1) - cdf(0)
    same = {(1, 1): below, (0, 0): 1 - cdf(1)}
    return table({**same, (0, 1): between}, {**same, (1, 0): between}, key=tuple)


def difference_cdf(t, a=2.0, b=4.0):
    """Return the distribution function of the difference of two Laplace variables."""
    z, w = nodes([*KINKS, 10 * 160])
    return float((w * stats.laplace(0, a).pdf(z) * stats.laplace(0, b).cdf(t - z)).sum())


def raw_value():
    positions = first_above(((2, 2, 5), (3, 3, 6)), 2, 2)
    shown = [[(0, x[0]), (1, x[1]), (2, x[2]), (-1, 0)] for x in ((2, 2, 5), (3, 3, 6))]
    laws = [dict(zip(s, law, strict=True)) for s, law in zip(shown, (positions.p, positions.q), strict=True)]
    return table(*laws, key=tuple)


BOTH_WAYS = {k: ((0,) * k, (1,) * (k // 2) + (-1,) * (k // 2)) for k in (10, 50)}

LAWS |= {
    "sparse-no-query-noise": lambda: crossed(stats.laplace(0, 2).cdf),
    "sparse-shared-query-noise": lambda: crossed(difference_cdf),
    "sparse-no-cutoff-50": lambda: halves(50, 2, 2),
    "sparse-no-cutoff-100": lambda: halves(100, 2, 2),
    "sparse-no-cutoff-200": lambda: halves(200, 2, 2),
    "sparse-noise-without-cutoff-factor": lambda: halves(20, 4, 4 / 3),
    "sparse-monotone-noise": lambda: first_above(BOTH_WAYS[10], 1 / 0.3, 1 / 0.7, 1),
    "sparse-monotone": lambda: first_above(((0,) * 10, (1,) * 10), 1 / 0.3, 1 / 0.7, 1),
    "sparse-above-threshold": lambda: first_above(BOTH_WAYS[50], 2, 4),
    "sparse-five-above": lambda: up_to(5, BOTH_WAYS[10], 2, 20),
    "sparse-releases-tested-value": lambda: value_that_passed(50),
    "sparse-releases-raw-value": raw_value,
}

# --- smooth ------------------------------------------------------------------------------------------------------


def stretched(shape, beta, rate):
    """Return the law of noise of two sizes about the same median."""
    reach = 60 if shape is stats.laplace else 100
    return cells(shape(0, 1 / rate).cdf, shape(0, math.exp(-beta) / rate).cdf, -reach, reach)


def passed():
    chances = [float(stats.laplace(distance, 2).sf(2 * math.log(50))) for distance in (8, 7)]
    return table(*({1.0: c, 0.0: 1 - c} for c in chances), key=lambda out: out[0])


LAWS |= {
    "local-sensitivity-noise": lambda: cells(laplace(1), point(0), -20, 20),
    "smooth-with-wrong-beta": lambda: stretched(stats.laplace, 0.5, 0.5),
    "smooth-laplace": lambda: stretched(stats.laplace, 1 / (2 * math.log(2000)), 0.5),
    "smooth-without-dilation": lambda: stretched(stats.cauchy, 2, 1),
    "smooth-cauchy": lambda: stretched(stats.cauchy, 0.5, 0.5),
    "test-without-noise": told(lambda out: out[0]),
    "test-with-noise": passed,
}

# --- learning ----------------------------------------------------------------------------------------------------


def steps(change):
    """Return the law of the step along the gradient that is new; the lattice, far finer than the noise, is left out."""
    return cells(normal(2, 0.7), normal(2, 0.7 + change), -20, 30, lambda out: out @ (0.6, 0.8), step=1 / 16)


def norms(sigma_p, sigma_q):
    """Return the law of the squared norm of 32 normal variables; the lattice, far finer than the noise, is left out."""
    cdfs = [lambda t, s=s: stats.chi2(32).cdf(np.maximum(t, 0) / s**2) for s in (sigma_p, sigma_q)]
    return cells(*cdfs, 0, 200, lambda out: (out**2).sum(axis=1), step=1 / 16)


def samples(again):
    a = math.exp(-1)
    absent, present, k = a / (1 + a), 1 / (1 + a), np.arange(11)
    p = stats.binom.pmf(k, 10, absent)
    if again:
        q = stats.binom.pmf(k, 10, 0.9 * absent + 0.1 * present)
    else:
        q = 0.9 * p + 0.1 * stats.binom.pmf(k, 10, present)
    return Law(lambda out: (out >= 1).sum(axis=1), p, q)


def largest_step(dealt):
    """Return the law of the largest of ten steps, which does not keep all that tells neighbours apart."""
    low, high = normal(0.3), normal(0.3, 1)

    def with_one(t):
        return low(t) ** 9 * high(t) if dealt else (0.9 * low(t) + 0.1 * high(t)) ** 10

    return cells(lambda t: low(t) ** 10, with_one, -4, 6, lambda out: out.max(axis=1))


LAWS |= {
    "clipped-but-not-used": lambda: steps(5),
    "noise-without-clipping-norm": lambda: steps(4),
    "clipped-and-used": lambda: steps(1),
    "normalised-by-true-size": lambda: norms(1, 2 / 3),
    "normalised-by-a-constant": lambda: norms(1, 1),
    "reused-sample": lambda: samples(again=False),
    "fresh-samples": lambda: samples(again=True),
    "dealt-batches-as-poisson": lambda: largest_step(dealt=True),
    "poisson-batches": lambda: largest_step(dealt=False),
}

# --- side channels -----------------------------------------------------------------------------------------------

LAWS |= {
    "total-function": lambda: shift(1, 1, 1),
    "slow-on-one-record": lambda: shift(1, 2, 2),
    "always-slow": lambda: shift(1, 2, 2),
}


FOUND = {}


def law_of(specimen):
    """Return the law of a specimen, computed once."""
    if specimen.name not in FOUND:
        make = LAWS[specimen.name]
        FOUND[specimen.name] = make(specimen) if make.__code__.co_argcount else make()
    return FOUND[specimen.name]
