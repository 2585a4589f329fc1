"""Making noisy numbers agree with each other and with what everybody knows.

Everything here is post-processing: it looks at numbers that were already released and at public facts, so it costs
nothing and no guarantee depends on it.

>>> import numpy as np
>>> project_total(np.array([3.0, -1.0, 2.0]), 4).tolist()
[2.5, 0.0, 1.5]
"""

from discreet.synthetic.consistency.constraints import Constraint, Constraints
from discreet.synthetic.consistency.invariants import Invariants
from discreet.synthetic.consistency.projection import project
from discreet.synthetic.consistency.total import project_total
from discreet.synthetic.consistency.tree import TreeEstimate, tree_least_squares

__all__ = [
    "Constraint",
    "Constraints",
    "Invariants",
    "TreeEstimate",
    "project",
    "project_total",
    "tree_least_squares",
]
