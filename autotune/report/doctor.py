"""What this machine has: each check is a line, with what to do about what is missing."""

from __future__ import annotations

import importlib.util
import os
import platform
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import autotune
from autotune.errors import AutotuneError, ToolchainBroken, cuda_hint
from autotune.records import Limits, one_line
from autotune.report.sheet import Column, Sheet
from autotune.report.units import size_text
from autotune.toolchain import BinaryStore, Compiler, HostCompiler, Nvrtc
from autotune.toolchain.headers import cuda_header_dirs

CUDA_HINT = cuda_hint()


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    ABSENT = "absent"  # not here, and not needed for everything
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What was looked at.
        state: How it stands.
        found: Version, path, or what is wrong.
        hint: What to do about it, or empty.
    """

    name: str
    state: State
    found: str
    hint: str = ""


_MARKS = {State.OK: "✓", State.ABSENT: "–", State.BROKEN: "✗"}


def examine(url: str | None) -> list[Check]:
    """Look at everything that tuning needs on this machine, and change nothing.

    Args:
        url: The database to look at, or None for the default one.
    """
    return [check for probe in _PROBES for check in probe()] + [_database(url)]


def checks_sheet(checks: list[Check]) -> Sheet:
    """Return one row for each check."""
    return Sheet(
        kind="checks",
        rows=[
            {"name": c.name, "state": str(c.state), "found": c.found, "hint": c.hint}
            for c in checks
        ],
        columns=(
            Column("", lambda row: _MARKS[State(row["state"])]),
            Column("what", lambda row: row["name"]),
            Column(
                "found",
                lambda row: "\n→ ".join(filter(None, (row["found"], row["hint"]))),
                folds=True,
            ),
        ),
    )


def _python() -> Iterator[Check]:
    yield Check("Python", State.OK, f"{platform.python_version()}  {sys.executable}")
    here = Path(autotune.__file__).parent
    yield Check("autotune", State.OK, f"{autotune.__version__}  {here}")
    yield Check("SQLite", State.OK, sqlite3.sqlite_version)


def _host_compiler() -> Iterator[Check]:
    compiler = HostCompiler()
    absent = State.BROKEN if compiler.command else State.ABSENT
    yield _toolchain("C++ compiler", compiler, absent)


def _nvrtc() -> Iterator[Check]:
    absent = State.BROKEN if _installed("cuda.bindings") else State.ABSENT
    yield _toolchain("NVRTC", Nvrtc(), absent)
    yield _headers("CUDA headers", "cuda_runtime.h")
    yield _headers("CCCL headers", "cuda/pipeline")


def _headers(name: str, sample: str) -> Check:
    for folder in cuda_header_dirs():
        if (folder / sample).is_file():
            return Check(name, State.OK, str(folder))
    return Check(name, State.ABSENT, "none found", CUDA_HINT)


def _toolchain(name: str, compiler: Compiler, otherwise: State) -> Check:
    try:
        compiler.preflight()
    except ToolchainBroken as error:
        return Check(name, otherwise, one_line(error.message), error.hint)
    return Check(name, State.OK, compiler.toolchain.version)


def _devices() -> Iterator[Check]:
    driver = _driver()
    if driver is None:
        yield Check("NVIDIA driver", State.ABSENT, "none on this machine")
    else:
        yield Check("NVIDIA driver", State.OK, driver)
        yield _device("GPU", "cuda:0", State.BROKEN)
    yield _device("--device auto", "auto", State.ABSENT, "--device host tunes C++ kernels here")


def _driver() -> str | None:
    version = Path("/sys/module/nvidia/version")
    if version.is_file():
        return version.read_text().strip()
    return "present" if Path("/dev/nvidiactl").exists() else None


def _device(label: str, name: str, otherwise: State, hint: str = "") -> Check:
    """Open a device and say what it is, or why it cannot be opened, and what to do then."""
    from autotune.device import open_device

    try:
        with closing(open_device(name, limits=Limits())) as device:
            identity = device.identity
    except AutotuneError as error:
        return Check(label, otherwise, error.message, hint or error.hint)
    memory = size_text(identity.memory_bytes)
    found = f"{device.name}: {identity.name}, {identity.target.arch}, {memory}"
    return Check(label, State.OK, found)


def _folders() -> Iterator[Check]:
    cache = BinaryStore().root
    beside = next(folder for folder in (cache, *cache.parents) if folder.exists())
    writable = os.access(beside, os.W_OK)
    hint = "" if writable else "set AUTOTUNE_CACHE to a folder that you can write"
    yield Check("cache", State.OK if writable else State.BROKEN, str(cache), hint)


def _database(url: str | None) -> Check:
    from autotune.store import check, default_url, head
    from autotune.store.url import parse_url, shown, sqlite_path

    text = url or default_url()
    try:
        parsed = parse_url(text)
        path = sqlite_path(parsed)
        if path is not None and not path.exists():
            return Check("database", State.ABSENT, f"{shown(parsed)} (made when you tune)")
        check(text)
    except AutotuneError as error:
        return Check("database", State.BROKEN, error.message, error.hint)
    return Check("database", State.OK, f"{shown(parsed)}, schema {head()}")


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even its package
        return False


_PROBES: tuple[Callable[[], Iterator[Check]], ...] = (
    _python,
    _host_compiler,
    _nvrtc,
    _devices,
    _folders,
)
