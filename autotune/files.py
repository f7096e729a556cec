"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from autotune.errors import AutotuneError, InvalidInput


def write_whole(path: str | os.PathLike[str], content: bytes, *, what: str) -> None:
    """Write ``content`` to ``path``, which names either the old file or the whole new one.

    Args:
        path: The file.
        content: All of it.
        what: What it is, in a word, for messages.

    Raises:
        InvalidInput: ``path`` is in no folder, or is something other than a file.
        AutotuneError: It cannot be written, for example because the disk is full.
    """
    target = writable_target(path, what=what)
    try:
        _replace(target, content)
    except OSError as error:
        raise AutotuneError(
            f"{what} {os.fspath(path)!r} cannot be written: {error.strerror}",
            hint="what was there before is untouched",
        ) from error


def writable_target(path: str | os.PathLike[str], *, what: str) -> Path:
    """Return the file that ``path`` would be: a link stays a link to the new file.

    Raises:
        InvalidInput: ``path`` is in no folder, in one that cannot be written to, or is something
            other than a file.
    """
    target, named = Path(os.path.realpath(path)), f"{what} {os.fspath(path)!r}"
    if not target.parent.is_dir():
        raise InvalidInput(f"{named}: there is no folder {str(target.parent)!r}")
    if not os.access(target.parent, os.W_OK):
        raise InvalidInput(f"{named}: folder {str(target.parent)!r} cannot be written to")
    try:
        if target.exists() and not target.is_file():
            raise InvalidInput(f"{named} is there and is not a file")
    except OSError as error:  # the name is too long, say
        raise InvalidInput(f"{named} cannot be a file: {error.strerror}") from None
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
