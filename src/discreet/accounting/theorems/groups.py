"""Group privacy: what a guarantee for one record says about t of them.

A chain of t neighbours gives ``(t epsilon, delta (1 + e^epsilon + ... + e^((t-1) epsilon)))`` (Dwork and Roth, 2014,
Theorem 2.2; Vadhan, 2017, Lemma 2.2). The two shorter forms round that sum up.
"""

from typing import Literal

from flint import arb

from discreet.accounting.theorems.guarantee import Guarantee, not_negative, whole
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, probability, up, upward

__all__ = ["group_privacy", "group_zcdp"]


def group_privacy(
    epsilon: Real, delta: Real = 0, *, size: int, form: Literal["tight", "common", "loose"] = "tight"
) -> Guarantee:
    """Return ``size * epsilon`` with delta times the sum, or ``t e^((t-1) epsilon)``, or ``t e^(t epsilon)``.

    Holds for the relation of the base guarantee. Replacing a record is removing one and adding one: a group of two
    under add_remove.

    >>> group_privacy(0.5, 1e-6, size=3)
    Guarantee(epsilon=1.5, delta=5.36700309915917...e-06)
    """
    e, d = not_negative(epsilon, "epsilon"), probability(delta, "delta", zero=True, one=True)
    t = whole(size, "size")

    def factor() -> arb:
        if form == "tight":
            return (t * ball(e)).expm1() / ball(e).expm1() if e else arb(t)
        return t * ((t - 1 if form == "common" else t) * ball(e)).exp()

    if form not in ("tight", "common", "loose"):
        raise InvalidParameter(f"form must be 'tight', 'common' or 'loose', got {form!r}.")
    if t == 1 or not d:
        return Guarantee(upward(t * e), upward(d))
    return Guarantee(upward(t * e), min(1.0, up(lambda: ball(d) * factor())))


def group_zcdp(rho: Real, *, size: int) -> float:
    """Return ``size^2 rho`` (Bun and Steinke, TCC 2016, Proposition 1.9).

    >>> group_zcdp(0.5, size=3)
    4.5
    """
    return upward(whole(size, "size") ** 2 * not_negative(rho, "rho"))
