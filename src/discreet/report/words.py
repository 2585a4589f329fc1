"""Numbers as a reader wants them, and the guarantee in sentences. Bounds are rounded away from comfort."""

import math
from collections.abc import Mapping

from discreet.report.release import Value

__all__ = [
    "bound",
    "least",
    "multiple",
    "noise",
    "number",
    "percent_above",
    "percent_below",
    "posterior",
    "power",
    "share",
    "shown",
]

SLACK = 1e-12
"""What binary rounding may add to an exact decimal; anything larger is rounded up."""


def number(value: float) -> str:
    """Write a number with thousands separated, and no more digits than it deserves.

    >>> number(20000), number(-3), number(23087.2519), number(41.0), number(0.03721)
    ('20,000', '\N{MINUS SIGN}3', '23,087', '41', '0.0372')
    """
    if not math.isfinite(value):
        return str(value)
    if value == int(value):
        text = f"{int(value):,}"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:,.3g}"
    return text.replace("-", "\N{MINUS SIGN}")


def shown(value: Value) -> str:
    """Write an answer; a number for each group is announced and listed elsewhere.

    >>> shown(1234), shown("a tie"), shown({"north": 1, "south": 2})
    ('1,234', 'a tie', '2 numbers, below')
    """
    if isinstance(value, Mapping):
        return f"{len(value)} numbers, below"
    return value if isinstance(value, str) else number(value)


def bound(value: float) -> str:
    """Write a cost with three decimals or three digits, rounded up.

    >>> bound(1.0000000000000002), bound(0.12345), bound(0.0000123), bound(0)
    ('1', '0.124', '1.23e-05', '0')
    """
    if value <= 0 or value == math.inf:
        return "0" if value <= 0 else "infinite"
    digits = 3 if value >= 0.01 else 2 - math.floor(math.log10(value))
    return f"{math.ceil(value * 10**digits * (1 - SLACK)) / 10**digits:.12g}"


def least(value: float) -> str:
    """Write a lower bound with three decimals or three digits, rounded down.

    >>> least(2.38154), least(0.0123456), least(0)
    ('2.381', '0.012', '0')
    """
    if value <= 0 or value == math.inf:
        return "0" if value <= 0 else "infinite"
    digits = 3 if value >= 0.01 else 2 - math.floor(math.log10(value))
    return f"{math.floor(value * 10**digits * (1 + SLACK)) / 10**digits:.12g}"


def noise(value: float) -> str:
    """Write an amount of noise with four digits or more.

    >>> noise(1000.0), noise(169.1812), noise(0.41997)
    ('1,000', '169.2', '0.42')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def share(part: float) -> str:
    """Write a part of a whole as a percentage with two digits.

    >>> share(0.0902), share(1.234), share(0.00051)
    ('9%', '123%', '0.051%')
    """
    return f"{100 * part:.0f}%" if part >= 0.02 else f"{100 * part:.2g}%"


def multiple(epsilon: float) -> str:
    """Write e to the epsilon, rounded up.

    >>> multiple(1), multiple(50)
    ('2.719', 'e^50')
    """
    return bound(math.exp(epsilon)) if epsilon <= 20 else f"e^{bound(epsilon)}"


def posterior(prior: float, epsilon: float) -> tuple[float, float]:
    """Return how low and how high the belief in a claim about one person can be after the release.

    Satisfies ``p / (p + (1 - p) e^epsilon) <= posterior <= p e^epsilon / (p e^epsilon + 1 - p)`` for an
    attacker who knows all other records, whenever the release is ``epsilon``-DP with ``delta = 0``.

    >>> posterior(0.5, 1)
    (0.268..., 0.731...)
    """
    odds = (1 - prior) / prior
    return math.exp(-epsilon) / (math.exp(-epsilon) + odds), 1 / (1 + odds * math.exp(-epsilon))


def power(false_alarms: float, epsilon: float, delta: float) -> float:
    """Return how often a test can be right about a record, if it accuses falsely at the given rate.

    Satisfies ``power <= e^epsilon * false_alarms + delta`` and the mirrored bound, for every release that is
    ``(epsilon, delta)``-DP.

    >>> power(0.05, 1, 0)
    0.135...
    """
    direct = false_alarms * math.exp(min(epsilon, 700.0)) + delta
    mirrored = 1 - (1 - delta - false_alarms) * math.exp(-epsilon)
    return min(direct, mirrored, 1.0)


def percent_above(share: float) -> str:
    """Write a share as a percentage, rounded up.

    >>> percent_above(0.7310585), percent_above(0.5)
    ('73.2%', '50%')
    """
    return f"{math.ceil(share * 1000 * (1 - SLACK)) / 10:g}%"


def percent_below(share: float) -> str:
    """Write a share as a percentage, rounded down.

    >>> percent_below(0.2689)
    '26.8%'
    """
    return f"{math.floor(share * 1000 * (1 + SLACK)) / 10:g}%"
