"""Entries and their chain: each holds the hash of the one before, so that none can be changed or taken out unseen.

Whoever can write to the database can write a whole new chain. That is seen by comparing its head with one that was kept
elsewhere: see ``discreet.ledger.anchor``.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import LedgerError

__all__ = ["Entry", "State", "digest", "first_hash", "replayed", "written"]

KINDS = ("open", "protect", "charge", "refuse", "settle", "grant", "hold", "drop")


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


def replayed(first: str, rows: Iterable[tuple[int, str, str, str, int, int, str, str, str]], name: str) -> State:
    """Return the state after all rows ``(number, kind, time, who, amount, failure, body, previous, hash)``.

    Raises for a row that is missing, changed, out of order, of an unknown kind, or spends beyond the limit.
    """
    previous, number = first, 0
    limits, spent = (0, 0), [0, 0]
    pure: int | None = 0
    relation = unit = None
    exhausted = False
    for row in rows:
        number += 1
        place, kind, time, who, amount, failure, text, before, hashed = row
        follows = (place, before) == (number, previous)
        if not follows or digest(before, place, kind, time, who, amount, failure, text) != hashed:
            raise LedgerError(
                f"entry {number} of {name} does not follow the one before it: the ledger was changed or damaged. "
                "Nothing more is spent from it. Restore the newest copy that verifies, and find out who could write "
                "to this one."
            )
        if kind not in KINDS:
            raise LedgerError(
                f"entry {number} of {name} is of a kind that this version does not know. Update discreet."
            )
        body = json.loads(text)
        if kind == "open":
            limits, relation = (body["limit_amount"], body["limit_failure"]), body["budget"]["relation"]
        elif kind == "protect":
            unit = body["unit"]
        elif kind == "charge":
            spent[0] += amount
            spent[1] += failure
            pure = None if pure is None or body["pure"] is None else pure + body["pure"]
            relation, exhausted = body["relation"], exhausted or body["last"]
        if (kind == "open") != (number == 1) or spent[0] > limits[0] or spent[1] > limits[1]:
            raise LedgerError(f"entry {number} of {name} spends more than the account has, or opens it twice.")
        previous = hashed
    return State(limits[0], limits[1], spent[0], spent[1], pure, relation, unit, exhausted, number, previous)
