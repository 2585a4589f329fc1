"""Ways to look at outputs: each turns them into one number apiece, and events are thresholds of these numbers.

A score may be anything, for validity comes from counting on fresh draws. So there are many: the value itself, its bits,
what it leaves when divided, keys that are there or not, exceptions, repeated values, the order of things, and two
learned ones, a naive Bayes rule and a linear discriminant. Labels (atoms, keys, bit patterns) score by how much
likelier they were on the first data set, in draws that are used for nothing else.
"""

from collections.abc import Iterator

import numpy as np

from discreet.auditing.draws import Draws
from discreet.auditing.looks.anything import of_anything
from discreet.auditing.looks.numbers import of_numbers
from discreet.auditing.looks.rows import of_rows
from discreet.auditing.looks.score import Floats, Score

__all__ = ["Score", "scores"]


def scores(first: Draws, second: Draws) -> Iterator[Score]:
    """Return scores fitted to draws from two neighbours."""
    if first.seconds is not None:
        yield Score("it takes long", _seconds, paired=True)
    yield Score("not of the usual kind", lambda draws: draws.strange.astype(np.float64))
    if first.numbers is not None and second.numbers is not None:
        yield from of_numbers(first, second)
    elif first.rows is not None and second.rows is not None:
        yield from of_rows(first, second)
    else:
        yield from of_anything(first, second)


def _seconds(draws: Draws) -> Floats:
    return np.asarray(draws.seconds, dtype=np.float64)
