"""The first tables: accounts, a chain of entries for each, stored answers, allowances and holds."""

import sqlalchemy as sa
from alembic import op

revision = "first"
down_revision = None


def upgrade() -> None:
    """Make all tables; entries and answers can be added, and neither changed nor removed."""
    op.create_table(
        "discreet_ledger",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("made", sa.Text, nullable=False),
    )
    op.create_table(
        "discreet_account",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("budget", sa.Text, nullable=False),
        sa.Column("limit_amount", sa.BigInteger, nullable=False),
        sa.Column("limit_failure", sa.BigInteger, nullable=False),
        sa.Column("spent_amount", sa.BigInteger, nullable=False),
        sa.Column("spent_failure", sa.BigInteger, nullable=False),
        sa.Column("pure", sa.BigInteger),
        sa.Column("relation", sa.Text),
        sa.Column("unit", sa.Text),
        sa.Column("exhausted", sa.Boolean, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
        sa.CheckConstraint("spent_amount >= 0 AND spent_amount <= limit_amount", name="discreet_never_overspent"),
        sa.CheckConstraint("spent_failure >= 0 AND spent_failure <= limit_failure", name="discreet_never_failed"),
    )
    op.create_table(
        "discreet_entry",
        sa.Column("account", sa.Integer, sa.ForeignKey("discreet_account.id"), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("failure", sa.BigInteger, nullable=False),
        sa.Column("claim", sa.Text),
        sa.Column("match", sa.Text),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.UniqueConstraint("account", "claim", name="discreet_one_claim"),
        sa.CheckConstraint("amount >= 0 AND failure >= 0", name="discreet_no_refund"),
    )
    op.create_index("discreet_entry_match", "discreet_entry", ["account", "match"])
    op.create_index("discreet_entry_who", "discreet_entry", ["account", "who"])
    op.create_table(
        "discreet_answer",
        sa.Column("account", sa.Integer, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("record", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["account", "number"], ["discreet_entry.account", "discreet_entry.number"]),
    )
    op.create_table(
        "discreet_allowance",
        sa.Column("account", sa.Integer, sa.ForeignKey("discreet_account.id"), primary_key=True),
        sa.Column("who", sa.Text, primary_key=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("failure", sa.BigInteger, nullable=False),
        sa.Column("per_day", sa.Integer),
    )
    op.create_table(
        "discreet_hold",
        sa.Column("account", sa.Integer, sa.ForeignKey("discreet_account.id"), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("failure", sa.BigInteger, nullable=False),
        sa.Column("until", sa.Text, nullable=False),
    )
    for table in ("discreet_entry", "discreet_answer", "discreet_ledger"):
        _refused(table, "UPDATE", "DELETE")
    _refused("discreet_account", "DELETE")


def _refused(table: str, *events: str) -> None:
    """Have the database itself refuse changes; nobody makes them but by mistake, or to cheat."""
    words = "a ledger only grows"
    if op.get_bind().dialect.name == "sqlite":
        for event in events:
            op.execute(
                f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{words}'); END"
            )
        return
    op.execute(
        f"CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{words}'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_grows BEFORE {' OR '.join([*events, 'TRUNCATE'])} ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()"
    )
