"""From source to binary: compilers, the content-addressed store, and a pool of processes."""

from __future__ import annotations

from autotune.toolchain.build import compile_now
from autotune.toolchain.compiler import Compiled, Compiler, require_headers
from autotune.toolchain.host import HostCompiler
from autotune.toolchain.languages import COMPILERS
from autotune.toolchain.library import library_binary
from autotune.toolchain.nvrtc import Nvrtc
from autotune.toolchain.pool import CompilePool
from autotune.toolchain.recipe import Recipe, source_digest
from autotune.toolchain.store import BinaryStore

__all__ = [
    "COMPILERS",
    "BinaryStore",
    "CompilePool",
    "Compiled",
    "Compiler",
    "HostCompiler",
    "Nvrtc",
    "Recipe",
    "compile_now",
    "library_binary",
    "require_headers",
    "source_digest",
]
