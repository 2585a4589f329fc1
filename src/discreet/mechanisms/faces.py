"""What every mechanism can do for its user, built on what it must say of itself."""

import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.mechanisms.interface import Records, Shift

if TYPE_CHECKING:
    from discreet.accounting import PrivacyLoss
    from discreet.mechanisms.combinators import Processed
    from discreet.mechanisms.interface import Mechanism
    from discreet.mechanisms.lifted import Lifted

__all__ = ["Faces", "Tells", "entrywise"]


class Tells(Protocol):
    """A mechanism that knows its output distribution."""

    def log_probability(self, x: Any, y: Any, /) -> float:  # noqa: ANN401 - inputs and outputs differ by mechanism
        """Return the log of the probability (or density) of output y on input x."""
        ...


def entrywise(mechanism: "Mechanism[Any, Any]", value: Any, count: int) -> Any:  # noqa: ANN401 - values and arrays
    """Return ``count`` independent releases of one value: the ``draws`` of mechanisms that treat entries one by one.

    >>> from discreet.mechanisms import Geometric
    >>> Geometric(sensitivity=1, epsilon=1).draws(7, 1000).shape
    (1000,)
    """
    one = np.asarray(value)
    return mechanism.release(np.full((count, *one.shape), one))


class Faces:
    """Verbs shared by all mechanisms. It holds no state and decides nothing about privacy."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def domain(self) -> Shift | Records:
            """What it may be given."""

        @property
        def loss(self) -> "PrivacyLoss":
            """What it costs."""

    def then(self, function: Callable[[Any], Any]) -> "Processed":
        """Return this mechanism followed by a function of its output alone, which costs nothing."""
        from discreet.mechanisms.combinators import then

        return then(self, function)  # type: ignore[arg-type]

    def clamped(self, low: float, high: float) -> "Processed":
        """Return this mechanism with its output forced into an interval known beforehand, which costs nothing."""
        from discreet.mechanisms.combinators import clamped

        return clamped(self, low, high)  # type: ignore[arg-type]

    def of(self, query: Callable[[Sequence[Any]], Any], *, relation: str) -> "Lifted":
        """Return this mechanism applied to a query of records, after checking the query's own sensitivity.

        >>> from discreet.mechanisms import Geometric
        >>> from discreet.sensitivity import Count
        >>> people = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
        >>> people.loss.relation, isinstance(people.release(["Ada", "Ben"]), int)
        ('add_remove', True)
        """
        from discreet.mechanisms.lifted import lift

        return lift(self, query, relation)  # type: ignore[arg-type]

    def loss_at(self: Tells, output: Any, x: Any, neighbour: Any) -> float:  # noqa: ANN401
        """Return the privacy loss of having seen one output: the log-ratio of its probabilities.

        >>> from discreet.mechanisms import Geometric
        >>> Geometric(sensitivity=1, epsilon=0.5).loss_at(7, 3, 4)
        -0.5
        """
        return self.log_probability(x, output) - self.log_probability(neighbour, output)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the mechanism, its cost and, where it is promised, its error."""
        loss = self.loss
        cost = f"epsilon {loss.epsilon():.4g}" if loss.is_pure else f"epsilon {loss.epsilon(1e-6):.4g} at delta 1e-6"
        error = getattr(self, "error", None)
        try:
            said = f"within &plusmn;{error(0.05):.6g} in 19 of 20 releases" if error else "no error is promised"
        except (AttributeError, TypeError):
            said = "its error depends on the data"
        return f"<div><code>{html.escape(repr(self))}</code><br>{said}; costs {cost}</div>"
