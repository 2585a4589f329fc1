"""Noise whose scale may follow a smooth bound on the local sensitivity, one law each.

>>> PowerLaw(epsilon=1, beta=0.1).reach() < Cauchy(epsilon=1, beta=0.1).reach()
True
"""

from discreet.mechanisms.admissible.cauchy import Cauchy
from discreet.mechanisms.admissible.check import Admissibility, admissible
from discreet.mechanisms.admissible.choice import Alternative, Comparison, compare
from discreet.mechanisms.admissible.divergence import hockey_stick, largest_ratio, renyi
from discreet.mechanisms.admissible.gaussian import Gaussian, gaussian_smooth_delta
from discreet.mechanisms.admissible.interface import Admissible
from discreet.mechanisms.admissible.laplace import Laplace, laplace_delta
from discreet.mechanisms.admissible.laplace_log_normal import LaplaceLogNormal
from discreet.mechanisms.admissible.polynomial import Polynomial
from discreet.mechanisms.admissible.power_law import PowerLaw
from discreet.mechanisms.admissible.student import StudentT
from discreet.mechanisms.admissible.uniform_log_normal import UniformLogNormal

__all__ = [
    "Admissibility",
    "Admissible",
    "Alternative",
    "Cauchy",
    "Comparison",
    "Gaussian",
    "Laplace",
    "LaplaceLogNormal",
    "Polynomial",
    "PowerLaw",
    "StudentT",
    "UniformLogNormal",
    "admissible",
    "compare",
    "gaussian_smooth_delta",
    "hockey_stick",
    "laplace_delta",
    "largest_ratio",
    "renyi",
]
