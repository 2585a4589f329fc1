"""What a release would be charged, found out by asking for it and stopping at the charge: nothing is read or spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.ledger import Purpose
from discreet.session import Request, Session

__all__ = ["Charge", "Probe", "charge_of"]


@dataclass(frozen=True, slots=True)
class Charge:
    """What would be written into the ledger: the loss, what it is for, and whether it may take all of the account."""

    loss: PrivacyLoss
    purpose: Purpose
    last: bool


class _Stopped(Exception):
    def __init__(self, charge: Charge) -> None:
        super().__init__()
        self.charge = charge


class Probe(Account):
    """An account from which nothing can be spent: a charge ends what asked for it.

    >>> probe = Probe(Budget(1))
    >>> probe.largest_epsilon()
    Fraction(1, 1)
    """

    __slots__ = ()

    def __init__(self, budget: Budget) -> None:
        opened = budget.open()
        super().__init__(opened.rule, delta=opened.delta, relation=budget.relation, epsilon=opened.epsilon)

    def charge(self, loss: PrivacyLoss, purpose: Purpose, /, *, last: bool = False) -> NoReturn:
        """Stop whoever wanted to spend."""
        raise _Stopped(Charge(loss, purpose, last))


def charge_of(
    session: Session, requests: Sequence[Request], epsilon: Fraction, delta: Fraction, *, last: bool
) -> Charge:
    """Return what a plan would be charged, from a session whose account is a probe."""
    try:
        session.plan(requests, epsilon=epsilon, delta=delta, last=last)
    except _Stopped as stopped:
        return stopped.charge
    raise AssertionError("a probe lets nothing pass.")
