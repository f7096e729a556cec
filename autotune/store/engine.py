"""Engines: how connections are opened, and how their transactions begin.

SQLite runs in WAL, so that readers and the writer never wait for each other. A writer says
``BEGIN IMMEDIATE``: it queues for the write lock at once, where a plain ``BEGIN`` would fail
half-way when another writer came first. A reader's connection refuses every write.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry

from autotune.errors import StoreError
from autotune.store.faults import translated
from autotune.store.url import sqlite_path

BUSY_S = 60.0
_SLICE_S = 0.5  # while SQLite itself waits no signal is heard: Ctrl-C comes between two slices
_RETRY_S = 0.05
_FILE = "file"  # which one a connection writes to
_WRITERS = 7218651931  # any number that no other program takes as its advisory lock

_dumps = partial(json.dumps, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_read_json = json.JSONDecoder().raw_decode


def _loads(text: str) -> Any:
    """Read what ``_dumps`` wrote; ``json.loads`` looks for blanks around it, as long again."""
    value, end = _read_json(text)
    return value if end == len(text) else json.loads(text)


def writer_engine(url: URL) -> Engine:
    """Return an engine whose transactions write, one at a time."""
    path = sqlite_path(url)
    if path is None:
        engine = _server_engine(url)
        if engine.dialect.name == "postgresql":
            event.listen(engine, "begin", _queue_as_writer)
        return engine
    engine = _sqlite_engine(url, lambda: _sqlite_uri(path, "rwc"))
    event.listen(engine, "connect", _use_wal)
    event.listen(engine, "connect", partial(_remember_file, path))
    event.listen(engine, "begin", partial(_require_file, path))
    event.listen(engine, "begin", _begin_immediate)
    return engine


def reader_engine(url: URL, *, immutable: bool = False) -> Engine:
    """Return an engine whose connections refuse to write.

    Args:
        url: The database.
        immutable: The SQLite file never changes while it is open (it is part of a package):
            take no lock and leave no file beside it.
    """
    path = sqlite_path(url)
    if path is None:
        return _server_engine(url).execution_options(postgresql_readonly=True)
    engine = _sqlite_engine(
        url, lambda: _sqlite_uri(path, _reading_mode(path, immutable=immutable))
    )
    event.listen(engine, "connect", _refuse_writes)
    event.listen(engine, "begin", _begin)
    return engine


def _reading_mode(path: Path, *, immutable: bool) -> str:
    """Choose how to open ``path`` so that nothing is left beside it.

    A connection that may not touch the file cannot remove the WAL's side files when it
    closes, so a reader is given ``rw`` (and ``query_only``) wherever it may write.
    """
    logged = path.with_name(path.name + "-wal").exists()
    folder_writable = os.access(path.absolute().parent, os.W_OK)
    if not logged and (immutable or not folder_writable):
        return "ro&immutable=1"
    return "rw" if folder_writable and os.access(path, os.W_OK) else "ro"


def _sqlite_uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(path))}?mode={mode}"


def _sqlite_engine(url: URL, uri: Callable[[], str]) -> Engine:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            uri(), uri=True, timeout=_SLICE_S, isolation_level=None, check_same_thread=False
        )

    with translated(url):
        engine = create_engine(
            url, creator=connect, json_serializer=_dumps, json_deserializer=_loads
        )
    event.listen(engine, "connect", _set_pragmas)
    return engine


def _server_engine(url: URL) -> Engine:
    with translated(url):
        return create_engine(url, json_serializer=_dumps, pool_pre_ping=True)


def _set_pragmas(connection: Any, _entry: ConnectionPoolEntry) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")


def _use_wal(connection: Any, _entry: ConnectionPoolEntry) -> None:
    """Switch the file to WAL, once for all. SQLite does not wait for a writer here."""
    _once_free(connection, "PRAGMA journal_mode = WAL")


def _remember_file(path: Path, _connection: Any, entry: ConnectionPoolEntry) -> None:
    entry.info[_FILE] = _identity(path)


def _require_file(path: Path, connection: Connection) -> None:
    """Refuse to write where nobody will look: into a file that has lost its name."""
    if _identity(path) != connection.info[_FILE]:
        raise StoreError(
            f"sqlite:///{path}: the file was moved or replaced while it was open",
            hint="run the same command again: it goes on with what the file holds now",
        )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _once_free(connection: Any, statement: str) -> None:
    """Execute ``statement`` as soon as no other process holds the lock that it needs."""
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)
        else:
            return


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorname.startswith("SQLITE_BUSY")


def _refuse_writes(connection: Any, _entry: ConnectionPoolEntry) -> None:
    connection.execute("PRAGMA query_only = ON")


def _begin_immediate(connection: Connection) -> None:
    _once_free(connection.connection.dbapi_connection, "BEGIN IMMEDIATE")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _queue_as_writer(connection: Connection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS})")
