"""What a term of a privacy loss must be able to say.

A term describes the worst pair of output distributions (P, Q) that one release can give on neighbours. Everything it
returns holds for both directions, P against Q and Q against P, and is rounded outward.
"""

from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from discreet.accounting.numerical.pairs import Pair

__all__ = ["Term", "parameters", "within"]


class Term(Protocol):
    """One release, by the law of its noise and nothing else."""

    kind: ClassVar[str]
    """The name in serialised records. It is never removed and never changes its meaning."""

    @property
    def attained(self) -> bool:
        """Whether at every epsilon some mechanism of the description has this delta; a kind that is silent has none.

        Bounds from below count on it, so a kind whose delta is only a bound must not claim it.
        """
        ...

    @property
    def pure(self) -> Fraction | None:
        """The smallest epsilon with delta 0, rounded up; None if there is none."""
        ...

    @property
    def rho(self) -> Fraction | None:
        """A zCDP parameter; None if there is none."""
        ...

    def delta(self, epsilon: Fraction, /) -> float:
        """Return the hockey-stick divergence at epsilon >= 0."""
        ...

    def renyi(self, alpha: Fraction, /) -> float:
        """Return the Renyi divergence of order alpha > 1."""
        ...

    def pair(self) -> Pair | None:
        """Return the dominating pair for numerical composition; None if no single pair dominates."""
        ...

    def group(self, size: int, /) -> "Term":
        """Return the term for data sets that differ in up to ``size`` units."""
        ...


def parameters(term: Term) -> dict[str, Any]:
    """Return a term's parameters by name, in the order of their declaration."""
    return {field.name: getattr(term, field.name) for field in fields(term)}  # type: ignore[arg-type]


def within(term: Term) -> Iterator[Term]:
    """Yield a term and all terms that it is made of: what is sampled, and what is chosen from."""
    yield term
    for part in (*([term.base] if hasattr(term, "base") else []), *getattr(term, "terms", ())):
        yield from within(part)
