"""Shares of records by some attributes, from records or from a model alike."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.synthetic.coded import Tallied, tallied
from discreet.synthetic.microdata import records_of

__all__ = ["NOTE", "Data", "Model", "Tables", "rows_of", "tables_of"]

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

NOTE = (
    "Compared with the real records, without noise: NOT private. Do not publish it, nor choose by it what is published."
)


@runtime_checkable
class Model(Protocol):
    """What answers marginals: a graphical model or a network."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        ...

    def marginal(self, attributes: tuple[int, ...], /) -> Floats:
        """Return expected counts."""
        ...


Data = Any
"""Coded records as rows, an array or a tally; or a model."""


class Tables:
    """Shares of records by some attributes; they add up to 1, or are all alike where there are no records.

    >>> Tables([[0, 1], [1, 1], [1, 1], [1, 1]], (2, 2)).shares((0,)).tolist()
    [0.25, 0.75]
    """

    __slots__ = ("_data", "sizes")

    def __init__(self, data: Data, sizes: tuple[int, ...]) -> None:
        self.sizes = tuple(sizes)
        self._data: Model | Tallied
        if isinstance(data, Model):
            if tuple(data.sizes) != self.sizes:
                raise InvalidParameter("a model has the sizes of the records that it is compared with.")
            self._data = data
        else:
            self._data = tallied(data, self.sizes)

    def shares(self, attributes: tuple[int, ...]) -> Floats:
        """Return the shares of records, one axis for each attribute in the order of their numbers."""
        wanted = tuple(sorted(set(attributes)))
        held = self._data
        table = held.table(wanted, self.sizes) if isinstance(held, Tallied) else held.marginal(wanted)
        counts = np.asarray(table, dtype=np.float64)
        total = float(counts.sum())
        return counts / total if total > 0 else np.full(counts.shape, 1 / counts.size)


def tables_of(data: Data, sizes: tuple[int, ...]) -> Tables:
    """Return the tables of records or of a model."""
    return data if isinstance(data, Tables) else Tables(data, sizes)


def rows_of(data: Data, sizes: tuple[int, ...]) -> Int64:
    """Return records as an array with a row each; a model's are made by controlled rounding.

    >>> rows_of(Tallied(np.array([[0], [1]]), np.array([2, 1])), (2,)).tolist()
    [[0], [0], [1]]
    """
    if isinstance(data, Model):
        return records_of(data)  # type: ignore[arg-type]  # every model here can be drawn from
    tally = tallied(data, sizes)
    return np.repeat(tally.codes, tally.counts, axis=0)
