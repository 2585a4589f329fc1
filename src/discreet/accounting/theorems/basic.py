"""Basic composition: epsilons and deltas add.

Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006.
"""

from fractions import Fraction

from discreet.accounting.theorems.guarantee import Guarantee, Numbers, steps
from discreet.exact import upward

__all__ = ["basic_composition"]


def basic_composition(epsilons: Numbers, deltas: Numbers = 0, *, count: int | list[int] = 1) -> Guarantee:
    """Return the sums.

    Holds for queries chosen adaptively, for any neighbour relation that is the same for all of them.

    >>> basic_composition([0.5, 0.25], [1e-6, 0])
    Guarantee(epsilon=0.75, delta=1e-06)
    """
    parts = steps(epsilons, deltas, count)
    epsilon = sum((e * k for e, _, k in parts), Fraction(0))
    delta = sum((d * k for _, d, k in parts), Fraction(0))
    return Guarantee(upward(epsilon), min(1.0, upward(delta)))
