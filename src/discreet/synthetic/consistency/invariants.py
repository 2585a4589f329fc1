"""Totals that are published as they are, and what that does to the guarantee.

A total without noise tells what it tells: no privacy loss covers it. What remains is a guarantee that compares only
data sets which agree on every such total (Gong and Meng, "Congenial Differential Privacy under Mandated Disclosure",
FODS 2020). The words of that belong to whatever is published, and a loss that holds so is no ordinary one: it must not
be added to others as if it covered all neighbours.
"""

from dataclasses import dataclass

from discreet.accounting import PrivacyLoss
from discreet.errors import NoTheorem
from discreet.units import Relation, check_relation

__all__ = ["Invariants"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariants:
    """Which totals were published exactly, and what the guarantee still says.

    >>> print(Invariants(exact=("the total of every county",), relation="replace_one"))
    Published exactly, outside the guarantee: the total of every county. ...
    """

    exact: tuple[str, ...] = ()
    relation: Relation

    def __post_init__(self) -> None:
        check_relation(self.relation)

    def __bool__(self) -> bool:
        return bool(self.exact)

    def __str__(self) -> str:
        if not self.exact:
            return "Nothing was published outside the guarantee."
        steps = (
            "a change of one person that keeps them all costs at most what is stated. Where two persons must change "
            "for them all to stay, these are two changes, which may cost more than is stated"
            if self.relation == "replace_one"
            else "one person more or less who leaves them all as they are costs at most what is stated. A person "
            "exchanged for another one is one removed and one added, which may cost more than is stated"
        )
        return (
            f"Published exactly, outside the guarantee: {'; '.join(self.exact)}. Whoever knows everybody but "
            "one person can read off these totals whether she was counted there, and no privacy loss covers that. The "
            f"guarantee compares only data sets that agree on them: {steps}: up to what it costs a group of two."
        )

    def ordinary(self, loss: PrivacyLoss) -> PrivacyLoss:
        """Return a loss as one that holds for all neighbours, which it does only if nothing was published exactly."""
        if self.exact:
            raise NoTheorem(
                f"with totals that are published exactly no privacy loss holds for all {self.relation} neighbours, "
                "only for those that agree on them. Read .loss_given_invariants and publish the label beside it, or "
                "drop the invariants."
            )
        return loss
