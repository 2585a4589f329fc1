"""Mechanisms that are broken on purpose, each by a mistake that somebody made: what the auditor must catch.

``BROKEN`` holds them, ``CORRECT`` the right versions of many of them, on which an auditor must not raise an alarm.

>>> len(BROKEN) >= 32, len(CORRECT) >= 12
(True, True)
"""

from discreet.auditing.zoo import (
    learning,
    noise,
    randomness,
    responses,
    selection,
    side_channels,
    smooth,
    sparse_vector,
    sums,
    tables,
)
from discreet.auditing.zoo.specimen import Specimen

__all__ = ["BROKEN", "CORRECT", "Specimen"]

ROOMS = (noise, randomness, sums, tables, responses, selection, sparse_vector, smooth, learning, side_channels)

BROKEN: tuple[Specimen, ...] = tuple(specimen for room in ROOMS for specimen in room.BROKEN)
"""Each with neighbours on which its claim fails."""

CORRECT: tuple[Specimen, ...] = tuple(specimen for room in ROOMS for specimen in room.CORRECT)
"""Each with neighbours on which its broken twin fails."""
