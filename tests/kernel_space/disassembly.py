"""What NVRTC made of a source: the cubin, and the instructions in it by nvdisasm."""

from __future__ import annotations

import functools
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from autotune.records import SourceUnit
from autotune.toolchain import Nvrtc
from autotune.toolchain.compiler import Compiled

SCOREBOARDS = range(6)  # a thread has so many to wait for what takes long


class Scheduled(NamedTuple):
    """An instruction, the scoreboard that its result releases, and those that it waits for."""

    text: str
    releases: int
    waits: frozenset[int]


@functools.cache
def compiled_by_nvrtc(unit: SourceUnit, arch: str) -> Compiled:
    """Return the cubin of a source that must compile, with what the compiler said of it."""
    made = Nvrtc().compile(unit, arch)
    assert isinstance(made, Compiled), made
    return made


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


def named(found: list[str], *names: str) -> list[str]:
    """Return the instructions whose opcode begins with one of the names."""
    return [text for text in found if opcode(text).startswith(names)]


def places(found: list[str], *names: str) -> list[int]:
    """Return where the instructions stand whose opcode begins with one of the names."""
    return [i for i, text in enumerate(found) if opcode(text).startswith(names)]
