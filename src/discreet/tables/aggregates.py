"""What may be asked of a group: descriptions of aggregates, without any data.

>>> mean("amount")
mean(col('amount'))
>>> quantiles("amount", [0.25, 0.75], method="tree")
quantiles(col('amount'), [0.25, 0.75], method='tree')
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.errors import InvalidParameter
from discreet.exact import finite, show
from discreet.tables.expressions import Expression, Name, col, expression
from discreet.tables.kinds import Value

__all__ = [
    "Aggregate",
    "AggregateName",
    "QuantileMethod",
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "max",
    "mean",
    "median",
    "min",
    "quantile",
    "quantiles",
    "stddev",
    "sum",
    "top_k",
    "variance",
]

AggregateName = Literal[
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "max",
    "mean",
    "min",
    "quantiles",
    "stddev",
    "sum",
    "top_k",
    "variance",
]


QuantileMethod = Literal["exponential", "ptr", "smooth", "tree"]

METHODS = ("exponential", "tree", "smooth", "ptr")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Aggregate:
    """One column of an answer: a function of the rows of a group.

    ``options`` are public: the probabilities of quantiles, the number of a top list. ``method`` chooses between
    mechanisms for the same aggregate.
    """

    function: AggregateName
    arguments: tuple[Expression, ...] = ()
    options: tuple[Value, ...] = ()
    method: str | None = None

    def __repr__(self) -> str:
        parts = [repr(argument) for argument in self.arguments]
        if self.function == "quantiles":
            parts.append(f"[{', '.join(map(show, self.options))}]")  # type: ignore[arg-type]
        elif self.options:
            parts.extend(repr(option) for option in self.options)
        if self.method:
            parts.append(f"method={self.method!r}")
        return f"{self.function}({', '.join(parts)})"


def count(column: str | Expression | None = None) -> Aggregate:
    """Count rows, or the rows where a column is not missing.

    >>> count()
    count()
    """
    return Aggregate("count", () if column is None else (_argument(column),))


def count_distinct(column: str | Expression) -> Aggregate:
    """Count different values; of the privacy key, count persons."""
    return Aggregate("count_distinct", (_argument(column),))


def sum(column: str | Expression) -> Aggregate:  # noqa: A001
    """Add up a bounded column."""
    return Aggregate("sum", (_argument(column),))


def mean(column: str | Expression) -> Aggregate:
    """Average a bounded column."""
    return Aggregate("mean", (_argument(column),))


def variance(column: str | Expression) -> Aggregate:
    """Return the mean squared distance from the mean."""
    return Aggregate("variance", (_argument(column),))


def stddev(column: str | Expression) -> Aggregate:
    """Return the root of the variance."""
    return Aggregate("stddev", (_argument(column),))


def covariance(a: str | Expression, b: str | Expression) -> Aggregate:
    """Return the mean product of the distances of two columns from their means."""
    return Aggregate("covariance", (_argument(a), _argument(b)))


def correlation(a: str | Expression, b: str | Expression) -> Aggregate:
    """Return the covariance over both standard deviations, from -1 to 1."""
    return Aggregate("correlation", (_argument(a), _argument(b)))


def min(column: str | Expression) -> Aggregate:  # noqa: A001
    """Return a value with hardly any row below it."""
    return Aggregate("min", (_argument(column),))


def max(column: str | Expression) -> Aggregate:  # noqa: A001
    """Return a value with hardly any row above it."""
    return Aggregate("max", (_argument(column),))


def median(column: str | Expression, *, method: QuantileMethod | None = None) -> Aggregate:
    """Return a value with about half of the rows below it."""
    return quantiles(column, [0.5], method=method)


def quantile(column: str | Expression, probability: float, *, method: QuantileMethod | None = None) -> Aggregate:
    """Return a value with about this share of the rows below it.

    Take method ``"smooth"`` where epsilon is 3 or more for each quantile of each group, and ``"exponential"``
    otherwise. Take ``"tree"`` for three or more quantiles, and ``"ptr"`` where no number
    is better than one that a single member could move far.

    >>> quantile("amount", 0.9, method="smooth")
    quantiles(col('amount'), [0.9], method='smooth')
    """
    return quantiles(column, [probability], method=method)


def quantiles(
    column: str | Expression,
    probabilities: Sequence[float],
    *,
    method: QuantileMethod | None = None,
) -> Aggregate:
    """Return several quantiles at once: each by a mechanism of its own, or all from one noisy tree of counts.

    Without a method three or more come from a tree, which costs the same for any number of them, and fewer by the
    exponential mechanism; see ``quantile`` for the others.
    """
    shares = tuple(probabilities)
    if not shares or any(not 0 < finite(share, "a probability") < 1 for share in shares):
        raise InvalidParameter("quantiles are at probabilities between 0 and 1, for example [0.25, 0.5, 0.75].")
    if len(set(shares)) < len(shares):
        raise InvalidParameter("each probability is asked for once.")
    if method not in (None, *METHODS):
        raise InvalidParameter(f"quantiles come by method {', '.join(map(repr, METHODS))}, got {method!r}.")
    return Aggregate(
        "quantiles", (_argument(column),), shares, method or ("tree" if len(shares) > 2 else "exponential")
    )


def top_k(column: str | Expression, k: int) -> Aggregate:
    """Return the k most frequent of the declared values of a column, the most frequent first."""
    if type(k) is not int or not 1 <= k <= 100:
        raise InvalidParameter("a top list has a whole number of entries, from 1 to 100.")
    return Aggregate("top_k", (_argument(column),), (k,))


def _argument(column: str | Expression) -> Expression:
    if isinstance(column, str):
        return Name("*") if column == "*" else col(column)
    return expression(column)
