"""The host as a device whose clock is wrong for candidates that say so."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.device.backend import Program
from autotune.device.host import HostBackend
from autotune.records import Binary, Launch
from autotune.timing import Plan, Stopwatch
from autotune.verify import Arrays

# By the number that a candidate calls ``clock_fault``; any other one leaves the clock as it is.
READINGS_NS = (0.0, -1.0, math.nan, math.inf, 1e18)


class MisreadHost(HostBackend):
    """Gives some candidates times that cannot be."""

    def program(self, binary: Binary, launch: Launch) -> Program:
        """Load the library, with the clock that it asks for."""
        program = super().program(binary, launch)
        asked = ctypes.c_int.in_dll(ctypes.CDLL(binary.path), "clock_fault").value
        if 0 <= asked < len(READINGS_NS):
            return _Misread(program, READINGS_NS[asked])
        return program


@dataclass(frozen=True, slots=True)
class _Misread:
    program: Program
    reading_ns: float

    def run(self, arrays: Arrays) -> None:
        self.program.run(arrays)

    def stopwatch(self, sets: Sequence[Arrays]) -> Stopwatch:
        del sets
        return _Stopped(self.reading_ns)


@dataclass(frozen=True, slots=True)
class _Stopped:
    reading_ns: float

    def load(self, plan: Plan) -> None:
        """Time nothing, however it is planned."""

    def sample_ns(self, count: int) -> Sequence[float]:
        return [self.reading_ns] * count
