"""Ledger: the accounts of datasets, in a file or a database, which nobody can overspend."""

import json
import os
import uuid
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Row, exists, insert, select

from discreet.accounting import Budget, PrivacyLoss
from discreet.accounting.budget import Cost
from discreet.accounting.large_delta import say_large_delta
from discreet.errors import DiscreetError, InvalidParameter, LedgerError
from discreet.ledger.account import LedgerAccount, answer_of, budget_of, budget_record, is_name
from discreet.ledger.anchor import Anchor, anchor_of
from discreet.ledger.chain import Entry, State, digest, first_hash, replayed, written
from discreet.ledger.records import accounts, allowances, entries, holds, ledgers
from discreet.ledger.store import Store
from discreet.ledger.times import now, told
from discreet.ledger.units import limit_in_units

__all__ = ["Ledger"]


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
        self._anchor: Anchor | None = None
        try:
            self._anchor = None if anchor is None else anchor_of(anchor, self.store)
            self.id = self._identity()
            self.verify(deep=False)
        except BaseException:
            self.close()
            raise

    @property
    def told(self) -> str:
        """Where the ledger is, without passwords."""
        return self.store.told

    @property
    def names(self) -> list[str]:
        """The datasets that have an account."""
        with self.store.reading() as connection:
            return _names(connection)

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
            Entry(
                row.number,
                row.kind,
                row.time,
                row.who,
                row.amount,
                row.failure,
                json.loads(row.body),
                row.previous,
                row.hash,
            )
            for row in rows
        ]

    def answer(self, name: str, number: int) -> str | None:
        """Return the stored release of a charge."""
        with self.store.reading() as connection:
            return answer_of(connection, int(self._found(connection, name).id), name, number)

    def head(self, name: str) -> tuple[int, str]:
        """Return the number and the hash of the newest entry of a dataset: what an anchor keeps."""
        with self.store.reading() as connection:
            row = self._found(connection, name)
            return int(row.number), str(row.head)

    def verify(self, *, deep: bool = True) -> dict[str, State]:
        """Check every chain, that each account's totals follow from it, and the anchor; return the totals.

        A deep check also reads every loss again and computes what it costs.
        """
        # The anchor is asked first: what it has seen by now, the state that is read after it holds too.
        seen = {} if self._anchor is None else {name: self._anchor.seen(self.id, name) for name in self.names}
        with self.store.reading() as connection:
            _check_orphans(connection, self.told)
            states = {}
            for row in connection.execute(select(accounts).order_by(accounts.c.id)).all():
                try:
                    rows = connection.execute(_chain_of(row.id)).all()
                    state = replayed(first_hash(self.id, row.name), rows, row.name)
                    same = state == _state(connection, row)
                except (TypeError, ValueError):  # a text where a number belongs, or the other way round
                    same = False
                if not same:
                    raise LedgerError(
                        f"the totals of {row.name} do not follow from its entries: the ledger was changed or damaged. "
                        "Nothing more is spent from it. Restore the newest copy that verifies."
                    )
                if row.name in seen:
                    self._check_seen(connection, row, seen[row.name])
                elif self._anchor is None and not self.store.read_only and json.loads(rows[0].body).get("anchored"):
                    raise LedgerError(
                        f"{row.name} was opened with an anchor, which keeps older copies of {self.told} from being "
                        "spent. Name it: Ledger(..., anchor=...)."
                    )
                if deep:
                    self._recomputed(connection, row, rows)
                states[row.name] = state
            return states

    def check_anchor(self, connection: Connection, row: Row[Any]) -> None:
        """Refuse an account, alone with it, that is older than what its anchor has seen."""
        if self._anchor is not None:
            self._check_seen(connection, row, self._anchor.seen(self.id, row.name))

    def _check_seen(self, connection: Connection, row: Row[Any], seen: tuple[int, str] | None) -> None:
        if seen is None:
            self._check_new(connection, row)
            return
        number, head = seen
        if (row.number, row.head) == seen:
            return
        found = connection.execute(
            select(entries.c.hash).where(entries.c.account == row.id, entries.c.number == number)
        ).scalar()
        if int(row.number) < number or found != head:
            raise LedgerError(
                f"{self.told} is older than its anchor: {row.name} has {row.number} entries, and {number} were "
                "anchored. It is an earlier copy or another history, and would spend again what was spent. Nothing is "
                "charged. Bring back the newest copy."
            )

    def _check_new(self, connection: Connection, row: Row[Any]) -> None:
        """Refuse an anchor that has forgotten an account; one that was opened without is anchored from now on."""
        first = connection.execute(_chain_of(row.id).limit(1)).one()
        if json.loads(first.body).get("anchored"):
            raise LedgerError(
                f"the anchor of {self.told} knows nothing of {row.name}, which was opened with one. It was emptied, or "
                "is another one. Nothing is charged. Name the anchor that was used before."
            )

    def anchored(self, name: str, number: int, head: str) -> None:
        """Tell the anchor how far an account has come, unless it has seen what this ledger does not hold.

        Two copies that are charged at the same time both follow what was anchored before; whichever comes second finds
        the entry of the first here, and releases nothing.
        """
        while self._anchor is not None:
            seen = self._anchor.seen(self.id, name)
            with self.store.reading() as connection:
                self._check_seen(connection, self._found(connection, name), seen)
            if seen is not None and seen[0] >= number:
                return
            if self._anchor.move(self.id, name, seen, number, head):
                return

    def close(self) -> None:
        """Give all connections back."""
        self.store.close()
        if self._anchor is not None:
            self._anchor.close()

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
            found = connection.execute(select(ledgers.c.id)).scalar()
            if found is None:
                found = uuid.uuid4().hex
                connection.execute(insert(ledgers), {"id": found, "made": told(now())})
        return str(found)

    def _open(self, name: str, budget: Budget, who: str) -> Row[Any]:
        say_large_delta(budget.delta, stacklevel=3)
        opened = budget.open()
        amount, failure = limit_in_units(Cost(opened.rule.limit, opened.rule.failures))
        body = {
            "budget": budget_record(budget),
            "limit_amount": amount,
            "limit_failure": failure,
            "anchored": self._anchor is not None,
        }
        before, time = first_hash(self.id, name), told(now())
        hashed = digest(before, 1, "open", time, who, 0, 0, written(body))
        with self.store.writing() as connection:
            row = _row(connection, name)
            if row is None:
                if self._anchor is not None and self._anchor.was_charged(name):
                    raise LedgerError(
                        f"the anchor knows an account of {name} that {self.told} does not have: the ledger was lost or "
                        "is another one, and a new account would spend again what was spent. Bring back the newest "
                        "copy."
                    )
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
                self._anchor_opening(name, hashed)
        assert row is not None  # noqa: S101  it was just written
        return row

    def _anchor_opening(self, name: str, hashed: str) -> None:
        """Anchor an account before it exists, so that an anchor that knows nothing of it is always the wrong one.

        Whoever is killed in between leaves an anchored opening that no ledger has. Nothing was charged then, and the
        next opening takes its place.
        """
        while self._anchor is not None:
            seen = self._anchor.seen(self.id, name)
            if self._anchor.move(self.id, name, seen, 1, hashed):
                return

    def _found(self, connection: Connection, name: str) -> Row[Any]:
        row = _row(connection, name)
        if row is None:
            has = ", ".join(_names(connection)) or "none"
            raise LedgerError(f"{self.told} has no account of {name}. It has: {has}.")
        return row

    def _recomputed(self, connection: Connection, row: Row[Any], rows: Any) -> None:  # noqa: ANN401  rows of the chain
        """Refuse an entry that charged less than its loss costs, and an answer that is not the one that was kept."""
        reader = LedgerAccount(self, row.name, "", row)
        for one in rows:
            if one.kind != "charge":
                continue
            answer_of(connection, int(row.id), row.name, one.number)
            body = json.loads(one.body)
            try:
                cost, pure = reader.cost_in_units(PrivacyLoss.from_json(json.dumps(body["loss"])))
            except DiscreetError as error:
                raise LedgerError(f"entry {one.number} of {row.name} has a loss that cannot be read: {error}") from None
            if body["last"]:
                cost, pure = (row.limit_amount, row.limit_failure), None
            told = body["pure"]
            if cost[0] > one.amount or cost[1] > one.failure or (told is not None and (pure is None or pure > told)):
                raise LedgerError(f"entry {one.number} of {row.name} charged less than its loss costs.")


