"""The compiler of each language that a kernel may be written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.toolchain.compiler import Compiler
from autotune.toolchain.host import HostCompiler
from autotune.toolchain.nvrtc import Nvrtc

COMPILERS: Mapping[str, Callable[[], Compiler]] = {
    Nvrtc.language: Nvrtc,
    HostCompiler.language: HostCompiler,
}
