"""Eight-bit floats as the OCP defines E4M3: ``float8_e4m3fn`` elsewhere, held as ``uint8`` here.

A sign, 4 bits of exponent and 3 of fraction. There is no infinity: the code of all ones but the
sign is a NaN, and so is whatever lies too far beyond the largest number, 448.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SIGN, _NAN = 0x80, 0x7F
_SMALLEST_NORMAL = 2.0**-6
_BIAS = 127 - 7  # of fp32 less that of E4M3
_CUT = 23 - 3  # bits of an fp32 fraction that are rounded away


def encode(values: Any, xp: Any) -> Any:
    """Round ``values``, which pass through fp32, to the nearest code (ties to even).

    Args:
        values: Floats or integers.
        xp: numpy or cupy.
    """
    single = xp.ascontiguousarray(values, dtype=np.float32)
    size = xp.abs(single)
    bits = size.view(np.uint32)
    normal = (bits + ((1 << (_CUT - 1)) - 1) + ((bits >> _CUT) & 1)) >> _CUT
    steps = xp.rint(xp.fmin(size, _SMALLEST_NORMAL) * 2**9)  # of numbers without a leading one
    codes = xp.where(size < _SMALLEST_NORMAL, steps.astype(np.uint32), normal - (_BIAS << 3))
    sign = (single.view(np.uint32) >> 24) & _SIGN
    return (xp.minimum(codes, _NAN) | sign).astype(np.uint8)


def decode(codes: Any, to: str) -> Any:
    """Return the values of ``codes`` in the numpy dtype ``to``.

    An fp16 number holds each of them, but for a factor of 2^8 between the biases.
    """
    wide = codes.astype(np.uint16)
    size = wide & _NAN
    bits = ((wide & _SIGN) << 8) | (size << 7) | ((size == _NAN) * np.uint16(0x7C00))
    return bits.astype(np.uint16).view(np.float16).astype(to) * 2**8
