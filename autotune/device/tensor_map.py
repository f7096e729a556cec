"""Tensor maps: 128 bytes that tell Hopper's copy engine where a matrix lies and how to cut it."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from autotune.errors import InvalidInput
from autotune.records import ELEMENT_BYTES, TensorMap

_WORDS = ctypes.c_uint64 * 16
_ELEMENTS = {
    "e4m3": "UINT8",  # the copy engine has no name for it: bytes are moved as they are
    "bf16": "BFLOAT16",
    "fp16": "FLOAT16",
    "fp32": "FLOAT32",
}
_MAPS_KEPT = 4096


@lru_cache(maxsize=_MAPS_KEPT)
def encoded(described: TensorMap, pointer: int) -> Any:
    """Return the map of the matrix at ``pointer`` as a kernel takes it.

    Raises:
        InvalidInput: The driver refuses it: a row or the pointer is not a multiple of 16 bytes,
            an extent is 0, or a box is too large.
    """
    from cuda.bindings import driver

    code, made = driver.cuTensorMapEncodeTiled(*_arguments(driver, described, pointer))
    if int(code) != 0:
        raise InvalidInput(
            f"no tensor map for {described.operand.name}: {code.name} for shape "
            f"{described.operand.shape}, box {described.box} at address {pointer:#x}"
        )
    return _WORDS(*map(int, made.opaque))


def _arguments(driver: Any, described: TensorMap, pointer: int) -> tuple[Any, ...]:
    rows, columns = described.operand.shape
    dtype = described.operand.dtype
    box_rows, box_columns = described.box
    swizzle = f"CU_TENSOR_MAP_SWIZZLE_{described.swizzle_bytes}B"
    promoted = described.l2_promotion_bytes
    promotion = f"CU_TENSOR_MAP_L2_PROMOTION_{f'L2_{promoted}B' if promoted else 'NONE'}"
    return (
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_ELEMENTS[dtype]}"),
        2,
        pointer,
        [driver.cuuint64_t(columns), driver.cuuint64_t(rows)],
        [driver.cuuint64_t(columns * ELEMENT_BYTES[dtype])],
        [driver.cuuint32_t(box_columns), driver.cuuint32_t(box_rows)],
        [driver.cuuint32_t(1), driver.cuuint32_t(1)],
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, swizzle),
        getattr(driver.CUtensorMapL2promotion, promotion),
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
