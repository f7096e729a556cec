"""The host as a device: C++ candidates, loaded with ctypes and timed by the wall clock."""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from autotune.device.backend import Program, Telemetry, Verdict
from autotune.device.peaks import Peaks
from autotune.device.scalars import c_value
from autotune.errors import InvalidInput
from autotune.records import (
    Binary,
    DeviceIdentity,
    Failure,
    Launch,
    Routine,
    Scalar,
    Status,
    Target,
    TensorMap,
)
from autotune.timing import Plan, Stopwatch
from autotune.verify import Arrays

_Function = Callable[..., None]
_Call = tuple[_Function, list[Any]]
_L2 = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
_CPU_INFO = Path("/proc/cpuinfo")
_USUAL_L2_BYTES = 1 << 20


class HostBackend:
    """Runs shared libraries in this process: a fault of theirs ends it, as it should."""

    xp: Any = np

    def __init__(self) -> None:
        self.identity = host_identity()
        self.peaks = Peaks()  # a processor's are not to be asked for

    def program(self, binary: Binary, launch: Launch) -> Program:
        """Load the library and find its entries.

        Raises:
            InvalidInput: It cannot be loaded, or lacks an entry.
        """
        try:
            library = ctypes.CDLL(binary.path)
            functions = [library[step.entry or binary.entry] for step in launch.steps]
        except (OSError, AttributeError) as error:
            raise InvalidInput(str(error)) from error
        for function in functions:
            function.restype = None
        return _HostProgram(partial(_calls, list(zip(functions, launch.steps, strict=True))))

    def call(self, routine: Routine) -> Program:
        """Return a library's routine, which runs on this processor and so waits by itself."""
        return _HostProgram(lambda arrays: [(routine.start, [_pointers(arrays), 0])])

    def rest(self) -> None:
        """Do nothing: nobody can tell what slows a processor down."""

    def telemetry(self) -> Telemetry:
        """Return nothing: a host has no one clock that a candidate runs at."""
        return Telemetry()

    def energy_mj(self) -> int | None:
        """Return None: what a processor takes, others take a part in."""
        return None

    def judge(self, error: Exception) -> Verdict | None:
        """Return what a lack of memory means."""
        if not isinstance(error, MemoryError):
            return None
        failure = Failure(status=Status.OOM, message=str(error) or "out of memory")
        return Verdict(failure=failure, poisoned=False)

    def release(self) -> None:
        """Do nothing: arrays that are not used are gone already."""


class _HostProgram:
    """What is called, one after the other, on arrays by operand name."""

    def __init__(self, calls: Callable[[Arrays], list[_Call]]) -> None:
        self._calls = calls

    def run(self, arrays: Arrays) -> None:
        for function, arguments in self._calls(arrays):
            function(*arguments)

    def stopwatch(self, sets: Sequence[Arrays]) -> Stopwatch:
        return _HostStopwatch([self._calls(arrays) for arrays in sets])


def _pointers(arrays: Arrays) -> dict[str, int]:
    return {name: array.ctypes.data for name, array in arrays.items()}


def _calls(steps: Sequence[tuple[_Function, Launch]], arrays: Arrays) -> list[_Call]:
    return [
        (function, [_packed(argument, arrays) for argument in step.arguments])
        for function, step in steps
    ]


def _packed(argument: str | Scalar | TensorMap, arrays: Arrays) -> Any:
    match argument:
        case Scalar():
            return c_value(argument)
        case TensorMap():
            raise InvalidInput("a C++ kernel takes pointers and scalars, not tensor maps")
        case _ if argument in arrays:
            return ctypes.c_void_p(arrays[argument].ctypes.data)
        case _:
            raise InvalidInput(f"argument {argument!r} is no operand: {', '.join(arrays)}")


class _HostStopwatch:
    def __init__(self, turns: Sequence[list[_Call]]) -> None:
        self._turn = itertools.cycle(turns)
        self._launches = 1

    def load(self, plan: Plan) -> None:
        self._launches = plan.launches

    def sample_ns(self, count: int) -> Sequence[float]:
        return [self._one_sample_ns() for _ in range(count)]

    def _one_sample_ns(self) -> float:
        turns = itertools.islice(self._turn, self._launches)
        calls = [call for turn in turns for call in turn]
        began = time.perf_counter_ns()
        for function, arguments in calls:
            function(*arguments)
        return float(time.perf_counter_ns() - began)


def host_identity() -> DeviceIdentity:
    """Return this machine's processor as a device.

    ``l2_bytes`` is a core's own second-level cache: what lies above it is shared with
    everything else that runs.
    """
    return DeviceIdentity(
        kind="host",
        name=_processor_name(),
        target=Target(
            arch=platform.machine(),
            sm_count=os.cpu_count() or 1,
            shared_bytes_per_block=0,
            shared_bytes_per_sm=0,
            l2_bytes=_l2_bytes(),
        ),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        driver=platform.release(),
    )


def _processor_name() -> str:
    if _CPU_INFO.is_file():
        for line in _CPU_INFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _l2_bytes() -> int:
    text = _L2.read_text().strip() if _L2.is_file() else ""
    return int(text[:-1]) * 1024 if text.endswith("K") else _USUAL_L2_BYTES
