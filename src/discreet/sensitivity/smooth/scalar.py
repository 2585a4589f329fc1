"""What all functions of one number have in common."""

__all__ = ["Scalar"]


class Scalar:
    """A function whose value is one number, so that all norms measure its moves alike.

    >>> Scalar().dimension, Scalar().norm
    (1, 1.0)
    """

    __slots__ = ()

    @property
    def dimension(self) -> int:
        """One number."""
        return 1

    @property
    def norm(self) -> float:
        """Any norm would do."""
        return 1.0
