"""Local and smooth sensitivity: how far one record can move a value here, and nearby.

The median of five numbers between 0 and 6 moves by 2 at most here, but by more a few records away. What noise has to
cover lies between this and the 6 by which some median somewhere can move.

>>> median = Median(bounds=(0, 6)).at([1, 2, 3, 5, 6])
>>> median.value, median.local(), median.local(1), median.local(9)
(3.0, 2.0, 3.0, 6.0)
>>> round(median.smooth(0.1), 4), round(median.smooth(1), 4)
(4.0219, 2.0)

No theorem needs to be believed: ``local_sensitivity`` and ``smooth_sensitivity`` try everything over a small domain.

>>> import statistics
>>> round(smooth_sensitivity(statistics.median, range(7), [1, 2, 3, 5, 6], "replace_one", 0.1), 4)
4.0219
"""

from discreet.sensitivity.smooth.brute_force import local_sensitivity, smooth_sensitivity
from discreet.sensitivity.smooth.combine import Lipschitz, Maximum, Minimum, Scaled, Stack, Sum
from discreet.sensitivity.smooth.constant import Constant
from discreet.sensitivity.smooth.function import ROUNDING, Function, Vicinity
from discreet.sensitivity.smooth.interquartile import InterquartileRange
from discreet.sensitivity.smooth.levels import Levels
from discreet.sensitivity.smooth.order import Median, OrderStatistic, SampleQuantile
from discreet.sensitivity.smooth.picture import sensitivity_against_beta, sensitivity_against_distance
from discreet.sensitivity.smooth.theil_sen import TheilSen
from discreet.sensitivity.smooth.trimmed import TrimmedMean
from discreet.sensitivity.smooth.variance import PopulationVariance
from discreet.sensitivity.smooth.weighted import WeightedQuantile
from discreet.sensitivity.smooth.winsorized import WinsorizedMean

__all__ = [
    "ROUNDING",
    "Constant",
    "Function",
    "InterquartileRange",
    "Levels",
    "Lipschitz",
    "Maximum",
    "Median",
    "Minimum",
    "OrderStatistic",
    "PopulationVariance",
    "SampleQuantile",
    "Scaled",
    "Stack",
    "Sum",
    "TheilSen",
    "TrimmedMean",
    "Vicinity",
    "WeightedQuantile",
    "WinsorizedMean",
    "local_sensitivity",
    "sensitivity_against_beta",
    "sensitivity_against_distance",
    "smooth_sensitivity",
]
