"""What became of a candidate: a closed list of statuses, and failures as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from autotune.records.interval import median_interval


class Status(StrEnum):
    """How a trial ended. The list is closed: code may match on it exhaustively."""

    OK = "ok"
    CONSTRAINT = "constraint"  # broke a named rule; never compiled
    COMPILE_ERROR = "compile_error"
    COMPILE_TIMEOUT = "compile_timeout"
    RESOURCES = "resources"  # compiled, but spills or does not fit the device
    INCORRECT = "incorrect"
    NONDETERMINISTIC = "nondeterministic"
    RUNTIME_ERROR = "runtime_error"  # the device reported an error
    TIMEOUT = "timeout"  # ran past its limit and was killed
    CRASHED = "crashed"  # took its process with it
    OOM = "oom"
    BAD_MEASUREMENT = "bad_measurement"
    STOPPED_EARLY = "stopped_early"  # clearly slower than the best: how much is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why something did not work, as a value: a status and the tool's own words."""

    status: Status
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What one compiled kernel takes, as the compiler's log reports it.

    Attributes:
        registers: 32-bit registers for each thread.
        spill_bytes: Bytes spilled to local memory, stores plus loads.
        static_shared_bytes: Statically allocated shared memory, in bytes.
        warnings: The compiler's own warnings (such as C7510, serialized wgmma).
    """

    registers: int = 0
    spill_bytes: int = 0
    static_shared_bytes: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """A compiled candidate in the content-addressed store.

    Attributes:
        key: 32 hexadecimal digits over every input that can change the bytes.
        path: The cubin or shared library. It is never changed once it is there.
        entry: The symbol to launch.
        resources: What the kernel takes.
        compile_ns: Time the compiler took when it made this binary, in ns.
        cached: True if the binary was there already.
    """

    key: str
    path: str
    entry: str
    resources: Resources
    compile_ns: int
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Every sample of one candidate. Statistics are computed when read.

    Attributes:
        samples_ns: Device time of one launch, in ns, one number for each timed batch.
        launches_per_sample: Launches in a batch; a sample is the batch's time over this.
        sm_clock_mhz: SM clock after the last sample, or None where it cannot be read.
        power_w: Board power after the last sample, in watts, or None.
        temperature_c: GPU temperature after the last sample, in degrees Celsius, or None.
        energy_mj: Energy that the board takes for one launch, in mJ, or None if it was not asked
            for or cannot be read.
        error: The largest error of an output on random inputs, as a share of what the kernel
            tolerates there, or None if it was not asked for.
    """

    samples_ns: tuple[float, ...]
    launches_per_sample: int = 1
    sm_clock_mhz: int | None = None
    power_w: float | None = None
    temperature_c: int | None = None
    energy_mj: float | None = None
    error: float | None = None

    @property
    def median_ns(self) -> float:
        """The median sample, in ns: the number that candidates are compared by."""
        return median(self.samples_ns)

    @property
    def interval_ns(self) -> tuple[float, float]:
        """Where the true median lies with 95 % confidence, in ns; of six samples or more.

        Fewer can only tell that it lies between the fastest and the slowest of them, and that
        with less confidence: see ``median_interval``.
        """
        return median_interval(self.samples_ns)

    @property
    def spread(self) -> float:
        """Interquartile range over the median: 0.01 means that half lie within 1 %."""
        ordered = sorted(self.samples_ns)
        low, high = ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4]
        return (high - low) / self.median_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a device says of one candidate: a status and, if it ran, a measurement."""

    status: Status
    message: str = ""
    measurement: Measurement | None = None

    @classmethod
    def stopped(cls, measurement: Measurement, above_ns: float) -> Outcome:
        """Return the outcome of a candidate that was given up, being slower than ``above_ns``."""
        least_us = measurement.interval_ns[0] / 1e3
        message = f"takes {least_us:.4g} µs or more: given up above {above_ns / 1e3:.4g} µs"
        return cls(status=Status.STOPPED_EARLY, message=message, measurement=measurement)

    @classmethod
    def of(cls, failure: Failure) -> Outcome:
        """Return the outcome of a candidate that failed."""
        return cls(status=failure.status, message=failure.message)
