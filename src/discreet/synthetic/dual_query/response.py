"""The data player's move: a record that satisfies as many drawn queries as possible, found by local search.

It is tried from several starts, all of them one search with variables apart. First all attributes that gain move at
once, those that share a query one after the other; then a tabu search (Glover, ORSA Journal on Computing 1989) moves
the best attribute that did not move lately, also downhill, and the best record seen is kept. Attributes that no drawn
query reads stay as they were in the round before.

No data are read: the drawn queries were released before. So privacy depends neither on how good a record is found nor
on how long that takes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.noise import source
from discreet.noise.fast import Floats
from discreet.synthetic.dual_query.queries import Queries

__all__ = ["Search", "response", "satisfied"]

Int64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]

REAL = 0.5
"""Gains are whole numbers, and the noise that decides between equal ones is less than half of this."""

SWEEPS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How hard to search: from how many starts, tabu moves after the first hill, and how long a move is taboo."""

    starts: int = 2
    moves: int = 60
    tenure: int = 8


def response(
    queries: Queries,
    places: Int64,
    complements: Bits,
    search: Search,
    before: npt.NDArray[np.integer] | None = None,
) -> Int64:
    """Return a record with as many of the draws satisfied as the search found.

    What no drawn query reads is as in the record ``before``, or random.

    >>> asked = Queries(sizes=(2, 3), attributes=[[0, 1], [0, 1]], values=[[1, 2], [0, 0]])
    >>> response(asked, np.array([0, 0, 1]), np.array([False, False, True]), Search()).tolist()
    [1, 2]
    """
    problem = _Problem(queries, places, complements, search.starts)
    best, scores = problem.climb(search)
    record = _random_values(np.array(queries.sizes)) if before is None else before.astype(np.int64)
    record[problem.used] = best[scores.argmax()]
    return record


def satisfied(queries: Queries, places: Int64, complements: Bits, record: npt.ArrayLike) -> int:
    """Return how many draws a record satisfies.

    >>> asked = Queries(sizes=(2,), attributes=[[0]], values=[[1]])
    >>> satisfied(asked, np.array([0, 0]), np.array([False, True]), [1])
    1
    """
    held = queries.chosen(places).holds(np.asarray(record)[None, :])[0]
    return int((held ^ complements).sum())


