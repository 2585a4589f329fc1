"""Whatever is changed behind the ledger's back is seen when it is opened."""

import json
import shutil
import sqlite3
from fractions import Fraction
from types import SimpleNamespace

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import LedgerError
from discreet.ledger import Ledger, Purpose
from discreet.ledger.chain import digest

TENTH = PrivacyLoss.laplace(Fraction(1, 10))
UNCHECKED = {("discreet_ledger", "made")}
"""When a ledger was made: told to nobody and used for nothing."""


def fill(ledger):
    """Write entries of every kind."""
    account = ledger.account("visits", budget=Budget(1, 1e-6, filter="basic"), who="ann")
    account.protect("persons by user")
    account.charge(TENTH, Purpose(query="q", key="one", fingerprint="f")).settle("first answer")
    account.grant("bob", share=Fraction(1, 2), per_day=5)
    hold = account.hold(share=Fraction(1, 10), seconds=10**6)
    account.charge(PrivacyLoss.approximate(Fraction(1, 20), 1e-8), Purpose(hold=hold.number, fingerprint="g")).settle(
        "2nd"
    )
    dropped = account.hold(share=Fraction(1, 10), seconds=10**6)
    account.drop(dropped)
    with pytest.raises(Exception, match="left"):
        account.spend(PrivacyLoss.laplace(5))
    account.spend(TENTH)
    ledger.account("shops", budget=Budget(2)).spend(TENTH)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("chain") / "ledger.sqlite"
    with Ledger(path) as ledger:
        fill(ledger)
    return path


@pytest.fixture
def copied(original, file):
    shutil.copy(original, file)
    return file


