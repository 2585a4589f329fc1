"""Session: the one door to private tables."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.accounting.large_delta import say_large_delta
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.exact import Real, upward
from discreet.ledger.purpose import Purpose
from discreet.noise import source
from discreet.session.answer import Answer
from discreet.session.book import Memory, Spending, book_of, record_of, stored_answers
from discreet.session.columns import Column
from discreet.session.forecast import Expected, Forecast
from discreet.session.limited import Limited, usual_timeout
from discreet.session.plan import Plan
from discreet.session.planner import Planner
from discreet.session.post import after
from discreet.session.progress import Bar, Watcher
from discreet.session.release import run
from discreet.session.request import Chosen, Request
from discreet.session.sources import Tables
from discreet.session.verification import check_readable
from discreet.tables.engines import Engine
from discreet.tables.query import Query
from discreet.tables.synthetic import Numbers, Synthetic
from discreet.units import Person, Row

if TYPE_CHECKING:
    from discreet.session.synthesis.asking import Steps
    from discreet.session.synthesis.result import Synthesis

__all__ = ["Session", "Wanted"]

UNSAID = "not said"
"""The version of data that nobody has named: nothing is ever answered from the ledger for it."""


class Wanted(TypedDict, total=False):
    """What a synthetic copy of a table shall be like, by keyword."""

    columns: Mapping[str, object] | Sequence[str] | None
    workload: Sequence[Sequence[str]] | None
    constraints: Sequence[object] | None
    where: str | None
    rows: int | None
    method: str
    table: str | None
    level: float
    deadline: float | None


class Session:
    """Data, what is declared about it, who is protected, and what may be spent: the only way to a private table.

    ``preview`` says what a query costs and how far off its columns will be, and reads no data. ``release`` charges the
    loss, and only then looks. Queries, in SQL or built from ``session.query``, are descriptions: nothing else acts.

    ``data`` is a path to Parquet, CSV or JSON (a glob for several files), a pandas or Polars frame, an Arrow table, a
    PostgreSQL URL (``postgresql://host/base#schema.table``), a Spark data frame, or several of them by name. ``public``
    tables may be joined freely. ``budget`` is a ``Budget`` that lives as long as the session, or an account of a
    ``Ledger``, which outlives it; ``version`` names the state of the private data there, and
    ``about`` whatever else tells its requests apart from those of others. To read a table of a database that is open
    already, name it and hand over its connection: ``Session("visits", engine=duckdb_connection)``, or a Spark session.
    ``exact`` lists the queries whose hierarchies may publish numbers without noise; nobody who asks can add to them.
    ``timeout`` is after how many seconds a query is stopped; waiting for others does not count. Whether it is may
    depend on data: the release fails in the same words as ever, and stays charged. With a public ``size``, about how
    many people there are, it is far above what their rows need unless it is said; else there is none.

    >>> import pyarrow as pa
    >>> from discreet.tables import Bounds, Values
    >>> cities = ["Oslo", "Oslo", "Bergen", "Oslo"]
    >>> visits = pa.table({"user": [1, 1, 2, 3], "city": cities, "spent": [5.0, 7.0, 1.0, 9.0]})
    >>> session = Session(
    ...     visits,
    ...     name="visits",
    ...     schema={"spent": Bounds(0, 10), "city": Values(["Bergen", "Oslo"])},
    ...     unit=Person("user", groups=1, rows=2),
    ...     budget=Budget(epsilon=10),
    ... )
    >>> sql = "SELECT city, COUNT(*) AS n, AVG(spent) AS mean FROM visits GROUP BY city"
    >>> session.preview(sql, epsilon=1)["n"].error
    12.0
    >>> answer = session.release(sql, epsilon=1)
    >>> answer.keys["city"]
    ('Bergen', 'Oslo')
    >>> session.spent
    Fraction(1, 1)
    """

    def __init__(
        self,
        data: object,
        *,
        schema: object = None,
        unit: Row | Person | None = None,
        budget: Budget | Account | None = None,
        public: Mapping[str, object] | None = None,
        name: str | None = None,
        version: str | None = None,
        about: str = "",
        engine: object = None,
        exact: Sequence[str | Query] = (),
        memory: str | None = None,
        threads: int | None = None,
        progress: bool | Bar | None = None,
        size: int | None = None,
        timeout: float | None = None,
    ) -> None:
        if not isinstance(unit, Row | Person):
            raise InvalidParameter(
                "a session must know whom it protects. Write unit=dp.Person('user_id', groups=3, rows=5) if people "
                "have several rows, or unit=dp.Row() if each row is a person."
            )
        if not isinstance(budget, Budget | Account):
            raise InvalidParameter("a session needs a budget. Write budget=dp.Budget(epsilon=1, delta=1e-7).")
        if isinstance(unit, Person) and not isinstance(unit.key, str):
            raise InvalidParameter("persons in a table are named by a column: write dp.Person('user_id', ...).")
        self._unit = unit
        if isinstance(budget, Budget):
            say_large_delta(budget.delta)
        self._account = budget.open() if isinstance(budget, Budget) else budget
        key = str(unit.key) if isinstance(unit, Person) else None
        settings = {"memory": memory, "threads": threads}
        self._tables = Tables(data, schema=schema, name=name, public=public, key=key, engine=engine, settings=settings)
        self._account.protect(self._tables.protected)
        self._planner = Planner(self._tables, unit, self._account, exact)
        self._version, self._about = version, about
        self._book = book_of(self._account)
        self._watcher = Watcher(progress)
        self._timeout = usual_timeout(timeout, size, unit)

    @property
    def query(self) -> Query:
        """The start of a query on the session's first private table."""
        return Query(self._tables.private[0].name)

    def table(self, name: str) -> Query:
        """Return the start of a query on a private table."""
        return Query(self._tables[name].name)

    @property
    def unit(self) -> Row | Person:
        """Who is protected."""
        return self._unit

    @property
    def account(self) -> Account:
        """What has been spent."""
        return self._account

    @property
    def spent(self) -> Fraction:
        """What has been spent, in the currency of the account's filter."""
        return self._account.spent.amount

    def preview(self, query: str | Query | Request, **settings: Unpack[Chosen]) -> Forecast:
        """Say what a release will cost and how far off each column will be. Reads no private data, spends nothing.

        Errors of means and other ratios depend on how many rows a group has: they are told for groups of
        ``group_size``. ``settings`` are those of ``release``.
        """
        return self._forecast(self._planner.plan(_request(query, settings)))

    def release(
        self,
        query: str | Query | Request,
        *,
        why: str = "",
        key: str | None = None,
        fresh: bool = False,
        **settings: Unpack[Chosen],
    ) -> Answer:
        """Charge a query, then answer it. A refused charge changes nothing; a failed release stays charged.

        ``epsilon`` is for the whole query; without it, the query costs a tenth of the budget. ``error={"spend": 25}``
        solves for the least epsilon that keeps a column within an error. ``Request`` explains all ``settings``.

        ``why`` is written into the ledger. A ``key`` of your own makes retries safe: the same key is charged once and
        answered with what was stored. On a ledger, in a session that says the ``version`` of its data, a query whose
        answer was stored before for that version is answered from there for free (``answer.stored``), unless it is to
        be ``fresh``.
        """
        request = _request(query, settings)
        plan = self._planner.plan(request)
        charged = self._planner.charged(plan)
        (answer,) = self._released([request], [plan], charged, Spending(why, key, fresh), last=False)
        return answer

    def planned(self, query: str | Query | Request, **settings: Unpack[Chosen]) -> Plan:
        """Return how a query would be released, for those who want to look inside; it spends and reads nothing."""
        return self._planner.plan(_request(query, settings))

    def plan(
        self,
        queries: Sequence[str | Query | Request],
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        weights: Sequence[float] | None = None,
        level: float | None = None,
        why: str = "",
        key: str | None = None,
        fresh: bool = False,
        last: bool = True,
    ) -> list[Answer]:
        """Release several queries that are all declared now, for one epsilon together.

        Since nothing is chosen in the light of answers, the whole is accounted as one composition, which costs less
        than the sum: each query gets the largest epsilon with which all of them stay within ``(epsilon, delta)``, but
        for those whose ``Request`` says an epsilon or an error. What does not fit beside other releases may still be
        the only one: a plan that is made first and as private as the whole budget promises is released, and the
        session is spent, unless it is not to be the ``last``. ``why``, ``key`` and ``fresh`` are those of ``release``;
        one charge covers everything.
        """
        requests = _requests(queries, weights, level)
        plans, loss = self._planner.batch(requests, epsilon, delta)
        charged = self._planner.charged_together(plans, loss, epsilon, delta)
        asked = Spending(why, key, fresh, told=(str(epsilon), str(delta)))
        return self._released(requests, plans, charged, asked, last=last)

    def preview_plan(
        self,
        queries: Sequence[str | Query | Request],
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        weights: Sequence[float] | None = None,
        level: float | None = None,
    ) -> list[Forecast]:
        """Say what the queries of ``plan`` will cost and how far off they will be."""
        plans, _ = self._planner.batch(_requests(queries, weights, level), epsilon, delta)
        return [self._forecast(plan) for plan in plans]

    def planned_loss(
        self,
        queries: Sequence[str | Query | Request],
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        weights: Sequence[float] | None = None,
    ) -> PrivacyLoss:
        """Return the loss of all queries of ``plan`` together."""
        return self._planner.batch(_requests(queries, weights, None), epsilon, delta)[1]

    def synthesize(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        why: str = "",
        key: str | None = None,
        fresh: bool = False,
        last: bool = False,
        numbers: Numbers = "uniform",
        **wanted: Unpack[Wanted],
    ) -> "Synthesis":
        """Charge a synthetic copy of a table, then make it: a model that answers counts, and rows.

        ``columns`` maps names to how each is cut: a number of bins, a list of edges, ``{"quantiles": 8}`` for bins of
        about equal mass, ``{"values": [...]}``, or ``{"categories": 50}`` for values that are found privately. None of
        them need be said for a column with declared values or bounds; without ``columns`` the copy has all of those.
        ``constraints`` are conditions that every row fulfils, and lists of what follows from what. ``workload`` names
        sets of columns that shall be most accurate, ``deadline`` ends fitting after so many seconds. Numbers in bins
        are drawn evenly between the edges, or are the ``"middle"``. ``why``, ``key`` and ``fresh`` are those of
        ``release``, and ``last`` is that of ``plan``.
        """
        from discreet.session.synthesis.result import Synthesis

        with self._tables.in_use():
            steps = self._steps(epsilon, delta, wanted)
            asked = Spending(why, key, fresh, told=("synthesis", str(epsilon), str(delta), numbers))
            ticket = self._book.charge(steps.charged, self._purpose(steps.requests, steps.plans, asked), last=last)
            if ticket.stored is not None:
                return Synthesis.from_json(ticket.stored).marked_stored()
            made = steps.run(self._engine(), self._watcher, numbers)
            if ticket.keeps:
                ticket.settle(made.to_json())
            return made

    def preview_synthesis(
        self, *, epsilon: Real | None = None, delta: Real | None = None, last: bool = False, **wanted: Unpack[Wanted]
    ) -> Forecast:
        """Say what ``synthesize`` will cost, by which method, and how far off counts will be. Reads no private data."""
        steps = self._steps(epsilon, delta, wanted)
        whole = last and not self._account.spent.amount and not self._account.fits(steps.charged)
        return steps.forecast("nothing of the budget left" if whole else self._remaining(steps.charged))

    def _steps(self, epsilon: Real | None, delta: Real | None, wanted: Wanted) -> "Steps":
        from discreet.session.synthesis.asking import Steps, asked_of

        said = dict(wanted)
        table, level, deadline = said.pop("table", None), said.pop("level", 0.95), said.pop("deadline", None)
        name = self._tables.private[0].name if table is None else self._tables[str(table)].name
        return Steps.of(
            self._planner,
            name,
            asked_of(**said),  # type: ignore[arg-type]
            epsilon=epsilon,
            delta=delta,
            level=level,  # type: ignore[arg-type]
            deadline=deadline,  # type: ignore[arg-type]
        )

    def verify(self, queries: Sequence[str | Query | Request] = ()) -> None:
        """Read every value of the private tables once, for the curator: none may be one that the engine cannot read.

        Columns are read as queries read them, and ``queries`` are run as they would be. A damaged file, such as Parquet
        with texts that are not UTF-8, would stop every query that meets the damage, and that an answer fails must not
        tell anything about a row. Says nothing about the data but that all is well, and spends nothing.
        """
        with self._tables.in_use():
            check_readable(self._tables, [self._planner.plan(_request(query, {})) for query in queries])

    def close(self) -> None:
        """Refuse all that is asked from now on, and give back what the engine holds when what was charged is answered.

        What was spent stays spent.
        """
        self._tables.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(table.name for table in self._tables.private)
        return f"<Session on {names}: {self._remaining(PrivacyLoss.pure(0))}>"

    def _repr_html_(self) -> str:
        spent, limit = self._account.spent.amount, self._account.rule.limit
        percent = min(100.0, 100 * float(spent / limit))
        names = ", ".join(table.name for table in self._tables.private)
        bar = f'<div style="background:#4c78a8;height:.6em;width:{percent:.1f}%"></div>'
        return (
            f'<div><strong>Session</strong> on {names}<div style="background:#ddd;width:20em">{bar}</div>'
            f"{percent:.1f}% of the {self._account.rule.currency} spent</div>"
        )

    # How plans are charged and run.

    def _released(
        self, requests: Sequence[Request], plans: Sequence[Plan], loss: PrivacyLoss, asked: Spending, *, last: bool
    ) -> list[Answer]:
        """Charge, commit, then look; what was found is stored before anybody sees it."""
        with self._tables.in_use():
            ticket = self._book.charge(loss, self._purpose(requests, plans, asked), last=last)
            if ticket.stored is not None:
                return stored_answers(ticket.stored)
            answers = [after(plan.query, self._run(plan)) for plan in plans]
            if ticket.keeps:
                ticket.settle(record_of(answers))
            return answers

    def _run(self, plan: Plan) -> Answer:
        if not isinstance(plan.query.together, Synthetic):
            return run(plan, self._engine(), self._watcher)
        from discreet.session.synthesis.running import answer_of

        return answer_of(plan, self._engine(), self._watcher)

    def _engine(self) -> Engine:
        """Return the engine for one query, whose time counts while it is its turn."""
        engine = self._tables.engine
        return engine if self._timeout is None else Limited(engine, self._timeout)

    def _purpose(self, requests: Sequence[Request], plans: Sequence[Plan], asked: Spending) -> Purpose:
        private, fingerprint = source().private, ""
        if asked.key is not None or not isinstance(self._book, Memory):
            said = [repr(self._unit), self._tables.fingerprint, [one.fingerprint for one in requests], asked.told]
            fingerprint = hashlib.sha256(json.dumps([*said, self._version, self._about, private]).encode()).hexdigest()
        return Purpose(
            query=";\n".join(plan.query.text or repr(plan.query) for plan in plans),
            why=asked.why,
            key=asked.key,
            version=self._version or UNSAID,
            fingerprint=fingerprint,
            fresh=asked.fresh or self._version is None,
            private=private,
        )

    # What is told.

    def _forecast(self, plan: Plan) -> Forecast:
        level, columns = plan.settings.level, []
        for column in plan.columns:
            share = plan.shares[column.name]
            if isinstance(column, Column):
                size = f"in a group of {plan.settings.group_size:,.0f} rows" if len(column.inputs) > 1 else ""
                if column.corners is None:
                    size = "depends on the spread of the data"
                if plan.joint is not None:
                    size = plan.joint.error_note
                told = "; ".join(dict.fromkeys(plan.told(n) for n in column.inputs if n not in plan.known))
                columns.append(
                    Expected(
                        name=column.name,
                        measures=column.told,
                        error=plan.expected(column),
                        error_note=size,
                        mechanism=told or "public",
                        share=share,
                    )
                )
            else:
                mechanism = plan.ranks[column.name]
                columns.append(
                    Expected(
                        name=column.name,
                        measures=column.told,
                        error_note=mechanism.note(),
                        mechanism=str(mechanism),
                        share=share,
                    )
                )
        return Forecast(
            query=plan.query.text or repr(plan.query),
            columns=tuple(columns),
            loss=plan.loss,
            epsilon=upward(plan.settings.epsilon),
            delta=upward(plan.delta),
            level=level,
            keys=plan.keys_told,
            threshold=None if plan.selection is None else plan.selection.threshold,
            remaining=self._remaining(self._planner.charged(plan)),
            notes=plan.notes,
        )

    def _remaining(self, loss: PrivacyLoss) -> str:
        account = self._account
        try:
            left = account.remaining.amount - account.cost(loss).amount
        except BudgetExceeded:
            left = Fraction(-1)
        if left < 0:
            return "this does not fit into what is left of the budget"
        part = 100 * float(left / account.rule.limit)
        return f"{part:.1f}% of the budget's {account.rule.currency} left"


def _request(query: str | Query | Request, settings: Chosen) -> Request:
    return replace(query, **settings) if isinstance(query, Request) else Request(query, **settings)


def _requests(
    queries: Sequence[str | Query | Request], weights: Sequence[float] | None, level: float | None
) -> list[Request]:
    if isinstance(queries, str | Query | Request) or not queries:
        raise InvalidParameter("plan takes a list of queries.")
    if weights is not None and len(weights) != len(queries):
        raise InvalidParameter("there must be one weight for each query.")
    if (weights is not None or level is not None) and any(isinstance(query, Request) for query in queries):
        raise InvalidParameter("a Request says its own weight and level: leave weights and level out.")
    return [
        query
        if isinstance(query, Request)
        else Request(query, level=0.95 if level is None else level, weight=1 if weights is None else weights[place])
        for place, query in enumerate(queries)
    ]
