"""What a device cannot exceed, and what that says of a time that seems to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.records import Cost, Target

# Dense FLOP (or operations on integers) per clock and SM, of the narrowest type of several bits
# that the tensor cores multiply: the peak rates of NVIDIA's architecture white papers (V100,
# Turing TU102, A100, Ampere GA102, Ada AD102, H100, Blackwell, RTX Blackwell) over their SMs and
# boost clocks. An architecture that is missing here is not judged.
FLOP_PER_CLOCK = {
    70: 1024,  # fp16
    75: 4096,  # int4
    80: 8192,  # int4
    86: 4096,  # int4
    89: 4096,  # int4
    90: 8192,  # fp8, int8
    100: 32768,  # fp4
    120: 4096,  # fp4
}
WORDS_PER_CLOCK = 2  # device memory sends at both edges of its clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """The most that a device can do; None where that is not known.

    It says nothing of what a device measures, so it is no part of its identity.

    Attributes:
        flop_per_s: FLOP per second, of its fastest type at its highest clock.
        bytes_per_s: Bytes per second to and from device memory.
    """

    flop_per_s: float | None = None
    bytes_per_s: float | None = None


def peaks_of(target: Target, attributes: Mapping[str, int]) -> Peaks:
    """Return the peaks of a GPU.

    Args:
        target: Its architecture and its SMs.
        attributes: The driver's, by CUDA's names: clocks in kHz, the bus in bits.
    """
    per_clock = FLOP_PER_CLOCK.get(target.capability, 0)
    clock_hz = 1e3 * attributes.get("ClockRate", 0)
    memory_hz = 1e3 * attributes.get("MemoryClockRate", 0)
    bus_bytes = attributes.get("GlobalMemoryBusWidth", 0) / 8
    return Peaks(
        flop_per_s=per_clock * target.sm_count * clock_hz or None,
        bytes_per_s=memory_hz * WORDS_PER_CLOCK * bus_bytes or None,
    )


def impossible(time_ns: float, cost: Cost, peaks: Peaks, *, cold: bool) -> str | None:
    """Return why no launch can take so little, or None.

    Args:
        time_ns: What was measured of one launch.
        cost: The least that it must do.
        peaks: The most that the device can do in a second.
        cold: True if every byte must come from device memory, or go there.
    """
    for done, unit, peak, judged in (
        (cost.flop, "FLOP/s", peaks.flop_per_s, True),
        (cost.bytes, "bytes/s", peaks.bytes_per_s, cold),
    ):
        if judged and peak is not None and done * 1e9 > peak * time_ns:
            return (
                f"{time_ns:.6g} ns would be {done * 1e9 / time_ns:.3g} {unit}; the device has "
                f"{peak:.3g}: the launch did not do its work, or cost() says too much"
            )
    return None
