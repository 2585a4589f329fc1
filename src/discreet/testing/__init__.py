"""Tools for those who write mechanisms, and for those who test code that uses discreet."""

from discreet.testing.conformance import Conformance, check_mechanism
from discreet.testing.seeded import seeded

__all__ = ["Conformance", "check_mechanism", "seeded"]
