"""A delta that protects too little: said where a budget is opened, and where a model is fitted.

A release that publishes each record as it is with probability delta is (0, delta)-DP. So a delta should be far below
one over the number of people: Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, section 2.3.
"""

import warnings
from fractions import Fraction

from discreet.errors import LargeDeltaWarning
from discreet.exact import Real, show

__all__ = ["LARGE_DELTA", "say_large_delta", "too_large"]

LARGE_DELTA = Fraction(0.001)  # as it is written in code, a hair above the decimal
"""Above this a delta is too large for any number of people, as far as one knows."""


def too_large(delta: Real, people: int | None = None) -> bool:
    """Whether a delta protects too little: it is above one over the number of people, or of any number of people.

    >>> too_large(0.5), too_large(1e-6), too_large(1e-6, 10**7)
    (True, False, True)
    """
    return Fraction(delta) * people > 1 if people is not None else Fraction(delta) > LARGE_DELTA


def say_large_delta(delta: Real, people: int | None = None, *, stacklevel: int = 2) -> None:
    """Warn of a delta that is too large; both numbers are public."""
    if not too_large(delta, people):
        return
    whom = "the number of people" if people is None else f"{people:,} people"
    warnings.warn(
        f"delta {show(Fraction(delta))} is not below one over {whom}: it would allow to publish each of them as they "
        "are with that probability. A delta of 1e-6 or less is usual.",
        LargeDeltaWarning,
        stacklevel=stacklevel + 1,
    )
