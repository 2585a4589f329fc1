"""What the grid sampler needs to know of a continuous density."""

from typing import Protocol, runtime_checkable

from flint import arb

from discreet.noise.fast import Floats

__all__ = ["Density", "Racing"]


class Density(Protocol):
    """A continuous law, described by its survival function.

    For a symmetric law everything is said of ``|Z|``, and the sampler adds a fair sign; otherwise of Z itself. The
    inverse only proposes, the survival function decides: a wrong ``inverse`` beyond its ``slack`` is the one thing that
    could spoil a sample, so slacks are generous and tested against balls.
    """

    @property
    def symmetric(self) -> bool:
        """Whether the law is symmetric about 0."""
        ...

    def inverse(self, v: Floats, /) -> Floats:
        """Return z with survival(z) = v, in float64."""
        ...

    def slack(self, z: Floats, /) -> Floats | float:
        """Bound the error of ``inverse`` on a believed cell (see ``discreet.noise.fast``), for the z it returned."""
        ...

    def survival(self, z: arb, /) -> arb:
        """Return P[Z >= z]; for a symmetric law P[|Z| >= z] for z >= 0."""
        ...


@runtime_checkable
class Racing(Density, Protocol):
    """A density whose inverse survival function is also known in balls, so that samples can be compared."""

    def quantile(self, v: arb, /) -> arb:
        """Return z with survival(z) = v."""
        ...
