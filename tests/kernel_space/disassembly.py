"""The instructions in a cubin, by nvdisasm."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

SCOREBOARDS = range(6)  # a thread has so many to wait for what takes long


class Scheduled(NamedTuple):
    """An instruction, the scoreboard that its result releases, and those that it waits for."""

    text: str
    releases: int
    waits: frozenset[int]


def instructions(image: bytes, folder: Path) -> list[str]:
    """Return the instructions of a cubin in order, each with its operands."""
    return re.findall(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", _listing(image, folder))


def scheduled(image: bytes, folder: Path) -> list[Scheduled]:
    """Return the instructions of a cubin in order, with what the compiler encoded beside them."""
    pattern = r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s*/\* 0x\w+ \*/\s*/\* (0x\w+) \*/"
    found = re.findall(pattern, _listing(image, folder, "--print-instruction-encoding"))
    return [_decoded(text, int(high, 16) >> 41) for text, high in found]


def _decoded(text: str, control: int) -> Scheduled:
    """Read the control bits: 4 of stall, 1 of yield, 3 and 3 of scoreboards, 6 of waits."""
    waits = frozenset(i for i in SCOREBOARDS if control >> 11 >> i & 1)
    return Scheduled(text, releases=control >> 5 & 7, waits=waits)


def _listing(image: bytes, folder: Path, *options: str) -> str:
    pathfinder = pytest.importorskip("cuda.pathfinder")
    nvdisasm = pathfinder.find_nvidia_binary_utility("nvdisasm")
    assert nvdisasm, "nvdisasm is in the test group: pip install nvidia-cuda-nvdisasm"
    cubin = folder / "kernel.cubin"
    cubin.write_bytes(image)
    command = [nvdisasm, "--print-code", *options, str(cubin)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def opcode(instruction: str) -> str:
    """Return an instruction's name with its suffixes, without predicate and operands."""
    return re.sub(r"^@!?U?P\w+ ", "", instruction).split()[0]
