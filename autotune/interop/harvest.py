"""What another tuner's file says, whichever tuner wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autotune.errors import InvalidInput
from autotune.interop.document import Json
from autotune.records import DeviceIdentity, Target, Toolchain

Scalar = int | float | str | bool | None
MS = 1e6  # nanoseconds of a millisecond


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """One tuning space as a file tells of it.

    Attributes:
        kernel: Name of the kernel, or empty if the file does not say.
        device: What measured.
        toolchain: The tuner and its version.
        problem: What was computed, by field.
        parameters: Every value of each parameter, in the order of the file.
        default: The configuration to start with, or None if the file names none.
        unit_ns: The file's unit of time, in ns.
        results: One T4 result for each configuration: T4 can hold what any of these tuners says.
        header: Whatever else the file says, as it stands there.
        finished: False if the file lacks its end.
    """

    kernel: str
    device: DeviceIdentity
    toolchain: Toolchain
    problem: Mapping[str, int | str] = field(default_factory=dict)
    parameters: Mapping[str, list[Scalar]]
    default: Mapping[str, Scalar] | None = None
    unit_ns: float = MS
    results: list[Json]
    header: Mapping[str, Any]
    finished: bool = True


def named_device(name: Any) -> DeviceIdentity:
    """Return a device of which only the name is known: every limit is 0."""
    return DeviceIdentity(
        kind="imported",
        name=name if isinstance(name, str) and name else "unknown",
        target=Target(
            arch="unknown",
            sm_count=0,
            shared_bytes_per_block=0,
            shared_bytes_per_sm=0,
            registers_per_sm=0,
            threads_per_block=0,
            l2_bytes=0,
        ),
        memory_bytes=0,
        driver="",
    )


def problem_of(size: Any, where: str) -> dict[str, int | str]:
    """Return a problem size, a number or up to three of them, as the fields x, y and z.

    Raises:
        InvalidInput: It is neither.
    """
    extents = size if isinstance(size, list) else [size]
    if len(extents) > 3 or not all(isinstance(each, int | float | str) for each in extents):
        raise InvalidInput(f"{where}: must be a number or a list of up to three, not {size!r:.60}")
    whole = [
        int(each) if isinstance(each, float) and each.is_integer() else each for each in extents
    ]
    return dict(
        zip("xyz", (each if isinstance(each, int) else str(each) for each in whole), strict=False)
    )
