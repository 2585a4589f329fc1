"""How a privacy loss looks in a notebook: what it costs at a few deltas, and what that means for a belief."""

import math
from html import escape
from typing import TYPE_CHECKING

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.accounting.loss import PrivacyLoss

__all__ = ["loss_html"]

DELTAS = (1e-5, 1e-6, 1e-9)
LONGEST = 200


def loss_html(loss: "PrivacyLoss") -> str:
    """Return a small table; a loss that no theorem covers is shown without numbers.

    >>> from discreet.accounting import PrivacyLoss
    >>> "0.5" in loss_html(PrivacyLoss.laplace(0.5))
    True
    """
    whole = repr(loss)
    said = escape(whole if len(whole) <= LONGEST else whole[: LONGEST - 3] + "...")
    deltas = (0.0,) if loss.is_pure else DELTAS
    rows = "".join(_row(loss, delta) for delta in deltas)
    about = "neighbours as the sensitivity says" if loss.relation is None else f"{loss.relation} neighbours"
    head = "<tr><th>at delta</th><th>epsilon</th><th>odds change by at most</th></tr>"
    table = f"<table><caption>{about}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return f"<div><code>{said}</code>{table}</div>"


def _row(loss: "PrivacyLoss", delta: float) -> str:
    try:
        epsilon = loss.epsilon(delta)
    except DiscreetError:
        return f"<tr><td>{delta:g}</td><td>not known</td><td></td></tr>"
    odds = f"{math.exp(epsilon):.3g} times" if epsilon < 20 else "no useful bound"
    return f"<tr><td>{delta:g}</td><td>{_up(epsilon)}</td><td>{odds}</td></tr>"


def _up(value: float) -> str:
    """Write an upper bound with four digits, rounded up."""
    if not 0 < value < math.inf:
        return "0" if value <= 0 else "infinite"
    digits = 3 - math.floor(math.log10(value))
    return f"{math.ceil(value * 10**digits - 1e-9) / 10**digits:.10g}"
