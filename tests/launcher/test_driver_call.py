"""What reaches the driver when a known call is launched, in the layout of the real <cuda.h>."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("notes_launches.cpp")
CODE = """
import ctypes, gc
from cuda.bindings import driver
from autotune.device.loaded import Arguments, Bound, launch_config, start_of
from autotune.records import Launch

def bound(stream, threads=96, overlaps=False):
    launch = Launch(grid=(7, 5, 3), block=(threads, 2, 1), shared_bytes=230480, arguments=(),
                    overlaps=overlaps)
    how = launch_config(launch, stream)
    packed = Arguments([ctypes.c_void_p(0xabcdef0123), ctypes.c_int32(64)])
    return Bound((start_of(how, driver.CUfunction(0x5), packed),), (how, packed))

made = [bound(0x77), bound(0, overlaps=True), bound(0, threads=0)]
gc.collect()
for each in made:
    for start in each.starts:
        for _ in range(2):
            print(start(), flush=True)
"""


@pytest.fixture
def driver(tmp_path):
    compiler = os.environ.get("CXX", "c++")
    headers = pytest.importorskip("cuda.pathfinder").find_nvidia_header_directory("cudart")
    if shutil.which(compiler) is None or headers is None:
        pytest.skip("no C++ compiler, or no <cuda.h>")
    made = [compiler, "-std=c++17", "-shared", "-fPIC", "-I", headers, SOURCE]
    subprocess.run([*made, "-o", tmp_path / "libcuda.so.1"], check=True)
    return tmp_path


def test_the_driver_is_asked_for_what_the_launch_says(driver):
    paths = {"LD_LIBRARY_PATH": str(driver)}
    command = [sys.executable, "-c", CODE]
    told = subprocess.run(
        command, env=os.environ | paths, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    usual = "grid 7 5 3 block 96 2 1 shared 230480 stream {} function 0x5 extra 0{} arguments {}"
    arguments = "abcdef0123 64"
    plain = usual.format("0x77", "", arguments)
    overlapping = usual.format("(nil)", " overlaps 1", arguments)
    assert told.stdout.splitlines() == [plain, "0"] * 2 + [overlapping, "0"] * 2 + ["701"] * 2
