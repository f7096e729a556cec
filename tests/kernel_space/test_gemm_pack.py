"""The copy to rows that tensor maps can address, run on the host and read as instructions."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kernel_space import gemm

CHECK = Path(__file__).with_name("gemm_pack_check.cpp")
COMPILER = os.environ.get("CXX", "c++")
SOURCES = Path(gemm.__file__).parent


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no C++ compiler")
def test_every_element_arrives_and_nothing_is_read_beyond_the_matrix(tmp_path):
    program = tmp_path / "check"
    folders = [f"-I{folder}" for folder in (SOURCES, SOURCES.parent)]
    options = ["-std=c++17", "-O1", "-fsanitize=address", "-Wno-unknown-pragmas"]
    command = [COMPILER, *options, *folders, str(CHECK), "-o", str(program)]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    if "asan" in built.stderr:
        pytest.skip("the C++ compiler has no address sanitizer")
    assert built.returncode == 0, built.stderr
    claims = subprocess.run([program], check=False, capture_output=True, text=True)
    assert (claims.returncode, claims.stdout, claims.stderr) == (0, "", "")
