"""C++ sources to shared libraries, by the machine's own compiler."""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath
from typing import ClassVar

from autotune.errors import InvalidInput, ToolchainBroken
from autotune.records import Failure, Resources, SourceUnit, Toolchain
from autotune.toolchain.compiler import (
    Compiled,
    checked_options,
    compile_error,
    no_entry,
    run_preflight,
)
from autotune.toolchain.machine import temporary_folder
from autotune.toolchain.sources import Sources, own_dirs, scan

LOG_BYTES = 1 << 20
CANDIDATES = ("c++", "g++", "clang++")
HINT = "install g++ or clang++, or set CXX to a C++ compiler"
PROBE = (
    '#include <cstddef>\n#include "config.h"\nextern "C" std::size_t probe() { return VALUE; }\n'
)

# -ffp-contract: compilers disagree on whether a*b+c may be fused.
FIXED = ("-O2", "-shared", "-fPIC", "-std=c++17", "-ffp-contract=off")

# Variables by which a compiler finds files that no key covers.
_HIDDEN_INPUTS = frozenset(
    {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH"}
    | {"GCC_EXEC_PREFIX", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"}
)


def _default_command() -> tuple[str, ...]:
    chosen = os.environ.get("CXX", "").strip()
    if chosen:
        with contextlib.suppress(ValueError):  # a quote that is never closed
            return tuple(shlex.split(chosen))
        return (chosen,)
    return tuple(name for name in CANDIDATES if shutil.which(name) is not None)[:1]


@dataclass(frozen=True, slots=True)
class HostCompiler:
    """The C++ compiler of ``CXX``, else the first of c++, g++ and clang++.

    Attributes:
        command: Program and leading arguments; empty if there is none.
    """

    language: ClassVar[str] = "c++"
    suffix: ClassVar[str] = ".so"
    hint: ClassVar[str] = HINT
    command: tuple[str, ...] = field(default_factory=_default_command)

    @property
    def toolchain(self) -> Toolchain:
        """The compiler's first line about itself, and the C library whose headers it uses."""
        return Toolchain(compiler="c++", version=_version(self.command))

    def options(self, unit: SourceUnit, arch: str) -> tuple[str, ...]:
        """Return the options in order: of two that disagree, the last one holds."""
        del arch
        flags = tuple(word for word in self.command[1:] if word.startswith("-"))
        checked_options(flags, "CXX")  # the other words are programs: CXX="ccache g++"
        return (*self.command[1:], *FIXED, *checked_options(unit.options, unit.main))

    def system_headers(self, sources: Sources) -> Mapping[str, str]:
        """Return nothing: the compiler ships its library, and ``toolchain`` names libc."""
        del sources
        return {}

    def preflight(self, arch: str = "") -> None:
        """Compile a tiny library."""
        run_preflight(self, PROBE, arch or platform.machine())

    def compile(self, unit: SourceUnit, arch: str) -> Compiled | Failure:
        """Compile ``unit`` to a shared library; ``arch`` is this machine's."""
        if arch != platform.machine():
            return compile_error(f"this machine compiles for {platform.machine()}, not for {arch}")
        _refuse_shadowed(unit)
        with temporary_folder() as scratch:
            return self._compile_in(Path(scratch), unit, arch)

    def _compile_in(self, scratch: Path, unit: SourceUnit, arch: str) -> Compiled | Failure:
        header = scratch / "include" / unit.header_name
        header.parent.mkdir(parents=True)
        header.write_text(unit.header)
        folders = [f"-I{folder}" for folder in (scratch / "include", *own_dirs(unit))]
        output = scratch / "image.so"
        arguments = [*self.options(unit, arch), *folders, "-o", str(output)]
        code, log = _run([*self.command[:1], *arguments, str(unit.main.absolute())], scratch)
        if code != 0 or not output.is_file():
            _require_program(self.command[0])
            return compile_error(log.replace(f"{header.parent}/", ""))  # equal faults read alike
        image = output.read_bytes()
        if b"\0" + unit.entry.encode() + b"\0" not in image:  # a name in its symbol table
            return no_entry(unit)
        return Compiled(image=image, resources=Resources(), log=log)


def _refuse_shadowed(unit: SourceUnit) -> None:
    name = PurePath(unit.header_name)
    if name.is_absolute() or ".." in name.parts:
        raise InvalidInput(f"header_name {unit.header_name!r} must name a file below a folder")
    for folder in scan(unit).folders:
        if (folder / name).is_file():
            raise InvalidInput(
                f"'{folder / name}' would be read in place of the generated header",
                hint="rename it, or give the unit another header_name",
            )


@cache
def _version(command: tuple[str, ...]) -> str:
    code, text = _run([*command, "--version"], Path.cwd())
    said = next(iter(text.strip().splitlines()), "")
    if code != 0 or not said:
        raise ToolchainBroken(f"'{shlex.join(command)} --version' fails: {said}", hint=HINT)
    libc = " ".join(filter(None, platform.libc_ver()))
    return "; ".join(filter(None, (said, libc)))


def _run(command: list[str], folder: Path) -> tuple[int, str]:
    """Return exit code and output of a compiler that was started in ``folder``.

    Raises:
        ToolchainBroken: It cannot be started.
    """
    if not command or command[0].startswith("-"):
        raise ToolchainBroken("there is no C++ compiler on this machine", hint=HINT)
    environment = {k: v for k, v in os.environ.items() if k not in _HIDDEN_INPUTS}
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        why = f"the C++ compiler '{command[0]}' cannot be started: {error.strerror}"
        raise ToolchainBroken(why, hint=HINT) from error
    with process:
        assert process.stdout is not None
        log = process.stdout.read(LOG_BYTES)
        while process.stdout.read(LOG_BYTES):  # a compiler may say far more than anyone reads
            pass
    return process.returncode, log.decode(errors="replace") + _signalled(process.returncode)


def _require_program(name: str) -> None:
    """Raise if a compiler that failed is there no more: it fails half way then, in any words."""
    if shutil.which(name) is None:
        raise ToolchainBroken(f"the C++ compiler '{name}' has vanished", hint=HINT)


def _signalled(code: int) -> str:
    """Return what ended a compiler that was given no time to say so itself."""
    if code >= 0:
        return ""
    return f"the compiler was ended by signal {-code} ({signal.strsignal(-code)})\n"
