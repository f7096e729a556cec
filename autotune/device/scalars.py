"""Scalar arguments as C takes them, on a GPU and on the host."""

from __future__ import annotations

import ctypes
from typing import Any

from autotune.errors import InvalidInput
from autotune.records import Scalar

_TYPES: dict[str, Any] = {
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "fp32": ctypes.c_float,
}


def c_value(scalar: Scalar) -> Any:
    """Return ``scalar`` as a ``ctypes`` value.

    Raises:
        InvalidInput: Its dtype is not one that a scalar may have, or its value is no number.
    """
    try:
        return _TYPES[scalar.dtype](scalar.value)
    except (KeyError, TypeError):
        raise InvalidInput(f"{scalar} is not a number of dtype {', '.join(_TYPES)}") from None
