"""Noisy histograms: from an exact histogram to an estimated one, each in the way of one paper.

>>> Identity(shape=(4,), epsilon=1, relation="add_remove").release([3, 0, 2, 7]).shape
(4,)
"""

from discreet.synthetic.estimators.adaptive_grid import AdaptiveGrid
from discreet.synthetic.estimators.ahp import AHP
from discreet.synthetic.estimators.dawa import DAWA
from discreet.synthetic.estimators.estimator import LARGEST, Counted, Estimator
from discreet.synthetic.estimators.greedy_h import GreedyH
from discreet.synthetic.estimators.hb import Hb
from discreet.synthetic.estimators.identity import Identity
from discreet.synthetic.estimators.mwem import MWEM
from discreet.synthetic.estimators.privelet import Privelet
from discreet.synthetic.estimators.quad_tree import QuadTree
from discreet.synthetic.estimators.selector import Choice, choose
from discreet.synthetic.estimators.shrunk_tree import ShrunkTree
from discreet.synthetic.estimators.uniform import Uniform
from discreet.synthetic.estimators.uniform_grid import UniformGrid

__all__ = [
    "AHP",
    "DAWA",
    "LARGEST",
    "MWEM",
    "AdaptiveGrid",
    "Choice",
    "Counted",
    "Estimator",
    "GreedyH",
    "Hb",
    "Identity",
    "Privelet",
    "QuadTree",
    "ShrunkTree",
    "Uniform",
    "UniformGrid",
    "choose",
]
