"""The comparison of GEMMs from end to end, on a real GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.records.targets import TARGETS
from autotune.toolchain import source_digest
from kernel_space.gemm import Gemm, GemmProblem
from kernel_space.gemm.hopper import MECHANISMS

pytestmark = pytest.mark.gpu

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gemm.py"
BRIEFLY = ("--rounds", "1", "--algorithms", "2", "--finalists", "1")


@pytest.fixture(autouse=True)
def _torch():
    torch = pytest.importorskip("torch")
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("8-bit floats are multiplied on Hopper")


@pytest.fixture
def compared(tmp_path):
    def run(*arguments):
        path = tmp_path / "results.json"
        command = [sys.executable, SCRIPT, *arguments, *BRIEFLY, "--json", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(path.read_text()), done.stderr

    return run


@pytest.mark.parametrize("dtype", ["e4m3-bf16", "e4m3-fp32", "bf16"])
def test_ours_and_the_library_meet_and_ours_is_right(compared, dtype):
    found, _ = compared("--shape", "256", "512", "1040", "--dtype", dtype, "--no-triton")
    [row] = found["rows"]
    assert (row["dtype"], set(row["us"])) == (dtype, {"autotune", "cuBLAS"})
    assert row["wrong"]["autotune"] == 0
    assert row["choice"]["autotune"]["config"]["mechanism"] in MECHANISMS


def test_triton_is_left_out_of_8_bit_products_with_a_line(compared):
    found, said = compared("--shape", "256", "256", "256", "--dtype", "e4m3-bf16")
    assert "Triton" not in found["rows"][0]["us"]
    assert "left out: Triton, which is for bf16 and fp16, not e4m3-bf16" in said


def test_results_name_the_source_that_they_are_of(compared):
    found, _ = compared("--shape", "256", "256", "256", "--no-triton")
    problem, target = GemmProblem(4096, 4096, 4096), TARGETS["sm_90a"]
    unit = Gemm().unit(problem, Gemm().default(problem, target), target)
    assert found["provenance"]["kernel_source"] == source_digest(unit)
