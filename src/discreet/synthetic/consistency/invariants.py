"""Totals that are published as they are, and what that does to the guarantee.

A total without noise tells what it tells: no privacy loss covers it. What remains is a guarantee that compares only
data sets which agree on every such total (Gong and Meng, "Congenial Differential Privacy under Mandated Disclosure",
FODS 2020). The words of that belong to whatever is published.
"""

from dataclasses import dataclass

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
            "A change of one person that keeps all of them costs what is stated"
            if self.relation == "replace_one"
            else "A person who is exchanged for another one, so that all of them stay, is one removed and one added: "
            "what is stated holds for the group of these two"
        )
        return (
            f"Published exactly, outside the guarantee: {'; '.join(self.exact)}. Whoever knows everybody but "
            "one person can read off these totals whether she was counted there, and no privacy loss covers that. The "
            f"guarantee compares only data sets that agree on them. {steps}."
        )
