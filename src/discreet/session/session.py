"""Session: the one door to private tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import TracebackType
from typing import Literal, Self

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.accounting.filters import Basic
from discreet.errors import BudgetExceeded, InvalidInput, InvalidParameter
from discreet.exact import Real, finite, positive, probability, upward
from discreet.session.answer import Answer
from discreet.session.columns import Column
from discreet.session.estimates import column_names
from discreet.session.forecast import Expected, Forecast
from discreet.session.plan import KeySelection, Plan, Settings, make_plan
from discreet.session.post import after, check
from discreet.session.progress import Watcher
from discreet.session.release import LOG, run
from discreet.session.sources import Tables
from discreet.tables.order import Salt
from discreet.tables.query import Query
from discreet.units import Person, Row

__all__ = ["Session"]

SHARE = 10
"""A release without an epsilon takes this part of the budget's."""


class Session:
    """Data, what is declared about it, who is protected, and what may be spent: the only way to a private table.

    ``preview`` says what a query costs and how far off its columns will be, and reads no data. ``release`` charges the
    loss, and only then looks. Queries, in SQL or built from ``session.query``, are descriptions: nothing else acts.

    ``data`` is a path to Parquet, CSV or JSON (a glob for several files), a pandas or Polars frame, an Arrow table, a
    PostgreSQL URL (``postgresql://host/base#schema.table``), a Spark data frame, or several of them by name. ``public``
    tables may be joined freely. To read a table of a database that is open already, name it and hand over its
    connection: ``Session("visits", engine=duckdb_connection)``, or a Spark session.

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
        engine: object = None,
        memory: str | None = None,
        threads: int | None = None,
        progress: bool | None = None,
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
        self._account = budget.open() if isinstance(budget, Budget) else budget
        self._budget = budget if isinstance(budget, Budget) else None
        key = str(unit.key) if isinstance(unit, Person) else None
        settings = {"memory": memory, "threads": threads}
        self._tables = Tables(data, schema=schema, name=name, public=public, key=key, engine=engine, settings=settings)
        self._account.protect("rows" if key is None else f"persons by {key}")
        self._salt = Salt.fresh()
        self._watcher = Watcher(progress)

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

    def preview(
        self,
        query: str | Query,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        error: Mapping[str, float] | None = None,
        level: float = 0.95,
        group_size: int = 1000,
        split: Mapping[str, float] | None = None,
        noise: Literal["auto", "gaussian", "laplace"] = "auto",
        keys: KeySelection = "optimal",
        count_groups: bool = False,
    ) -> Forecast:
        """Say what a release will cost and how far off each column will be. Reads no private data, spends nothing.

        Errors of means and other ratios depend on how many rows a group has: they are told for groups of
        ``group_size``. See ``release`` for the other settings.
        """
        plan = self._plan(query, epsilon, delta, error, level, group_size, split, noise, keys, count_groups)
        return self._forecast(plan)

    def release(
        self,
        query: str | Query,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        error: Mapping[str, float] | None = None,
        level: float = 0.95,
        group_size: int = 1000,
        split: Mapping[str, float] | None = None,
        noise: Literal["auto", "gaussian", "laplace"] = "auto",
        keys: KeySelection = "optimal",
        count_groups: bool = False,
    ) -> Answer:
        """Charge a query, then answer it. A refused charge changes nothing; a failed release stays charged.

        ``epsilon`` is for the whole query; without it, the query costs a tenth of the budget. ``error={"spend": 25}``
        solves for the least epsilon that keeps a column within an error, at ``level``, in groups of ``group_size``
        rows. ``split`` gives columns (and ``"keys"``, the choice of private groups) other shares than equal ones.
        ``count_groups`` also tells, for a twentieth of epsilon, about how many private groups were left out.
        """
        plan = self._plan(query, epsilon, delta, error, level, group_size, split, noise, keys, count_groups)
        self._account.spend(self._charged(plan))
        return after(plan.query, run(plan, self._tables.engine, self._watcher))

    def planned(
        self,
        query: str | Query,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        noise: Literal["auto", "gaussian", "laplace"] = "auto",
    ) -> Plan:
        """Return how a query would be released, for those who want to look inside; it spends and reads nothing."""
        return self._plan(query, epsilon, delta, None, 0.95, 1000, None, noise, "optimal", False)

    def plan(
        self,
        queries: Sequence[str | Query],
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        weights: Sequence[float] | None = None,
        level: float = 0.95,
    ) -> list[Answer]:
        """Release several queries that are all declared now, for one epsilon together.

        Since nothing is chosen in the light of answers, the whole is accounted as one composition, which costs less
        than the sum: each query gets the largest epsilon with which all of them stay within ``(epsilon, delta)``. What
        does not fit beside other releases may still be the only one: a plan that is made first and as private as the
        whole budget promises is released, and the session is spent.
        """
        plans, loss = self._batch(queries, epsilon, delta, weights, level)
        if self._account.fits(loss):
            self._account.spend(loss)
        else:
            self._account.exhaust(loss)
        return [after(plan.query, run(plan, self._tables.engine, self._watcher)) for plan in plans]

    def preview_plan(
        self,
        queries: Sequence[str | Query],
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        weights: Sequence[float] | None = None,
        level: float = 0.95,
    ) -> list[Forecast]:
        """Say what the queries of ``plan`` will cost and how far off they will be."""
        plans, _ = self._batch(queries, epsilon, delta, weights, level)
        return [self._forecast(plan) for plan in plans]

    def verify(self) -> None:
        """Read every value of the private tables once, for the curator: none may be one that the engine cannot read.

        A damaged file, such as Parquet with texts that are not UTF-8, would stop every query that meets the damage, and
        that an answer fails must not tell anything about a row. Says nothing about the data but that all is well.
        """
        for table in self._tables.private:
            names = [self._tables.engine.dialect.identifier(name) for name in table.relation.columns]
            counts = ", ".join(f"COUNT(DISTINCT {name}) AS c_{place}" for place, name in enumerate(names))
            readable = True
            try:
                self._tables.engine.run(f"SELECT {counts} FROM {table.relation.sql} t")  # noqa: S608
            except Exception:
                LOG.exception("%s cannot be read", table.name)
                readable = False
            if not readable:
                raise InvalidInput(f"{table.name} holds values that cannot be read. The curator's log says which.")

    def close(self) -> None:
        """Give back what the engine holds. What was spent stays spent."""
        self._tables.engine.close()

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

    # How a query becomes a plan.

    def _described(self, query: str | Query) -> Query:
        if isinstance(query, Query):
            return query
        if not isinstance(query, str):
            raise InvalidParameter(f"a query is SQL or built from session.query, got {type(query).__name__}.")
        from discreet.tables.sql import parse

        tables = {name: tuple(table.relation.columns) for name, table in self._tables.attached.items()}
        return parse(query, tables)

    def _plan(
        self,
        query: str | Query,
        epsilon: Real | None,
        delta: Real | None,
        error: Mapping[str, float] | None,
        level: float,
        group_size: int,
        split: Mapping[str, float] | None,
        noise: Literal["auto", "gaussian", "laplace"],
        keys: KeySelection,
        count_groups: bool,
    ) -> Plan:
        described = self._described(query)
        epsilon = described.epsilon if epsilon is None else epsilon
        delta = described.delta if delta is None else delta
        if epsilon is not None and error is not None:
            raise InvalidParameter("say epsilon or error: one follows from the other.")
        _choice(noise, ("auto", "gaussian", "laplace"), "noise")
        _choice(keys, ("gaussian", "laplace", "optimal"), "keys")
        wanted = self._usual() if epsilon is None else positive(epsilon, "epsilon")
        settings = Settings(
            epsilon=wanted,
            delta=Fraction(0),
            key_delta=Fraction(0),
            level=float(probability(level, "level")),
            group_size=float(positive(group_size, "group_size")),
            split=dict(split or {}),
            noise=noise,
            keys=keys,
            adds_rho=not self._adds_epsilons,
            count_groups=bool(count_groups),
        )
        make = _Maker(self, described, settings, delta)
        if error is not None:
            return make.for_error(error)
        return make.usual() if epsilon is None and not self._adds_epsilons else make.at(wanted)

    def make_plan(self, query: Query, settings: Settings) -> Plan:
        """Return the plan of a query with all settings said."""
        plan = make_plan(query, self._tables, self._unit, self._salt, settings)
        made = [(column.name,) if isinstance(column, Column) else column.names for column in plan.columns]
        check(query, column_names(plan.key_names, [name for names in made for name in names]))
        return plan

    def deltas(self, epsilon: Fraction, delta: Real | None) -> tuple[Fraction, Fraction]:
        """Return the deltas of noise and of private groups that belong to an epsilon: in proportion, unless said."""
        whole, failures = self._account.delta, self._account.rule.failures
        if delta is not None:
            exact = finite(delta, "delta")
            if not 0 <= exact < 1:
                raise InvalidParameter("delta is a probability: 0 at least, and below 1.")
            return exact / 2, exact / 2
        share = min(Fraction(1), epsilon / self._total())
        if self._adds_epsilons:
            return whole * share / 2, whole * share / 2
        return (whole - failures) * share, failures * share

    @property
    def _adds_epsilons(self) -> bool:
        return isinstance(self._account.rule, Basic)

    def _charged(self, plan: Plan) -> PrivacyLoss:
        """Return the loss in the terms that the account adds up."""
        return plan.loss if plan.loss.is_pure or not self._adds_epsilons else plan.whole

    def share(self, plan: Plan) -> Fraction:
        """Return what part of the whole account a plan costs."""
        return self._account.cost(self._charged(plan)).amount / self._account.rule.limit

    def _total(self) -> Fraction:
        if self._budget is not None:
            return Fraction(self._budget.epsilon)
        return max(self._account.largest_epsilon(), Fraction(1, 10**6))

    def _usual(self) -> Fraction:
        return self._total() / SHARE

    def _batch(
        self,
        queries: Sequence[str | Query],
        epsilon: Real | None,
        delta: Real | None,
        weights: Sequence[float] | None,
        level: float,
    ) -> tuple[list[Plan], PrivacyLoss]:
        if isinstance(queries, str | Query) or not queries:
            raise InvalidParameter("plan takes a list of queries.")
        shares = [Fraction(1)] * len(queries) if weights is None else [positive(w, "a weight") for w in weights]
        if len(shares) != len(queries):
            raise InvalidParameter("there must be one weight for each query.")
        shares = [share / sum(shares) for share in shares]
        wanted = self._usual() if epsilon is None else positive(epsilon, "epsilon")
        d = sum(self.deltas(wanted, delta), Fraction(0))
        made = [self._described(query) for query in queries]

        def plans(total: Fraction) -> list[Plan]:
            return [
                self._plan(query, total * share, d * share, None, level, 1000, None, "auto", "optimal", False)
                for query, share in zip(made, shares, strict=True)
            ]

        best = plans(wanted)
        loss = PrivacyLoss.total([plan.loss for plan in best])
        if d:
            low, high = Fraction(1), Fraction(8)
            for _ in range(12):
                middle = (low + high) / 2
                tried = plans(wanted * middle)
                whole = PrivacyLoss.total([plan.loss for plan in tried])
                if whole.delta(upward(wanted)) <= d:
                    low, best, loss = middle, tried, whole
                else:
                    high = middle
        return best, loss

    def _forecast(self, plan: Plan) -> Forecast:
        level, columns = plan.settings.level, []
        for column in plan.columns:
            share = plan.shares[column.name]
            if isinstance(column, Column):
                size = f"in a group of {plan.settings.group_size:,.0f} rows" if len(column.inputs) > 1 else ""
                if column.corners is None:
                    size = "depends on the spread of the data"
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
            remaining=self._remaining(self._charged(plan)),
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


class _Maker:
    """Plans of one query at different epsilons."""

    def __init__(self, session: Session, query: Query, settings: Settings, delta: Real | None) -> None:
        self.session, self.query, self.settings, self.delta = session, query, settings, delta

    def at(self, epsilon: Fraction) -> Plan:
        """Return the plan that costs epsilon."""
        delta, key_delta = self.session.deltas(epsilon, self.delta)
        settings = replace(self.settings, epsilon=epsilon, delta=delta, key_delta=key_delta)
        return self.session.make_plan(self.query, settings)

    def usual(self) -> Plan:
        """Return the plan that costs a tenth of the account, which adds up something else than epsilons."""
        low, high = Fraction(0), self.settings.epsilon
        while self.session.share(self.at(2 * high)) <= Fraction(1, SHARE) and high < 2**10:
            low, high = high, 2 * high
        low, high = (low, 2 * high) if low else (Fraction(0), 2 * high)
        for _ in range(10):
            middle = (low + high) / 2
            fits = self.session.share(self.at(middle)) <= Fraction(1, SHARE)
            low, high = (middle, high) if fits else (low, middle)
        return self.at(low or high / 2**10)

    def for_error(self, error: Mapping[str, float]) -> Plan:
        """Return the plan of least epsilon whose columns stay within errors."""
        plan = self.at(Fraction(1))
        columns = {c.name: c for c in plan.columns if isinstance(c, Column) and c.corners is not None}
        limits = {name: float(positive(limit, f"the error of {name}")) for name, limit in error.items()}
        if unknown := [name for name in limits if name not in columns]:
            raise InvalidParameter(
                f"no error can be promised for {', '.join(unknown)}. It can for {', '.join(columns) or 'no column'}."
            )

        def enough(plan: Plan) -> bool:
            found = {column.name: plan.expected(column) for column in plan.columns if isinstance(column, Column)}
            return all((found[name] or 0.0) <= limit for name, limit in limits.items())

        low, high = Fraction(1, 2**20), Fraction(1)
        while not enough(self.at(high)):
            high *= 2
            if high > 2**14:
                raise InvalidParameter(
                    "no epsilon up to 16384 keeps these errors, which is no protection at all. Ask for less accuracy, "
                    "or say how large groups are: group_size=100000."
                )
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (low, middle) if enough(self.at(middle)) else (middle, high)
            if high - low < high / 1000:
                break
        return self.at(high)


def _choice(value: object, allowed: tuple[str, ...], name: str) -> None:
    if value not in allowed:
        raise InvalidParameter(f"{name} is one of {', '.join(allowed)}, got {value!r}.")
