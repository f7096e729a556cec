"""Whether a compiled candidate fits its device, before it is run."""

from __future__ import annotations

import math

from autotune.records import Launch, Resources, Target

WARP = 32
REGISTER_UNIT = 256  # a warp's registers are handed out in these


def misfit(resources: Resources, launch: Launch, target: Target) -> str | None:
    """Return why a kernel, or one that runs before it, cannot run on ``target``, or None.

    Of another entry's registers the binary tells nothing: the driver has the last word.
    """
    for step in launch.steps:
        reason = _misfit(Resources() if step.entry else resources, step, target)
        if reason is not None:
            return f"{step.entry}: {reason}" if step.entry else reason
    return None


def _misfit(resources: Resources, launch: Launch, target: Target) -> str | None:
    threads = math.prod(launch.block)
    shared = resources.static_shared_bytes + launch.shared_bytes
    registers = _registers(resources.registers, threads)
    if threads > target.threads_per_block:
        return f"{threads} threads in a block; the device allows {target.threads_per_block}"
    if registers > target.registers_per_sm:
        return (
            f"{resources.registers} registers x {threads} threads take {registers}; "
            f"the device has {target.registers_per_sm}"
        )
    if shared > target.shared_bytes_per_block:
        return f"{shared} bytes of shared memory; a block may have {target.shared_bytes_per_block}"
    return None


def slow(resources: Resources) -> str | None:
    """Return why a kernel is not worth measuring, in words, or None."""
    if resources.spill_bytes:
        return f"spills {resources.spill_bytes} bytes to local memory"
    return None


def _registers(each: int, threads: int) -> int:
    warp = math.ceil(each * WARP / REGISTER_UNIT) * REGISTER_UNIT
    return warp * math.ceil(threads / WARP)
