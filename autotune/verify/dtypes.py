"""How each dtype is stored, and what its bits mean.

Arrays of ``bf16`` are held as ``uint16`` and those of ``e4m3`` as ``uint8``: neither numpy nor
every CuPy has these types, and bits are what a check compares anyway. ``xp`` is numpy or cupy
throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autotune.verify import float8

_STORED = {"bf16": "uint16", "fp16": "float16", "fp32": "float32", "fp64": "float64"}
_STORED |= {"e4m3": "uint8", "int32": "int32"}

BF16_NAN = 0x7FC0


def stored_dtype(dtype: str) -> np.dtype[Any]:
    """Return the numpy dtype that holds ``dtype``.

    Raises:
        KeyError: ``dtype`` is not one that an operand may have.
    """
    return np.dtype(_STORED[dtype])


def is_float(dtype: str) -> bool:
    """Return True unless ``dtype`` is an integer."""
    return dtype != "int32"


def encode(values: Any, dtype: str, xp: Any) -> Any:
    """Round ``values`` to the nearest ``dtype`` (ties to even) and return them as stored.

    Values of ``bf16`` and ``e4m3`` pass through ``fp32``: give ones that it holds exactly.
    """
    if dtype == "e4m3":
        return float8.encode(values, xp)
    if dtype != "bf16":
        return values.astype(stored_dtype(dtype))
    single = xp.ascontiguousarray(values, dtype=np.float32)
    bits = single.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return xp.where(xp.isnan(single), BF16_NAN, rounded).astype(np.uint16)


def decode(stored: Any, dtype: str, to: str) -> Any:
    """Return the values that ``stored`` holds, in the numpy dtype ``to``."""
    if dtype == "e4m3":
        return float8.decode(stored, to)
    if dtype != "bf16":
        return stored.astype(to)
    return (stored.astype(np.uint32) << 16).view(np.float32).astype(to)
