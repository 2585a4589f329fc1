"""Amplification by shuffling: local reports lose their senders.

Feldman, McMillan and Talwar, FOCS 2021 (Hiding Among the Clones). Each of n people sends one report through an
epsilon0-DP local randomiser; someone trusted shuffles the reports. Each other report is a clone of the one that is
attacked, with probability ``e^-epsilon0`` at least.
"""

from flint import arb

from discreet.accounting.theorems.guarantee import Guarantee, not_negative, whole
from discreet.accounting.theorems.sampling import require
from discreet.errors import NoTheorem
from discreet.exact import Real, ball, down, probability, up, upward

__all__ = ["shuffling"]


def shuffling(epsilon: Real, delta: Real, *, reports: int, relation: str) -> Guarantee:
    """Return the central guarantee of n shuffled epsilon0-DP reports (Theorem 3.1); for replace_one.

    ``ln(1 + (e^eps0 - 1)/(e^eps0 + 1) (8 sqrt(e^eps0 ln(4/delta) / n) + 8 e^eps0 / n))``, and never above epsilon0.
    Holds whenever ``eps0 <= ln(n / (16 ln(2/delta)))`` and the randomiser is pure and the same for everyone: one that
    gives its sender away gains nothing. If the people are shuffled before they report, the next randomiser may depend
    on the reports so far.

    >>> shuffling(1, 1e-6, reports=10**6, relation="replace_one")
    Guarantee(epsilon=0.02349..., delta=1e-06)
    """
    require(relation, "replace_one", "the number of reports is public.")
    e, d, n = not_negative(epsilon, "epsilon"), probability(delta, "delta"), whole(reports, "reports")
    limit = down(lambda: ball(n).log() - (16 * (2 / ball(d)).log()).log())
    if e > limit:
        raise NoTheorem(
            f"shuffling {n} reports at this delta is covered up to a local epsilon of {max(limit, 0.0):.4g}. "
            "Take more reports or a larger delta; unshuffled, the local epsilon itself holds."
        )

    def formula() -> arb:
        grown = ball(e).exp()
        hidden = 8 * (grown * (4 / ball(d)).log() / n).sqrt() + 8 * grown / n
        return ((grown - 1) / (grown + 1) * hidden).log1p()

    return Guarantee(min(upward(e), up(formula)) if e else 0.0, upward(d))
