"""A kernel on a GPU, ready to launch: for the lane that times it and the program that uses it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from autotune.device.scalars import c_value
from autotune.device.tensor_map import encoded
from autotune.errors import DeviceUnavailable
from autotune.records import Binary, Launch, Scalar, TensorMap

_STREAMS_KEPT = 64
_LAUNCHES_SINCE = 11080  # the version of CUDA that brought cuLaunchKernelEx


class Arguments:
    """The arguments of one kernel, as the driver takes them: an array of their addresses."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values  # live as long as their addresses
        self._addresses = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        self.address = ctypes.addressof(self._addresses)


Packed = tuple[Arguments, ...]  # of each step


@dataclass(frozen=True, slots=True)
class Bound:
    """Launches with all that they take.

    Attributes:
        starts: What starts each step, as often as it is called, and returns what the driver says:
            0 if all is well. The kernel's GPU must be current then.
        alive: What the driver reads.
    """

    starts: tuple[Callable[[], int], ...]
    alive: Any


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

    def bound(self, packed: Packed, stream: int) -> Bound:
        """Return what launches every step on a stream."""
        steps = list(zip(self._steps, packed, strict=True))
        hows = [step.configured(stream) for step, _ in steps]
        starts = [
            start_of(how, step.function, arguments)
            for how, (step, arguments) in zip(hows, steps, strict=True)
        ]
        return Bound(tuple(starts), (hows, packed))


class _Step:
    """One kernel of a cubin, with how it is started.

    The driver is called without CuPy's help, which cannot let launches overlap and takes longer.
    """

    def __init__(self, module: Any, entry: str, launch: Launch) -> None:
        import cupy
        from cuda.bindings import driver

        self._driver = driver
        self._current_stream = cupy.cuda.get_current_stream
        self._error = cupy.cuda.driver.CUDADriverError
        self._launch = launch
        self._kernel = module.get_function(entry)
        self._kernel.compile()  # loads it now, where an error can still choose another config
        allowed = self._kernel.max_dynamic_shared_size_bytes  # of the binary, which launches share
        self._kernel.max_dynamic_shared_size_bytes = max(allowed, launch.shared_bytes)
        self.function = driver.CUfunction(self._kernel.kernel.ptr)
        self._on_stream: dict[int, Any] = {}

    def pack(self, pointers: Mapping[str, int]) -> Arguments:
        return Arguments([_packed(each, pointers) for each in self._launch.arguments])

    def start(self, arguments: Arguments) -> None:
        how = self.configured(self._current_stream().ptr)
        (code,) = self._driver.cuLaunchKernelEx(how, self.function, arguments.address, 0)
        if code:
            raise self._error(int(code))

    def configured(self, stream: int) -> Any:
        """Return how the driver is told to launch on a stream."""
        how = self._on_stream.get(stream)
        if how is None:
            if len(self._on_stream) >= _STREAMS_KEPT:
                self._on_stream.clear()
            how = self._on_stream[stream] = launch_config(self._launch, stream)
        return how


def start_of(how: Any, function: Any, arguments: Arguments) -> Callable[[], int]:
    """Return what launches a function, while what it is given lives; it returns the driver's code.

    It asks the driver by ``ctypes`` with arguments that were converted before: the bindings look
    at theirs each time.
    """
    taken = (how.getPtr(), int(function), arguments.address, None)
    return partial(_launch_kernel(), *map(ctypes.c_void_p.from_param, taken))


@cache
def _launch_kernel() -> Any:
    from cuda.bindings import driver

    code, address, _ = driver.cuGetProcAddress(b"cuLaunchKernelEx", _LAUNCHES_SINCE, 0)
    if code:
        raise DeviceUnavailable(f"the NVIDIA driver has no cuLaunchKernelEx: {code.name}")
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)


def launch_config(launch: Launch, stream: int) -> Any:
    """Return how the driver is told to launch on a stream: a ``CUlaunchConfig``."""
    from cuda.bindings import driver

    how = driver.CUlaunchConfig()
    how.gridDimX, how.gridDimY, how.gridDimZ = launch.grid
    how.blockDimX, how.blockDimY, how.blockDimZ = launch.block
    how.sharedMemBytes = launch.shared_bytes
    how.hStream = stream
    if launch.overlaps:
        how.attrs = [_overlapping(driver)]
        how.numAttrs = 1
    return how


def _overlapping(driver: Any) -> Any:
    attribute, value = driver.CUlaunchAttribute(), driver.CUlaunchAttributeValue()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    value.programmaticStreamSerializationAllowed = 1
    attribute.value = value
    return attribute


def _packed(argument: str | Scalar | TensorMap, pointers: Mapping[str, int]) -> Any:
    match argument:
        case Scalar():
            return c_value(argument)
        case TensorMap():
            return encoded(argument, pointers[argument.operand.name])
        case _:
            return ctypes.c_void_p(pointers[argument])
