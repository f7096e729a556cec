"""What a lane needs of a device: arrays, programs, a stopwatch, and a judge of its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from autotune.device.peaks import Peaks
from autotune.records import Binary, DeviceIdentity, Failure, Launch, Routine
from autotune.timing import Stopwatch
from autotune.verify import Arrays


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """What the device says of itself; None where it says nothing."""

    sm_clock_mhz: int | None = None
    power_w: float | None = None
    temperature_c: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an error means: how the candidate failed, and whether the lane is spoilt by it."""

    failure: Failure
    poisoned: bool


class Program(Protocol):
    """One loaded candidate."""

    def run(self, arrays: Arrays) -> None:
        """Launch once on arrays by operand name; return when they are written."""

    def stopwatch(self, sets: Sequence[Arrays]) -> Stopwatch:
        """Return a stopwatch whose launches rotate over ``sets``."""


class Backend(Protocol):
    """One device as its lane sees it. Made in the lane process, and used only there.

    Attributes:
        xp: The array module: numpy or cupy.
        identity: Which device it is.
        peaks: What it cannot exceed.
    """

    xp: Any
    identity: DeviceIdentity
    peaks: Peaks

    def program(self, binary: Binary, launch: Launch) -> Program:
        """Load a binary that is launched as ``launch`` says."""

    def call(self, routine: Routine) -> Program:
        """Return a library's routine as a program."""

    def rest(self) -> None:
        """Wait, for a moment at most, until what ran before slows nothing down any more."""

    def telemetry(self) -> Telemetry:
        """Read clock, power and temperature now."""

    def energy_mj(self) -> int | None:
        """Read the energy that the device has taken so far, in mJ, or None if it does not tell."""

    def judge(self, error: Exception) -> Verdict | None:
        """Return what an error of the device means, or None if it is not the device's."""

    def release(self) -> None:
        """Give unused memory back to the device."""
