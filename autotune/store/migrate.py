"""The schema's revision: read it, check it, and bring a database up to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from filelock import FileLock
from sqlalchemy import URL, Connection, String, column, inspect, select, table

import autotune
from autotune.errors import SchemaOutOfDate, StoreError
from autotune.store.copy import copy_file
from autotune.store.engine import BUSY_S, reader_engine, writer_engine
from autotune.store.faults import translated
from autotune.store.models import Base
from autotune.store.url import (
    make_folder,
    parse_url,
    refuse_folder,
    require_file,
    shown,
    sqlite_path,
)

VERSION_TABLE = "autotune_alembic_version"  # other tools keep their own in the same database


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgraded:
    """What an upgrade did.

    Attributes:
        before: The revision that it found, or None for a new or empty database.
        after: The revision that the database has now.
        backup: The copy that was made first, or None if nothing had to change, there was
            nothing to keep, or the database is on a server.
    """

    before: str | None
    after: str
    backup: Path | None = None


def head() -> str:
    """Return the revision that this package reads and writes."""
    revision = _scripts().get_current_head()
    assert revision is not None, "the migrations are part of the package"
    return revision


def current(url: str) -> str | None:
    """Return the database's revision, or None if it holds nothing of this package.

    Raises:
        StoreError: There is no such database, or it cannot be read.
    """
    parsed = parse_url(url)
    require_file(parsed)
    engine = reader_engine(parsed)
    try:
        with translated(parsed), engine.connect() as connection:
            return revision_of(connection)
    finally:
        engine.dispose()


def check(url: str) -> None:
    """Return if the database has the schema that this package reads and writes.

    Raises:
        SchemaOutOfDate: It has another one, or none yet.
        StoreError: There is no such database, or it cannot be read.
    """
    parsed = parse_url(url)
    found = current(url)
    if found is None:
        raise SchemaOutOfDate(
            f"{shown(parsed)} has no tables of autotune yet", hint=_upgrade_command(parsed)
        )
    require_head(parsed, found)


def upgrade(url: str) -> Upgraded:
    """Bring a database to the newest schema, or make a new one. All of it, or nothing.

    An SQLite file that holds results is copied to ``FILE.bak-REVISION`` first.

    Raises:
        SchemaOutOfDate: The database was written by a newer version of this package.
        StoreError: The database cannot be opened or written.
    """
    parsed = parse_url(url)
    with _migrating(parsed) as connection:
        found = revision_of(connection)
        if found == head():
            return Upgraded(before=found, after=found)
        backup = None
        if found is None:
            _refuse_foreign_tables(parsed, connection)
        else:
            _require_known(parsed, found)
            backup = _back_up(parsed, found)
        command.upgrade(_config(connection), "head")
    return Upgraded(before=found, after=head(), backup=backup)


def downgrade(url: str, revision: str) -> None:
    """Take a database back to an older ``revision`` (``base``: drop everything of ours)."""
    with _migrating(parse_url(url)) as connection:
        command.downgrade(_config(connection), revision)


@contextmanager
def connect_for_migration(url: str) -> Iterator[Connection]:
    """Yield the connection that migrations run on: one transaction, committed at the end.

    SQLite rebuilds a table to change it. With foreign keys enforced, dropping the old table
    would take the rows that refer to it along, so they are off meanwhile and checked after.
    """
    with _migrating(parse_url(url)) as connection:
        yield connection


def require_head(url: URL, found: str) -> None:
    """Raise ``SchemaOutOfDate`` unless ``found`` is the newest revision."""
    if found == head():
        return
    _require_known(url, found)
    raise SchemaOutOfDate(
        f"{shown(url)} has schema {found}; this version of autotune needs {head()}",
        hint=_upgrade_command(url),
    )


def revision_of(connection: Connection) -> str | None:
    """Return the revision that a database says it has, or None if it says nothing."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.scalar(
        select(column("version_num", String)).select_from(table(VERSION_TABLE))
    )


@contextmanager
def _migrating(url: URL) -> Iterator[Connection]:
    path = sqlite_path(url)
    engine = writer_engine(url)
    try:
        with translated(url), _alone(url, path), engine.connect() as connection:
            if path is not None:
                _allow_table_rebuilds(connection)
            with connection.begin():
                yield connection
                if path is not None:
                    _check_references(url, connection)
    finally:
        engine.dispose()


@contextmanager
def _alone(url: URL, path: Path | None) -> Iterator[None]:
    """Hold the lock file of an SQLite database; a server has locks of its own."""
    if path is None:
        yield
        return
    refuse_folder(url)
    make_folder(path)
    try:
        lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=BUSY_S)
        lock.acquire()
    except OSError as error:  # filelock's Timeout is one
        raise StoreError(
            f"{shown(url)}: cannot lock it for a change of schema: {error}",
            hint="check the permissions of its folder, and that no other process hangs",
        ) from None
    try:
        yield
    finally:
        lock.release()


def _allow_table_rebuilds(connection: Connection) -> None:
    """Let a table be replaced while others and views refer to it.

    SQLite refuses to change the enforcement of foreign keys inside a transaction, and by
    default checks every view as soon as the new table gets the old one's name.
    """
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("PRAGMA foreign_keys = OFF")
    raw.execute("PRAGMA legacy_alter_table = ON")


def _check_references(url: URL, connection: Connection) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise StoreError(
            f"{shown(url)}: table {broken[0]!r} would refer to missing rows of {broken[2]!r}; "
            "nothing was changed"
        )


def _refuse_foreign_tables(url: URL, connection: Connection) -> None:
    taken = set(inspect(connection).get_table_names()) & set(Base.metadata.tables)
    if taken:
        raise StoreError(
            f"{shown(url)} has tables that autotune did not make: {', '.join(sorted(taken))}",
            hint="name another database with --db",
        )


def _require_known(url: URL, found: str) -> None:
    try:
        _scripts().get_revision(found)
    except CommandError:
        raise SchemaOutOfDate(
            f"{shown(url)} has schema {found}, newer than this version of autotune ({head()})",
            hint="pip install --upgrade autotune-kernels",
        ) from None


def _back_up(url: URL, revision: str) -> Path | None:
    path = sqlite_path(url)
    if path is None:
        return None
    return copy_file(path, path.with_name(f"{path.name}.bak-{revision}"))


def _upgrade_command(url: URL) -> str:
    return f"autotune db upgrade --db {shown(url)}"


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def scripts_folder() -> Path:
    """Return the folder of the migrations: in the wheel, else in the checkout."""
    package = Path(autotune.__file__).parent
    packaged = package / "_migrations"
    return packaged if packaged.is_dir() else package.parent / "alembic"
