"""Questions about coded records: weights by some attributes, conditions on them, and whole tables.

A question is the analyst's, so anything odd about it is refused before any data are looked at. Weights are rounded to
multiples of 2^-16, so that answers are whole numbers of steps: what is answered is the rounded question, which differs
from the one that was asked by less than 2^-16 for each record.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput, InvalidParameter
from discreet.synthetic.coded import tallied
from discreet.synthetic.graphical.factor import Attributes

__all__ = ["STEPS", "Asked", "Counts", "Linear", "Table", "read_question"]

Int64 = npt.NDArray[np.int64]

STEPS = 1 << 16
"""A record that counts fully counts as many steps."""

LARGEST = 1 << 40
"""A count of one cell is clamped to this, and every sum of them is exact."""

LOW_BITS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """The sum of a weight between 0 and 1 over all records, which depends on some attributes: one axis for each.

    >>> read_question(Linear((1,), [0, 1, 0.5]), (2, 3), 100).weights.tolist()
    [0, 65536, 32768]
    """

    attributes: Iterable[int]
    values: npt.ArrayLike


@dataclass(frozen=True, slots=True)
class Table:
    """The counts of all combinations of some attributes, as one question."""

    attributes: Attributes


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question that was read: whole weights, in steps, with an axis for each attribute in the order of numbers."""

    attributes: Attributes
    weights: Int64


def read_question(question: Any, sizes: tuple[int, ...], cells: int) -> Asked | Table:  # noqa: ANN401 - the analyst's
    """Return what is asked, or say what is wrong with it.

    A mapping from attributes to a value, or to several, asks how many records have one of these values in each.
    Numbers alone are one weight for each combination of all attributes.

    >>> read_question({0: 1, 1: (0, 2)}, (2, 3), 100).weights.tolist()
    [[0, 0, 0], [65536, 0, 65536]]
    """
    if isinstance(question, Table):
        return Table(_listed(question.attributes, sizes, cells))
    if isinstance(question, Mapping):
        return _condition(question, sizes, cells)
    own = question.attributes if isinstance(question, Linear) else range(len(sizes))
    attributes = _listed(own, sizes, cells)
    if tuple(own) != attributes:
        raise InvalidInput("the attributes of a question are listed once each, in the order of their numbers.")
    shape = tuple(sizes[i] for i in attributes)
    values = _numbers(question.values if isinstance(question, Linear) else question)
    if values.shape not in (shape, (math.prod(shape),)):
        raise InvalidInput(f"this question has one weight for each of {' x '.join(map(str, shape))} combinations.")
    if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()):
        raise InvalidInput("the weights of a question are numbers between 0 and 1.")
    return Asked(attributes, np.rint(values.reshape(shape) * STEPS).astype(np.int64))


class Counts:
    """Coded records as the counts of the combinations that occur. It is as secret as the data."""

    __slots__ = ("_codes", "_high", "_low", "records", "sizes")

    def __init__(self, records: Any, sizes: tuple[int, ...]) -> None:  # noqa: ANN401 - what ``tallied`` reads
        tally = tallied(records, sizes)
        codes, where = np.unique(tally.codes, axis=0, return_inverse=True)
        sums = np.zeros(len(codes), dtype=np.int64)
        np.add.at(sums, where.reshape(-1), tally.counts)
        self.sizes, self._codes, self.records = sizes, codes, int(sums.sum())
        sums = np.minimum(sums, LARGEST)
        self._high, self._low = sums >> LOW_BITS, sums & ((1 << LOW_BITS) - 1)

    def answer(self, asked: Asked) -> int:
        """Return the exact answer in steps."""
        weights = asked.weights.reshape(-1)[self._places(asked.attributes)]
        return (int(self._high @ weights) << LOW_BITS) + int(self._low @ weights)

    def table(self, attributes: Attributes) -> Int64:
        """Return the exact counts by some attributes, each clamped."""
        shape = tuple(self.sizes[i] for i in attributes)
        sums = np.zeros(math.prod(shape), dtype=np.int64)
        np.add.at(sums, self._places(attributes), (self._high << LOW_BITS) + self._low)
        return np.minimum(sums, LARGEST).reshape(shape)

    def _places(self, attributes: Attributes) -> Int64:
        places = np.zeros(len(self._codes), dtype=np.int64)
        for i in attributes:
            places = places * self.sizes[i] + self._codes[:, i]
        return places


def _listed(attributes: Any, sizes: tuple[int, ...], cells: int) -> Attributes:  # noqa: ANN401 - the analyst's
    """Return numbers of attributes in their order."""
    if isinstance(attributes, str | bytes) or not isinstance(attributes, Iterable):
        raise InvalidInput("the attributes of a question are listed by their numbers.")
    own = tuple(attributes)
    if any(isinstance(i, bool) or not isinstance(i, int | np.integer) or not 0 <= i < len(sizes) for i in own):
        raise InvalidInput(f"attributes are numbered from 0 to {len(sizes) - 1}.")
    found = tuple(sorted({int(i) for i in own}))
    if math.prod(sizes[i] for i in found) > cells:
        raise InvalidInput(f"the attributes of a question have at most {cells:,} combinations; ask about fewer.")
    return found


def _condition(wanted: Mapping[Any, Any], sizes: tuple[int, ...], cells: int) -> Asked:
    attributes = _listed(wanted.keys(), sizes, cells)
    weights = np.full((1,) * len(attributes), STEPS, dtype=np.int64)
    for axis, i in enumerate(attributes):
        given = wanted[i]
        values = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (given,)
        if any(isinstance(v, bool) or not isinstance(v, int | np.integer) or not 0 <= v < sizes[i] for v in values):
            raise InvalidInput(f"values of attribute {i} are whole numbers from 0 to {sizes[i] - 1}.")
        mask = np.zeros(sizes[i], dtype=np.int64)
        mask[[int(v) for v in values]] = 1
        weights = weights * mask.reshape([-1 if own == axis else 1 for own in range(len(attributes))])
    return Asked(attributes, weights)


def _numbers(values: Any) -> npt.NDArray[np.float64]:  # noqa: ANN401 - the analyst's
    refusal = "a question is a condition, a table, or numbers between 0 and 1: one for each combination."
    try:
        read = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        raise InvalidInput(refusal) from None
    if read.dtype.kind not in "biuf":
        raise InvalidInput(refusal)
    return read.astype(np.float64)


def check_domain(sizes: Any) -> tuple[int, ...]:  # noqa: ANN401 - checked here
    """Return the numbers of values of all attributes, or say what is wrong with them.

    >>> check_domain([2, 3])
    (2, 3)
    """
    own = tuple(sizes)
    if not own or any(type(size) is not int or not 1 <= size <= 1 << 24 for size in own):
        raise InvalidParameter("sizes lists how many values each attribute has: whole numbers from 1 to 2^24.")
    return own
