"""Parallel composition: mechanisms on disjoint parts of the data.

McSherry, SIGMOD 2009, for adding or removing a record: it lies in one part, so the worst part counts. Replacing a
record takes one out of a part and puts one into a part. If these are two parts, both pay what they promise for a
removal and an addition; if they are the same part, that part pays for a replacement, which costs at most what a
group of two does. The parts must be disjoint by a rule that does not look at the data, and each mechanism must hold
its promise under add_remove on its own part: one that treats the size of its part as public is not covered.
"""

from collections.abc import Sequence

from discreet.accounting.loss import PrivacyLoss
from discreet.errors import NoTheorem, RelationMismatch
from discreet.units import check_relation

__all__ = ["parallel"]


def parallel(losses: Sequence[PrivacyLoss], *, relation: str) -> PrivacyLoss:
    """Return the loss of mechanisms on disjoint parts, for neighbours of the whole under ``relation``.

    The losses themselves are those under add_remove on each part.

    >>> parts = [PrivacyLoss.laplace(1), PrivacyLoss.laplace(0.1)]
    >>> parallel(parts, relation="add_remove").epsilon(), parallel(parts, relation="replace_one").epsilon()
    (1.0, 2.0)
    """
    wanted = check_relation(relation)
    for loss in losses:
        if loss.relation == "replace_one":
            raise RelationMismatch(
                "a loss under replace_one says nothing about a record that leaves its part: state each part's loss "
                "under add_remove."
            )
    parts = [loss.under("add_remove") for loss in losses]
    if not parts:
        return PrivacyLoss(relation=wanted)
    same = all(loss == parts[0] for loss in parts)
    worst = parts[0] if same else PrivacyLoss.pure(max(_pure(loss) for loss in parts))
    grouped = any(loss.grouped for loss in parts)
    # A group of two covers a replacement inside a part, and a move between two parts is a group of two in the larger.
    pays = worst if wanted == "add_remove" else worst.group(2)
    return PrivacyLoss(pays.terms, wanted, grouped or pays.grouped)


def _pure(loss: PrivacyLoss) -> float:
    if not loss.is_pure:
        raise NoTheorem(
            "parallel composition of different losses is stated for pure losses. With a delta, give every part the "
            "same loss: PrivacyLoss.approximate(epsilon, delta) with the worst epsilon and delta of the parts."
        )
    return loss.epsilon(0)
