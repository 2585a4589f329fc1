"""The public size: averages divide by a number of records that everyone knows.

The number is public only while neighbours have equally many records, so averages belong to ``replace_one``.
Where it is private, both the numerator and the number must be released with noise and divided afterwards.
"""

from numbers import Integral

from discreet.errors import InvalidParameter, RelationMismatch
from discreet.exact import show
from discreet.units import Relation, check_relation

__all__ = ["check_size", "require_public_size"]


def check_size(value: object, *, least: int = 1) -> int:
    """Return a public number of records.

    >>> check_size(0)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: size, the public number of records, must be at least 1, got 0.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidParameter(f"size, the public number of records, must be an integer, got {type(value).__name__}.")
    if value < least:
        raise InvalidParameter(f"size, the public number of records, must be at least {least}, got {show(int(value))}.")
    return int(value)


def require_public_size(relation: Relation, *, query: str, instead: str) -> None:
    """Refuse ``add_remove``, under which no number of records is public, and say what to release instead.

    >>> require_public_size("add_remove", query="mean", instead="a noisy sum and a noisy count")
    Traceback (most recent call last):
    discreet.errors.RelationMismatch: the mean divides by the number of records, which is private under
    add_remove. Release a noisy sum and a noisy count, or say relation="replace_one" if the number is public.
    """
    if check_relation(relation) == "add_remove":
        raise RelationMismatch(
            f"the {query} divides by the number of records, which is private under add_remove. "
            f'Release {instead}, or say relation="replace_one" if the number is public.'
        )
