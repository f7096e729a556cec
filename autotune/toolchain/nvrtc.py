"""CUDA sources to cubins, by NVRTC; no GPU and no driver is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

from autotune.errors import ToolchainBroken, cuda_hint
from autotune.records import Failure, SourceUnit, Toolchain
from autotune.toolchain.compiler import (
    Compiled,
    checked_options,
    compile_error,
    no_entry,
    run_preflight,
)
from autotune.toolchain.headers import cuda_header_dirs, header_digests
from autotune.toolchain.ptxas import entries, read_resources
from autotune.toolchain.sources import Sources, own_dirs, scan

HINT = f"{cuda_hint()}, or set CUDA_HOME to a toolkit"
PROBE_ARCH = "sm_80"
PROBE = '#include "config.h"\nextern "C" __global__ void probe(int *out) { *out = VALUE; }\n'

# NVRTC's defaults, spelled out so that no version or wrapper can change what is computed.
NUMERICS = ("--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--fmad=true")


@dataclass(frozen=True, slots=True)
class Nvrtc:
    """The CUDA run-time compiler.

    Numerics are fixed (no flush to zero, exact division and square root, fused multiply-add)
    unless the unit's options name them or ask for ``--use_fast_math``.
    """

    language: ClassVar[str] = "cuda"
    suffix: ClassVar[str] = ".cubin"
    hint: ClassVar[str] = HINT

    @property
    def toolchain(self) -> Toolchain:
        """NVRTC's release and build."""
        return Toolchain(compiler="nvrtc", version=_version())

    def options(self, unit: SourceUnit, arch: str) -> tuple[str, ...]:
        """Return the options in the order in which NVRTC gets them."""
        own = checked_options(unit.options, unit.main)
        fixed = ("--std=c++17", *NUMERICS)
        return (
            f"--gpu-architecture={arch}",
            "--ptxas-options=-v",
            "--no-cache",  # a cubin from the driver's cache comes without ptxas' log
            *(option for option in fixed if not _is_overridden(option, own)),
            *own,
        )

    def system_headers(self, sources: Sources) -> Mapping[str, str]:
        """Return digests of the toolkit's headers: their version is not NVRTC's."""
        return header_digests(sources.system)

    def preflight(self, arch: str = "") -> None:
        """Compile a tiny kernel."""
        run_preflight(self, PROBE, arch or PROBE_ARCH)

    def compile(self, unit: SourceUnit, arch: str) -> Compiled | Failure:
        """Compile ``unit`` to a cubin for ``arch``, such as ``sm_90a``."""
        if not arch.startswith("sm_"):
            return compile_error(f"architecture {arch!r} has no cubin; name one such as sm_90a")
        system = cuda_header_dirs() if scan(unit).system else ()
        folders = [f"--include-path={folder}" for folder in (*own_dirs(unit), *system)]
        image, log = _compile(unit, [*self.options(unit, arch), *folders])
        if image is None:
            return compile_error(log, hint=HINT)
        if unit.entry not in entries(log):
            return no_entry(unit)
        return Compiled(image=image, resources=read_resources(log, unit.entry), log=log)


def _is_overridden(fixed: str, own: Sequence[str]) -> bool:
    # NVRTC lets an explicit --ftz=false win over --use_fast_math, wherever it stands.
    names = {option.lstrip("-").partition("=")[0].replace("_", "-") for option in own}
    return fixed.lstrip("-").partition("=")[0] in names or (
        fixed in NUMERICS and "use-fast-math" in names
    )


@cache
def _bindings() -> ModuleType:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()  # loads the library
    except (ImportError, RuntimeError, OSError) as error:
        raise ToolchainBroken(f"NVRTC cannot be loaded: {error}", hint=HINT) from error
    return nvrtc  # type: ignore[no-any-return]  # the bindings ship no types


@cache
def _version() -> str:
    """Return release and build, which only NVRTC's output states."""
    nvrtc = _bindings()
    program = _checked(nvrtc.nvrtcCreateProgram(b"", b"version.cu", 0, [], []))
    try:
        _checked(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_80"]))
        text = _fetched(program, "PTX").decode()
    finally:
        _checked(nvrtc.nvrtcDestroyProgram(program))
    release = re.search(r"\bV(\d+\.\d+\.\d+)", text)
    build = re.search(r"Compiler Build ID: (\S+)", text)
    return " ".join(match[1] for match in (release, build) if match is not None)


def _compile(unit: SourceUnit, options: Sequence[str]) -> tuple[bytes | None, str]:
    """Return the cubin, or None, and the log. The generated header never touches the disk."""
    nvrtc = _bindings()
    name = str(unit.main.absolute()).encode()
    headers = [unit.header.encode()], [unit.header_name.encode()]
    program = _checked(
        nvrtc.nvrtcCreateProgram(unit.main.read_bytes(), name, len(headers[0]), *headers)
    )
    try:
        encoded = [option.encode() for option in options]
        result = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)[0]
        log = _fetched(program, "ProgramLog").decode(errors="replace")
        failed = int(result) != 0
        return (None if failed else _fetched(program, "CUBIN")), log
    finally:
        _checked(nvrtc.nvrtcDestroyProgram(program))


def _fetched(program: Any, what: str) -> bytes:
    nvrtc = _bindings()
    buffer = bytearray(_checked(getattr(nvrtc, f"nvrtcGet{what}Size")(program)))
    _checked(getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return bytes(buffer) if what == "CUBIN" else bytes(buffer).rstrip(b"\0")


def _checked(answer: tuple[Any, ...]) -> Any:
    result, *values = answer
    if int(result) != 0:
        raise ToolchainBroken(f"NVRTC answers {result.name}")
    return values[0] if values else None
