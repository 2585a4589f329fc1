"""What every attack on a release hands back: numbers, two sentences about them, and a picture."""

from typing import TYPE_CHECKING, Any

__all__ = ["Outcome"]


class Outcome:
    """The verbs that results of attacks share. The numbers are the fields of each."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def verdict(self) -> str:
            """What the attack found."""

        @property
        def protection(self) -> str:
            """What the same attack finds in the same release made by discreet, and what theory allows."""

        def plot(self) -> Any:  # noqa: ANN401
            """Draw both, and the bound, on the same axes."""

    def __str__(self) -> str:
        return f"{self.verdict} {self.protection}"
