"""Where the result database is: URLs, the default, and the file behind an SQLite URL."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from autotune.errors import StoreError

VARIABLE = "AUTOTUNE_DB"


def default_url() -> str:
    """Return ``AUTOTUNE_DB``, or the SQLite file in the platform's data folder."""
    return os.environ.get(VARIABLE) or f"sqlite:///{_default_folder() / 'autotune.db'}"


def parse_url(text: str) -> URL:
    """Read a database URL. A bare path means an SQLite file.

    Raises:
        StoreError: The text is not a database URL, or it names a database in memory.
    """
    try:
        url = make_url(text) if "://" in text else URL.create("sqlite", database=text)
    except (ArgumentError, ValueError):  # a port that is no number is the latter
        raise StoreError(
            f"{text!r} is not a database URL",
            hint="write a path, sqlite:///results.db or postgresql://user@host/name",
        ) from None
    if _is_sqlite(url) and url.database in {None, "", ":memory:"}:
        raise StoreError(
            f"{text!r} names a database in memory, which keeps nothing",
            hint="write a path, such as sqlite:///results.db",
        )
    return url


def shown(url: URL) -> str:
    """Return ``url`` as text for people, its password hidden."""
    return url.render_as_string(hide_password=True)


def sqlite_path(url: URL) -> Path | None:
    """Return the file of an SQLite URL, or None for a database server."""
    return Path(url.database or "") if _is_sqlite(url) else None


def refuse_folder(url: URL) -> None:
    """Raise ``StoreError`` if an SQLite URL names a folder."""
    path = sqlite_path(url)
    if path is not None and path.is_dir():
        raise StoreError(f"{shown(url)} is a folder, not a database", hint="name a file in it")


def require_file(url: URL) -> None:
    """Raise ``StoreError`` if an SQLite URL names a file that is not there."""
    refuse_folder(url)
    path = sqlite_path(url)
    if path is not None and not path.is_file():
        raise StoreError(
            f"there is no database at {shown(url)}",
            hint="run 'autotune tune STUDY.toml' first, or name another with --db",
        )


def make_folder(path: Path) -> None:
    """Make the folder of the default database; any other must be there already.

    Raises:
        StoreError: The folder of ``path`` is missing or cannot be made.
    """
    folder = path.absolute().parent
    if folder == _default_folder():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot make the folder {folder}: {error.strerror}",
                hint=f"set {VARIABLE} or --db to a place that you can write",
            ) from None
    if not folder.is_dir():
        raise StoreError(
            f"cannot open {path}: the folder {folder} does not exist",
            hint=f"mkdir -p {folder}",
        )


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _default_folder() -> Path:
    return platformdirs.user_data_path("autotune", appauthor=False)
