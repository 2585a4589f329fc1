"""The laws of the mechanisms from their definitions, and the divergences between them, by enumeration.

Nothing here comes from discreet but the claims that are checked. A law is a vector of log-probabilities over all
outputs that matter; two laws of neighbours are compared output by output.
"""

import math
from itertools import pairwise, permutations

import numpy as np
from scipy import integrate, special

SLACK = 1e-12
TIGHT = 1e-9
DUST = 1e-12
"""What float64 may leave of a divergence that is 0."""


# --- divergences -------------------------------------------------------------------------------------------------


def hockey_stick(log_p, log_q, epsilon):
    """Return ``sum of P (1 - e^(epsilon - L))_+`` over all outputs, L being the log-ratio."""
    log_p, log_q = (np.asarray(law, dtype=float).ravel() for law in (log_p, log_q))
    possible = log_p > -math.inf
    excess = log_p[possible] - log_q[possible] - epsilon
    seen = log_p[possible][excess > 0]
    return math.fsum((np.exp(seen) * -np.expm1(-excess[excess > 0])).tolist())


def worse(log_p, log_q, epsilon):
    """Return the larger of the divergences of P from Q and of Q from P."""
    return max(hockey_stick(log_p, log_q, epsilon), hockey_stick(log_q, log_p, epsilon))


def steps(epsilon):
    """Return epsilons around one that matters, 0 among them."""
    return [epsilon * share for share in (0, 0.1, 0.37, 0.5, 0.9, 0.99, 1, 1.5)]


def kept(loss, log_p, log_q, epsilons):
    """Return whether a claim holds on a pair of neighbours, at all these epsilons and in both directions."""
    return all(worse(log_p, log_q, e) <= loss.delta(e) * (1 + SLACK) + DUST for e in epsilons)


def attained(loss, log_p, log_q, epsilons):
    """Return whether a claim is the truth about a pair of neighbours."""
    return all(
        math.isclose(worse(log_p, log_q, e), loss.delta(e), rel_tol=TIGHT, abs_tol=DUST / 1000) for e in epsilons
    )


def largest_loss(log_p, log_q):
    """Return the largest log-ratio in either direction."""
    return float(np.max(np.abs(np.asarray(log_p) - np.asarray(log_q))))


def product(*laws):
    """Return the law of independent outputs together."""
    joint = np.zeros(1)
    for law in laws:
        joint = np.add.outer(joint, law).ravel()
    return joint


def processed(log_p, outputs):
    """Return the law of a function of the output, whose values are given output by output."""
    values, where = np.unique(np.asarray(outputs), return_inverse=True)
    with np.errstate(divide="ignore"):
        return np.log(np.bincount(where, weights=np.exp(log_p), minlength=values.size))


# --- laws of noise -----------------------------------------------------------------------------------------------


def geometric(scale, shift, reach):
    """Return ``(1 - a) / (1 + a) a^|y - shift|`` for y from -reach to reach, ``a = e^(-1 / scale)``."""
    y = np.arange(-reach, reach + 1)
    return math.log(-math.expm1(-1 / scale)) - math.log1p(math.exp(-1 / scale)) - np.abs(y - shift) / scale


def discrete_gaussian(sigma, shift, reach):
    """Return ``e^(-(y - shift)^2 / (2 sigma^2))``, normalised over all whole numbers, for y from -reach to reach."""
    z = np.arange(-200, 201) if sigma < 6 else np.arange(-40 * int(sigma) - 40, 40 * int(sigma) + 41)
    total = math.fsum(np.exp(-(z**2) / (2 * sigma**2)).tolist())
    y = np.arange(-reach, reach + 1)
    return -((y - shift) ** 2) / (2 * sigma**2) - math.log(total)


def laplace_survival(z):
    """Return the log of ``P[Z > z]`` for the standard Laplace law, z >= 0."""
    return -z - math.log(2)


def gaussian_survival(z):
    """Return the log of ``P[Z > z]`` for the standard normal law, z >= 0."""
    return special.log_ndtr(-z)


