"""Keys: a digest of canonical JSON, so that equal meaning gives an equal key."""

from __future__ import annotations

import hashlib
import json
from typing import Any

DIGEST_BYTES = 16


def canonical_json(value: Any) -> str:
    """Return the one JSON text of ``value``: sorted keys, no spaces, no NaN.

    Raises:
        ValueError: ``value`` holds a NaN or an infinity.
        TypeError: ``value`` holds something that JSON cannot express.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def digest(value: Any) -> str:
    """Return 32 hexadecimal digits that identify ``value`` by its canonical JSON."""
    return digest_bytes(canonical_json(value).encode())


def digest_bytes(data: bytes) -> str:
    """Return 32 hexadecimal digits that identify ``data``."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
