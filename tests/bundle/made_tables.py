"""Tables of the host's kernel and of ``gemm``, made by hand."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from autotune.records import Target, load_kernel
from autotune.records.targets import TARGETS

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from made_table import table_text

HOST = Target(
    arch=platform.machine(),
    sm_count=2,
    shared_bytes_per_block=0,
    shared_bytes_per_sm=0,
    l2_bytes=1 << 20,
)


def host_text():
    small, large = {"m": 8, "n": 16, "k": 4}, {"m": 300, "n": 200, "k": 100}
    answers = ((small, {"tile_m": 4}), (large, {"order": "kij"}))
    return table_text(load_kernel("host_matmul"), HOST, answers, ((small, {}),))


def hopper_text():
    """Return a table with one config that needs two binaries, and one of another family."""
    gemm = load_kernel("gemm")
    square = {"m": 4096, "n": 4096, "k": 4096, "dtype": "bf16", "layout": "nt"}
    ragged = square | {"k": 4095}
    ampere = gemm.default(gemm.problem_type.parse(square), TARGETS["sm_80"]).as_dict()
    copied = {"mechanism": "sync2", "stages": 2, "barriers": 0, "cache": "l1", "copy_bytes": 2}
    answers = ((square, {"stages": 4}), (ragged, ampere | copied | {"repack": "none"}))
    return table_text(gemm, TARGETS["sm_90a"], answers)