def cells(survival, scale, value, grid, reach):
    """Return the log-probabilities of the cells around the points ``-reach, ..., reach`` of the grid."""
    points = np.arange(-reach, reach + 1) * grid - value
    near, far = np.abs(points) - grid / 2, np.abs(points) + grid / 2
    inner, outer = survival(np.abs(near) / scale), survival(far / scale)
    straddling, outside = -np.expm1(np.logaddexp(inner, outer)), -np.expm1(outer - inner)
    with np.errstate(divide="ignore"):
        return np.where(near < 0, np.log(straddling), inner + np.log(outside))


def ideal_divergence(log_density, shift, epsilon):
    """Return the hockey-stick divergence of a density from its translate by adaptive quadrature."""

    def gain(y):
        loss = log_density(y) - log_density(y - shift)
        return math.exp(log_density(y)) * -math.expm1(epsilon - loss) if loss > epsilon else 0.0

    edges = [-60, -20, -6, 0, shift, 6 + shift]
    pairs = pairwise(edges)
    return math.fsum(integrate.quad(gain, a, b, epsabs=1e-15, epsrel=1e-12, limit=400)[0] for a, b in pairs)


# --- laws of choices ---------------------------------------------------------------------------------------------


def softmax(scores, rate):
    """Return the exponential mechanism's law."""
    weights = rate * np.asarray(scores, dtype=float)
    return weights - special.logsumexp(weights)


def permute_and_flip(scores, rate):
    """Return the law of: in random order, take a candidate with probability ``e^(rate (score - best))``."""
    p = np.exp(rate * (np.asarray(scores, dtype=float) - max(scores)))
    law = np.zeros(len(p))
    orders = list(permutations(range(len(p))))
    for order in orders:
        still = 1.0
        for i in order:
            law[i] += still * p[i] / len(orders)
            still *= 1 - p[i]
    return np.log(law)


DENSITIES = {
    "laplace": (lambda z: np.exp(-np.abs(z)) / 2, lambda z: np.where(z < 0, np.exp(z) / 2, 1 - np.exp(-z) / 2)),
    "exponential": (lambda z: np.where(z < 0, 0, np.exp(-z)), lambda z: np.where(z < 0, 0, -np.expm1(-z))),
    "gumbel": (lambda z: np.exp(-z - np.exp(-z)), lambda z: np.exp(-np.exp(-z))),
}


def noisy_max(noise, scores, rate):
    """Return the law of the largest of ``rate * score + Z``, by Gauss-Legendre between the kinks."""
    starts = rate * (np.asarray(scores, dtype=float) - max(scores))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    edges = np.unique(np.concatenate([starts, np.arange(-12, 13) / 2.0, [-40, -25, -16, -9, 8, 11, 16, 25, 45]]))
    edges = edges[edges >= starts.min() - 40]
    half = np.diff(edges) / 2
    x = ((edges[:-1] + edges[1:]) / 2)[:, None] + half[:, None] * nodes
    density, below = DENSITIES[noise]
    with np.errstate(over="ignore", under="ignore"):
        law = []
        for i, start in enumerate(starts):
            others = [below(x - s) for j, s in enumerate(starts) if j != i]
            law.append(float(np.sum(half[:, None] * weights * density(x - start) * np.prod(others, axis=0))))
    return np.log(law)


def quantile_cells(records, edges, rate, probability):
    """Return the log-probabilities of the cells between edges for data that lie on edges alone."""
    edges = np.asarray(edges, dtype=float)
    middles, lengths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    ranks = np.array([sum(x < y for x in records) for y in middles])
    weights = np.log(lengths) - rate * np.abs(ranks - probability * len(records))
    return weights - special.logsumexp(weights)


def response(truth, categories, answer):
    """Return the law of a report that is the answer with probability ``truth`` and else any other."""
    law = np.full(categories, (1 - truth) / (categories - 1))
    law[answer] = truth
    return np.log(law)
