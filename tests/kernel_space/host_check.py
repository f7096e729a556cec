"""CUDA sources built by the host's C++ compiler, with emulated headers, and run to check them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX", "c++")

needs_compiler = pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no C++ compiler")


def complaints(check: str, folder: Path, include: Iterable[Path], *options: str) -> str:
    """Return all that a check says, and how it ended if not well: nothing if it is content.

    Args:
        check: The name of its source, which stands beside this file.
        folder: Where its program goes.
        include: Folders of headers, searched after the emulated ones.
        options: Further compiler options.
    """
    program = folder / "check"
    folders = [f"-I{path}" for path in (folder, HERE / "emulated", *include)]
    command = [COMPILER, "-std=c++17", "-O1", *options, *folders, str(HERE / check), "-o"]
    built = subprocess.run([*command, str(program)], check=False, capture_output=True, text=True)
    if "asan" in built.stderr:
        pytest.skip("the C++ compiler has no address sanitizer")
    assert built.returncode == 0, built.stderr
    ended = subprocess.run([program], check=False, capture_output=True, text=True)
    crashed = f"ended with {ended.returncode}" if ended.returncode else ""
    return ended.stdout + ended.stderr + crashed
