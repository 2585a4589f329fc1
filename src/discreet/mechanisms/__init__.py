"""Mechanisms, one file each: how a private answer is made.

Every mechanism is a frozen value with a ``domain``, a ``loss`` and ``release``. Read ``geometric.py`` to see how one is
written and ``CONTRIBUTING.md`` to add another.

>>> count = Geometric(sensitivity=1, epsilon=0.5)
>>> count.error(0.05), count.loss.epsilon()
(6, 0.5)
"""

from discreet.mechanisms import admissible
from discreet.mechanisms.accuracy import crossover, gaussian_error, laplace_error
from discreet.mechanisms.bounded_local import BoundedLocal, Fitted
from discreet.mechanisms.boxes import Boxes
from discreet.mechanisms.candidate_quantile import CandidateQuantile
from discreet.mechanisms.combinators import clamped, compose, group, parallel, repeat, then
from discreet.mechanisms.comparisons import Comparisons, Replies, Reply
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.estimate import Estimate
from discreet.mechanisms.exponential import BoundedCount, Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_threshold import GaussianThreshold
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.grid_quantile import GridQuantile
from discreet.mechanisms.histogram import KnownBins
from discreet.mechanisms.interface import Conversation, Dialogue, Mechanism, Records, Shift
from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.laplace_threshold import LaplaceThreshold
from discreet.mechanisms.lifted import Lifted
from discreet.mechanisms.margin import Outcome
from discreet.mechanisms.noisy_cdf import NoisyCDF
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.noisy_tree import NoisyTree
from discreet.mechanisms.optimal_selection import OptimalSelection
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.priv_tree import PrivTree
from discreet.mechanisms.propose_test_release import ProposeTestRelease
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.quantile_tree import QuantileTree
from discreet.mechanisms.random_record import RandomRecord
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sample_and_aggregate import SampleAndAggregate
from discreet.mechanisms.smooth_interval import SmoothInterval
from discreet.mechanisms.smooth_noise import SmoothNoise, smooth_noise
from discreet.mechanisms.smooth_quantile import SmoothQuantile
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.stability import Mode, StableValue
from discreet.mechanisms.stability_histogram import Bins, StabilityHistogram
from discreet.mechanisms.stat import STAT
from discreet.mechanisms.survey import Warner, YesBiased
from discreet.mechanisms.tested_quantile import TestedQuantile
from discreet.mechanisms.top import TopK
from discreet.mechanisms.tree_cdf import TreeCDF

__all__ = [
    "STAT",
    "Bins",
    "BoundedCount",
    "BoundedLocal",
    "Boxes",
    "CandidateQuantile",
    "Comparisons",
    "Conversation",
    "Dialogue",
    "DiscreteGaussian",
    "Estimate",
    "Exponential",
    "Fitted",
    "Gaussian",
    "GaussianThreshold",
    "Geometric",
    "GridQuantile",
    "InverseSensitivity",
    "KnownBins",
    "Laplace",
    "LaplaceThreshold",
    "Lifted",
    "Mechanism",
    "Mode",
    "NoisyCDF",
    "NoisyMax",
    "NoisyTree",
    "OptimalSelection",
    "Outcome",
    "PermuteAndFlip",
    "PrivTree",
    "ProposeTestRelease",
    "Quantile",
    "QuantileTree",
    "RandomRecord",
    "RandomizedResponse",
    "Records",
    "Replies",
    "Reply",
    "SampleAndAggregate",
    "Shift",
    "SmoothInterval",
    "SmoothNoise",
    "SmoothQuantile",
    "SparseVector",
    "StabilityHistogram",
    "StableValue",
    "TestedQuantile",
    "TopK",
    "TreeCDF",
    "Warner",
    "YesBiased",
    "admissible",
    "clamped",
    "compose",
    "crossover",
    "gaussian_error",
    "group",
    "laplace_error",
    "parallel",
    "repeat",
    "smooth_noise",
    "then",
]
