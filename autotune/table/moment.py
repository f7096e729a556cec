"""When: one way of writing a moment, and one of fixing it."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from autotune.errors import InvalidInput


def moment(when: datetime) -> str:
    """Return ``when`` in ISO 8601, UTC, to the second."""
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def now() -> str:
    """Return this moment; ``SOURCE_DATE_EPOCH`` fixes it for reproducible builds.

    Raises:
        InvalidInput: That is set, and is no count of seconds.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return moment(
            datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
        )
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(f"SOURCE_DATE_EPOCH must be seconds, not {epoch!r}") from None
