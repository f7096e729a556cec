"""The copy to rows that tensor maps can describe, run on the host and read as instructions."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from disassembly import instructions, opcode

from autotune.records import SourceUnit
from autotune.toolchain import Nvrtc
from autotune.toolchain.compiler import Compiled
from kernel_space import gemm

CHECK = Path(__file__).with_name("gemm_pack_check.cpp")
COMPILER = os.environ.get("CXX", "c++")
SOURCES = Path(gemm.__file__).parent


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no C++ compiler")
def test_every_element_arrives_and_nothing_is_read_beyond_the_matrix(tmp_path):
    program = tmp_path / "check"
    emulated = Path(__file__).with_name("emulated")
    folders = [f"-I{folder}" for folder in (emulated, SOURCES, SOURCES.parent)]
    options = ["-std=c++17", "-O1", "-fsanitize=address", "-Wno-unknown-pragmas"]
    command = [COMPILER, *options, *folders, str(CHECK), "-o", str(program)]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    if "asan" in built.stderr:
        pytest.skip("the C++ compiler has no address sanitizer")
    assert built.returncode == 0, built.stderr
    claims = subprocess.run([program], check=False, capture_output=True, text=True)
    assert (claims.returncode, claims.stdout, claims.stderr) == (0, "", "")


def test_memory_is_read_and_written_sixteen_bytes_at_a_time(tmp_path):
    main = tmp_path / "alone.cu"
    main.write_text('#include "hopper/pack.cuh"\n')
    unit = SourceUnit(
        language="cuda", main=main, header="", entry="pack", include_dirs=(SOURCES, SOURCES.parent)
    )
    made = Nvrtc().compile(unit, "sm_90a")
    assert isinstance(made, Compiled), made
    found = [opcode(each) for each in instructions(made.image, tmp_path)]
    assert found.count("LDG.E.128") == 4  # two neighbours, for each of two pieces at once
    assert {each for each in found if each.startswith("STG")} == {"STG.E.128"}
    assert not [each for each in found if each.startswith(("LDL", "STL"))]
    assert made.resources.registers <= 40  # six blocks of 256 threads live on a multiprocessor
