"""A middling config that fits every device from sm_80 on."""

from __future__ import annotations

from autotune.records import Config, Value
from kernel_space.gemm.ampere.rules import (
    BYPASS_BYTES,
    FIXED,
    MIN_ASYNC_BYTES,
    widest_copy_bytes,
)
from kernel_space.gemm.problem import GemmProblem

_ODD_ROWS: dict[str, Value] = {
    "mechanism": "sync2",
    "stages": 2,
    "barriers": 0,
    "tile_m": 64,
    "tile_n": 64,
    "tile_k": 32,
    "warp_m": 32,
    "warp_n": 32,
}
_EVEN_ROWS: dict[str, Value] = {
    "mechanism": "cp_async",
    "stages": 3,
    "barriers": 2,
    "tile_m": 128,
    "tile_n": 128,
    "tile_k": 32,
    "warp_m": 64,
    "warp_n": 32,
}
_FP32: dict[str, Value] = {"tile_m": 64, "tile_n": 64, "tile_k": 8, "warp_m": 32, "warp_n": 32}


def default(problem: GemmProblem) -> Config:
    """Return a config that is valid for ``problem`` and never spills."""
    copy_bytes = widest_copy_bytes(problem)
    return Config(
        {
            **FIXED,
            **(_ODD_ROWS if copy_bytes < MIN_ASYNC_BYTES else _EVEN_ROWS),
            **({} if problem.uses_tensor_cores else _FP32),
            "copy_bytes": copy_bytes,
            "cache": "bypass" if copy_bytes == BYPASS_BYTES else "l1",
            "raster": "along_n",
            "raster_group": 1,
        }
    )
