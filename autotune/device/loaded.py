"""A kernel on a GPU, ready to launch: for the lane that times it and the program that uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autotune.device.tensor_map import encoded
from autotune.records import Binary, Launch, Scalar, Target, TensorMap

_SCALARS: dict[str, Any] = {"int32": np.int32, "int64": np.int64, "fp32": np.float32}
_FIRST_WITH_FEATURES = 90  # ten times the compute capability from which the "a" architectures exist


Packed = tuple[tuple[Any, ...], ...]  # the arguments of each step


class LoadedKernel:
    """One cubin with one launch. Made and started on the GPU that is current.

    Args:
        module: The cubin as CuPy has loaded it, on the current GPU.
        binary: Names the kernel in it.
        launch: How it is started, with what runs before it.
    """

    def __init__(self, module: Any, binary: Binary, launch: Launch) -> None:
        self._steps = [_Step(module, each.entry or binary.entry, each) for each in launch.steps]

    def pack(self, pointers: Mapping[str, int]) -> Packed:
        """Return what ``start`` takes, for operands and scratch at these device addresses."""
        return tuple(step.pack(pointers) for step in self._steps)

    def start(self, packed: Packed) -> None:
        """Launch every step once on the current stream, and return before they are done."""
        for step, arguments in zip(self._steps, packed, strict=True):
            step.start(arguments)


class _Step:
    """One kernel of a cubin, with how it is started."""

    def __init__(self, module: Any, entry: str, launch: Launch) -> None:
        self._launch = launch
        self._kernel = module.get_function(entry)
        self._kernel.compile()  # loads it now, where an error can still choose another config
        allowed = self._kernel.max_dynamic_shared_size_bytes  # of the binary, which launches share
        self._kernel.max_dynamic_shared_size_bytes = max(allowed, launch.shared_bytes)

    def pack(self, pointers: Mapping[str, int]) -> tuple[Any, ...]:
        return tuple(_packed(argument, pointers) for argument in self._launch.arguments)

    def start(self, arguments: tuple[Any, ...]) -> None:
        launch = self._launch
        self._kernel(launch.grid, launch.block, arguments, shared_mem=launch.shared_bytes)


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


def _packed(argument: str | Scalar | TensorMap, pointers: Mapping[str, int]) -> Any:
    match argument:
        case Scalar():
            return _SCALARS[argument.dtype](argument.value)
        case TensorMap():
            return encoded(argument, pointers[argument.operand.name])
        case _:
            return np.uint64(pointers[argument])
