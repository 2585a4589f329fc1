"""Exact noise at the speed of float64.

Every sampler proposes in float64 with a stated error bound and lets ball arithmetic decide where that bound leaves a
doubt, so each draws from exactly the law it names. Randomness comes from ``discreet.noise.bits``; there is no seed.

>>> z = discrete_laplace(10, size=5)
>>> z.dtype, z.shape
(dtype('int64'), (5,))
"""

from discreet.noise import densities
from discreet.noise.bits import source
from discreet.noise.coins import bernoulli, bernoulli_exp, uniform_below
from discreet.noise.discrete_gaussian import discrete_gaussian
from discreet.noise.discrete_laplace import discrete_laplace, geometric
from discreet.noise.grid import grid_for, on_grid
from discreet.noise.race import race

__all__ = [
    "bernoulli",
    "bernoulli_exp",
    "densities",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "grid_for",
    "on_grid",
    "race",
    "source",
    "uniform_below",
]