def _check_orphans(connection: Connection, told: str) -> None:
    """Refuse entries of an account that is not there: it would be opened anew, with all of its budget."""
    there = exists().where(accounts.c.id == entries.c.account)
    if connection.execute(select(entries.c.account).where(~there).limit(1)).first() is not None:
        raise LedgerError(
            f"{told} holds entries of an account that was removed. Nothing more is spent from it. Restore the newest "
            "copy that verifies."
        )


def _names(connection: Connection) -> list[str]:
    return [str(name) for name in connection.execute(select(accounts.c.name).order_by(accounts.c.id)).scalars()]


def _row(connection: Connection, name: str) -> Row[Any] | None:
    return connection.execute(select(accounts).where(accounts.c.name == name)).first()


def _chain_of(place: int) -> Any:  # noqa: ANN401  a statement
    return select(entries).where(entries.c.account == place).order_by(entries.c.number)


def _state(connection: Connection, row: Row[Any]) -> State:
    """Return what the tables say, to be compared with what the entries say."""
    granted = select(allowances).where(allowances.c.account == row.id)
    held = select(holds).where(holds.c.account == row.id).order_by(holds.c.number)
    allowed = ((one.who, one.amount, one.failure, one.per_day) for one in connection.execute(granted))
    return State(
        row.limit_amount,
        row.limit_failure,
        row.spent_amount,
        row.spent_failure,
        row.pure,
        row.relation,
        row.unit,
        row.exhausted,
        row.number,
        row.head,
        row.budget,
        tuple(sorted(allowed, key=lambda one: str(one[0]))),
        tuple((one.number, one.who, one.amount, one.failure, one.until) for one in connection.execute(held)),
    )
