"""Run by Alembic: migrate on the connection, and in the transaction, that the caller opened."""

from alembic import context

from connector.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
)
context.run_migrations()
