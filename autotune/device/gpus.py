"""CuPy, and what it says of a GPU: for the lane that times and the program that launches."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

from autotune.errors import DeviceUnavailable, cuda_hint
from autotune.records import Target

_FIRST_WITH_FEATURES = 90  # ten times the compute capability from which the "a" architectures exist


@cache  # a launch asks, and looking for a module takes as long
def require_cupy() -> Any:
    """Return the module ``cupy``.

    Raises:
        DeviceUnavailable: It is not installed; the hint says how to get it.
    """
    if importlib.util.find_spec("cupy") is None:
        raise DeviceUnavailable(
            "CuPy is not installed, so no GPU can be used",
            hint=cuda_hint(),
        )
    import cupy

    return cupy


def target_of(device: Any) -> Target:
    """Return what code for a CuPy device is compiled for."""
    attributes, capability = device.attributes, device.compute_capability
    suffix = "a" if int(capability) >= _FIRST_WITH_FEATURES else ""
    return Target(
        arch=f"sm_{capability}{suffix}",
        sm_count=attributes["MultiProcessorCount"],
        shared_bytes_per_block=attributes["MaxSharedMemoryPerBlockOptin"],
        shared_bytes_per_sm=attributes["MaxSharedMemoryPerMultiprocessor"],
        registers_per_sm=attributes["MaxRegistersPerMultiprocessor"],
        threads_per_block=attributes["MaxThreadsPerBlock"],
        l2_bytes=attributes["L2CacheSize"],
    )
