"""Entries and their chain: each holds the hash of the one before, so that none can be changed or taken out unseen.

Whoever can write to the database can write a whole new chain. That is seen by comparing its head with one that was kept
elsewhere: see ``discreet.ledger.anchor``.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger.units import MOST

__all__ = ["Entry", "State", "claimed", "digest", "first_hash", "matched", "pure_sum", "replayed", "written"]

KINDS = ("open", "protect", "charge", "refuse", "settle", "grant", "hold", "drop")

Allowed = tuple[str, int, int, int | None]
"""Who, an amount, a probability of failure, and charges a day."""

Held = tuple[int, str, int, int, str]
"""The number of the entry, who, an amount, a probability of failure, and until when."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a ledger. ``amount`` and ``failure`` are units; ``body`` is what else belongs to its kind."""

    number: int
    kind: str
    time: str
    who: str
    amount: int
    failure: int
    body: Mapping[str, Any]
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class State:
    """What an account's entries add up to."""

    limit_amount: int = 0
    limit_failure: int = 0
    spent_amount: int = 0
    spent_failure: int = 0
    pure: int | None = 0
    relation: str | None = None
    unit: str | None = None
    exhausted: bool = False
    number: int = 0
    head: str = ""
    budget: str = ""
    allowances: tuple[Allowed, ...] = ()
    holds: tuple[Held, ...] = ()


def written(body: Mapping[str, Any]) -> str:
    """Return the one text of a body that is hashed and stored."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def first_hash(ledger: str, name: str) -> str:
    """Return what the first entry of an account follows: no entry fits into another ledger or account."""
    return hashlib.sha256(json.dumps(["discreet ledger", ledger, name]).encode()).hexdigest()


def digest(previous: str, number: int, kind: str, time: str, who: str, amount: int, failure: int, body: str) -> str:
    """Return the hash of an entry, which covers the whole chain before it.

    >>> digest("0", 1, "charge", "now", "me", 1, 0, "{}") != digest("0", 1, "charge", "now", "me", 2, 0, "{}")
    True
    """
    line = json.dumps([previous, number, kind, time, who, amount, failure, body])
    return hashlib.sha256(line.encode()).hexdigest()


def matched(version: str, fingerprint: str, *, private: bool) -> str | None:
    """Return what charges of the same request have in common; one with repeatable noise answers no private one.

    >>> matched("1", "abc", private=True) == matched("1", "abc", private=False), matched("1", "", private=True)
    (False, None)
    """
    if not fingerprint:
        return None
    said = written({"version": version, "fingerprint": fingerprint, "private": private})
    return hashlib.sha256(said.encode()).hexdigest()


def claimed(kind: str, body: Mapping[str, Any]) -> str | None:
    """Return what can be written once in an account: a charge of a key, an answer of a charge."""
    if kind == "settle":
        return f"settle:{body['of']}"
    return f"key:{body['key']}" if kind == "charge" and body["key"] is not None else None


def pure_sum(one: int | None, other: int | None) -> int | None:
    """Add epsilons in units; a sum that no database holds is no bound any more."""
    return None if one is None or other is None or one + other > MOST else one + other


def replayed(first: str, rows: Iterable[Any], name: str) -> State:
    """Return the state after all rows, which are the entries of an account in order.

    Raises for a row that is missing, changed, out of order, of an unknown kind, or spends beyond the limit.
    """
    state = State(head=first)
    for row in rows:
        number = state.number + 1
        try:
            state = _after(state, row)
        except (KeyError, TypeError, ValueError):
            raise LedgerError(
                f"entry {number} of {name} does not follow the one before it: the ledger was changed or damaged. "
                "Nothing more is spent from it. Restore the newest copy that verifies, and find out who could write "
                "to this one."
            ) from None
        if row.kind not in KINDS:
            raise LedgerError(
                f"entry {number} of {name} is of a kind that this version does not know. Update discreet."
            )
        over = state.spent_amount > state.limit_amount or state.spent_failure > state.limit_failure
        if over or (row.kind == "open") != (number == 1):
            raise LedgerError(f"entry {number} of {name} spends more than the account has, or opens it twice.")
    return state


def _after(state: State, row: Any) -> State:  # noqa: ANN401  a row of the table of entries
    """Return the state after one more entry; a ValueError says that it does not fit."""
    number, kind, amount, failure = state.number + 1, row.kind, row.amount, row.failure
    if (row.number, row.previous) != (number, state.head) or row.hash != digest(
        row.previous, row.number, kind, row.time, row.who, amount, failure, row.body
    ):
        raise ValueError("the chain is broken")
    moved = {"number": number, "head": row.hash}
    if kind not in KINDS:
        return replace(state, **moved)
    body = json.loads(row.body)
    match = None
    if kind == "charge":
        match = matched(body["version"], body["fingerprint"], private=body["private"])
    if row.claim != claimed(kind, body) or row.match != match or (kind != "charge" and (amount or failure)):
        raise ValueError("a column does not say what the entry says")
    if kind == "open":
        budget = body["budget"]
        limits = {"limit_amount": body["limit_amount"], "limit_failure": body["limit_failure"]}
        return replace(state, **moved, **limits, relation=budget["relation"], budget=written(budget))
    if kind == "protect":
        return replace(state, **moved, unit=body["unit"])
    if kind == "charge":
        return replace(
            state,
            **moved,
            spent_amount=state.spent_amount + amount,
            spent_failure=state.spent_failure + failure,
            pure=pure_sum(state.pure, body["pure"]),
            relation=body["relation"],
            exhausted=state.exhausted or body["last"],
            holds=_used(state.holds, body["hold"], amount, failure),
        )
    if kind == "grant":
        granted = {one[0]: one for one in state.allowances}
        granted[body["who"]] = (body["who"], body["amount"], body["failure"], body["per_day"])
        return replace(state, **moved, allowances=tuple(granted[who] for who in sorted(granted)))
    if kind == "hold":
        held = (number, body["who"], body["amount"], body["failure"], body["until"])
        return replace(state, **moved, holds=(*state.holds, held))
    if kind == "drop":
        return replace(state, **moved, holds=tuple(one for one in state.holds if one[0] != body["hold"]))
    return replace(state, **moved)


def _used(holds: tuple[Held, ...], number: int | None, amount: int, failure: int) -> tuple[Held, ...]:
    if number is None:
        return holds
    return tuple(
        (one[0], one[1], max(0, one[2] - amount), max(0, one[3] - failure), one[4]) if one[0] == number else one
        for one in holds
    )
