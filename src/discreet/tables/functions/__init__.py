"""The closed list of functions of a row.

Each declaration says what a function takes and gives, where its result lies, and its SQL. All are total and look at one
row: a property test runs each on every engine over hostile values, and checks that a table cut in two gives the same
values as the whole.
"""

from discreet.tables.functions import arithmetic, dates, logic, texts  # noqa: F401 - they enter their functions
from discreet.tables.functions.declaring import FUNCTIONS

__all__ = ["FUNCTIONS"]
