"""Inputs that look random, are the same on every device, and need no random library."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from autotune.records import Operand
from autotune.verify.dtypes import encode, is_float

INTEGER_BOUND = 4


def draw(operand: Operand, *, seed: str, integers: bool, xp: Any) -> Any:
    """Return one input as it is stored.

    Args:
        operand: Its dtype, its shape and the interval to draw from.
        seed: Text; equal text gives equal bits, whatever ``xp`` is.
        integers: Whole numbers in four times the interval, rather than uniform in it. Integer
            operands always are whole.
        xp: numpy or cupy.
    """
    noise = _noise(math.prod(operand.shape), f"{seed}/{operand.name}", xp)
    low, high = operand.drawn_from
    if integers or not is_float(operand.dtype):
        least, most = math.ceil(INTEGER_BOUND * low), math.floor(INTEGER_BOUND * high)
        values = ((noise >> 16) * (most - least + 1) >> 16).astype(np.int32) + least
    else:
        step = np.float32((high - low) * 2.0**-24)
        values = (noise >> 8).astype(np.float32) * step + np.float32(low)
    return encode(values, operand.dtype, xp).reshape(operand.shape)


def _noise(count: int, seed: str, xp: Any) -> Any:
    """Return ``count`` uniform 32-bit words: a counter, keyed and mixed twice."""
    key = hashlib.blake2b(seed.encode(), digest_size=8).digest()
    low, high = (int.from_bytes(part, "little") for part in (key[:4], key[4:]))
    words = xp.arange(count, dtype=np.uint32)
    words ^= np.uint32(low)
    _mix(words)
    words ^= np.uint32(high)
    _mix(words)
    return words


def _mix(words: Any) -> None:
    """Spread every bit of each word over all of its bits, in place (an invertible hash)."""
    words ^= words >> 16
    words *= np.uint32(0x21F0AAAD)
    words ^= words >> 15
    words *= np.uint32(0xD35A2D97)
    words ^= words >> 15
