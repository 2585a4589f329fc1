"""Moments as a ledger writes them: UTC, to the microsecond, so that texts sort as times do."""

from datetime import UTC, datetime

__all__ = ["now", "told"]


def now() -> datetime:
    """Return this moment."""
    return datetime.now(UTC)


def told(moment: datetime) -> str:
    """Write a moment.

    >>> told(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000000Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