class _Problem:
    """Variables ``record * attributes + attribute``, cells for the values of each, and a list of clauses."""

    def __init__(self, queries: Queries, places: Int64, complements: Bits, starts: int) -> None:
        places, weights = _net(places, complements, len(queries))
        attributes, values, negated = (part[places] for part in queries.parts)
        self.odd = queries.kind == "parity"
        self.used, compact = np.unique(attributes, return_inverse=True)
        count = len(self.used)
        sizes = np.array(queries.sizes)[self.used]
        repeat = np.tile(np.arange(starts), len(places))
        self.record = repeat
        self.variables = repeat[:, None] * count + np.repeat(compact.reshape(attributes.shape), starts, axis=0)
        self.values = np.repeat(values, starts, axis=0).astype(np.int64)
        self.negated = np.repeat(negated, starts, axis=0)
        self.signs = np.repeat(weights, starts).astype(np.float64)
        self.sizes = np.tile(sizes, starts)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.cells = self.starts[self.variables] + self.values
        self.copies, self.count = starts, count
        self.noise = _floats(int(self.sizes.sum())) * (REAL / 2)

    def scores(self, state: Int64) -> Int64:
        """Return how many draws hold for each record, less the number of complements: what a search compares."""
        held = self._held(self._literals(state))
        return np.bincount(self.record, weights=held * self.signs, minlength=self.copies).astype(np.int64)

    def _literals(self, state: Int64) -> Bits:
        literals: Bits = (state[self.variables] == self.values) ^ self.negated
        return literals

    def _held(self, literals: Bits) -> Bits:
        true = literals.sum(axis=1)
        return np.asarray(true % 2 == 1 if self.odd else true == literals.shape[1])

    def gains(self, state: Int64) -> tuple[Floats, Int64]:
        """Return what the best move of each variable gains, and the value it moves to.

        A clause counts for a value where its other literals leave the answer to it.
        """
        literals = self._literals(state)
        true = literals.sum(axis=1, keepdims=True) - literals
        if self.odd:
            swing = self.signs[:, None] * (1 - 2 * (true % 2))
        else:
            swing = self.signs[:, None] * (true == literals.shape[1] - 1)
        swing = np.where(self.negated, -swing, swing)
        worth = np.zeros(len(self.owners))
        worth += np.bincount(self.cells.reshape(-1), weights=swing.reshape(-1), minlength=len(self.owners))
        here = worth[self.starts + state]
        worth += self.noise
        worth[self.starts + state] = -np.inf
        if (self.sizes == 1).any():
            worth[self.starts[self.sizes == 1]] = -np.inf
        most = np.maximum.reduceat(worth, self.starts)
        cells = np.flatnonzero(worth == most[self.owners])
        target = np.empty(len(self.sizes), dtype=np.int64)
        target[self.owners[cells]] = cells
        return most - here, target - self.starts

    def climb(self, search: Search) -> tuple[Int64, Int64]:
        """Return the best state that was seen for each record, and its score."""
        state = _random_values(self.sizes)
        for _ in range(SWEEPS):
            gains, targets = self.gains(state)
            moving = self._apart(gains)
            if not moving.any():
                break
            state[moving] = targets[moving]
        best, top = state.reshape(self.copies, self.count).copy(), self.scores(state)
        taboo = np.zeros(len(state), dtype=np.int64)
        rows = np.arange(self.copies)
        score = top.astype(np.float64)
        for move in range(search.moves):
            gains, targets = self.gains(state)
            whole = np.floor(gains + REAL / 2)
            free = (taboo <= move) | (score[self._owner()] + whole > top[self._owner()])
            table = np.where(free, gains, -np.inf).reshape(self.copies, self.count)
            chosen = table.argmax(axis=1)
            able = np.isfinite(table[rows, chosen])
            places = (rows * self.count + chosen)[able]
            state[places] = targets[places]
            taboo[places] = move + 1 + search.tenure + np.floor(self.noise[self.starts[places]] * 4 * search.tenure)
            score[able] += whole[places]
            better = score > top
            if better.any():
                best[better] = state.reshape(self.copies, self.count)[better]
                top = np.where(better, score, top).astype(np.int64)
        return best, self.scores(best.reshape(-1))

    def _owner(self) -> Int64:
        return np.arange(len(self.sizes)) // self.count

    def _apart(self, gains: Floats) -> Bits:
        """Return which variables move: those that gain, and gain the most in each clause they are in."""
        willing = np.where(gains > REAL, gains, -np.inf)
        if not np.isfinite(willing).any():
            return np.zeros(len(gains), dtype=np.bool_)
        rank = np.empty(len(gains), dtype=np.int64)
        rank[np.argsort(willing, kind="stable")] = np.arange(len(gains))
        among = rank[self.variables]
        beaten = among < among.max(axis=1, keepdims=True)
        blocked = np.zeros(len(gains), dtype=np.bool_)
        blocked[self.variables[beaten]] = True
        return np.isfinite(willing) & ~blocked


def _net(places: Int64, complements: Bits, count: int) -> tuple[Int64, Int64]:
    """Return each query that was drawn, once, and how much more often than its complement."""
    net = np.bincount(places[~complements], minlength=count) - np.bincount(places[complements], minlength=count)
    drawn = np.flatnonzero(net)
    return (drawn, net[drawn]) if drawn.size else (places[:1], np.zeros(1, dtype=np.int64))


def _floats(count: int) -> Floats:
    return source().words(count).astype(np.float64) * 2.0**-64


def _random_values(sizes: Int64) -> Int64:
    """Return a value for each variable; which one hardly matters, so the last bits of fairness do not either."""
    return np.minimum((_floats(len(sizes)) * sizes).astype(np.int64), sizes - 1)
