from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from autotune.records import SourceUnit
from autotune.toolchain import BinaryStore

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))  # for the helpers there
KERNEL = '#include "config.h"\nextern "C" __global__ void k(float *p) { p[threadIdx.x] = VALUE; }\n'
LIBRARY = '#include "config.h"\nextern "C" int answer() { return VALUE; }\n'


def write_once(path, text):
    """Leave a file alone that a compiler may be reading."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


@pytest.fixture
def kernel():
    return KERNEL


@pytest.fixture
def library():
    return LIBRARY


@pytest.fixture
def store(tmp_path):
    return BinaryStore(tmp_path / "binaries")


@pytest.fixture
def cuda_unit(tmp_path):
    """Make a CUDA unit out of a source text and the value that its config gives."""

    def make(text=KERNEL, value=1, *, entry="k", name="main.cu", **fields):
        main = tmp_path / "cuda" / name
        main.parent.mkdir(exist_ok=True)
        write_once(main, text)
        header = f"#pragma once\nconstexpr int VALUE = {value};\n"
        return SourceUnit(language="cuda", main=main, header=header, entry=entry, **fields)

    return make


@pytest.fixture
def host_unit(tmp_path):
    """Make a C++ unit out of a source text and the value that its config gives."""

    def make(text=LIBRARY, value=1, *, entry="answer", name="main.cpp", **fields):
        main = tmp_path / "host" / name
        main.parent.mkdir(exist_ok=True)
        write_once(main, text)
        header = f"#pragma once\nconstexpr int VALUE = {value};\n"
        return SourceUnit(language="c++", main=main, header=header, entry=entry, **fields)

    return make


@pytest.fixture
def host_arch():
    return platform.machine()
