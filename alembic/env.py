"""Run migrations of the result database on the connection that the store hands over."""

from __future__ import annotations

from typing import Any

from alembic import context
from sqlalchemy import Connection

from autotune.store import default_url
from autotune.store.migrate import VERSION_TABLE, connect_for_migration
from autotune.store.models import Base


def _ours(
    _item: Any,
    name: str | None,
    kind: str,
    reflected: bool,  # noqa: FBT001 - Alembic passes it by position
    _other: Any,
) -> bool:
    """Leave out tables of other tools that live in the same database."""
    return not (kind == "table" and reflected and name not in Base.metadata.tables)


def _run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        version_table=VERSION_TABLE,
        include_object=_ours,
        render_as_batch=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def main() -> None:
    """Use the store's connection, or the default database for Alembic's own command line."""
    connection = context.config.attributes.get("connection")
    if connection is not None:
        _run(connection)
        return
    with connect_for_migration(default_url()) as own:
        _run(own)


main()
