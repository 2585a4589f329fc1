"""Continuous laws for the grid sampler, one file each."""

from discreet.noise.densities.base import Density, Racing
from discreet.noise.densities.cauchy import Cauchy
from discreet.noise.densities.gaussian import Gaussian
from discreet.noise.densities.gumbel import Gumbel
from discreet.noise.densities.laplace import Exponential, Laplace
from discreet.noise.densities.polynomial import Polynomial
from discreet.noise.densities.power_law import PowerLaw
from discreet.noise.densities.student import StudentT
from discreet.noise.densities.uniform import Uniform

__all__ = [
    "Cauchy",
    "Density",
    "Exponential",
    "Gaussian",
    "Gumbel",
    "Laplace",
    "Polynomial",
    "PowerLaw",
    "Racing",
    "StudentT",
    "Uniform",
]
