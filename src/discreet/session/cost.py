"""Costs, levels and warnings as sentences."""

from fractions import Fraction

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.session.digits import above, percent

__all__ = ["NOT_PRIVATE", "SILENT", "checked_level", "checked_notes", "cost", "interval", "promise"]

NOT_PRIVATE = (
    "NOT PRIVATE: made with repeatable noise for a test. Whoever knows the seed knows the data. Do not publish."
)

SILENT = "within ±0: the noise is so small that the true number is shown"
"""How far off a private number is whose noise is 0 as often as is promised; only a public one is exact."""

USUAL_DELTA = 1e-6
"""Where a loss is not pure and nobody said a delta."""


def cost(loss: PrivacyLoss, delta: object = None) -> str:
    """Say what a loss costs, at a delta if one is known, rounded up.

    >>> cost(PrivacyLoss.laplace(0.2)), cost(PrivacyLoss.gaussian(mu=0.1), 1e-7)
    ('epsilon 0.2', 'epsilon 0.4471 at delta 1e-7')
    """
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        delta = 0 if loss.is_pure else USUAL_DELTA
    said = f"epsilon {above(loss.epsilon(delta))}"
    return f"{said} at delta {above(delta)}" if delta else said


def promise(level: float) -> str:
    """Say how often something of this level holds.

    >>> promise(0.95), promise(0.9), promise(0.9545)
    ('in 19 of 20 releases', 'in 9 of 10 releases', 'in 95.45% of releases')
    """
    odds = Fraction(level).limit_denominator(100)
    if float(odds) == level:
        return f"in {odds.numerator} of {odds.denominator} releases"
    return f"in {100 * level:.6g}% of releases"


def interval(level: float) -> str:
    """Name an interval by its level.

    >>> interval(0.95)
    '95% interval'
    """
    return f"{percent(level)} interval"


def checked_level(level: object) -> float:
    """Return a probability strictly between 0 and 1.

    >>> checked_level(95)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: level must lie strictly between 0 and 1, as 0.95 does.
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InvalidParameter("level must lie strictly between 0 and 1, as 0.95 does.")
    return float(level)


def checked_notes(notes: object) -> tuple[str, ...]:
    """Return notes as they are kept: some texts, and not one.

    >>> checked_notes(["the interval covers the noise"])
    ('the interval covers the noise',)
    """
    if not isinstance(notes, list | tuple) or not all(isinstance(note, str) for note in notes):
        raise InvalidParameter("notes are a tuple of texts.")
    return tuple(notes)
