"""One study at a time times on a device."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

_LOG = logging.getLogger(__name__)


class DeviceLock:
    """A lock on one physical device, shared by every process of the machine.

    Args:
        uuid: Names the device. An empty one locks nothing.
        name: What a person calls the device.
    """

    def __init__(self, uuid: str, name: str) -> None:
        self._name = name
        # One file a device, and it stays: to delete it is to let in who opened it before and who
        # makes it anew, both at once.
        path = Path(tempfile.gettempdir()) / f"autotune-{uuid}.lock"
        self._lock = FileLock(path, mode=0o666) if uuid else None

    def acquire(self) -> None:
        """Return once no other study times on the device; log if that means waiting."""
        if self._lock is None or self._lock.is_locked:
            return
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            _LOG.warning("%s is in use by another study: waiting for it", self._name)
            self._lock.acquire()
        except PermissionError as error:  # another user's file
            _LOG.warning("%s cannot be locked: %s", self._name, error)

    def release(self) -> None:
        """Let the next study in."""
        if self._lock is not None:
            self._lock.release()
