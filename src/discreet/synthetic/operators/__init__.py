"""Linear queries of a histogram, held without their matrices.

>>> Prefix(size=3).matvec([1, 2, 3])
array([1, 3, 6])
>>> AllRanges(size=64).sensitivity(1, relation="add_remove")
Fraction(1056, 1)
"""

from discreet.synthetic.operators.all_ranges import AllRanges
from discreet.synthetic.operators.explicit import Explicit
from discreet.synthetic.operators.identity import Identity
from discreet.synthetic.operators.kronecker import Kronecker
from discreet.synthetic.operators.marginals import Marginals
from discreet.synthetic.operators.operator import Change, Operator
from discreet.synthetic.operators.prefix import Prefix
from discreet.synthetic.operators.total import Total
from discreet.synthetic.operators.union import Union

__all__ = [
    "AllRanges",
    "Change",
    "Explicit",
    "Identity",
    "Kronecker",
    "Marginals",
    "Operator",
    "Prefix",
    "Total",
    "Union",
]
