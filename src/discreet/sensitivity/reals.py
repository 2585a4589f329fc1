"""Values from data: one as an exact number, all as an array."""

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.quietly import Silence

__all__ = ["array_of", "real"]


def real(value: object) -> Fraction | float:
    """Return the rational number a value is, or the float it is if infinite or missing (NaN or None).

    Python and numpy integers, floats and fractions keep their exact value; a Decimal is read as the nearest
    float.

    >>> real(0.5), real(2**53 + 1), real(-0.0), real(None)
    (Fraction(1, 2), Fraction(9007199254740993, 1), Fraction(0, 1), nan)
    >>> real("12")
    Traceback (most recent call last):
    discreet.errors.InvalidInput: every value must be a number, and one is of type str.
    """
    if isinstance(value, np.bool_ | np.ndarray) and value.ndim == 0:
        value = value.tolist()  # numpy's booleans and masked values: whether they pass must not depend on other rows
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))  # int(): numpy's own integers would wrap around
    if value is None or (isinstance(value, Decimal) and value.is_nan()):
        return math.nan
    if isinstance(value, numbers.Real | Decimal):
        number = float(value)
        return Fraction(number) if math.isfinite(number) else number
    raise InvalidInput(f"every value must be a number, and one is of type {type(value).__name__}.")


def array_of(rows: object) -> npt.NDArray[Any]:
    """Return rows as an array; numpy's warning that a masked value becomes NaN would tell that there is one."""
    with Silence():
        return np.asarray(rows)
