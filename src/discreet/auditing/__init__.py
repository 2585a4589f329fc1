"""Attacks that show why privacy is needed, and an auditor that tries to break the promises made here."""

from discreet.auditing.audit import Audit, audit
from discreet.auditing.neighbours import hostile_neighbours
from discreet.auditing.registry import Entry, register, registered

__all__ = ["Audit", "Entry", "audit", "hostile_neighbours", "register", "registered"]
