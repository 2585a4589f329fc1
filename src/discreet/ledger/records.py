"""The tables of a ledger, as SQLAlchemy sees them. They are made by the migrations, never by this description."""

from sqlalchemy import BigInteger, Boolean, Column, Integer, MetaData, Table, Text

__all__ = ["accounts", "allowances", "answers", "entries", "holds", "ledgers"]

metadata = MetaData()

ledgers = Table(
    "discreet_ledger",
    metadata,
    Column("id", Text, primary_key=True),
    Column("made", Text, nullable=False),
)

accounts = Table(
    "discreet_account",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("budget", Text, nullable=False),
    Column("limit_amount", BigInteger, nullable=False),
    Column("limit_failure", BigInteger, nullable=False),
    Column("spent_amount", BigInteger, nullable=False),
    Column("spent_failure", BigInteger, nullable=False),
    Column("pure", BigInteger),
    Column("relation", Text),
    Column("unit", Text),
    Column("exhausted", Boolean, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("head", Text, nullable=False),
)

entries = Table(
    "discreet_entry",
    metadata,
    Column("account", Integer, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("failure", BigInteger, nullable=False),
    Column("claim", Text),
    Column("match", Text),
    Column("body", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

answers = Table(
    "discreet_answer",
    metadata,
    Column("account", Integer, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("record", Text, nullable=False),
)

allowances = Table(
    "discreet_allowance",
    metadata,
    Column("account", Integer, primary_key=True),
    Column("who", Text, primary_key=True),
    Column("amount", BigInteger, nullable=False),
    Column("failure", BigInteger, nullable=False),
    Column("per_day", Integer),
)

holds = Table(
    "discreet_hold",
    metadata,
    Column("account", Integer, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("who", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("failure", BigInteger, nullable=False),
    Column("until", Text, nullable=False),
)
