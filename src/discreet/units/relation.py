"""The neighbour relation: what "one person's data" changes between two data sets.

Under ``add_remove`` ("unbounded") a neighbour has one record more or one record less, so the number of
records is itself private. Under ``replace_one`` ("bounded") a neighbour has one record substituted, so the
number of records is public. The two give different guarantees for the same noise: Kifer and Machanavajjhala,
No Free Lunch in Data Privacy, SIGMOD 2011. No relation is ever assumed silently by a theorem that depends on
it.
"""

from typing import Literal, cast, get_args

from discreet.errors import RelationMismatch

__all__ = ["Relation", "check_relation"]

Relation = Literal["add_remove", "replace_one"]


def check_relation(value: object) -> Relation:
    """Return the relation, or say what to write.

    >>> check_relation("add_remove")
    'add_remove'
    >>> check_relation(None)
    Traceback (most recent call last):
    discreet.errors.RelationMismatch: the neighbour relation must be said, got None. Write
    relation="add_remove" (one record more or less) or relation="replace_one" (one record substituted, the
    number of records is public).
    """
    if isinstance(value, str) and value in get_args(Relation):
        return cast("Relation", value)
    raise RelationMismatch(
        f"the neighbour relation must be said, got {value!r}. "
        'Write relation="add_remove" (one record more or less) '
        'or relation="replace_one" (one record substituted, the number of records is public).'
    )
