"""Faults of the machine, for which no source can be blamed: it has run out of something."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from autotune.errors import ToolchainBroken
from autotune.records import Failure

_EXHAUSTED = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS)
_DISK_FULL = ("No space left on device", "Disk quota exceeded")


@contextmanager
def sound_machine() -> Iterator[None]:
    """Raise ``ToolchainBroken`` for an ``OSError`` that says that the machine is at its end."""
    try:
        yield
    except OSError as error:
        if error.errno in _EXHAUSTED:
            raise _broken(str(error)) from error
        raise


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder, which goes when it is left or closed.

    Raises:
        ToolchainBroken: There is nowhere to make it.
    """
    try:
        # A compiler that dies only now may still write there, and that must not be the last word.
        return tempfile.TemporaryDirectory(prefix="autotune-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ToolchainBroken(
            f"there is no folder for temporary files: {error.strerror}",
            hint="set TMPDIR to a folder that you can write",
        ) from error


def require_space(failure: Failure) -> None:
    """Raise ``ToolchainBroken`` if a compiler failed because a disk is full."""
    for line in failure.message.splitlines():
        if line.endswith(_DISK_FULL):
            raise _broken(line)


def _broken(why: str) -> ToolchainBroken:
    return ToolchainBroken(
        f"the compiler cannot work: {why}",
        hint="free some space, or set TMPDIR to a folder that has it",
    )
