"""Everything discreet raises.

    DiscreetError
     ├── InvalidParameter        a setting that no mechanism could have (also a ValueError)
     │    ├── InvalidQuery           a text that is no query, or that asks for what no query may
     │    └── UnboundedSensitivity   bounds are missing, so one person could change the answer without limit
     ├── InvalidInput            data outside the domain a mechanism promised to accept (also a ValueError)
     ├── RelationMismatch        two neighbour relations were mixed, or one is needed and was not said
     ├── NoTheorem               no theorem covers this combination
     ├── BudgetExceeded          a loss does not fit into what is left of a budget; nothing was spent
     ├── LedgerError             a ledger that cannot be trusted, opened or written; nothing was released
     ├── ReleaseFailed           a release that was charged could not be completed; the curator's log says why
     ├── UnknownKind             a serialised record of a kind this version does not know
     └── MissingExtra            an optional package is not installed (also an ImportError)

    LargeDeltaWarning            a UserWarning: a delta protects too little
    NotDurableWarning            a UserWarning: what is spent is kept in memory alone
    NotPrivateWarning            a UserWarning: what is made now carries no privacy guarantee

Messages say what must hold, what was seen and what to do. They never show a value taken from data.
"""

__all__ = [
    "BudgetExceeded",
    "DiscreetError",
    "InvalidInput",
    "InvalidParameter",
    "InvalidQuery",
    "LargeDeltaWarning",
    "LedgerError",
    "MissingExtra",
    "NoTheorem",
    "NotDurableWarning",
    "NotPrivateWarning",
    "RelationMismatch",
    "ReleaseFailed",
    "UnboundedSensitivity",
    "UnknownKind",
]


class DiscreetError(Exception):
    """The root of the tree."""


class InvalidParameter(DiscreetError, ValueError):
    """A setting that no mechanism could have: a negative scale, an epsilon of NaN."""


class InvalidQuery(InvalidParameter):
    """A text that is no query, or that asks for what no query may; the message says what works instead."""


class UnboundedSensitivity(InvalidParameter):
    """Bounds are missing, so one person could change the answer without limit."""


class InvalidInput(DiscreetError, ValueError):
    """Data outside the domain that a mechanism promised to accept."""


class RelationMismatch(DiscreetError):
    """Two neighbour relations were mixed, or one is needed and was not said."""


class NoTheorem(DiscreetError):
    """No theorem covers this combination; the message says which condition fails."""


class BudgetExceeded(DiscreetError):
    """A loss does not fit into what is left of a budget; nothing was spent and nothing may be released."""


class LedgerError(DiscreetError):
    """A ledger that cannot be trusted, opened or written. Nothing was released by what raised it."""


class ReleaseFailed(DiscreetError):
    """A release that was charged could not be completed. Always the same words: what went wrong may depend on data."""

    def __init__(self) -> None:
        super().__init__(
            "the release could not be completed, and what it was charged stays spent. The curator's log says why."
        )


class UnknownKind(DiscreetError):
    """A serialised record of a kind that this version does not know."""


class MissingExtra(DiscreetError, ImportError):
    """An optional package is not installed; the message holds the pip command."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Run: pip install 'discreet[{extra}]'")


class LargeDeltaWarning(UserWarning):
    """A delta is not far below one over the number of people."""


class NotDurableWarning(UserWarning):
    """What is spent is kept in memory alone, and forgotten with the process."""


class NotPrivateWarning(UserWarning):
    """What is made now carries no privacy guarantee."""
