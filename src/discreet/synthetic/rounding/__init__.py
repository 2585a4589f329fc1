"""Controlled rounding: whole numbers that keep what the real numbers kept.

>>> import numpy as np
>>> largest_remainder(np.array([0.6, 0.6, 1.8]), 3).tolist()
[1, 0, 2]

Like consistency it is post-processing: it never sees data and costs nothing.
"""

from discreet.synthetic.rounding.controlled import Rounded, round_controlled
from discreet.synthetic.rounding.largest_remainder import largest_remainder
from discreet.synthetic.rounding.margins import round_margins

__all__ = ["Rounded", "largest_remainder", "round_controlled", "round_margins"]
