"""Mechanisms, one file each: how a private answer is made.

Every mechanism is a frozen value with a ``domain``, a ``loss`` and ``release``. Read ``geometric.py`` to see how one is
written and ``CONTRIBUTING.md`` to add another.

>>> count = Geometric(sensitivity=1, epsilon=0.5)
>>> count.error(0.05), count.loss.epsilon()
(6, 0.5)
"""

from discreet.mechanisms.accuracy import crossover, gaussian_error, laplace_error
from discreet.mechanisms.combinators import clamped, compose, group, parallel, repeat, then
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.estimate import Estimate
from discreet.mechanisms.exponential import BoundedCount, Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_threshold import GaussianThreshold
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.grid_quantile import GridQuantile
from discreet.mechanisms.interface import Conversation, Dialogue, Mechanism, Records, Shift
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.laplace_threshold import LaplaceThreshold
from discreet.mechanisms.lifted import Lifted
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.noisy_tree import NoisyTree
from discreet.mechanisms.optimal_selection import OptimalSelection
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.quantile_tree import QuantileTree
from discreet.mechanisms.random_record import RandomRecord
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.stat import STAT
from discreet.mechanisms.survey import Warner, YesBiased
from discreet.mechanisms.top import TopK

__all__ = [
    "STAT",
    "BoundedCount",
    "Conversation",
    "Dialogue",
    "DiscreteGaussian",
    "Estimate",
    "Exponential",
    "Gaussian",
    "GaussianThreshold",
    "Geometric",
    "GridQuantile",
    "Laplace",
    "LaplaceThreshold",
    "Lifted",
    "Mechanism",
    "NoisyMax",
    "NoisyTree",
    "OptimalSelection",
    "PermuteAndFlip",
    "Quantile",
    "QuantileTree",
    "RandomRecord",
    "RandomizedResponse",
    "Records",
    "Shift",
    "TopK",
    "Warner",
    "YesBiased",
    "clamped",
    "compose",
    "crossover",
    "gaussian_error",
    "group",
    "laplace_error",
    "parallel",
    "repeat",
    "then",
]
