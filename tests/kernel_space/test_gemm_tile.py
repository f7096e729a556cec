"""The layout of shared memory and the order of blocks, run on the host from the kernel's header."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cards import A100

from kernel_space.gemm import Gemm, GemmProblem

CHECK = Path(__file__).with_name("gemm_tile_check.cpp")
COMPILER = os.environ.get("CXX", "c++")


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no C++ compiler")
@pytest.mark.parametrize(
    ("dtype", "layout", "tile_m", "tile_n", "tile_k"),
    [
        ("bf16", "nt", 128, 32, 16),
        ("bf16", "nt", 64, 128, 32),
        ("fp16", "nt", 32, 64, 64),
        ("bf16", "tn", 32, 64, 16),
        ("bf16", "tn", 128, 256, 32),
        ("fp32", "nt", 64, 32, 8),
        ("fp32", "tt", 32, 64, 16),
        ("fp32", "nn", 64, 128, 32),
    ],
)
def test_tiles_have_no_bank_conflict_and_blocks_cover_c(
    dtype, layout, tile_m, tile_n, tile_k, tmp_path
):
    kernel, problem = Gemm(), GemmProblem(64, 64, 64, dtype, layout)
    changes = {"tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "warp_m": 32, "warp_n": 32}
    unit = kernel.unit(problem, kernel.default(problem, A100).replace(**changes), A100)
    (tmp_path / unit.header_name).write_text(unit.header)
    program = tmp_path / "check"
    include = [f"-I{folder}" for folder in (tmp_path, *unit.include_dirs)]
    subprocess.run(
        [COMPILER, "-std=c++17", "-O1", *include, str(CHECK), "-o", str(program)], check=True
    )
    claims = subprocess.run([program], check=True, capture_output=True, text=True)
    assert claims.stdout == ""
