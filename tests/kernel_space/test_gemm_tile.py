"""The layout of shared memory, who copies what, and the order of blocks, run on the host."""

from __future__ import annotations

import pytest
from cards import A100
from host_check import complaints, needs_compiler

from kernel_space.gemm import Gemm, GemmProblem


@needs_compiler
@pytest.mark.parametrize(
    ("dtype", "layout", "tile", "copy_bytes", "mechanism"),
    [
        ("bf16", "nt", (128, 32, 16), 8, "cp_async"),
        ("bf16", "nt", (64, 128, 32), 16, "ws_cp_async"),
        ("fp16", "nt", (32, 64, 64), 16, "cp_async"),
        ("bf16", "tn", (32, 64, 16), 4, "ws_cp_async"),
        ("bf16", "tn", (128, 256, 32), 16, "ws_cp_async"),
        ("fp32", "nt", (64, 32, 8), 8, "ws_cp_async"),
        ("fp32", "tt", (32, 64, 16), 8, "cp_async"),
        ("fp32", "nn", (64, 128, 32), 4, "ws_cp_async"),
    ],
)
def test_tiles_are_copied_whole_without_bank_conflict_and_blocks_cover_c(
    dtype, layout, tile, copy_bytes, mechanism, tmp_path
):
    kernel, problem = Gemm(), GemmProblem(64, 64, 64, dtype, layout)
    changes = dict(zip(("tile_m", "tile_n", "tile_k"), tile, strict=True))
    changes |= {"warp_m": 32, "warp_n": 32, "copy_bytes": copy_bytes, "cache": "l1"}
    config = kernel.default(problem, A100).replace(**changes, mechanism=mechanism)
    unit = kernel.unit(problem, config, A100)
    (tmp_path / unit.header_name).write_text(unit.header)
    assert complaints("gemm_tile_check.cpp", tmp_path, unit.include_dirs) == ""
