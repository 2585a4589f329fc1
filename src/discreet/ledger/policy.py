"""Who may spend how much of an account: allowances, charges a day, and holds. All within one transaction."""

from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from discreet.accounting.budget import Cost
from discreet.errors import BudgetExceeded
from discreet.ledger.records import allowances, entries, holds
from discreet.ledger.times import now, told
from discreet.ledger.units import cost_of_units

__all__ = ["ANYBODY", "check_allowed", "free_of_holds", "use_hold"]

ANYBODY = "*"
"""An allowance of this name is one for each person who has none of their own."""


def check_allowed(connection: Connection, row: Row[Any], who: str, cost: Cost, *, holding: bool = False) -> None:
    """Refuse what somebody is not allowed to spend, or, when ``holding``, to keep from others."""
    if not row.has_allowances:
        return
    rows = connection.execute(select(allowances).where(allowances.c.account == row.id)).all()
    by_name = {one.who: one for one in rows}
    own = by_name.get(who, by_name.get(ANYBODY))
    if own is None:
        return
    mine = (entries.c.account == row.id) & (entries.c.who == who) & (entries.c.kind == "charge")
    spent = connection.execute(select(func.sum(entries.c.amount), func.sum(entries.c.failure)).where(mine)).one()
    after = cost_of_units(int(spent[0] or 0), int(spent[1] or 0)) + cost
    if holding:
        for one in _holds(connection, row):
            if one.who == who:
                after += cost_of_units(one.amount, one.failure)
    if not after.within(cost_of_units(own.amount, own.failure)):
        raise BudgetExceeded(
            f"this does not fit into what {who or 'nobody in particular'} may spend of {row.name}. Nothing was spent: "
            "release nothing. The keeper of the ledger can grant more."
        )
    if own.per_day is not None and not holding:
        count = connection.execute(select(func.count()).where(mine, entries.c.time >= told(now())[:10])).scalar_one()
        if count >= own.per_day:
            raise BudgetExceeded(
                f"{who or 'nobody in particular'} may make {own.per_day} charges a day on {row.name}, and has. Nothing "
                "was spent: release nothing. Come back tomorrow (UTC)."
            )


def free_of_holds(connection: Connection, row: Row[Any], limit: Cost, who: str, own: int | None = None) -> Cost:
    """Return the limit without what is held for others; ``own`` is the hold that a charge spends from."""
    if not row.has_holds and own is None:
        return limit
    held = _holds(connection, row)
    if own is not None and not any(one.number == own and one.who == who for one in held):
        raise BudgetExceeded("this hold is not yours, is over, or was used up. Nothing was spent.")
    for one in held:
        if one.number != own:
            limit -= cost_of_units(one.amount, one.failure)
    return limit


def use_hold(connection: Connection, place: int, number: int, amount: int, failure: int) -> None:
    """Take what was charged out of a hold."""
    mine = (holds.c.account == place) & (holds.c.number == number)
    own = connection.execute(select(holds).where(mine)).one()
    left = {"amount": max(0, own.amount - amount), "failure": max(0, own.failure - failure)}
    connection.execute(update(holds).where(mine), left)


def _holds(connection: Connection, row: Row[Any]) -> list[Row[Any]]:
    """Return the holds that are not over."""
    moment = told(now())
    return [
        one for one in connection.execute(select(holds).where(holds.c.account == row.id)).all() if one.until > moment
    ]
