"""LedgerAccount: the account of one dataset, kept in a ledger.

Charge, commit, then look. A charge is one transaction that is alone with the account: it checks, writes an entry and
the new total, and is on the disk before ``charge`` returns. Whoever is killed later has spent, and whoever is killed
earlier has released nothing.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, bindparam, exists, func, insert, select, text

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.accounting.budget import Cost, Spent
from discreet.accounting.filters import Renyi
from discreet.errors import BudgetExceeded, DiscreetError, InvalidParameter, LedgerError
from discreet.exact import Real, positive
from discreet.ledger.chain import claimed, digest, matched, pure_sum, written
from discreet.ledger.policy import check_allowed, free_of_holds, use_hold
from discreet.ledger.purpose import Purpose
from discreet.ledger.records import accounts, allowances, answers, entries, holds
from discreet.ledger.times import now, told
from discreet.ledger.units import AMOUNT, FAILURE, MOST, cost_in_units, cost_of_units, limit_in_units, units_up
from discreet.units import check_relation

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["Hold", "LedgerAccount", "LedgerTicket", "answer_of", "budget_of", "budget_record", "is_name"]

ROW = select(
    accounts,
    exists().where(allowances.c.account == accounts.c.id).label("has_allowances"),
    exists().where(holds.c.account == accounts.c.id).label("has_holds"),
).where(accounts.c.name == bindparam("name"))

ENTRY = """INSERT INTO discreet_entry
(account, number, kind, time, who, amount, failure, claim, match, body, previous, hash) VALUES
(:account, :number, :kind, :time, :who, :amount, :failure, :claim, :match, :body, :previous, :hash)"""
MOVE = """UPDATE discreet_account SET spent_amount = :spent_amount, spent_failure = :spent_failure, pure = :pure,
relation = :relation, unit = :unit, exhausted = :exhausted, number = :number, head = :hash WHERE id = :account"""
TWO_STEPS = (text(ENTRY), text(MOVE))
ONE_STEP = (text(f"WITH entry AS ({ENTRY}) {MOVE}"),)
"""One statement is one way to the server and back, while everybody else waits for the account."""

MOST_REFUSALS = 200
"""Refused charges of an account that are written in an hour; the next ones are refused without an entry."""

REFUSED_QUERY = 200
"""Characters of the query of a refused charge that are written."""

STATE = ("spent_amount", "spent_failure", "pure", "relation", "unit", "exhausted")
CLAIMED = select(entries).where(entries.c.account == bindparam("place"), entries.c.claim == bindparam("key"))
MATCHED = (
    select(entries.c.number, entries.c.hash)
    .where(entries.c.account == bindparam("place"), entries.c.match == bindparam("wanted"), entries.c.kind == "charge")
    .order_by(entries.c.number.desc())
)
ANSWER = select(answers.c.record).where(answers.c.account == bindparam("place"), answers.c.number == bindparam("of"))
SETTLED = select(entries.c.body).where(entries.c.account == bindparam("place"), entries.c.claim == bindparam("key"))


@dataclass(frozen=True, slots=True)
class LedgerTicket:
    """A charge in a ledger: a new one, or an earlier one with its answer."""

    account: "LedgerAccount"
    number: int
    hash: str
    stored: str | None = None
    keeps: bool = True

    def settle(self, record: str, /) -> None:
        """Keep what was released under this charge, before anybody sees it."""
        self.account.keep(self.number, record)


@dataclass(frozen=True, slots=True)
class Hold:
    """Budget that is kept for somebody until a moment, and free again after it."""

    number: int
    who: str
    amount: Fraction
    failure: Fraction
    until: str


class LedgerAccount(Account):
    """What may be spent from one dataset, and what has been, by whoever opens the ledger.

    Made by ``Ledger.account``. It is used like any other account, and as the ``budget`` of a ``Session``.
    """

    __slots__ = ("_ledger", "_name", "_place", "_stored_limit", "_who")

    def __init__(self, ledger: "Ledger", name: str, who: str, row: Row[Any]) -> None:
        budget = budget_of(row.budget)
        opened = budget.open()
        super().__init__(opened.rule, delta=opened.delta, relation=budget.relation, epsilon=opened.epsilon)
        self._ledger, self._name, self._who, self._place = ledger, name, who, int(row.id)
        self._stored_limit = (int(row.limit_amount), int(row.limit_failure))
        computed = limit_in_units(Cost(opened.rule.limit, opened.rule.failures))
        same = self._stored_limit == computed
        smaller = self._stored_limit[0] <= computed[0] and self._stored_limit[1] <= computed[1]
        if not same and (isinstance(opened.rule, Renyi) or not smaller):  # its costs are of one order, and so its limit
            raise LedgerError(
                f"the limit of {name} was computed by another version, which admitted more or counted otherwise. "
                "Nothing can be charged with this one."
            )

    @property
    def name(self) -> str:
        """The dataset."""
        return self._name

    @property
    def who(self) -> str:
        """In whose name charges are made; the ledger believes whoever opens it."""
        return self._who

    @property
    def ledger(self) -> "Ledger":
        """The ledger that keeps this account."""
        return self._ledger

    def charge(self, loss: PrivacyLoss, purpose: Purpose | None = None, /, *, last: bool = False) -> LedgerTicket:
        """Charge a loss, durably, or refuse it, which is recorded too.

        A key that was charged before, and a request that was released before on the same version of the data, are
        charged nothing and return the stored answer. ``last`` lets a loss that does not fit take all of an account that
        nothing was spent from: see ``Account.exhaust``.
        """
        why = purpose or Purpose()
        cost, epsilon = self._charge(loss)
        final = self._last(loss) if last else None
        parts = self._parts(loss, why, epsilon)
        refused: DiscreetError | None = None
        ticket = None
        with self._ledger.store.writing(self._place) as connection:
            row = self._locked(connection)
            ticket = self._before(connection, why)
            if ticket is not None:
                return ticket
            state = _spent(row)
            try:
                check_allowed(connection, row, self._who, cost)
                limit = free_of_holds(connection, row, self._limit, self._who, why.hold)
                try:
                    after = self._admitted(state, loss, cost, epsilon, limit)
                except BudgetExceeded:
                    if final is None or limit != self._limit:
                        raise
                    after = final(state)
            except DiscreetError as error:
                refused = error
                if self._few_refusals(connection, row):
                    self._write(connection, row, "refuse", _summary(parts, error))
            else:
                ticket = self._commit(connection, row, state, after, parts, why)
        if refused is not None:
            raise refused
        assert ticket is not None  # noqa: S101  it was charged or refused
        self._ledger.anchored(self._name, ticket.number, ticket.hash)
        return ticket

    def grant(
        self, who: str, *, share: Real | None = None, amount: Real | None = None, per_day: int | None = None
    ) -> None:
        """Allow somebody at most a share of the account, or an amount of its currency, and so many charges a day.

        ``"*"`` stands for each person who has no allowance of their own. A later grant replaces an earlier one; what
        was spent counts. Nobody ever spends more than the account has, whatever was granted.
        """
        name, limits = _name(who), self._part(share, amount)
        if per_day is not None and (type(per_day) is not int or not 0 <= per_day < 2**31):
            raise InvalidParameter("per_day is a whole number of charges.")
        with self._ledger.store.writing(self._place) as connection:
            row = self._locked(connection)
            body = {"who": name, "amount": limits[0], "failure": limits[1], "per_day": per_day}
            head = self._write(connection, row, "grant", body)
            connection.execute(allowances.delete().where(allowances.c.account == self._place, allowances.c.who == name))
            connection.execute(insert(allowances), {"account": self._place, **body})
        self._ledger.anchored(self._name, *head)

    def hold(
        self, *, share: Real | None = None, amount: Real | None = None, seconds: Real, who: str | None = None
    ) -> Hold:
        """Keep part of the account for somebody for some time; charges with this hold spend from it.

        When the time is over, what was not spent is free for everybody again.
        """
        limits, length = self._part(share, amount), float(positive(seconds, "seconds"))
        name = self._who if who is None else _name(who)
        until = told(now() + timedelta(seconds=min(length, 10.0**9)))
        held = cost_of_units(*limits)
        refused: BudgetExceeded | None = None
        with self._ledger.store.writing(self._place) as connection:
            row = self._locked(connection)
            body = {"who": name, "amount": limits[0], "failure": limits[1], "until": until}
            try:
                check_allowed(connection, row, name, held, holding=True)
                free = free_of_holds(connection, row, self._limit, name)
                if not held.within(free - cost_of_units(row.spent_amount, row.spent_failure)):
                    raise BudgetExceeded("less than this is free now, so it cannot be held. Nothing changed.")
            except BudgetExceeded as error:
                refused = error
            if not refused or self._few_refusals(connection, row):
                head = self._write(connection, row, "refuse" if refused else "hold", body)
            if not refused:
                connection.execute(insert(holds), {"account": self._place, "number": head[0], **body})
        if refused is not None:
            raise refused
        self._ledger.anchored(self._name, *head)
        return Hold(head[0], name, held.amount, held.failure, until)

    def drop(self, hold: Hold | int) -> None:
        """Give up what is left of a hold."""
        number = hold.number if isinstance(hold, Hold) else hold
        if type(number) is not int or not 0 < number <= MOST:
            raise InvalidParameter("a hold is what account.hold returned, or its number.")
        with self._ledger.store.writing(self._place) as connection:
            row = self._locked(connection)
            found = connection.execute(
                holds.delete().where(holds.c.account == self._place, holds.c.number == number)
            ).rowcount
            if not found:
                raise InvalidParameter("there is no such hold; perhaps it was used up or dropped.")
            head = self._write(connection, row, "drop", {"hold": number})
        self._ledger.anchored(self._name, *head)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self._name} in {self._ledger.told}>"

    # What an account does with its state, here in transactions ------------------------------------------------

    @property
    def _limit(self) -> Cost:
        return cost_of_units(*self._stored_limit)

    @property
    def _now(self) -> Spent:
        with self._ledger.store.reading() as connection:
            return _spent(self._row(connection))

    def _check_process(self) -> None:
        """Any process may spend: what is left is in the ledger."""

    def _update(self, step: Callable[[Spent], Spent]) -> None:
        """Take a step that is no charge: say who is protected. Charges that are told nothing more come here too."""
        with self._ledger.store.reading() as connection:
            state = _spent(self._row(connection))
        if step(state) == state:
            return
        with self._ledger.store.writing(self._place) as connection:
            row = self._locked(connection)
            state = _spent(row)
            after = step(state)
            if after.cost != state.cost or after.exhausted != state.exhausted:
                raise InvalidParameter("an account of a ledger is spent by charge(loss, purpose).")
            head = self._write(connection, row, "protect", {"unit": after.unit}, changes={"unit": after.unit})
        self._ledger.anchored(self._name, *head)

    def spend(self, loss: PrivacyLoss, /) -> None:
        """Charge a loss without saying what for."""
        self.charge(loss)

    def exhaust(self, loss: PrivacyLoss, /) -> None:
        """Charge a loss that may take the whole of an unused account."""
        self.charge(loss, last=True)

    def cost_in_units(self, loss: PrivacyLoss, /) -> tuple[tuple[int, int], int | None]:
        """Return what a loss costs in units, and the sum of its epsilons in units where there is one."""
        cost, epsilon = self._charge(loss)
        return cost_in_units(cost), None if epsilon is None else units_up(epsilon, AMOUNT)

    def _charge(self, loss: PrivacyLoss) -> tuple[Cost, Fraction | None]:
        cost, epsilon = super()._charge(loss)
        rounded = None if epsilon is None else Fraction(units_up(epsilon, AMOUNT), AMOUNT)
        return cost_of_units(*cost_in_units(cost)), rounded

    # One transaction --------------------------------------------------------------------------------------------

    def _row(self, connection: Connection) -> Row[Any]:
        row = connection.execute(ROW, {"name": self._name}).first()
        if row is None or int(row.id) != self._place:
            raise LedgerError(f"the account {self._name} is gone from the ledger. Nothing was charged.")
        return row

    def _locked(self, connection: Connection) -> Row[Any]:
        """Return the account as it is, in a transaction that is alone with it, sure that it is no older copy."""
        row = self._row(connection)
        self._ledger.check_anchor(connection, row)
        return row

    def _before(self, connection: Connection, purpose: Purpose) -> LedgerTicket | None:
        """Return the ticket of an earlier charge that this one repeats."""
        if purpose.key is not None:
            row = connection.execute(CLAIMED, {"place": self._place, "key": f"key:{purpose.key}"}).first()
            if row is not None:
                record = answer_of(connection, self._place, self._name, int(row.number))
                body = json.loads(row.body)
                same = body["private"] == purpose.private
                purpose.check_same(body["fingerprint"] if same else None, settled=record is not None)
                return LedgerTicket(self, int(row.number), row.hash, record)
        if purpose.fingerprint and not purpose.fresh:
            for row in connection.execute(MATCHED, {"place": self._place, "wanted": _match(purpose)}):
                record = answer_of(connection, self._place, self._name, int(row.number))
                if record is not None:
                    return LedgerTicket(self, int(row.number), row.hash, record)
        return None

    def _few_refusals(self, connection: Connection, row: Row[Any]) -> bool:
        """Whether one more refusal is written: whoever asks in a loop must not make the ledger grow with it."""
        recent = (entries.c.number > row.number - 2 * MOST_REFUSALS) & (
            entries.c.time > told(now() - timedelta(hours=1))
        )
        refusals = (entries.c.account == self._place) & (entries.c.kind == "refuse") & recent
        return int(connection.execute(select(func.count()).where(refusals)).scalar_one()) < MOST_REFUSALS

    def _commit(
        self, connection: Connection, row: Row[Any], state: Spent, after: Spent, parts: dict[str, Any], purpose: Purpose
    ) -> LedgerTicket:
        amount, failure = cost_in_units(after.cost - state.cost)
        last = after.exhausted and not state.exhausted
        body = {**parts, "last": last, "relation": after.relation, "pure": None if last else parts["pure"]}
        pure = None if state.pure is None else units_up(state.pure, AMOUNT)
        changes = {
            "spent_amount": row.spent_amount + amount,
            "spent_failure": row.spent_failure + failure,
            "pure": pure_sum(pure, body["pure"]),
            "relation": after.relation,
            "exhausted": after.exhausted,
        }
        head = self._write(connection, row, "charge", body, amount, failure, _match(purpose), changes)
        if purpose.hold is not None:
            use_hold(connection, self._place, purpose.hold, amount, failure)
        return LedgerTicket(self, *head)

    def keep(self, number: int, record: str) -> None:
        """Store the answer of a charge, once, with its hash in the chain."""
        with self._ledger.store.writing(self._place) as connection:
            row = self._locked(connection)
            of = (entries.c.account == self._place) & (entries.c.number == number)
            kind = connection.execute(select(entries.c.kind).where(of)).scalar()
            if kind != "charge":
                raise LedgerError(f"entry {number} of {self._name} is no charge, so it has no answer to keep.")
            body = {"of": number, "sha256": _hashed(record)}
            head = self._write(connection, row, "settle", body)
            connection.execute(insert(answers), {"account": self._place, "number": number, "record": record})
        self._ledger.anchored(self._name, *head)

    def _write(
        self,
        connection: Connection,
        row: Row[Any],
        kind: str,
        body: dict[str, Any],
        amount: int = 0,
        failure: int = 0,
        match: str | None = None,
        changes: dict[str, object] | None = None,
    ) -> tuple[int, str]:
        """Add an entry to the chain, move the account to it, and return its number and hash."""
        number, body_text, time = int(row.number) + 1, written(body), told(now())
        hashed = digest(row.head, number, kind, time, self._who, amount, failure, body_text)
        values = {
            "account": self._place,
            "number": number,
            "kind": kind,
            "time": time,
            "who": self._who,
            "amount": amount,
            "failure": failure,
            "claim": claimed(kind, body),
            "match": match,
            "body": body_text,
            "previous": row.head,
            "hash": hashed,
            **{name: getattr(row, name) for name in STATE},
            **(changes or {}),
        }
        for step in TWO_STEPS if self._ledger.store.is_sqlite else ONE_STEP:
            connection.execute(step, values)
        return number, hashed

    def _parts(self, loss: PrivacyLoss, purpose: Purpose, epsilon: Fraction | None) -> dict[str, Any]:
        return {
            "loss": json.loads(loss.to_json()),
            "query": purpose.query,
            "why": purpose.why,
            "key": purpose.key,
            "version": purpose.version,
            "fingerprint": purpose.fingerprint,
            "private": purpose.private,
            "hold": purpose.hold,
            "pure": None if epsilon is None else units_up(epsilon, AMOUNT),
        }

    def _part(self, share: Real | None, amount: Real | None) -> tuple[int, int]:
        """Return a part of the account in units: a share of all it has, or an amount with failures in proportion."""
        if (share is None) == (amount is None):
            raise InvalidParameter("say share=0.25 of the account, or amount=0.1 in its currency.")
        limit = self._limit
        part = positive(share, "share") if share is not None else positive(amount or 0, "amount") / limit.amount
        if part > 1:
            raise InvalidParameter("no part is larger than the whole account.")
        return int(limit.amount * part * AMOUNT), int(limit.failure * part * FAILURE)


def answer_of(connection: Connection, place: int, name: str, number: int) -> str | None:
    """Return the answer of a charge, if it is the one whose hash is in the chain."""
    found = connection.execute(ANSWER, {"place": place, "of": number}).scalar()
    settled = connection.execute(SETTLED, {"place": place, "key": f"settle:{number}"}).scalar()
    if found is None and settled is None:
        return None
    if found is None or settled is None or json.loads(settled)["sha256"] != _hashed(str(found)):
        raise LedgerError(f"the stored answer of entry {number} of {name} was changed. Nothing was charged.")
    return str(found)


def _spent(row: Row[Any]) -> Spent:
    return Spent(
        cost=cost_of_units(row.spent_amount, row.spent_failure),
        pure=None if row.pure is None else Fraction(row.pure, AMOUNT),
        relation=None if row.relation is None else check_relation(row.relation),
        unit=row.unit,
        exhausted=bool(row.exhausted),
    )


def budget_of(record: str) -> Budget:
    """Read a budget that a ledger holds."""
    read = json.loads(record)
    exact = {name: Fraction(read[name]) for name in ("epsilon", "delta", "failures")}
    return Budget(
        exact["epsilon"], exact["delta"], filter=read["filter"], failures=exact["failures"], relation=read["relation"]
    )


def budget_record(budget: Budget) -> dict[str, str | None]:
    """Return a budget as a ledger holds it: exact, as fractions."""
    return {
        "epsilon": str(Fraction(budget.epsilon)),
        "delta": str(Fraction(budget.delta)),
        "filter": budget.filter,
        "failures": str(Fraction(budget.failures or 0)),
        "relation": budget.relation,
    }


def _summary(parts: dict[str, Any], error: DiscreetError) -> dict[str, Any]:
    """Return what is written of a refused charge: the beginning of its query with a hash of all of it, and no loss."""
    kept = ("query", "why", "key", "version", "fingerprint", "private", "hold")
    query = str(parts["query"])
    return {
        **{name: parts[name] for name in kept},
        "query": query[:REFUSED_QUERY],
        "query_sha256": _hashed(query),
        "reason": str(error),
    }


def _match(purpose: Purpose) -> str | None:
    return matched(purpose.version, purpose.fingerprint, private=purpose.private)


def _hashed(record: str) -> str:
    return hashlib.sha256(record.encode()).hexdigest()


def is_name(name: object) -> bool:
    """Whether something is a text that can be stored as a name."""
    if not isinstance(name, str) or len(name) > 200 or "\x00" in name:
        return False
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _name(who: str) -> str:
    if not who or not is_name(who):
        raise InvalidParameter("who is the name of a person or project, of at most 200 characters.")
    return who
