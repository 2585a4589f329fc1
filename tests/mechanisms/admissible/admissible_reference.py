"""All pairs of laws that neighbours may have, and what tells them apart, from the densities alone."""

import math
from itertools import pairwise

import numpy as np
from scipy import integrate, special, stats

LAPLACE = lambda z: -np.abs(z) - math.log(2)  # noqa: E731
NORMAL = lambda z: -(z**2) / 2 - math.log(2 * math.pi) / 2  # noqa: E731


def cauchy(z):
    return -np.log1p(z**2) - math.log(math.pi)


def student(degrees):
    return lambda z: stats.t.logpdf(z, degrees)


def polynomial(gamma):
    constant = math.log(math.sin(math.pi / gamma) * gamma / (2 * math.pi))
    return lambda z: constant - np.logaddexp(0, gamma * np.log(np.abs(z) + 1e-300))


def power_law(exponent):
    return lambda z: math.log((exponent - 1) / 2) - exponent * np.log1p(np.abs(z))


def pairs(beta, kappa, stretches=9, moves=(0, 0.3, 0.7, 1)):
    """Places and log-scales of the law at a neighbour, in units of the law here; the extreme ones among them."""
    for stretch in np.linspace(-beta, beta, stretches):
        for move in moves:
            yield kappa * min(1.0, math.exp(stretch)) * move, float(stretch)


def net(shift, far=60.0):
    """Points that are dense about both places, and reach as far as floats tell laws with heavy tails apart."""
    steps = np.concatenate([[0], np.exp(np.linspace(-20, far, 6000)), np.linspace(0, 20, 4000)])
    return np.unique(np.concatenate([place + side * steps for place in (0.0, shift) for side in (-1, 1)]))


def log_ratio(log_density, shift, stretch, z):
    return log_density(z) - log_density((z - shift) * math.exp(-stretch)) + stretch


def largest_loss(log_density, beta, kappa, far=60.0):
    """Return the largest log-ratio over all pairs, both ways."""
    return max(float(np.max(np.abs(log_ratio(log_density, *pair, net(pair[0], far))))) for pair in pairs(beta, kappa))


def one_way_losses(log_density, shift, stretch):
    """Return the largest log-ratio of the law here to that of the neighbour, and of that to this."""
    ratio = log_ratio(log_density, shift, stretch, net(shift))
    return float(ratio.max()), float((-ratio).max())


def delta(log_density, epsilon, shift, stretch, reach=400.0):
    """Return the divergence of the law here from the neighbour's, by adaptive quadrature between all sign changes."""

    def excess(z):
        return log_ratio(log_density, shift, stretch, z) - epsilon

    z = np.unique(np.concatenate([np.linspace(-reach, reach, 40001), [0.0, shift]]))
    above = excess(z) > 0
    cuts = [0.0, shift, -reach, reach]
    for i in np.flatnonzero(above[1:] != above[:-1]):
        low, high = z[i], z[i + 1]
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if (excess(middle) > 0) == above[i] else (low, middle)
        cuts.append(low)
    cuts = np.unique(np.concatenate([cuts, np.arange(-40, 41.0)]))
    total = 0.0
    for low, high in pairwise(cuts):
        if excess((low + high) / 2) > 0:
            total += integrate.quad(
                lambda t: math.exp(log_density(t)) * -math.expm1(-excess(t)), low, high, epsabs=0, epsrel=1e-10
            )[0]
    return total


def plane_delta(log_density, epsilon, shifts, stretch, reach, points=1601):
    """Return the divergence of two independent noises from those of the neighbour, on a fine net of the plane."""
    z = np.linspace(-reach, reach, points)
    step = z[1] - z[0]
    logs = [log_density(z), log_density(z)]
    ratios = [log_ratio(log_density, shift, stretch, z) for shift in shifts]
    excess = np.add.outer(*ratios) - epsilon
    mass = np.exp(np.add.outer(*logs)) * step**2
    return float(np.sum(np.where(excess > 0, mass * -np.expm1(-np.maximum(excess, 0)), 0)))


def balle_wang(epsilon, kappa):
    return special.ndtr(kappa / 2 - epsilon / kappa) - math.exp(epsilon) * special.ndtr(-kappa / 2 - epsilon / kappa)
