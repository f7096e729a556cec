"""The main loops' hand-over of stages, run on the host with every liberty that a GPU has."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cards import A100
from host_check import complaints, needs_compiler

from kernel_space.gemm import Gemm, GemmProblem

TWO_WARPS = {"tile_m": 32, "tile_n": 64, "tile_k": 32, "warp_m": 32, "warp_n": 32}
pytestmark = needs_compiler


@pytest.fixture
def broken(tmp_path: Path):
    """Return what is wrong with a main loop, if part of its source reads otherwise."""

    def of(mechanism: str, stages: int, barriers: int, now: str = "", otherwise: str = "") -> str:
        kernel, problem = Gemm(), GemmProblem(64, 64, 64)
        config = kernel.default(problem, A100).replace(
            **TWO_WARPS, mechanism=mechanism, stages=stages, barriers=barriers
        )
        unit = kernel.unit(problem, config, A100)
        (tmp_path / unit.header_name).write_text(unit.header)
        _copy_sources(unit.main.parent, tmp_path)
        if now:
            _replace(tmp_path, mechanism, now, otherwise)
        return complaints("gemm_mainloop_check.cpp", tmp_path, unit.include_dirs)

    return of


def _copy_sources(gemm: Path, folder: Path) -> None:
    """Copy what is tested away from what the emulated headers stand in for."""
    (folder / "ptx").mkdir()
    shutil.copy(gemm.parent / "ptx" / "pipeline.cuh", folder / "ptx")
    for path in (gemm / "ampere").glob("mainloop*.cuh"):
        shutil.copy(path, folder)


def _replace(folder: Path, mechanism: str, now: str, otherwise: str) -> None:
    names = (f"mainloop_{mechanism}.cuh", "mainloop_ring.cuh", "ptx/pipeline.cuh")
    found = [path for path in map(folder.joinpath, names) if now in path.read_text()]
    assert len(found) == 1
    found[0].write_text(found[0].read_text().replace(now, otherwise))


@pytest.mark.parametrize(
    ("mechanism", "stages", "barriers"),
    [
        ("sync2_smem", 2, 0),
        ("sync2", 2, 0),
        ("cg_memcpy_async", 1, 0),
        ("cp_async", 3, 2),
        ("cp_async", 2, 1),
        ("cp_async", 4, 1),
        ("pipeline_thread", 1, 2),
        ("pipeline_thread", 3, 2),
        ("pipeline_thread", 4, 1),
        ("pipeline_block", 2, 0),
        ("mbarrier", 2, 0),
        ("mbarrier", 3, 0),
        ("ws_cp_async", 3, 0),
    ],
)
def test_every_tile_is_multiplied_once_and_whole(broken, mechanism, stages, barriers):
    assert broken(mechanism, stages, barriers) == ""


@pytest.mark.parametrize(
    ("ring", "now", "otherwise"),
    [
        (("sync2", 2, 0), "__syncthreads();  // the next tile", "//"),
        (("cp_async", 3, 2), "__syncthreads();  // everybody has read", "//"),
        (("cp_async", 3, 2), "cp_async_wait<AHEAD - 1>", "cp_async_wait<AHEAD>"),
        (("cp_async", 4, 2), "tile < AHEAD; ++tile", "tile <= AHEAD; ++tile"),
        (("cp_async", 4, 1), "cp_async_commit();", "if (wanted) cp_async_commit();"),
        (("cg_memcpy_async", 1, 0), "cg::wait(block);", ""),
        (("cg_memcpy_async", 1, 0), "block.sync();  // everyone has read", "//"),
        (("pipeline_thread", 3, 2), "__syncthreads();  // everybody has read", "//"),
        (("pipeline_thread", 3, 2), "wait_prior<AHEAD - 1>", "wait_prior<AHEAD>"),
        (
            ("pipeline_thread", 4, 1),
            "pipe.producer_commit();",
            "if (wanted) pipe.producer_commit();",
        ),
        (("pipeline_block", 3, 0), "pipe.producer_acquire();", ""),
        (("pipeline_block", 3, 0), "pipe.consumer_wait();", ""),
        (("pipeline_block", 3, 0), "block.sync();  // a thread does not end", "//"),
        (("mbarrier", 2, 0), "lap ^= 1;", ""),
        (("mbarrier", 3, 0), "ring.producer_acquire(write);", ""),
        (("ws_cp_async", 2, 0), "multiply_last(product);\n        ring.", "ring."),
        (("ws_cp_async", 2, 0), "cp_async_wait<0>();", ""),
    ],
)
def test_a_slip_of_the_hand_is_noticed(broken, ring, now, otherwise):
    assert broken(*ring, now, otherwise) != ""
