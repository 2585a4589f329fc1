"""Multiplicative weights: a distribution that learns from the questions it answers worst.

>>> from discreet.synthetic.multiplicative import PMW
>>> PMW(sizes=(4, 4), size=1000, alpha=0.2, relation="add_remove", rho=0.5).loss.rho <= 0.5
True
"""

from discreet.synthetic.multiplicative.learning import Learning, Told
from discreet.synthetic.multiplicative.mwem import MWEM
from discreet.synthetic.multiplicative.pmw import PMW
from discreet.synthetic.multiplicative.questions import Linear, Table
from discreet.synthetic.multiplicative.weights import Weights

__all__ = ["MWEM", "PMW", "Learning", "Linear", "Table", "Told", "Weights"]
