"""Altair pictures of plain arrays, in one house style that survives a black-and-white printer.

Every function takes plain sequences and returns an Altair chart; ``svg`` turns a chart into text for a web page. Altair
and vl-convert are imported when a picture is drawn and not before.
"""

from discreet.plots.bars import bars_with_error
from discreet.plots.curves import Axis, Curve, Mark, curves
from discreet.plots.density import noise_distribution
from discreet.plots.errors import ErrorLine, error_against_scale, ratio_map
from discreet.plots.intervals import Panel, intervals
from discreet.plots.slices import Slices, slices
from discreet.plots.small import Small, small_curves
from discreet.plots.tradeoff import error_against_epsilon
from discreet.plots.trajectories import Landscape, Paths, trajectories
from discreet.plots.vector import svg

__all__ = [
    "Axis",
    "Curve",
    "ErrorLine",
    "Landscape",
    "Mark",
    "Panel",
    "Paths",
    "Slices",
    "Small",
    "bars_with_error",
    "curves",
    "error_against_epsilon",
    "error_against_scale",
    "intervals",
    "noise_distribution",
    "ratio_map",
    "slices",
    "small_curves",
    "svg",
    "trajectories",
]
