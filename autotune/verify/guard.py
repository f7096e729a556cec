"""A buffer that shows what was not written, and what was written beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autotune.records import Operand
from autotune.verify.compare import any_of, first_of, how_many
from autotune.verify.dtypes import is_float, stored_dtype

GUARD_BYTES = 1 << 16
GUARD_BYTE = 0xA5
NAN_BYTE = 0xFF  # all ones are a NaN in every float dtype
INT_BYTE = 0xA5  # far outside what the integer inputs can give


def poison(array: Any, operand: Operand) -> None:
    """Fill an array with NaN, or with integers that no right candidate writes."""
    byte = NAN_BYTE if is_float(operand.dtype) else INT_BYTE
    array.reshape(-1).view(np.uint8)[...] = byte


class Guarded:
    """One output or scratch array between two bands that no kernel may touch.

    Args:
        operand: What it is.
        xp: numpy or cupy.

    Attributes:
        array: The array, as it is stored.
    """

    def __init__(self, operand: Operand, xp: Any) -> None:
        self._operand = operand
        self._xp = xp
        dtype = stored_dtype(operand.dtype)
        body_bytes = math.prod(operand.shape) * dtype.itemsize
        self._raw = xp.empty(2 * GUARD_BYTES + body_bytes, dtype=np.uint8)
        self._end = GUARD_BYTES + body_bytes
        self.array = self._raw[GUARD_BYTES : self._end].view(dtype).reshape(operand.shape)

    def poison(self) -> None:
        """Fill the array with NaN and both bands with their pattern."""
        self._raw[:GUARD_BYTES] = GUARD_BYTE
        poison(self.array, self._operand)
        self._raw[self._end :] = GUARD_BYTE

    def overrun(self) -> str | None:
        """Return what was written outside the array, in words, or None."""
        kind = "output" if self._operand.output else "scratch"
        before = self._raw[:GUARD_BYTES][::-1] != GUARD_BYTE
        after = self._raw[self._end :] != GUARD_BYTE
        for band, where in ((before, "before"), (after, "past the end of")):
            if any_of(band):
                count, near = int(how_many(band, xp=self._xp)), first_of(band) + 1
                return f"wrote {count} bytes {where} {kind} {self._operand.name}, {near} from it"
        return None

    def overrun_by_hand(self) -> None:
        """Write one byte where no kernel may."""
        self._raw[self._end] = 0
