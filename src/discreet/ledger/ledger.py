"""Ledger: the accounts of datasets, in a file or a database, which nobody can overspend."""

import json
import os
import uuid
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Row, insert, select

from discreet.accounting import Budget, PrivacyLoss
from discreet.accounting.budget import Cost
from discreet.errors import DiscreetError, InvalidParameter, LedgerError
from discreet.ledger.account import LedgerAccount, budget_of, budget_record, is_name
from discreet.ledger.anchor import Anchor, anchor_of
from discreet.ledger.chain import Entry, State, digest, first_hash, replayed, written
from discreet.ledger.records import accounts, answers, entries, ledgers
from discreet.ledger.store import MIGRATING, Store
from discreet.ledger.times import now, told
from discreet.ledger.units import cost_in_units, limit_in_units

__all__ = ["Ledger"]

CHAIN = (
    entries.c.number,
    entries.c.kind,
    entries.c.time,
    entries.c.who,
    entries.c.amount,
    entries.c.failure,
    entries.c.body,
    entries.c.previous,
    entries.c.hash,
)


class Ledger:
    """Durable accounts: one for each dataset, with a budget that is fixed when it is opened.

    ``place`` is a path, kept as SQLite, or ``postgresql+psycopg://user@host/base`` for several hosts. Opening verifies
    the chain of every account, and refuses a ledger that was changed. With an ``anchor``, a path on another disk or the
    URL of another database, an older copy of the ledger is refused too.

    >>> import tempfile
    >>> from discreet.accounting import Budget, PrivacyLoss
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Ledger(f"{folder.name}/ledger.sqlite") as ledger:
    ...     account = ledger.account("visits", budget=Budget(1))
    ...     account.spend(PrivacyLoss.laplace(0.25))
    >>> with Ledger(f"{folder.name}/ledger.sqlite") as ledger:
    ...     ledger.account("visits").remaining.amount
    Fraction(3, 4)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        anchor: str | os.PathLike[str] | None = None,
        read_only: bool = False,
    ) -> None:
        self.store = Store(place, read_only=read_only)
        try:
            self._anchor: Anchor | None = None if anchor is None else anchor_of(anchor, self.store.path)
            self.id = self._identity()
            self.verify(deep=False)
        except BaseException:
            self.store.close()
            raise

    @property
    def told(self) -> str:
        """Where the ledger is, without passwords."""
        return self.store.told

    @property
    def names(self) -> list[str]:
        """The datasets that have an account."""
        with self.store.reading() as connection:
            return [str(name) for name in connection.execute(select(accounts.c.name).order_by(accounts.c.id)).scalars()]

    def account(self, name: str, *, budget: Budget | None = None, who: str = "") -> LedgerAccount:
        """Return the account of a dataset; the first time it is opened with a budget, which then never changes.

        ``who`` is the name under which charges are made. The ledger believes it: whoever can write to the ledger can
        write any name.
        """
        if not name or not is_name(name):
            raise InvalidParameter("a dataset has a name of at most 200 characters.")
        if not is_name(who):
            raise InvalidParameter("who is a name of at most 200 characters.")
        if budget is not None and not isinstance(budget, Budget):
            raise InvalidParameter(f"a budget is a dp.Budget, got {type(budget).__name__}.")
        with self.store.reading() as connection:
            row = _row(connection, name)
        if row is None:
            if budget is None:
                raise LedgerError(
                    f"{self.told} has no account of {name}. Open it with budget=dp.Budget(epsilon=1, delta=1e-7). "
                    f"It has: {', '.join(self.names) or 'none'}."
                )
            row = self._open(name, budget, who)
        if budget is not None and json.loads(row.budget) != budget_record(budget):
            raise LedgerError(
                f"{name} has {budget_of(row.budget)!r} in {self.told}, and another budget was given. A budget is fixed "
                "when an account is opened: write that one, or leave it out."
            )
        return LedgerAccount(self, name, who, row)

    def budget(self, name: str) -> Budget:
        """Return the budget of a dataset."""
        with self.store.reading() as connection:
            return budget_of(self._found(connection, name).budget)

    def entries(self, name: str) -> list[Entry]:
        """Return everything that was written about a dataset."""
        with self.store.reading() as connection:
            rows = connection.execute(_chain_of(self._found(connection, name).id)).all()
        return [
            Entry(n, kind, time, by, amount, failure, json.loads(body), before, hashed)
            for n, kind, time, by, amount, failure, body, before, hashed in rows
        ]

    def answer(self, name: str, number: int) -> str | None:
        """Return the stored release of a charge."""
        with self.store.reading() as connection:
            row = self._found(connection, name)
            found = connection.execute(
                select(answers.c.record).where(answers.c.account == row.id, answers.c.number == number)
            ).scalar()
            return None if found is None else str(found)

    def head(self, name: str) -> tuple[int, str]:
        """Return the number and the hash of the newest entry of a dataset: what an anchor keeps."""
        with self.store.reading() as connection:
            row = self._found(connection, name)
            return int(row.number), str(row.head)

    def verify(self, *, deep: bool = True) -> dict[str, State]:
        """Check every chain, that each account's totals follow from it, and the anchor; return the totals.

        A deep check also reads every loss again and computes what it costs.
        """
        with self.store.reading() as connection:
            states = {}
            for row in connection.execute(select(accounts).order_by(accounts.c.id)).all():
                rows = connection.execute(_chain_of(row.id)).all()
                state = replayed(first_hash(self.id, row.name), (tuple(one) for one in rows), row.name)
                if state != _state(row):
                    raise LedgerError(
                        f"the totals of {row.name} do not follow from its entries: the ledger was changed or damaged. "
                        "Nothing more is spent from it. Restore the newest copy that verifies."
                    )
                self.check_anchor(connection, row.name, row)
                if deep:
                    self._recomputed(row, rows)
                states[str(row.name)] = state
            return states

    def check_anchor(self, connection: Connection, name: str, row: Row[Any]) -> None:
        """Refuse a ledger that is older than what its anchor has seen."""
        if self._anchor is None:
            return
        seen = self._anchor.seen(self.id, name)
        if seen is None:
            return
        number, head = seen
        found = connection.execute(
            select(entries.c.hash).where(entries.c.account == row.id, entries.c.number == number)
        ).scalar()
        if int(row.number) < number or found != head:
            raise LedgerError(
                f"{self.told} is older than its anchor: {name} has {row.number} entries, and {number} were anchored. "
                "It is an earlier copy or another history, and would spend again what was spent. Nothing is charged. "
                "Bring back the newest copy."
            )

    def anchored(self, name: str, number: int, head: str) -> None:
        """Tell the anchor how far an account has come."""
        if self._anchor is not None:
            self._anchor.advance(self.id, name, number, head)

    def close(self) -> None:
        """Give all connections back."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger {self.told}: {', '.join(self.names) or 'no accounts'}>"

    # How it begins ------------------------------------------------------------------------------------------------

    def _identity(self) -> str:
        with self.store.reading() as connection:
            found = connection.execute(select(ledgers.c.id)).scalar()
        if found is not None:
            return str(found)
        with self.store.writing() as connection:
            if not self.store.is_sqlite:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")
            found = connection.execute(select(ledgers.c.id)).scalar()
            if found is None:
                found = uuid.uuid4().hex
                connection.execute(insert(ledgers), {"id": found, "made": told(now())})
        return str(found)

    def _open(self, name: str, budget: Budget, who: str) -> Row[Any]:
        opened = budget.open()
        amount, failure = limit_in_units(Cost(opened.rule.limit, opened.rule.failures))
        body = {"budget": budget_record(budget), "limit_amount": amount, "limit_failure": failure}
        before, time = first_hash(self.id, name), told(now())
        hashed = digest(before, 1, "open", time, who, 0, 0, written(body))
        with self.store.writing() as connection:
            if not self.store.is_sqlite:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATING})")
            row = _row(connection, name)
            if row is None:
                place = connection.execute(
                    insert(accounts).returning(accounts.c.id),
                    {
                        "name": name,
                        "budget": written(body["budget"]),  # type: ignore[arg-type]
                        "limit_amount": amount,
                        "limit_failure": failure,
                        "spent_amount": 0,
                        "spent_failure": 0,
                        "pure": 0,
                        "relation": budget.relation,
                        "unit": None,
                        "exhausted": False,
                        "number": 1,
                        "head": hashed,
                    },
                ).scalar_one()
                connection.execute(
                    insert(entries),
                    {
                        "account": place,
                        "number": 1,
                        "kind": "open",
                        "time": time,
                        "who": who,
                        "amount": 0,
                        "failure": 0,
                        "body": written(body),
                        "previous": before,
                        "hash": hashed,
                    },
                )
                row = _row(connection, name)
        assert row is not None  # noqa: S101  it was just written
        self.anchored(name, 1, hashed)
        return row

    def _found(self, connection: Connection, name: str) -> Row[Any]:
        row = _row(connection, name)
        if row is None:
            raise LedgerError(f"{self.told} has no account of {name}. It has: {', '.join(self.names) or 'none'}.")
        return row

    def _recomputed(self, row: Row[Any], rows: Any) -> None:  # noqa: ANN401  rows of the chain
        """Refuse an entry that charged less than its loss costs."""
        reader = LedgerAccount(self, row.name, "", row)
        for number, kind, _, _, amount, failure, text, _, _ in rows:
            if kind != "charge":
                continue
            body = json.loads(text)
            if body["last"]:
                continue
            try:
                cost = cost_in_units(reader.cost(PrivacyLoss.from_json(json.dumps(body["loss"]))))
            except DiscreetError as error:
                raise LedgerError(f"entry {number} of {row.name} has a loss that cannot be read: {error}") from None
            if cost[0] > amount or cost[1] > failure:
                raise LedgerError(f"entry {number} of {row.name} charged less than its loss costs.")


def _row(connection: Connection, name: str) -> Row[Any] | None:
    return connection.execute(select(accounts).where(accounts.c.name == name)).first()


def _chain_of(place: int) -> Any:  # noqa: ANN401  a statement
    return select(*CHAIN).where(entries.c.account == place).order_by(entries.c.number)


def _state(row: Row[Any]) -> State:
    return State(
        int(row.limit_amount),
        int(row.limit_failure),
        int(row.spent_amount),
        int(row.spent_failure),
        None if row.pure is None else int(row.pure),
        row.relation,
        row.unit,
        bool(row.exhausted),
        int(row.number),
        row.head,
    )
