"""What a synthetic copy of a table is made of: the columns, how each is cut into few values, and what is impossible.

All of it is public. ``Cut`` is what somebody asks for, ``Coding`` is what has been settled: the values that a column
has in the copy, or the edges of its bins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.exact import finite
from discreet.tables.expressions import Expression, Name, when
from discreet.tables.functions.declaring import shown_edge
from discreet.tables.kinds import LIMIT, Interval, Kind, Value
from discreet.tables.schema import keys_of

__all__ = ["Coding", "Cut", "Determined", "Numbers", "Synthetic", "cut_of", "even_edges"]

Numbers = Literal["middle", "uniform"]
Source = Literal["declared", "released"]

MOST_BINS = 10_000
WORDS = ("bins", "edges", "quantiles", "values", "categories", "nulls")


@dataclass(frozen=True, slots=True)
class Cut:
    """How a column is cut into few values: equal ``bins``, ``edges``, private ``quantiles``, or ``values``.

    ``categories`` lets the values that enough people have be found privately, so many at most. Where ``nulls`` is
    false, rows without a value are left out; where it is true, a missing value is a value of its own. By default it is
    what the schema declares: a list of values has a missing one if None is listed, and bounds have none.

    >>> Cut(bins=10)
    Cut(bins=10, edges=None, quantiles=None, values=None, categories=None, nulls=None)
    """

    bins: int | None = None
    edges: tuple[Fraction, ...] | None = None
    quantiles: int | None = None
    values: tuple[Value, ...] | None = None
    categories: int | None = None
    nulls: bool | None = None

    def __post_init__(self) -> None:
        said = [name for name in WORDS[:-1] if getattr(self, name) is not None]
        if len(said) > 1:
            raise InvalidParameter(f"a column is cut in one way, and this one by {' and by '.join(said)}.")
        for name in ("bins", "quantiles", "categories"):
            count = getattr(self, name)
            if count is not None and (type(count) is not int or not 1 <= count <= MOST_BINS):
                raise InvalidParameter(f"{name} is a whole number from 1 to {MOST_BINS:,}.")
        if self.nulls is not None and type(self.nulls) is not bool:
            raise InvalidParameter("nulls is True or False: is a missing value a value of its own?")
        edges = self.edges
        if edges is not None and (len(edges) < 2 or any(a >= b for a, b in pairwise(edges))):
            raise InvalidParameter("edges are two numbers or more, each larger than the one before.")
        if edges is not None and max(map(abs, edges)) > LIMIT:
            raise InvalidParameter("edges lie within plus or minus 2^53.")


def cut_of(name: str, asked: object) -> Cut:
    """Return how a column shall be cut, from what somebody wrote.

    >>> cut_of("age", 10).bins, cut_of("age", {"quantiles": 8}).quantiles, cut_of("sex", None)
    (10, 8, Cut(bins=None, edges=None, quantiles=None, values=None, categories=None, nulls=None))
    """
    if isinstance(asked, Cut):
        return asked
    if asked is None:
        return Cut()
    if type(asked) is int:
        return Cut(bins=asked)
    if isinstance(asked, Mapping):
        if unknown := [str(word) for word in asked if word not in WORDS]:
            raise InvalidParameter(f"{name}: {unknown[0]} means nothing here; write one of {', '.join(WORDS)}.")
        made = dict(asked)
        if made.get("edges") is not None:
            made["edges"] = tuple(finite(edge, "an edge") for edge in made["edges"])
        if made.get("values") is not None:
            made["values"] = keys_of(made["values"])
        return Cut(**made)
    if isinstance(asked, Sequence) and not isinstance(asked, str | bytes):
        return Cut(edges=tuple(finite(edge, "an edge") for edge in asked))
    raise InvalidParameter(
        f"{name}: say how it is cut by a number of bins, a list of edges, or one of {', '.join(WORDS)}; got "
        f"{type(asked).__name__}."
    )


@dataclass(frozen=True, slots=True)
class Coding:
    """The values of a column in a synthetic copy: ``values``, or bins between ``edges``; perhaps missing ones.

    ``source`` says whether they were declared, or released by a step that was charged.

    >>> Coding("age", "int", edges=(Fraction(0), Fraction(18), Fraction(120))).labels
    ('[0, 18)', '[18, 120]', None)
    """

    name: str
    kind: Kind
    values: tuple[Value, ...] = ()
    edges: tuple[Fraction, ...] = ()
    nulls: bool = True
    source: Source = "declared"

    def __post_init__(self) -> None:
        if (self.edges and self.values) or not self.size:
            raise InvalidParameter(f"{self.name} has values or bins, one at least.")

    @property
    def labels(self) -> tuple[Value, ...]:
        """What the values are called in a query, in the order of their codes; None, the last, is a missing one."""
        told: tuple[Value, ...] = bin_labels(self.edges) if self.edges else self.values
        return (*told, None) if self.nulls else told

    @property
    def size(self) -> int:
        """How many codes there are."""
        return (len(self.edges) - 1 if self.edges else len(self.values)) + self.nulls

    @property
    def expression(self) -> Expression:
        """What the engine groups by: the bin, or the value, and null for all others."""
        column = Name(self.name)
        if self.edges:
            return column.bin([_plain(edge) for edge in self.edges])
        known = column.isin(list(self.values)) if self.values else column.is_null()
        return when(known, column).otherwise(None)

    def within(self, place: int) -> tuple[Fraction, Fraction]:
        """Return the ends of a bin."""
        return self.edges[place], self.edges[place + 1]

    @property
    def told(self) -> str:
        """How the column is cut, in words."""
        missing = ", missing" if self.nulls else ""
        if self.edges:
            return (
                f"{len(self.edges) - 1} bins from {shown_edge(self.edges[0])} to {shown_edge(self.edges[-1])}{missing}"
            )
        return f"{len(self.values)} values{missing}"


def bin_labels(edges: Sequence[Fraction]) -> tuple[str, ...]:
    """Return the names of bins, as ``BIN`` in a query has them."""
    last = len(edges) - 2
    return tuple(
        f"[{shown_edge(low)}, {shown_edge(high)}{']' if place == last else ')'}"
        for place, (low, high) in enumerate(pairwise(edges))
    )


def even_edges(interval: Interval, bins: int, *, whole: bool) -> tuple[Fraction, ...]:
    """Return edges of bins of equal width; of whole numbers, so many at most and as equal as they can be.

    >>> [str(edge) for edge in even_edges(Interval.of(0, 100), 4, whole=True)]
    ['0', '26', '52', '78', '100']
    """
    low, high = interval.low, interval.high
    if whole:
        width = max(1, ceil((high - low + 1) / bins))
        starts = [low + width * place for place in range(bins) if low + width * place < high]
        return (*starts, high)
    return (*(Fraction(float(low + (high - low) * place / bins)) for place in range(bins)), high)


@dataclass(frozen=True, slots=True)
class Determined:
    """A column that follows from another by a public list: the state from the city."""

    column: str
    by: str
    values: tuple[tuple[Value, Value], ...]


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Groups by many columns that are answered by a model of all of them, and shown as synthetic rows.

    ``columns`` say how each is cut; None means all that are declared. ``rules`` are conditions that hold for every
    possible row, as CHECK has them. ``workload`` names the sets of columns that shall be most accurate. ``rows`` is how
    many rows there shall be; as many as the model stands for, unless it is said. ``codings`` is filled in when the
    schema is known.
    """

    columns: tuple[tuple[str, Cut], ...] | None = None
    method: str = "auto"
    workload: tuple[tuple[str, ...], ...] | None = None
    rules: tuple[str, ...] = ()
    determined: tuple[Determined, ...] = ()
    where: str | None = None
    rows: int | None = None
    codings: tuple[Coding, ...] = ()


def _plain(edge: Fraction) -> int | float:
    return int(edge) if edge.denominator == 1 else float(edge)
