"""Local and smooth sensitivity: how far one record can move a value here, and nearby."""

from discreet.sensitivity.smooth.function import ROUNDING, Function, Vicinity
from discreet.sensitivity.smooth.levels import Levels

__all__ = ["ROUNDING", "Function", "Levels", "Vicinity"]
