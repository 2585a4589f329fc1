"""Numbers with as many digits as their interval deserves: ``1,234 ± 6``.

What is shown never claims more than what was released: a shown interval contains the released one, and a cost is
rounded up. All roundings are of exact rationals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

__all__ = ["Shown", "above", "aligned", "percent", "shown"]

LARGEST = 15
SMALLEST = -9
"""Powers of ten beyond which a number is written as 1.2e-10."""

SLACK = Fraction(1, 10**12)
"""What binary rounding may add to an exact decimal; anything larger is rounded up."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One estimate in words: its value, the size of its interval where that is symmetric, and its two ends."""

    value: str
    plus_minus: str = ""
    span: str = ""


def shown(value: float | str | None, low: float | str | None, high: float | str | None) -> Shown:
    """Write an estimate with two digits of its interval.

    >>> shown(1234, 1228, 1240)
    Shown(value='1,234', plus_minus='6', span='1,228 to 1,240')
    >>> shown(41.23456, 40.3921, 42.0770)
    Shown(value='41.23', plus_minus='0.85', span='40.39 to 42.08')
    >>> shown(4, 0, 10)
    Shown(value='4', plus_minus='', span='0 to 10')
    >>> shown(0.5, None, None)
    Shown(value='0.5', plus_minus='', span='')
    """
    if value is None or isinstance(value, str):
        return Shown("—" if value is None else value, "", _words(low, high))
    if not isinstance(low, int | float) or not isinstance(high, int | float) or low >= high:
        return Shown(_alone(value), "", _words(low, high))
    whole = isinstance(value, int) and isinstance(low, int) and isinstance(high, int)
    exact, down, up = Fraction(value), Fraction(low), Fraction(high)
    place = _magnitude((up - down) / 2) - 1
    place = max(place, 0) if whole else place
    place = max(place, *(_magnitude(x) - LARGEST for x in (exact, down, up) if x))
    unit = Fraction(10) ** place
    centre = round(exact / unit)
    span = f"{_write(math.floor(down / unit), place)} to {_write(math.ceil(up / unit), place)}"
    if abs((up - exact) - (exact - down)) > unit:
        return Shown(_write(centre, place), "", span)
    half = math.ceil(max(up / unit - centre, centre - down / unit) - SLACK)
    return Shown(_write(centre, place), _write(half, place), span)


def above(value: float, digits: int = 4) -> str:
    """Write a cost or an error, rounded up to some digits.

    >>> above(0.1), above(0.123412), above(1e-07), above(12345.6), above(0), above(math.inf)
    ('0.1', '0.1235', '1e-7', '12,346', '0', 'infinite')
    """
    if value <= 0 or value == math.inf:
        return "0" if value <= 0 else "infinite"
    exact = Fraction(value) * (1 - SLACK)
    place = min(_magnitude(exact) - digits + 1, 0)
    return _trimmed(math.ceil(exact / Fraction(10) ** place), place, small=-digits - 1)


def percent(share: float) -> str:
    """Write a share as a percentage.

    >>> percent(0.95), percent(1 / 3), percent(0.999), percent(0.004)
    ('95%', '33.3%', '99.9%', '0.4%')
    """
    return f"{100 * share:.3g}%" if share < 0.9995 else f"{100 * share:.8g}%"


def aligned(texts: Sequence[str], *, point: str = " ", figure: str = " ") -> list[str]:
    """Fill numbers up on the right, so that right-aligned ones have their points below each other.

    >>> aligned(["41.25", "7", "1,020.5"])
    ['41.25', '7   ', '1,020.5 ']
    """
    tails = [len(text) - text.index(".") if "." in text else 0 for text in texts]
    longest = max(tails, default=0)
    return [
        text + (figure * (longest - t) if t else (point + figure * longest)[:longest])
        for text, t in zip(texts, tails, strict=True)
    ]


def _words(low: object, high: object) -> str:
    """Return an interval of which one end may be missing."""
    known = [end for end in (low, high) if isinstance(end, int | float)]
    match len(known):
        case 0:
            return ""
        case 1:
            return f"{'from' if high is None else 'up to'} {_alone(known[0])}"
    return f"{_alone(known[0])} to {_alone(known[1])}"


def _alone(value: float) -> str:
    """Write a number of unknown accuracy: whole as it is, others with six digits."""
    exact = Fraction(value)
    if not exact:
        return "0"
    place = 0 if exact.denominator == 1 else min(_magnitude(exact) - 5, 0)
    place = max(place, _magnitude(exact) - LARGEST)
    return _trimmed(round(exact / Fraction(10) ** place), place)


def _trimmed(count: int, place: int, small: int = SMALLEST) -> str:
    """Write a number without the zeros after its last digit."""
    while place < 0 and count % 10 == 0:
        count, place = count // 10, place + 1
    return _write(count, place, small)


def _write(count: int, place: int, small: int = SMALLEST) -> str:
    """Write ``count * 10^place`` exactly, with thousands separated."""
    sign, digits = "-" if count < 0 else "", str(abs(count))
    top = len(digits) - 1 + place
    if count and (top > LARGEST or place < small):
        tail = digits[1:].rstrip("0")
        return f"{sign}{digits[0]}{'.' + tail if tail else ''}e{top}"
    if place >= 0:
        return f"{count * 10**place:,}"
    whole, rest = divmod(abs(count), 10**-place)
    return f"{sign}{whole:,}.{rest:0{-place}d}"


def _magnitude(value: Fraction) -> int:
    """Return the power of ten of the first digit."""
    return (Decimal(abs(value.numerator)) / Decimal(value.denominator)).adjusted()
