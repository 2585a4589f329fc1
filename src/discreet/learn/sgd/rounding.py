"""What float arithmetic can add to the sensitivity of a clipped sum.

The clipped sum of b rows is a matrix product in float arithmetic with unit roundoff u. Each entry adds b terms, in
whatever order, with an error of at most ``gamma_b = b u / (1 - b u)`` times the sum of their sizes (Higham, "Accuracy
and Stability of Numerical Algorithms", 2002, section 3.1). Rows have norm at most C, so the error of the whole has norm
at most ``gamma_b b C``. Larger batches are multiplied in float64, or added up in float64 from blocks of b rows;
its own errors are ``2^29`` times smaller and lie within what ``share`` leaves of a declared rounding.

Rows lie in a batch in random order, drawn in secret. One more record then takes the place of another one, which goes to
the end: two blocks change, all others are computed from the same numbers in the same way. With both of two neighbours
that is four errors, and a sensitivity of ``C (1 + 4 gamma_b b)``.

This is proven where kernels give the same for the same numbers (on accelerators that is what
``torch.use_deterministic_algorithms`` is for) and where the gradient of an example is one row: layers that see each
example at one position, biases, norm layers, and whatever gradients are written down for each example. Where a weighted
product runs over many positions of an example at once, its terms may cancel, and errors are relative to the terms and
not to their sum; tf32 products round their factors besides. There the same number is what independent rounding errors
stay well below (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), which is a model of rounding and no proof. The same
holds for the last physical batch, whose padding may have another length on the neighbour.
"""

from fractions import Fraction
from functools import cache

from discreet.errors import InvalidParameter

__all__ = ["UNIT", "largest_batch", "share"]

UNIT = {"float32": Fraction(1, 2**24), "float64": Fraction(1, 2**53)}


def share(rows: int, kind: str = "float32") -> Fraction:
    """Return the share of the clip that rounding can add to the sensitivity, with room for norms and outer sums.

    >>> float(share(256)) < 1 / 60, float(share(128)) < 1 / 250
    (True, True)
    """
    unit = UNIT[kind]
    if rows * unit >= 1:
        raise InvalidParameter("a batch of so many rows cannot be added up in this arithmetic.")
    return 4 * rows * (rows * unit / (1 - rows * unit))


@cache
def largest_batch(rounding: Fraction | float, kind: str = "float32") -> int:
    """Return the most rows that may be added up at a time for rounding to stay within a declared share of the clip.

    >>> largest_batch(1 / 60), largest_batch(1 / 60, "float64") > 5_000_000
    (264, True)
    """
    low, high = 1, 1 << 40
    if share(1, kind) > rounding:
        raise InvalidParameter("rounding must leave room for at least one row; declare a larger share.")
    while high - low > 1:
        middle = (low + high) // 2
        fits = middle * UNIT[kind] < 1 and share(middle, kind) <= rounding
        low, high = (middle, high) if fits else (low, middle)
    return low
