"""Turn what a database driver raises into one line that a person can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL
from sqlalchemy.exc import (
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)

from autotune.errors import StoreError, install_hint
from autotune.store.url import shown

_SQLITE_FAULTS = {  # by the start of SQLite's own name for the error
    "SQLITE_FULL": ("disk full", "free some space; every earlier row is safe"),
    "SQLITE_IOERR_WRITE": (
        "the disk is full or a size limit is reached",
        "free some space; every earlier row is safe",
    ),
    "SQLITE_IOERR_SHMSIZE": ("disk full", "free some space; every earlier row is safe"),
    "SQLITE_BUSY": ("locked by another process for too long", "end what holds it, and try again"),
    "SQLITE_LOCKED": ("locked by another process for too long", "end what holds it, and try again"),
    "SQLITE_NOTADB": ("not an SQLite database", "name another file"),
    "SQLITE_CORRUPT": ("damaged", "restore a copy, or name another file"),
    "SQLITE_CANTOPEN": ("the file cannot be opened", "check the path and its permissions"),
    "SQLITE_READONLY": ("read-only", "check the permissions of the file and its folder"),
}


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Raise ``StoreError`` for whatever SQLAlchemy or its driver raises inside."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        raise _of_driver(url, error) from error
    except UnicodeError as error:
        raise StoreError(f"{shown(url)}: cannot store text that is not Unicode: {error}") from None
    except NoSuchModuleError:
        raise StoreError(
            f"{shown(url)}: no database is called {url.drivername!r}",
            hint="use sqlite:/// or postgresql://",
        ) from None
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{shown(url)}: the driver {error.name!r} is not installed",
            hint=f"install it, or use postgresql:// with {install_hint('postgres')}",
        ) from None
    except SQLAlchemyError as error:
        raise StoreError(f"{shown(url)}: {_first_line(error)}") from error


def _of_driver(url: URL, error: DBAPIError | sqlite3.Error) -> StoreError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", "")
    for prefix, (what, hint) in _SQLITE_FAULTS.items():
        if name.startswith(prefix):
            return StoreError(f"{shown(url)}: {what}", hint)
    if isinstance(error, OperationalError) and not name:
        return StoreError(f"{shown(url)}: {_first_line(cause)}", "check the URL and the server")
    broken = "a row breaks a rule: " if isinstance(error, IntegrityError) else ""
    return StoreError(f"{shown(url)}: {broken}{_first_line(cause)}")


def _first_line(error: BaseException | None) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
