"""C++ programs, compiled and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
sys.path[:0] = map(str, (HERE, HERE.parent / "bundle", BENCHMARKS))  # for what tests share

STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic")


@pytest.fixture(scope="session")
def compile_cpp(tmp_path_factory):
    """Compile a source to a program, with every warning an error."""
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        pytest.skip("no C++ compiler")

    def compiled(source, *options, include=(), strict=STRICT):
        program = tmp_path_factory.mktemp("cpp") / Path(source).stem
        folders = [f"-I{folder}" for folder in include]
        command = [compiler, *strict, "-O1", *folders, str(source), "-o", str(program), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return program

    return compiled
