"""Laws of outputs on two neighbours, and how far they are apart.

A law says how outputs are coded by whole numbers and how likely each code is on the first and on the second neighbour.
"""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy import stats

STEP = 2.0**-10


@dataclass
class Law:
    code: object
    p: np.ndarray
    q: np.ndarray


def delta(p, q, epsilon):
    """Return the larger of the two hockey-stick divergences."""
    grow = math.exp(epsilon)
    return max(float(np.maximum(a - grow * b, 0).sum()) for a, b in ((p, q), (q, p)))


def epsilon(p, q, at):
    """Return the epsilon that holds at this delta."""
    low, high = 0.0, 40.0
    if delta(p, q, low) <= at:
        return 0.0
    if delta(p, q, high) > at + 1e-12:
        return math.inf
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if delta(p, q, middle) > at + 1e-15 else (low, middle)
    return high


# --- kinds of laws -----------------------------------------------------------------------------------------------


def table(p, q, key=lambda out: out):
    """Return the law of finitely many outcomes."""
    outcomes = list(dict.fromkeys([*p, *q]))
    index = {outcome: i for i, outcome in enumerate(outcomes)}
    return Law(
        lambda out: np.array([index[key(o)] for o in (out.tolist() if isinstance(out, np.ndarray) else out)]),
        *(np.array([float(law.get(outcome, 0)) for outcome in outcomes]) for law in (p, q)),
    )


def whole(p, q, part=lambda out: out):
    """Return the law of whole outcomes given as mappings; those that are missing are too rare to be seen."""
    low, high = min(*p, *q), max(*p, *q)
    laws = [np.array([law.get(k, 0.0) for k in range(low, high + 1)]) for law in (p, q)]
    return Law(lambda out: np.clip(np.rint(part(out)).astype(int), low, high) - low, *laws)


def two_sided(centre, scale):
    """Return the two-sided geometric law as a mapping, without tails of 1e-16."""
    a, reach = math.exp(-1 / scale), math.ceil(37 * scale)
    return {centre + k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-reach, reach + 1)}


def clipped(law, low, high):
    out = Counter()
    for k, mass in law.items():
        out[min(max(k, low), high)] += mass
    return dict(out)


def shift(scale, x, y, part=lambda out: out):
    """Return the law of two-sided geometric noise on two centres, without tails of 1e-16."""
    reach, a = math.ceil(37 * scale) + abs(x - y), math.exp(-1 / scale)
    values = np.arange(min(x, y) - reach, max(x, y) + reach + 1)
    laws = [(1 - a) / (1 + a) * a ** np.abs(values - centre) for centre in (x, y)]
    return Law(lambda out: np.clip(np.rint(part(out)).astype(int), values[0], values[-1]) - values[0], *laws)


def binomial(count, p, q, part):
    """Return the law of how many of several independent coordinates say yes."""
    k = np.arange(count + 1)
    return Law(part, stats.binom.pmf(k, count, p), stats.binom.pmf(k, count, q))


def cells(cdf_p, cdf_q, low, high, part=lambda out: out, step=STEP):
    """Return the law of a continuous output that is rounded to the lattice."""
    first, last = round(low / step), round(high / step)
    edges = (np.arange(first, last) + 0.5) * step
    laws = [np.diff(cdf(edges), prepend=0, append=1) for cdf in (cdf_p, cdf_q)]
    return Law(lambda out: np.clip(np.rint(part(out) / step).astype(int), first, last) - first, *laws)


def told(part=lambda out: out):
    """Return the law of an output that is fixed by the data; ``part`` of it is."""
    return lambda specimen: table(
        *({value: 1} for value in (_only(specimen, x, part) for x in specimen.neighbours)), key=part
    )


def _only(specimen, x, part):
    outputs = specimen.batch(x, 50, np.random.default_rng(0))
    (value,) = {part(o) for o in (outputs.tolist() if isinstance(outputs, np.ndarray) else outputs)}
    return value


def laplace(scale, x=0.0):
    return stats.laplace(x, scale).cdf


def normal(sigma, x=0.0):
    return stats.norm(x, sigma).cdf


def point(x):
    return lambda t: (np.asarray(t) >= x).astype(float)


