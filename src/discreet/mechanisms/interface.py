"""What a mechanism is.

A mechanism is a frozen value: ``release`` runs it, ``loss`` says what it costs and ``domain`` what it may be given. It
is a protocol, so nothing needs to be inherited; ``discreet.testing.check_mechanism`` tells what is missing.
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from discreet.accounting import PrivacyLoss
from discreet.exact import Real
from discreet.units import Relation

__all__ = ["Conversation", "Dialogue", "Mechanism", "Records", "Shift"]

X_contra = TypeVar("X_contra", contravariant=True)
Y_co = TypeVar("Y_co", covariant=True)
Q_contra = TypeVar("Q_contra", contravariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Values, computed elsewhere, that neighbours change by at most ``sensitivity`` in the Lp norm ``norm``.

    With ``monotone`` no two entries move in opposite directions. ``several`` says that a vector is needed, or with
    False that one number is.
    """

    sensitivity: Real
    norm: float = 1.0
    whole: bool = False
    monotone: bool = False
    several: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Data sets; neighbours differ by one record in the sense of ``relation``.

    A ``size`` is public, which only makes sense under replace_one.
    """

    relation: Relation
    bounds: tuple[Real, Real] | None = None
    size: int | None = None


@runtime_checkable
class Mechanism(Protocol[X_contra, Y_co]):
    """A frozen description of a private computation.

    Optional faces, where they can be promised: ``error(beta)``, ``log_probability(x, y)``, ``loss_at(output, x,
    neighbour)``, ``worst_case()``, a pair of neighbours that come close to the loss: where an audit should start, and
    ``draws(x, count)``, independent releases of one input made at once: what an audit needs most.
    """

    @property
    def domain(self) -> Shift | Records:
        """What it may be given, and what neighbours are."""
        ...

    @property
    def loss(self) -> PrivacyLoss:
        """What it costs, known before any data is seen."""
        ...

    def release(self, x: X_contra, /) -> Y_co:
        """Run it once."""
        ...


class Conversation(Protocol[Q_contra, Y_co]):
    """The running, stateful side of a dialogue."""

    @property
    def exhausted(self) -> bool:
        """Whether nothing more will be answered."""
        ...

    def answer(self, query: Q_contra, /) -> Y_co:
        """Answer one more question."""
        ...


@runtime_checkable
class Dialogue(Protocol[X_contra, Q_contra, Y_co]):
    """A frozen description of a private conversation whose questions may depend on earlier answers."""

    @property
    def domain(self) -> Shift | Records:
        """What it may be given, and what neighbours are."""
        ...

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole conversation costs, known before it starts."""
        ...

    def open(self, x: X_contra, /) -> Conversation[Q_contra, Y_co]:
        """Start a conversation about one data set."""
        ...
