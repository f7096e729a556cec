from __future__ import annotations

import pytest

from autotune.records import load_kernel
from autotune.records.targets import TARGETS
from autotune.report.fields import config_text, installed_kernel, problem_text

H200, A100 = TARGETS["sm_90a"], TARGETS["sm_80"]


def default_text(name, target, **fields):
    kernel = load_kernel(name)
    return config_text(kernel, kernel.default(kernel.problem_type.parse(fields), target))


def test_a_problem_reads_as_it_is_typed():
    assert problem_text({"m": 1, "dtype": "bf16"}) == "m=1,dtype=bf16"


HOPPER = "l2_promotion=256 raster=along_m raster_group=1 stages=5 tile_m=128 tile_n=128"
AMPERE = (
    "barriers=2 cache=bypass copy_bytes=16 raster=along_n raster_group=1 stages=3 "
    "tile_k=32 tile_m=128 tile_n=128 warp_m=64 warp_n=32"
)


@pytest.mark.parametrize(
    ("target", "text"),
    [(H200, f"mechanism=ws_pingpong {HOPPER}"), (A100, f"mechanism=cp_async {AMPERE}")],
)
def test_knobs_that_a_mechanism_lacks_are_not_shown(target, text):
    assert default_text("gemm", target, m=4096, n=4096, k=4096) == text


def test_a_knob_that_is_switched_on_is_shown():
    gemm = load_kernel("gemm")
    config = gemm.default(gemm.problem_type(64, 64, 4096), H200).replace(split_k=4)
    assert "split_k=4" in config_text(gemm, config)
    assert "cluster_m" not in config_text(gemm, config)


def test_a_stream_shows_what_its_mechanism_leaves_open():
    assert default_text("stream", H200, count=100) == (
        "mechanism=direct blocks_per_sm=0 copy_bytes=16 eviction=normal thread_bytes=32 threads=256"
    )


def test_a_config_of_an_older_kernel_is_shown_whole():
    assert config_text(load_kernel("gemm"), {"tile": 1, "warp": 2}) == "tile=1 warp=2"


def test_no_file_is_run_to_show_a_config(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text("raise SystemExit")
    kernel = installed_kernel(f"{path}:Any")
    assert kernel is None
    assert config_text(kernel, {"tile": 1}) == "tile=1"


def test_a_config_is_shown_whole_where_its_kernel_cannot_say_what_to_show():
    kernel = load_kernel("host_matmul")
    kernel.shown = lambda _config: None
    assert config_text(kernel, {"tile": 1}) == "tile=1"