def edited(path, *statements):
    """Run SQL on a ledger as somebody would who owns the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    for statement in statements:
        assert connection.execute(*([statement] if isinstance(statement, str) else statement)).rowcount != 0, statement
    connection.close()


def opens(path):
    """Whether a ledger still passes for one that nobody touched."""
    try:
        with Ledger(path) as ledger:
            for number in range(20):
                ledger.answer("visits", number)
            ledger.verify()
    except LedgerError:
        return False
    return True


def fields():
    """Every field of every row, by table, column and row."""
    found = []
    from discreet.ledger import records

    for table in (
        records.ledgers,
        records.accounts,
        records.entries,
        records.answers,
        records.allowances,
        records.holds,
    ):
        found += [(table.name, column.name) for column in table.columns]
    return [one for one in found if one not in UNCHECKED]


def test_the_original_opens(copied):
    assert opens(copied)
    edited(copied)  # without its triggers it is the same ledger
    assert opens(copied)


@pytest.mark.parametrize(("table", "column"), fields())
def test_no_field_can_be_changed(original, tmp_path, table, column):
    connection = sqlite3.connect(original)
    rows = connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
    connection.close()
    assert rows
    for rowid, value in rows:
        changed = value + 1 if isinstance(value, int) else 7 if value is None else other_text(value)
        for new in (changed, None if column in ("claim", "match", "pure", "unit", "relation", "per_day") else b"\xff"):
            if new == value:
                continue
            folder = tmp_path / f"{rowid}-{new is changed}"  # of its own: a log that is left would be played again
            folder.mkdir()
            path = folder / "copy.sqlite"
            shutil.copy(original, path)
            change = (f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, rowid))
            try:
                edited(path, "PRAGMA foreign_keys = OFF", change)
            except sqlite3.IntegrityError:  # the table itself does not hold it: two rows of one number, a text as an id
                continue
            assert not opens(path), (rowid, value, new)


def other_text(value):
    """Return a text that means something else and is still read as the same kind of thing."""
    for old, new in (
        ("charge", "refuse"),
        ('"1/10"', '"1/11"'),
        ("basic", "zcdp"),
        ("2026", "2025"),
        ("a", "b"),
        ("f", "e"),
    ):
        if old in value:
            return value.replace(old, new, 1)
    return value + "1"


@pytest.mark.parametrize(
    "statements",
    [
        ["DELETE FROM discreet_entry WHERE account = 1 AND number = 4"],
        ["DELETE FROM discreet_entry WHERE account = 1 AND number = (SELECT MAX(number) FROM discreet_entry)"],
        ["DELETE FROM discreet_entry WHERE account = 1"],
        ["DELETE FROM discreet_answer WHERE number = 3"],
        ["DELETE FROM discreet_allowance"],
        ["DELETE FROM discreet_hold"],
        ["UPDATE discreet_account SET spent_amount = 0, spent_failure = 0, pure = 0 WHERE id = 1"],
        ["UPDATE discreet_account SET limit_amount = limit_amount * 10 WHERE id = 1"],
        [
            "UPDATE discreet_account SET name = CASE id WHEN 1 THEN 'x' ELSE name END",
            "UPDATE discreet_account SET id = id",
        ],
        [
            "UPDATE discreet_entry SET number = 1000 WHERE account = 1 AND number = 3",
            "UPDATE discreet_entry SET number = 3 WHERE account = 1 AND number = 4",
            "UPDATE discreet_entry SET number = 4 WHERE account = 1 AND number = 1000",
        ],
        [
            """INSERT INTO discreet_entry
            SELECT account, number + 1, kind, time, who, 0, 0, NULL, NULL, body, hash, hash
            FROM discreet_entry WHERE account = 1 ORDER BY number DESC LIMIT 1"""
        ],
        ["UPDATE discreet_entry SET account = account + 10", "UPDATE discreet_entry SET account = 13 - account"],
        ["INSERT INTO discreet_answer SELECT 1, 12, 'made up'"],
        ["INSERT INTO discreet_allowance SELECT account, 'eve', amount, failure, NULL FROM discreet_allowance"],
        ["INSERT INTO discreet_hold SELECT account, 2, 'eve', amount, failure, until FROM discreet_hold LIMIT 1"],
        ["UPDATE discreet_version SET version_num = 'later'"],
    ],
    ids=lambda statements: statements[0][:60],
)
def test_nothing_can_be_removed_added_or_moved(copied, statements):
    edited(copied, "PRAGMA foreign_keys = OFF", *statements)
    assert not opens(copied)


def test_entries_of_another_ledger_do_not_fit(copied, tmp_path):
    other = tmp_path / "other.sqlite"
    with Ledger(other) as ledger:
        ledger.account("visits", budget=Budget(1, 1e-6, filter="basic")).spend(TENTH)
    tables = ("discreet_entry", "discreet_account", "discreet_answer", "discreet_hold", "discreet_allowance")
    attach = (f"ATTACH '{copied}' AS old",)
    move = [f"DELETE FROM {t}" for t in tables[:2]] + [f"INSERT INTO {t} SELECT * FROM old.{t}" for t in tables]
    edited(other, "PRAGMA foreign_keys = OFF", attach, *move)
    with pytest.raises(LedgerError, match="entry 1 of visits does not follow"):
        Ledger(other)


def test_two_ledgers_of_one_dataset_have_chains_of_their_own(tmp_path):
    with Ledger(tmp_path / "a.sqlite") as one, Ledger(tmp_path / "b.sqlite") as two:
        for ledger in (one, two):
            ledger.account("visits", budget=Budget(1)).spend(TENTH)
        assert one.id != two.id
        assert not {e.hash for e in one.entries("visits")} & {e.hash for e in two.entries("visits")}
        one.account("visits").spend(TENTH)
        assert two.account("visits").spent.amount == Fraction(1, 10)


def test_a_ledger_only_grows(place):
    with Ledger(place) as ledger:
        fill(ledger)
        for table in ("discreet_entry", "discreet_answer", "discreet_ledger"):
            column = {"discreet_entry": "who", "discreet_answer": "record", "discreet_ledger": "made"}[table]
            for statement in (f"UPDATE {table} SET {column} = 'x'", f"DELETE FROM {table}"):
                with pytest.raises(LedgerError, match="only grows"), ledger.store.writing() as connection:
                    connection.exec_driver_sql(statement)
        with pytest.raises(LedgerError, match="refused"), ledger.store.writing() as connection:
            connection.exec_driver_sql("UPDATE discreet_account SET spent_amount = limit_amount + 1")
        ledger.verify()


def test_a_changed_answer_is_not_given(copied):
    edited(copied, "UPDATE discreet_answer SET record = 'another answer' WHERE number = 3")
    with Ledger(copied) as ledger:
        with pytest.raises(LedgerError, match="stored answer of entry 3"):
            ledger.answer("visits", 3)
        with pytest.raises(LedgerError, match="stored answer of entry 3"):
            ledger.account("visits").charge(TENTH, Purpose(key="one", fingerprint="f"))
        with pytest.raises(LedgerError, match="stored answer of entry 3"):
            ledger.verify()


def forged(path, change):
    """Change bodies or amounts of charges, and write the whole chain and its totals anew, as a thorough forger does."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    rows = connection.execute("SELECT * FROM discreet_entry WHERE account = 1 ORDER BY number").fetchall()
    statements, previous = [], rows[0]["previous"]
    spent = [0, 0, 0]
    for row in map(dict, rows):
        body = json.loads(row["body"])
        if row["kind"] == "charge":
            change(row, body)
            spent = [spent[0] + row["amount"], spent[1] + row["failure"], spent[2] + body["pure"]]
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        hashed = digest(
            previous, row["number"], row["kind"], row["time"], row["who"], row["amount"], row["failure"], text
        )
        change_all = "UPDATE discreet_entry SET amount = ?, failure = ?, body = ?, previous = ?, hash = ? "
        values = (row["amount"], row["failure"], text, previous, hashed, row["number"])
        statements.append((change_all + "WHERE account = 1 AND number = ?", values))
        previous = hashed
    connection.close()
    totals = "UPDATE discreet_account SET spent_amount = ?, spent_failure = ?, pure = ?, head = ? WHERE id = 1"
    edited(path, *statements, (totals, (*spent, previous)))