def nodes(ends, count=24):
    """Return points and weights of a Gauss-Legendre rule between each two ends."""
    x, w = np.polynomial.legendre.leggauss(count)
    middle, half = np.array([((a + b) / 2, (b - a) / 2) for a, b in pairwise(ends)]).T
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


KINKS = [*range(-160, -2, 6), *np.arange(-3, 3.5, 0.5), *range(4, 161, 6)]


def streams(answers, scale_threshold, scale_query, threshold=0):
    """Return the chance of each answer to be above a noisy threshold at z, and the weights of z."""
    z, w = nodes(KINKS)
    weight = w * stats.laplace(0, scale_threshold).pdf(z)
    return [stats.laplace(0, scale_query).sf(threshold + z - a) for a in answers], weight / weight.sum()


def halves(length, scale_threshold, scale_query):
    """Return the law of how many are above in each half; within a half all orders are equally likely."""
    half, laws = length // 2, []
    for up, down in ((0, 0), (1, -1)):
        (a, b), w = streams((up, down), scale_threshold, scale_query)
        k = np.arange(half + 1)[:, None]
        laws.append(((stats.binom.pmf(k, half, a) * w) @ stats.binom.pmf(k, half, b).T).ravel())
    return Law(lambda out: out[:, :half].sum(axis=1) * (half + 1) + out[:, half:].sum(axis=1), *laws)


def first_above(neighbours, scale_threshold, scale_query, threshold=0):
    """Return the law of where the first answer above the threshold is."""
    laws = []
    for answers in neighbours:
        chances, alive = streams(answers, scale_threshold, scale_query, threshold)
        law = []
        for chance in chances:
            law.append((alive * chance).sum())
            alive = alive * (1 - chance)
        laws.append(np.array([*law, alive.sum()]))
    return Law(lambda out: np.where((out == 1).any(axis=1), (out == 1).argmax(axis=1), out.shape[1]), *laws)


def up_to(most, neighbours, scale_threshold, scale_query):
    """Return the law of all streams that stop after as many above."""
    length, laws = len(neighbours[0]), []
    texts = {cut(bits, most) for bits in product((0, 1), repeat=length)}
    for answers in neighbours:
        chances, w = streams(answers, scale_threshold, scale_query)
        law = {}
        for text in texts:
            mass = w
            for bit, chance in zip(text, chances, strict=True):
                mass = mass * (chance if bit == 1 else 1 - chance if bit == 0 else 1)
            law[text] = mass.sum()
        laws.append(law)
    return table(*laws, key=tuple)


def cut(bits, most):
    out, seen = [], 0
    for bit in bits:
        out.append(-1 if seen >= most else bit)
        seen += bit
    return tuple(out)


def value_that_passed(length, scale=2.0, width=0.25, reach=40):
    """Return the law of the first position above the threshold and of the noisy answer there, in cells."""
    edges = np.arange(-reach, reach + width, width) + STEP / 2
    z, w = nodes(edges, 4)
    weight = w * stats.laplace(0, scale).pdf(z)
    weight /= weight.sum()
    laws = []
    for answer in (0, 1):
        noise = stats.laplace(answer, scale)
        below = noise.cdf(z) ** np.arange(length + 1)[:, None]
        cell = np.diff(noise.cdf(np.maximum(np.append(edges, math.inf), z[:, None])), axis=1)
        laws.append(np.append((below[:length] * weight) @ cell, (below[length] * weight).sum()))
    count = edges.size

    def code(out):
        where = np.clip(np.digitize(out[:, 1], edges) - 1, 0, count - 1)
        return np.where(out[:, 0] < 0, length * count, out[:, 0] * count + where).astype(int)

    return Law(code, *laws)


def winner(scores_of_others, scale):
    """Return how likely the first of ten wins with Laplace noise, the others having equal scores."""
    (own, others), noise = scores_of_others, stats.laplace(0, scale)
    z, w = nodes(KINKS)
    return float((w * noise.pdf(z - own) * noise.cdf(z - others) ** 9).sum())


def chosen(p, q):
    """Return the law of whether the first of ten is chosen; the others are alike."""
    return Law(lambda out: (out == 0).astype(int), np.array([1 - p, p]), np.array([1 - q, q]))
