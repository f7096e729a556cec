"""What the launcher asks of CUDA, through CuPy: targets, streams, memory, programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autotune.device.gpus import require_cupy, target_of
from autotune.device.loaded import Bound, LoadedKernel
from autotune.dispatch import Running
from autotune.errors import InvalidInput
from autotune.launcher.libraries import current_stream
from autotune.launcher.view import DTYPES, View
from autotune.records import Binary, Launch, Operand, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_OWN_DTYPE = {short: own for own, short in DTYPES.items()}
# Invalid value, image, binary or PTX, out of resources: nothing was started, nothing is spoilt.
_RECOVERABLE = frozenset({1, 200, 209, 218, 701})
# What the legacy stream says while a stream that it waits for is captured.
_CAPTURED_ELSEWHERE = 906


@cache
def target(device: int) -> Target:
    """Return what code for a GPU is compiled for.

    Raises:
        DeviceUnavailable: There is no CuPy, no driver or no such GPU.
    """
    cupy = require_cupy()
    return target_of(cupy.cuda.Device(device))


@cache
def running(device: int) -> Running:
    """Return what tells a GPU from others.

    Raises:
        DeviceUnavailable: There is no CuPy, no driver or no such GPU.
    """
    properties = require_cupy().cuda.runtime.getDeviceProperties(device)
    limits = target(device)
    return Running(
        kind="cuda",
        name=properties["name"].decode(),
        arch=limits.arch,
        sm_count=limits.sm_count,
        shared_bytes_per_block=limits.shared_bytes_per_block,
        memory_bytes=int(properties["totalGlobalMem"]),
    )


def device_of(view: View) -> int:
    """Return the GPU that an array lies on."""
    if view.device is not None:
        return view.device
    runtime = require_cupy().cuda.runtime
    if not view.pointer:  # an empty array lies nowhere
        return int(runtime.getDevice())
    return int(runtime.pointerGetAttributes(view.pointer).device)


def stream_pointer(stream: Any, like: Any, device: int) -> int:
    """Return the handle of ``stream``; None means the current stream of ``like``'s library."""
    if stream is None:
        return current_stream(like, device)
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    for attribute in ("cuda_stream", "ptr"):  # torch, CuPy
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise InvalidInput(f"stream must be a CUDA stream or its handle, not {stream!r}")


@contextmanager
def current(device: int, stream: int) -> Iterator[Any]:
    """Make a GPU and a stream CuPy's current ones, and yield the stream."""
    cupy = require_cupy()
    with cupy.cuda.Device(device), cupy.cuda.Stream.from_external(_Handle(stream)) as entered:
        if not _has_context():  # a thread that has not used CUDA yet, and the driver needs one
            cupy.cuda.runtime.setDevice(device)
        yield entered


@cache
def device_teller() -> Callable[[], int]:
    """Return what returns the number of this thread's GPU, and takes little time for it."""
    teller: Callable[[], int] = require_cupy().cuda.runtime.getDevice
    return teller


def capturing() -> bool:
    """Return True if a CUDA graph is captured on the current stream, or where it would wait."""
    cuda = require_cupy().cuda
    try:
        return bool(cuda.get_current_stream().is_capturing())
    except cuda.runtime.CUDARuntimeError as error:
        if error.status != _CAPTURED_ELSEWHERE:
            raise
        return True


def wait_for(view: View, stream: Any) -> None:
    """Let ``stream`` wait for what may still write an array elsewhere."""
    if view.producer is None or view.producer == stream.ptr:
        return
    cupy = require_cupy()
    event = cupy.cuda.Event(disable_timing=True)
    event.record(cupy.cuda.Stream.from_external(_Handle(view.producer)))
    stream.wait_event(event)


def empty(shape: tuple[int, ...], dtype: str, like: Any, device: int) -> Any:
    """Return a new array on the current stream, of the library that ``like`` is of."""
    torch = sys.modules.get("torch")
    cupy = require_cupy()
    if torch is not None and isinstance(like, torch.Tensor):
        stream = torch.cuda.ExternalStream(cupy.cuda.get_current_stream().ptr, device=device)
        with torch.cuda.stream(stream):  # so that torch does not reuse the memory too early
            own_dtype = getattr(torch, _OWN_DTYPE[dtype])
            return torch.empty(shape, dtype=own_dtype, device=like.device)
    return cupy.empty(shape, dtype=_array_dtype(dtype))


class Program:
    """A loaded kernel with its launch geometry. Made and started on its own GPU.

    Args:
        binary: The cubin.
        launch: How it is started.

    Attributes:
        repeats: True if what ``bound`` returns may be called again and again: a launch with
            scratch needs memory of its own each time.
    """

    def __init__(self, binary: Binary, launch: Launch) -> None:
        module = _module(binary.path, require_cupy().cuda.runtime.getDevice())
        self._kernel = LoadedKernel(module, binary, launch)
        self._scratch = launch.scratch
        self.repeats = not launch.scratch

    def bound(self, pointers: Mapping[str, int], stream: int) -> Bound:
        """Return what launches on a stream for operands at these addresses."""
        return self._kernel.bound(self._kernel.pack(pointers), stream)

    def start(self, pointers: Mapping[str, int]) -> None:
        """Launch once on the current stream, and return before it is done.

        Args:
            pointers: Address of each operand. Scratch may be among them; what is not is taken
                for this launch alone, so that other streams and threads may start it too.
        """
        missing = [array for array in self._scratch if array.name not in pointers]
        if not missing:
            self._kernel.start(self._kernel.pack(pointers))
            return
        with _taken(missing) as taken:
            self._kernel.start(self._kernel.pack({**pointers, **taken}))


@contextmanager
def _taken(arrays: Sequence[Operand]) -> Iterator[Mapping[str, int]]:
    """Yield addresses of memory that the current stream may use until it is given back here."""
    cupy = require_cupy()
    stream = cupy.cuda.get_current_stream()
    sizes = {each.name: each.size_bytes for each in arrays}
    if not stream.is_capturing():  # CuPy's pool keeps memory apart by stream
        memory = {name: cupy.cuda.alloc(size) for name, size in sizes.items()}
        yield {name: each.ptr for name, each in memory.items()}
        return
    # A graph may run on any stream, and long after this: the memory has to be its own.
    runtime = cupy.cuda.runtime
    owned = {name: runtime.mallocAsync(size, stream.ptr) for name, size in sizes.items()}
    try:
        yield owned
    finally:
        for pointer in owned.values():
            runtime.freeAsync(pointer, stream.ptr)


def refusal(error: Exception) -> str | None:
    """Return what CUDA said if it refused a kernel and is still usable, else None."""
    cuda = require_cupy().cuda
    if not isinstance(error, cuda.driver.CUDADriverError | cuda.runtime.CUDARuntimeError):
        return None
    return str(error) if getattr(error, "status", None) in _RECOVERABLE else None


def _has_context() -> bool:
    from cuda.bindings import driver

    return int(driver.cuCtxGetCurrent()[1] or 0) != 0


class _Handle:
    """A stream that its owner knows by its handle alone."""

    def __init__(self, pointer: int) -> None:
        self._pointer = pointer

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._pointer


@cache
def _module(path: str, device: int) -> Any:
    """Load a cubin once for each GPU; its name in the binary store says what is in it."""
    del device
    return require_cupy().RawModule(path=path)


def _array_dtype(dtype: str) -> Any:
    if dtype != "bf16":
        return np.dtype(_OWN_DTYPE[dtype])
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)
