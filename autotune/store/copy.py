"""Copy an SQLite database while others may be using it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from autotune.errors import StoreError
from autotune.store.engine import BUSY_S


def copy_file(source: Path, target: Path) -> Path:
    """Write a compact copy of ``source`` to ``target``, whole or not at all.

    The copy holds what was committed when it began. It is not in WAL mode, so that it can
    be read from a folder that cannot be written.

    Raises:
        StoreError: The copy cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".copy-") as folder:
            partial = Path(folder) / target.name
            with closing(sqlite3.connect(source, timeout=BUSY_S)) as connection:
                connection.execute("VACUUM INTO ?", (str(partial),))
            with partial.open("rb+") as written:
                os.fsync(written.fileno())
            partial.replace(target)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"cannot copy {source} to {target}: {error}") from error
    return target
