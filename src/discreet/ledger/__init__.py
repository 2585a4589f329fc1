"""The durable budget: charges that survive the process, and that nobody can take back."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import MissingExtra
from discreet.ledger.purpose import Purpose

if TYPE_CHECKING:
    from discreet.ledger.account import Hold, LedgerAccount
    from discreet.ledger.chain import Entry
    from discreet.ledger.ledger import Ledger

__all__ = ["Entry", "Hold", "Ledger", "LedgerAccount", "Purpose"]

LAZY = {"Entry": "chain", "Hold": "account", "Ledger": "ledger", "LedgerAccount": "account"}


def __getattr__(name: str) -> Any:  # noqa: ANN401  SQLAlchemy is optional, and slow to import
    if name not in LAZY:
        raise AttributeError(name)
    try:
        return getattr(import_module(f"discreet.ledger.{LAZY[name]}"), name)
    except ModuleNotFoundError as missing:
        raise MissingExtra(str(missing.name), "ledger") from None
