"""The estimators that a benchmark knows, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.noise.fast import Floats
from discreet.synthetic.estimators import (
    AHP,
    DAWA,
    MWEM,
    AdaptiveGrid,
    Estimator,
    GreedyH,
    Hb,
    Identity,
    Privelet,
    QuadTree,
    ShrunkTree,
    Uniform,
    UniformGrid,
)
from discreet.synthetic.operators import Operator
from discreet.units import Relation

__all__ = ["ALGORITHMS", "Algorithm", "Releases", "algorithms"]


class Releases(Protocol):
    """What a benchmark asks of an estimator."""

    def release(self, histogram: npt.ArrayLike, /) -> Floats:
        """Return the estimated histogram."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """A kind of estimator with options of its own, and on how many dimensions it works.

    ``aware`` says whether it is told the workload, as its paper has it; ``consistent`` whether its error is known to
    vanish as epsilon grows.
    """

    name: str
    kind: type[Estimator]
    dimensions: tuple[int, ...] = (1, 2)
    options: tuple[tuple[str, Any], ...] = ()
    aware: bool = False
    consistent: bool = True

    def make(self, sizes: tuple[int, ...], workload: Operator, epsilon: Real, relation: Relation) -> Releases:
        """Return the estimator for a domain, made for the workload if it is told one."""
        known: dict[str, Any] = {"workload": workload} if self.aware else {}
        return self.kind(shape=sizes, epsilon=epsilon, relation=relation, **known, **dict(self.options))


ALGORITHMS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(name="identity", kind=Identity),
        Algorithm(name="uniform", kind=Uniform, consistent=False),
        Algorithm(name="privelet", kind=Privelet),
        Algorithm(name="hb", kind=Hb),
        Algorithm(name="greedy h", kind=GreedyH, aware=True),
        Algorithm(name="dawa", kind=DAWA, aware=True),
        Algorithm(name="ahp", kind=AHP),
        Algorithm(name="mwem", kind=MWEM, aware=True, consistent=False),
        Algorithm(name="mwem 10", kind=MWEM, aware=True, options=(("rounds", 10),), consistent=False),
        Algorithm(name="shrunk tree", kind=ShrunkTree, aware=True),
        Algorithm(name="quad tree", kind=QuadTree, dimensions=(2,)),
        Algorithm(name="uniform grid", kind=UniformGrid, dimensions=(2,)),
        Algorithm(name="adaptive grid", kind=AdaptiveGrid, dimensions=(2,)),
    )
}


def algorithms(names: Iterable[str] | None = None) -> list[Algorithm]:
    """Return algorithms by their names, or all; case, spaces, hyphens and underscores do not matter.

    >>> [algorithm.name for algorithm in algorithms(["Quad-Tree", "identity"])]
    ['quad tree', 'identity']
    """
    if names is None:
        return list(ALGORITHMS.values())
    known = {_key(name): algorithm for name, algorithm in ALGORITHMS.items()}
    asked = {_key(name): name for name in names}
    unknown = [name for key, name in asked.items() if key not in known]
    if unknown or not asked:
        raise InvalidParameter(
            f"algorithms are {', '.join(ALGORITHMS)}; got {', '.join(map(repr, unknown)) or 'none'}."
        )
    return [known[key] for key in asked]


def _key(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
