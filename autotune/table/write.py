"""Write a table: whole, or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from autotune.dispatch import Table
from autotune.errors import AutotuneError, InvalidInput
from autotune.table.build import Export


def write_table(export: Export, path: str | os.PathLike[str]) -> None:
    """Write ``export`` to ``path``, which names either the old table or the whole new one.

    Raises:
        InvalidInput: ``path`` is in no folder, or is something other than a file.
        AutotuneError: It cannot be written, for example because the disk is full.
    """
    target = writable_target(path)
    text = json.dumps(export.document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    Table.parse(text, os.fspath(path))  # what cannot be loaded is not written
    try:
        _replace(target, text.encode())
    except OSError as error:
        raise AutotuneError(
            f"table {os.fspath(path)!r} cannot be written: {error.strerror}",
            hint="what was there before is untouched",
        ) from error


def writable_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a table at ``path`` would be: a link stays a link to the new table.

    Raises:
        InvalidInput: ``path`` is in no folder, in one that cannot be written to, or is something
            other than a file.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InvalidInput(f"table {os.fspath(path)!r}: there is no folder {str(target.parent)!r}")
    if not os.access(target.parent, os.W_OK):
        raise InvalidInput(
            f"table {os.fspath(path)!r}: folder {str(target.parent)!r} cannot be written to"
        )
    if target.exists() and not target.is_file():
        raise InvalidInput(f"table {os.fspath(path)!r} is there and is not a file")
    return target


def _replace(target: Path, content: bytes) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
