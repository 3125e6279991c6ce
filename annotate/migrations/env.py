"""Alembic's entry: migrate the connection that `annotate.migrate` hands over, or the file named by `-x db=<path>`."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, create_engine

from annotate.models import Series


def run(connection: Connection) -> None:
    """Run the migrations; tables that SQLite cannot alter are copied (batch mode)."""
    context.configure(connection=connection, target_metadata=Series.metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with create_engine(f"sqlite:///{context.get_x_argument(as_dictionary=True)['db']}").connect() as connection:
        run(connection)
