"""Scores of rows of numbers: answers to several questions, streams, vectors."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

import numpy as np

from discreet.auditing.draws import Draws
from discreet.auditing.looks.score import Floats, Integers, Score, clean, exact, labelled, last_bits

__all__ = ["of_rows"]

MANY = 48
"""Columns that are looked at one by one."""

PAIRED = 6
"""Columns whose differences are looked at."""

PROJECTED = 400
"""Columns that a linear rule is fitted to."""

BANDS = 16
HUGE = 1e12


def of_rows(first: Draws, second: Draws) -> Iterator[Score]:
    """Return scores of draws that are rows of one length."""
    width = _finite(first).shape[1]
    for column in range(min(width, MANY)):
        yield Score(f"entry {column} large", partial(_entry, column=column))
    for name, summary in SUMMARIES.items():
        yield Score(name, partial(_summary, summary=summary))
    yield labelled(
        "the place of the largest", lambda draws: _finite(draws).argmax(axis=1).astype(np.int64), first, second
    )
    yield labelled(
        "the place of the smallest", lambda draws: _finite(draws).argmin(axis=1).astype(np.int64), first, second
    )
    yield labelled("the exact entries", _row, first, second)
    for column in {0, width - 1}:
        bits = partial(_bits, column=column)
        if np.unique(bits(first)).size < first.size / 4:
            yield labelled(f"size and last bits of entry {column}", bits, first, second)
    for a, b in combinations(range(min(width, PAIRED)), 2):
        yield Score(f"entry {a} far above entry {b}", partial(_difference, a=a, b=b))
        yield labelled(
            f"the exact difference of entries {a} and {b}", partial(_exact_difference, a=a, b=b), first, second
        )
    yield _bayes(first, second)
    if width <= PROJECTED:
        yield from _linear(first, second)


def _finite(draws: Draws) -> Floats:
    return np.nan_to_num(np.asarray(draws.rows, dtype=np.float64), nan=-1e300, posinf=1e300, neginf=-1e300)


def _entry(draws: Draws, column: int) -> Floats:
    return _finite(draws)[:, column]


def _summary(draws: Draws, summary: Callable[[Floats], Floats]) -> Floats:
    return clean(summary(_finite(draws)))


def _differing(rows: Floats) -> Floats:
    return np.asarray((np.diff(np.sort(rows, axis=1), axis=1) != 0).sum(axis=1), dtype=np.float64)


SUMMARIES: dict[str, Callable[[Floats], Floats]] = {
    "a large sum": lambda rows: rows.sum(axis=1),
    "a large maximum": lambda rows: rows.max(axis=1),
    "a large minimum": lambda rows: rows.min(axis=1),
    "a wide range": lambda rows: np.ptp(rows, axis=1),
    "a large norm": lambda rows: np.sqrt((rows**2).sum(axis=1)),
    "many entries that differ": _differing,
    "neighbouring entries close": lambda rows: -np.abs(np.diff(rows, axis=1)).min(axis=1, initial=np.inf),
    "the first value often": lambda rows: (rows == rows[:, :1]).sum(axis=1).astype(np.float64),
    "a first half above the second": lambda rows: (
        rows[:, : rows.shape[1] // 2].sum(axis=1) - rows[:, rows.shape[1] // 2 :].sum(axis=1)
    ),
}


def _row(draws: Draws) -> Integers:
    """Return one number for each row that different rows hardly share."""
    whole = exact(_finite(draws)).reshape(draws.size, -1)
    found = np.zeros(draws.size, dtype=np.int64)
    with np.errstate(over="ignore"):
        for column in whole.T:
            found = (found * np.int64(1_000_003)) ^ (column + (column >> 21))
    return found


def _bits(draws: Draws, column: int) -> Integers:
    return last_bits(_entry(draws, column))


def _difference(draws: Draws, a: int, b: int) -> Floats:
    rows = _finite(draws)
    return np.asarray(rows[:, a] - rows[:, b])


def _exact_difference(draws: Draws, a: int, b: int) -> Integers:
    return exact(_difference(draws, a, b))


def _bayes(first: Draws, second: Draws) -> Score:
    """Add up, over the entries, how much likelier each one's band of values is: naive Bayes."""
    a, b = _finite(first), _finite(second)
    rules: list[tuple[Floats, Floats]] = []
    for column in range(a.shape[1]):
        both = np.concatenate([a[:, column], b[:, column]])
        edges = np.unique(np.quantile(both, np.linspace(0, 1, BANDS + 1)[1:-1]))
        counts = [
            np.bincount(np.searchsorted(edges, one[:, column], side="left"), minlength=edges.size + 1) + 1.0
            for one in (a, b)
        ]
        rules.append((edges, np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())))

    def of(draws: Draws) -> Floats:
        rows, total = _finite(draws), np.zeros(draws.size)
        for column, (edges, weights) in enumerate(rules):
            total += weights[np.searchsorted(edges, rows[:, column], side="left")]
        return total

    return Score("a naive Bayes rule over all entries", of)


def _linear(first: Draws, second: Draws) -> Iterator[Score]:
    """Project on the line along which the means differ most for their spread: Fisher's discriminant."""
    a, b = _tame(first), _tame(second)
    spread = np.vstack([a - a.mean(axis=0), b - b.mean(axis=0)])
    covariance = spread.T @ spread / max(1, spread.shape[0] - 2)
    ridge = 1e-6 * float(np.trace(covariance)) / covariance.shape[0] + 1e-300
    try:
        line = np.linalg.solve(covariance + ridge * np.eye(covariance.shape[0]), a.mean(axis=0) - b.mean(axis=0))
    except np.linalg.LinAlgError:
        return
    centre = np.vstack([a, b]).mean(axis=0)
    yield Score("a linear rule over all entries", lambda draws: np.asarray(_tame(draws) @ line))
    yield Score("far along a linear rule", lambda draws: np.abs((_tame(draws) - centre) @ line))


def _tame(draws: Draws) -> Floats:
    return np.clip(_finite(draws), -HUGE, HUGE)
