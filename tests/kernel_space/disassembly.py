"""The instructions in a cubin, by nvdisasm."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest


def instructions(image: bytes, folder: Path) -> list[str]:
    """Return the instructions of a cubin in order, each with its operands."""
    pathfinder = pytest.importorskip("cuda.pathfinder")
    nvdisasm = pathfinder.find_nvidia_binary_utility("nvdisasm")
    assert nvdisasm, "nvdisasm is in the test group: pip install nvidia-cuda-nvdisasm"
    cubin = folder / "kernel.cubin"
    cubin.write_bytes(image)
    command = [nvdisasm, "--print-code", str(cubin)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.findall(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", text)


def opcode(instruction: str) -> str:
    """Return an instruction's name with its suffixes, without predicate and operands."""
    return re.sub(r"^@!?U?P\w+ ", "", instruction).split()[0]
