"""Where a session writes what it spends: in its own memory, or in a ledger."""

import json
import threading
import warnings
from dataclasses import dataclass, replace
from typing import Protocol

from discreet.accounting import Account, PrivacyLoss
from discreet.errors import InvalidParameter, NotDurableWarning
from discreet.ledger.purpose import Purpose
from discreet.session.answer import Answer

__all__ = ["Book", "Memory", "Spending", "Ticket", "book_of", "record_of", "stored_answers"]


@dataclass(frozen=True, slots=True)
class Spending:
    """What the caller of one release says about its charge."""

    why: str = ""
    key: str | None = None
    fresh: bool = False
    told: tuple[str, ...] = ()


class Ticket(Protocol):
    """A charge that was committed, or one that was committed before and has its answer."""

    @property
    def stored(self) -> str | None:
        """The record that was kept, if this is not a new charge."""
        ...

    @property
    def keeps(self) -> bool:
        """Whether anybody could ask for the answer again."""
        ...

    def settle(self, record: str, /) -> None:
        """Keep what was released."""
        ...


class Book(Protocol):
    """Whatever can charge a loss before its release."""

    def charge(self, loss: PrivacyLoss, purpose: Purpose, /, *, last: bool = False) -> Ticket:
        """Charge a loss or refuse it; ``last`` lets it take all of an unused account if it fits no other way."""
        ...


def book_of(account: Account) -> Book:
    """Return where an account's spending is written: in the account itself if it belongs to a ledger."""
    if hasattr(account, "charge"):
        return account
    _say_once()
    return Memory(account)


class Memory:
    """Keeps charges as long as the process lives."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._kept: dict[str, tuple[str, str | None]] = {}
        self._alone = threading.Lock()

    def charge(self, loss: PrivacyLoss, purpose: Purpose, /, *, last: bool = False) -> "MemoryTicket":
        """Charge, unless the key was charged before."""
        with self._alone:
            if purpose.key is not None and purpose.key in self._kept:
                fingerprint, record = self._kept[purpose.key]
                purpose.check_same(fingerprint, settled=record is not None)
                return MemoryTicket(self._kept, purpose, record)
            if last and not self._account.fits(loss):
                self._account.exhaust(loss)
            else:
                self._account.spend(loss)
            if purpose.key is not None:
                self._kept[purpose.key] = (purpose.fingerprint, None)
            return MemoryTicket(self._kept, purpose, None)


@dataclass(frozen=True, slots=True)
class MemoryTicket:
    """A charge in memory."""

    kept: dict[str, tuple[str, str | None]]
    purpose: Purpose
    stored: str | None

    @property
    def keeps(self) -> bool:
        """Whether there is a key to ask by."""
        return self.purpose.key is not None

    def settle(self, record: str, /) -> None:
        """Keep the record for the next use of the same key."""
        if self.purpose.key is not None:
            self.kept[self.purpose.key] = (self.purpose.fingerprint, record)


_said = False


def _say_once() -> None:
    """Tell, once in a process, that what is spent will be forgotten."""
    global _said  # noqa: PLW0603
    if not _said:
        _said = True
        warnings.warn(
            "this session keeps its spending in memory: it is forgotten when the process ends, and another session "
            'starts anew. To keep it: budget=dp.Ledger("ledger.sqlite").account("name", budget=dp.Budget(...)).',
            NotDurableWarning,
            stacklevel=4,
        )


def record_of(answers: list[Answer]) -> str:
    """Return what is stored of a release."""
    return json.dumps([json.loads(answer.to_json()) for answer in answers])


def stored_answers(record: str) -> list[Answer]:
    """Return a release that was stored, marked as such."""
    read = json.loads(record)
    if not isinstance(read, list):
        raise InvalidParameter("a stored release is a list of answers.")
    return [replace(Answer.from_json(json.dumps(one)), stored=True) for one in read]
