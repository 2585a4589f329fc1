"""Attacks that show why privacy is needed, and an auditor that tries to break the promises made here."""

from discreet.auditing.audit import Audit, audit
from discreet.auditing.neighbours import hostile_neighbours
from discreet.auditing.registry import Entry, register, registered
from discreet.auditing.trained import TrainingAudit, audit_training

__all__ = [
    "Audit",
    "Entry",
    "TrainingAudit",
    "audit",
    "audit_training",
    "hostile_neighbours",
    "register",
    "registered",
]
