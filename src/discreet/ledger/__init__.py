"""The durable budget: charges that survive the process, and that nobody can take back."""

from discreet.ledger.purpose import Purpose

__all__ = ["Purpose"]
