"""The two ways to say how much noise: by epsilon or by scale."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, plain, positive, show

__all__ = ["NOT_GIVEN", "amount", "complete", "enough", "store"]

NOT_GIVEN: Any = None
"""The default of a parameter that can be worked out from the others; it is filled in when the value is made."""


def store(mechanism: object, **numbers: Real | None) -> None:
    """Fill in the fields of a frozen value while it is being made, each as a plain Python number."""
    for name, value in numbers.items():
        object.__setattr__(mechanism, name, value if value is None else plain(value))


def complete(sensitivity: Fraction, epsilon: Real, scale: Real, name: str) -> tuple[Real, Real]:
    """Return epsilon and scale with ``epsilon * scale == sensitivity``, from whichever was given.

    >>> complete(Fraction(1), 0.5, NOT_GIVEN, "Laplace")
    (0.5, Fraction(2, 1))
    """
    if epsilon is NOT_GIVEN and scale is NOT_GIVEN:
        raise InvalidParameter(f"{name} needs epsilon= or scale=: how much noise shall there be?")
    if epsilon is NOT_GIVEN:
        return sensitivity / positive(scale, "scale"), scale
    if scale is NOT_GIVEN:
        return epsilon, sensitivity / positive(epsilon, "epsilon")
    if positive(epsilon, "epsilon") * positive(scale, "scale") != sensitivity:
        raise InvalidParameter(f"{name} was given an epsilon and a scale that disagree; give one of them.")
    return epsilon, scale


def amount(epsilon: Real, scale: Real) -> str:
    """Return the keyword that says the amount of noise exactly: epsilon, unless only the scale is a plain number.

    >>> amount(0.1, Fraction(1) / Fraction(0.1)), amount(Fraction(1, 3), 3)
    ('epsilon=0.1', 'scale=3')
    """
    by_epsilon, by_scale = f"epsilon={show(epsilon)}", f"scale={show(scale)}"
    return by_scale if "Fraction" in by_epsilon and "Fraction" not in by_scale else by_epsilon


def enough(make: Callable[[float], PrivacyLoss], noise: float, epsilon: Fraction, delta: Fraction) -> float:
    """Return an amount of noise whose loss fits the budget: the given one, or the last digits more.

    A least amount found by delta may miss the budget by the last digits of epsilon, which is itself rounded up.

    >>> enough(lambda scale: PrivacyLoss.laplace(1 / scale), 0.5, Fraction(2), Fraction(0))
    0.5
    """
    for digits in range(13, 5, -1):
        more = noise * (1 + 10.0**-digits) if digits < 13 else noise
        if make(more).epsilon(delta) <= epsilon:
            return more
    raise InvalidParameter("no noise was found that fits this budget; take a larger epsilon or delta.")
