"""Whole queries as releases that can be drawn a million times.

One release of a session takes milliseconds, which is too slow for an audit. So a data set is copied many times into one
table, with persons of their own in each copy, and released once, grouped by copy: since a person is in one copy alone
and noise is independent between groups, that gives as many draws of the release of one copy, through everything that
a real release goes through. The claim is that of a person who is in as many groups of one copy.

All that an answer tells is audited: each value, and how far the ends of its interval lie from it, since some ends are
private releases of their own. What is missing has a number of its own, far from all others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.auditing.entries import Entry
from discreet.session import Answer, Request, Session
from discreet.session.values import Number
from discreet.tables import Bounds, Query, Values, count, mean, median, quantiles, sum, top_k  # noqa: A004
from discreet.tables.aggregates import Aggregate, count_distinct, max, variance  # noqa: A004
from discreet.units import Person, Row

__all__ = ["CopiedPlan", "CopiedQuery", "our_queries"]

CITIES = ("Bergen", "Oslo", "Ulm")

HIDDEN, MISSING = -(2.0**40), -(2.0**41)
"""What stands for a group that is not shown, and for a value or an end that an answer does not have."""

Record = dict[str, Any]
Pairs = tuple[tuple[list[Record], list[Record]], ...]

SCHEMA = {"user": "int", "copy": "int", "spent": Bounds(0, 10), "city": Values(CITIES)}

Open = Callable[[Any], Session]


@dataclass(frozen=True)
class CopiedQuery:
    """A query on small data sets of (user, city, spent), released for many copies at once.

    ``by_city`` groups each copy by city; ``private_cities`` does so without declaring them. ``engine`` loads a table of
    columns into another engine than DuckDB and returns the source for a session. ``steady`` is how many units there are
    close together in a further pair of neighbours, for releases that say much on such data alone.
    """

    aggregates: dict[str, Aggregate]
    unit: Row | Person
    epsilon: float = 1.0
    delta: float = 0.0
    noise: Any = "laplace"
    by_city: bool = False
    private_cities: bool = False
    engine: Callable[[dict[str, list[Any]]], Any] | None = None
    steady: int = 0

    @property
    def claims(self) -> PrivacyLoss:
        """What the session charges for one copy."""
        with self.session([], 1) as session:
            loss: PrivacyLoss = session.planned(self.query(1), **self._settings).loss
        return loss

    @property
    def neighbours(self) -> Pairs:
        """Pairs of data sets that differ by one unit."""
        return table_neighbours(self.unit) + (steady_neighbours(self.unit, self.steady) if self.steady else ())

    def draw(self, data: Sequence[Record], draws: int) -> npt.NDArray[np.float64]:
        """Return one row of outputs for each of so many releases of a data set."""
        with self.session(data, draws) as session:
            return self.outputs(session.release(self.query(draws), **self._settings), draws)

    def outputs(self, answer: Answer, draws: int) -> npt.NDArray[np.float64]:
        """Return one row for each copy of an answer: each value, and how far below and above it its ends lie."""
        width = len(CITIES) if self.by_city or self.private_cities else 1
        outputs = np.full((draws, width, len(answer.columns), 3), HIDDEN)
        cities = answer.keys.get("city", (CITIES[0],) * len(answer))
        for row, (copy, city) in enumerate(zip(answer.keys["copy"], cities, strict=True)):
            place = CITIES.index(city) if width > 1 else 0
            for column, told in enumerate(answer.columns.values()):
                outputs[int(str(copy)), place, column] = _numbers(told.value[row], told.low[row], told.high[row])
        return outputs.reshape(draws, -1)

    @property
    def _settings(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "delta": self.delta, "noise": self.noise}

    def query(self, draws: int) -> Query:
        """Return the query, grouped by copy."""
        keys: dict[str, Any] = {"copy": range(draws)}
        query = Query("people")
        if self.private_cities:
            return query.group_by("city", "copy", keys=keys).agg(**self.aggregates)
        names = ("city", "copy") if self.by_city else ("copy",)
        return query.group_by(*names, keys=keys).agg(**self.aggregates)

    def session(self, data: Sequence[Record], draws: int) -> Session:
        """Return a session on so many copies of a data set."""
        people = {name: place for place, name in enumerate(dict.fromkeys(row["user"] for row in data))}
        columns: dict[str, list[Any]] = {"user": [], "copy": [], "city": [], "spent": []}
        for copy in range(draws):
            columns["user"] += [copy * (len(people) + 1) + people[row["user"]] for row in data]
            columns["copy"] += [copy] * len(data)
            columns["city"] += [row["city"] for row in data]
            columns["spent"] += [row["spent"] for row in data]
        schema = {**SCHEMA, "city": "str"} if self.private_cities else SCHEMA
        return Session(
            _arrow(columns) if self.engine is None else self.engine(columns),
            name="people",
            schema=schema,
            unit=self.unit,
            budget=_ample(),
        )


@dataclass(frozen=True)
class CopiedPlan:
    """Several queries of one unit, released together by one plan; what they say of epsilon themselves is not used."""

    queries: tuple[CopiedQuery, ...]
    epsilon: float = 1.0
    delta: float = 0.0

    @property
    def unit(self) -> Row | Person:
        """Who is protected."""
        return self.queries[0].unit

    @property
    def neighbours(self) -> Pairs:
        """Those of the first query: the unit is the same in all."""
        return self.queries[0].neighbours

    @property
    def claims(self) -> PrivacyLoss:
        """The loss of all of them together, for one copy."""
        with self.queries[0].session([], 1) as session:
            loss: PrivacyLoss = session.planned_loss(self._requests(1), epsilon=self.epsilon, delta=self.delta)
        return loss

    def draw(self, data: Sequence[Record], draws: int) -> npt.NDArray[np.float64]:
        """Return one row with the outputs of all queries for each of so many releases of a data set."""
        with self.queries[0].session(data, draws) as session:
            answers = session.plan(self._requests(draws), epsilon=self.epsilon, delta=self.delta)
        return np.hstack([one.outputs(answer, draws) for one, answer in zip(self.queries, answers, strict=True)])

    def _requests(self, draws: int) -> list[Request]:
        return [Request(one.query(draws), noise=one.noise) for one in self.queries]


def _ample() -> Account:
    """Return an account that no audit uses up; as it is opened here, nobody is warned of its delta."""
    return Budget(1000, 0.5).open()


def _arrow(columns: dict[str, list[Any]]) -> Any:  # noqa: ANN401  an Arrow table
    import pyarrow as pa

    types = {"user": pa.int64(), "copy": pa.int64(), "city": pa.string(), "spent": pa.float64()}
    return pa.table({name: pa.array(values, type=types[name]) for name, values in columns.items()})


def _numbers(value: Number | str | None, low: Number | None, high: Number | None) -> tuple[float, float, float]:
    """Return a value, and how far below and above it its ends lie; a word is the place of its city.

    >>> _numbers(4, 3, 6.5), _numbers("Oslo", None, None) == (1.0, MISSING, MISSING)
    ((4.0, 1.0, 2.5), True)
    """
    if isinstance(value, str):
        return float(CITIES.index(value)), MISSING, MISSING
    if value is None:
        return MISSING, MISSING, MISSING
    below, above = (MISSING if end is None else abs(value - end) for end in (low, high))
    return float(value), float(below), float(above)


def _rows(user: int, *visits: tuple[str, float]) -> list[Record]:
    return [{"user": user, "city": city, "spent": spent} for city, spent in visits]


def table_neighbours(unit: Row | Person) -> Pairs:
    """Return pairs that differ by a person or row as heavy as can be: too many rows, too many groups, wild values."""
    others = [*_rows(1, ("Oslo", 5.0), ("Ulm", 2.0)), *_rows(2, ("Bergen", 9.0))]
    visits = [("Oslo", 10.0), ("Oslo", 1e300), ("Oslo", 10.0), ("Bergen", 11.0), ("Ulm", 10.0), ("Ulm", 10.0)]
    heavy = _rows(3, *(visits if isinstance(unit, Person) else [("Oslo", 1e300)]))
    if unit.relation == "add_remove":
        return (others, others + heavy), ([], heavy)
    light = _rows(3, ("Bergen", -1e300))
    return ((others + light, others + heavy),)


def steady_neighbours(unit: Row | Person, units: int) -> Pairs:
    """Return a pair with so many units at two places close together, of which one of the lower is gone, or at the end.

    The quantile in the middle moves from one place to the other, and it would take about half of the units to move it
    far: fitted noise is small, a test before a release is passed often, and the ends of an interval are close.
    """
    rows = unit.rows or 1 if isinstance(unit, Person) else 1
    here, there = [("Oslo", 5.0)] * rows, [("Oslo", 5.03)] * rows
    both = [row for user in range(units) for row in _rows(user, *(here if user % 2 == 0 else there))]
    if unit.relation == "add_remove":
        return ((both[rows:], both),)
    return ((both, both[rows:] + _rows(0, *[("Oslo", 10.0)] * rows)),)


def our_queries() -> tuple[Entry, ...]:
    """Return whole queries of sessions; none where the engine is not installed."""
    try:
        import duckdb  # noqa: F401
        import pyarrow as pa  # noqa: F401
    except ImportError:
        return ()
    row, replaced = Row(), Row(relation="replace_one")
    one, two = Person("user", groups=1, rows=2), Person("user", groups=2, rows=2)
    copied: dict[str, CopiedQuery | CopiedPlan] = {
        "query: count of persons' rows": CopiedQuery({"n": count()}, one),
        "query: sum": CopiedQuery({"total": sum("spent")}, row),
        "query: sum, persons": CopiedQuery({"total": sum("spent")}, one),
        "query: count and mean": CopiedQuery({"n": count(), "m": mean("spent")}, one, epsilon=2),
        "query: mean, gaussian": CopiedQuery({"m": mean("spent")}, one, epsilon=2, delta=0.02, noise="gaussian"),
        "query: count by city": CopiedQuery({"n": count()}, two, by_city=True),
        "query: persons and kinds": CopiedQuery(
            {"persons": count_distinct("user"), "cities": count_distinct("city")}, one, epsilon=2
        ),
        "query: variance": CopiedQuery({"v": variance("spent")}, row, epsilon=3),
        "query: private cities": CopiedQuery({"n": count()}, two, epsilon=2, delta=0.08, private_cities=True),
        "query: count, replaced": CopiedQuery({"n": count()}, replaced, by_city=True),
        "query: median": CopiedQuery({"q": median("spent")}, row, epsilon=2),
        "query: median, smooth": CopiedQuery({"q": median("spent", method="smooth")}, row, epsilon=2, steady=20),
        "query: median, smooth, replaced": CopiedQuery(
            {"q": median("spent", method="smooth")}, replaced, epsilon=2, steady=40
        ),
        "query: median, tested": CopiedQuery(
            {"q": median("spent", method="ptr")}, one, epsilon=2, delta=0.05, steady=6
        ),
        "query: median, tested, replaced": CopiedQuery(
            {"q": median("spent", method="ptr")}, replaced, epsilon=2, delta=0.1, steady=10
        ),
        "query: greatest": CopiedQuery({"top": max("spent")}, one, epsilon=2),
        "query: quartiles": CopiedQuery({"q": quantiles("spent", [0.25, 0.5, 0.75])}, row, epsilon=2),
        "query: top list": CopiedQuery({"top": top_k("city", 2)}, one, epsilon=2),
        "plan: count, sum and median": CopiedPlan(
            (
                CopiedQuery({"n": count()}, one),
                CopiedQuery({"total": sum("spent")}, one),
                CopiedQuery({"q": median("spent")}, one),
            ),
            epsilon=2,
            delta=0.01,
        ),
        "plan: gaussian and private cities": CopiedPlan(
            (
                CopiedQuery({"total": sum("spent")}, two, noise="gaussian", private_cities=True),
                CopiedQuery({"n": count()}, two, private_cities=True),
            ),
            epsilon=2,
            delta=0.05,
        ),
    }
    return tuple(Entry(name, _single(one), one.claims, one.neighbours, one.draw) for name, one in copied.items())


def _single(query: CopiedQuery | CopiedPlan) -> Callable[[Sequence[Record]], npt.NDArray[np.float64]]:
    def release(data: Sequence[Record]) -> npt.NDArray[np.float64]:
        drawn: npt.NDArray[np.float64] = query.draw(data, 1)[0]
        return drawn

    return release
