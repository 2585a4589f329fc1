"""Tools for those who write mechanisms, and for those who test code that uses discreet."""

from discreet.testing.conformance import Conformance, check_mechanism
from discreet.testing.invariants import assert_constant, assert_order_free, assert_row_by_row, assert_sensitivity
from discreet.testing.private import assert_private
from discreet.testing.seeded import seeded

__all__ = [
    "Conformance",
    "assert_constant",
    "assert_order_free",
    "assert_private",
    "assert_row_by_row",
    "assert_sensitivity",
    "check_mechanism",
    "seeded",
]
