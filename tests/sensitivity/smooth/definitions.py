"""Local and smooth sensitivity as they are defined, over all data sets of a small domain at once.

Unlike the brute force of the package, which walks from one data set, this lists every data set, takes distances between
all pairs by counting, and knows ordered rows that belong to persons.
"""

import math
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np

from discreet.sensitivity.smooth import ROUNDING


class World:
    """All data sets over a domain, and how far apart any two are."""

    def __init__(self, data_sets, distances):
        self.data_sets = data_sets
        self.distances = distances

    def levels(self, values, most):
        """Return ``A(x, k)`` for every data set x and every k below ``most``, by definition."""
        moved = np.where(self.distances == 1, np.abs(np.subtract.outer(values, values)), 0.0)
        local = moved.max(axis=1)
        return np.array([[local[row <= k].max() for k in range(most)] for row in self.distances])


@cache
def replaced(domain, n):
    """Return all multisets of n records; the distance is how many records differ."""
    data_sets = list(combinations_with_replacement(domain, n))
    counts = np.array([[data.count(value) for value in domain] for data in data_sets])
    apart = np.abs(counts[:, None] - counts[None]).sum(axis=2) // 2
    return World(data_sets, apart)


@cache
def added(domain, most):
    """Return all multisets of up to so many records; the distance is how many are added or removed."""
    data_sets = [data for n in range(most + 1) for data in combinations_with_replacement(domain, n)]
    counts = np.array([[data.count(value) for value in domain] for data in data_sets])
    return World(data_sets, np.abs(counts[:, None] - counts[None]).sum(axis=2))


@cache
def by_persons(domain, persons, rows, fixed):
    """Return ordered tables of persons with some rows each; a neighbour has other rows of one person.

    If it is not fixed whose rows are whose, one person replaces any ``rows`` rows.
    """
    if not fixed:
        world = replaced(domain, persons * rows)
        return World(world.data_sets, -(-world.distances // rows))
    data_sets = list(product(domain, repeat=persons * rows))
    codes = np.array(data_sets).reshape(len(data_sets), persons, rows)
    apart = np.zeros((len(data_sets), len(data_sets)), dtype=int)
    for person in range(persons):
        mine = codes[:, person]
        apart += (mine[:, None] != mine[None]).any(axis=2)
    return World(data_sets, apart)


def flaws(world, vicinities, betas=(0, 0.05, 0.4, 2.0), *, exact, most=None, inside=None):
    """Return in words what is wrong with vicinities of all data sets of a world; nothing, if all is well.

    ``inside`` marks the data sets whose neighbours are all in the world too. Exact levels must equal the definition,
    others must not be below it. Smooth bounds must be what the levels make, and bounds must be smooth.
    """
    values = np.array([float(one.value) for one in vicinities])
    most = most or world.distances.max() + 2
    truth = world.levels(values, most)
    said = np.array([[one.local(k) for k in range(most)] for one in vicinities])
    inside = np.ones(len(vicinities), dtype=bool) if inside is None else inside
    tiny = 1e-12 * (1 + np.abs(truth).max())
    found = []
    if (said < truth - tiny)[inside].any():
        found.append("a level is below the local sensitivity")
    if exact and (np.abs(said - truth) > tiny)[inside].any():
        found.append("a level is not the local sensitivity")
    if (np.diff(said, axis=1) < -tiny).any():
        found.append("levels fall")
    near = np.argwhere(world.distances == 1)
    if (said[near[:, 0], :-1] > said[near[:, 1], 1:] + tiny).any():
        found.append("a level is above the next level of a neighbour")
    for beta in betas:
        bound = np.array([one.smooth(beta) for one in vicinities])
        least = (truth * np.exp(-beta * np.arange(most))).max(axis=1)
        if (bound <= 0).any():
            found.append("a bound is 0")
        if (bound < least * (1 - 1e-15))[inside].any():
            found.append("a bound is below the least smooth bound")
        if exact and (bound > np.maximum(least, 2.0**-500) * (1 + ROUNDING))[inside].any():
            found.append("a bound is above the least smooth bound")
        if (bound[near[:, 0]] > bound[near[:, 1]] * math.exp(beta + ROUNDING)).any():
            found.append("a bound is not smooth")
    for one in vicinities:
        levels = np.array([one.local(k) for k in range(world.distances.max() + 4)])
        for limit in {*levels.tolist(), 0.0, levels[-1] / 3}:
            above = np.flatnonzero(levels > limit)
            if one.distance(limit) != (int(above[0]) if above.size else None):
                found.append("a distance is not the first level above its bound")
    return sorted(set(found))


def widest(points, left, right, rows, k):
    """Return the widest window by trying every one, with x constant beyond its bounds."""
    last = len(points) - 1
    reach = (k + 1) * rows
    shifts = range(reach + 1) if k else (0, rows)
    return max(points[min(right + t, last)] - points[max(left + t - reach, 0)] for t in shifts)


def slowly(points, left, right, rows, beta):
    """Return the smooth bound by trying every window of every length."""
    most = (len(points) + right - left) // rows + 2
    return max(widest(points, left, right, rows, k) * math.exp(-beta * k) for k in range(most))
