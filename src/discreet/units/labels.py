"""Public labels that records are looked up among: bins, values of attributes, names of areas."""

from collections.abc import Iterable

from discreet.errors import InvalidParameter

__all__ = ["check_labels"]


def check_labels(labels: Iterable[object], name: str) -> None:
    """Refuse labels that are not equal to themselves, or hold what is not.

    A NaN is found among labels if it is the very same object, and not if it is another one or comes from an array: data
    sets with the same records would have different counts.

    >>> check_labels(("a", ("b", 1.5)), "labels")
    >>> check_labels(("a", ("b", float("nan"))), "labels")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: labels must be equal to themselves, and one is a NaN or holds one. Replace it, in
    the data too, by a value such as "missing".
    """
    if not all(map(_settled, labels)):
        raise InvalidParameter(
            f"{name} must be equal to themselves, and one is a NaN or holds one. Replace it, in the data too, by a "
            'value such as "missing".'
        )


def _settled(label: object) -> bool:
    if isinstance(label, tuple | frozenset):
        return all(map(_settled, label))
    try:
        return bool(label == label)
    except Exception:  # pandas does not say whether a missing value is equal to itself
        return False
