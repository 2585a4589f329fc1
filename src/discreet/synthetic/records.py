"""How many records a person may have, where neighbours differ by all records of a person."""

from discreet.errors import InvalidParameter

__all__ = ["check_records"]

MOST_RECORDS = 1 << 40


def check_records(records: object) -> int:
    """Return how many records a person may have, or say what is wrong with it.

    >>> check_records(0)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: records must be a whole number from 1 to 2^40: how many may a person have?
    """
    if type(records) is not int or not 1 <= records <= MOST_RECORDS:
        raise InvalidParameter("records must be a whole number from 1 to 2^40: how many may a person have?")
    return records
