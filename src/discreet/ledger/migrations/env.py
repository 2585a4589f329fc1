"""What alembic runs: the migrations, on the connection that the store hands over."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table="discreet_version", transaction_per_migration=False)
context.run_migrations()