def test_a_deep_look_sees_a_charge_below_its_cost(copied):
    def cheaper(row, body):
        if row["number"] == 12:
            row["amount"] -= 1

    forged(copied, lambda row, body: None)
    assert opens(copied)
    forged(copied, cheaper)
    with (
        Ledger(copied) as ledger,
        pytest.raises(LedgerError, match="entry 12 of visits charged less than its loss costs"),
    ):
        ledger.verify()


def test_a_deep_look_sees_a_loss_that_was_made_small(copied):
    def unread(row, body):
        body["loss"] = {"kind": "nothing"}

    forged(copied, unread)
    with Ledger(copied) as ledger, pytest.raises(LedgerError, match="cannot be read"):
        ledger.verify()


def test_a_deep_look_sees_epsilons_that_were_made_small(copied):
    def smaller(row, body):
        body["pure"] = 0

    forged(copied, smaller)
    with Ledger(copied) as ledger, pytest.raises(LedgerError, match="charged less"):
        ledger.verify()


def test_a_chain_that_spends_too_much_is_refused_even_if_it_is_whole(copied):
    def dearer(row, body):
        row["amount"] *= 100

    forged(copied, dearer)
    with pytest.raises(LedgerError, match="spends more than the account has"):
        Ledger(copied)


def test_an_account_that_was_removed_is_missed(copied):
    edited(copied, "DELETE FROM discreet_account WHERE name = 'visits'")
    with pytest.raises(LedgerError, match="entries of an account that was removed"):
        Ledger(copied)


def test_the_database_itself_keeps_accounts(copied):
    with pytest.raises(sqlite3.IntegrityError, match="only grows"), sqlite3.connect(copied) as connection:
        connection.execute("DELETE FROM discreet_account")


def test_only_a_charge_has_an_answer(file):
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        for number in (1, 7):
            with pytest.raises(LedgerError, match="is no charge"):
                account.keep(number, "an answer")
        assert [entry.kind for entry in ledger.entries("visits")] == ["open"]


@pytest.mark.parametrize("filter_name", ["zcdp", "renyi"])
def test_a_limit_that_this_version_would_not_give_is_refused(file, filter_name):
    with Ledger(file) as ledger:
        ledger.account("visits", budget=Budget(1, 1e-6, filter=filter_name))
    from discreet.ledger import ledger as room

    with Ledger(file) as ledger:
        with ledger.store.reading() as connection:
            row = room._row(connection, "visits")
        changed = SimpleNamespace(**{**row._mapping, "limit_amount": row.limit_amount + 1})
        with pytest.raises(LedgerError, match="another version"):
            room.LedgerAccount(ledger, "visits", "", changed)


@pytest.mark.xdist_group("engines")
def test_one_database_has_no_second_ledger_in_another_schema(postgres_base):
    import psycopg

    with Ledger(postgres_base) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    with psycopg.connect(postgres_base, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA postgres")  # the first place of everybody's search path is their own schema
    with pytest.raises(LedgerError, match="has a ledger in the schema public"):
        Ledger(postgres_base)
    meant = f"{postgres_base}&options=-csearch_path%3Dpublic"
    with Ledger(meant) as ledger:
        assert ledger.account("visits").spent.amount == Fraction(1, 10)
