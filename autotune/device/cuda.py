"""A GPU as a device. CuPy loads cubins and launches them; this runs in the lane process only."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Protocol

from autotune.device.backend import Program, Telemetry, Verdict
from autotune.device.gpus import require_cupy, target_of
from autotune.device.loaded import LoadedKernel
from autotune.device.nvml import Nvml
from autotune.device.peaks import peaks_of
from autotune.errors import DeviceUnavailable
from autotune.records import Binary, DeviceIdentity, Failure, Launch, Routine, Status
from autotune.timing import Plan, Stopwatch
from autotune.verify import Arrays

REST_S = 0.005
LONGEST_REST_S = 0.1


class CudaCode(IntEnum):
    """Codes that the runtime and the driver share and that are not a kernel's wrong access."""

    OUT_OF_MEMORY = 2
    LAUNCH_OUT_OF_RESOURCES = 701


class CudaBackend:
    """One GPU, on a stream of its own that every array and launch uses.

    Args:
        index: The CUDA device, as ``CUDA_VISIBLE_DEVICES`` leaves it.

    Raises:
        DeviceUnavailable: There is no CuPy, no driver or no such GPU.
    """

    def __init__(self, index: int) -> None:
        cupy = require_cupy()
        self.xp: Any = cupy
        count = _device_count(cupy)
        if index >= count:
            raise DeviceUnavailable(f"there is no GPU {index}: CUDA sees {count or 'none'}")
        self._errors = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)
        cupy.cuda.Device(index).use()
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._stream.use()
        self._nvml = Nvml(cupy.cuda.Device(index).pci_bus_id)
        self.identity = _identity(cupy, index, self._nvml)
        self.peaks = peaks_of(self.identity.target, cupy.cuda.Device(index).attributes)

    def program(self, binary: Binary, launch: Launch) -> Program:
        """Load the cubin and let its kernel have the shared memory that it asks for."""
        module = self.xp.RawModule(path=binary.path)
        return _CudaProgram(self.xp, LoadedKernel(module, binary, launch), self._stream)

    def call(self, routine: Routine) -> Program:
        """Return a library's routine, to be started on the stream of this backend."""
        return _CudaProgram(self.xp, _Call(routine, self._stream.ptr), self._stream)

    def rest(self) -> None:
        """Wait until the SM clock, which heavy work lowers, is back."""
        until = time.monotonic() + LONGEST_REST_S
        while self._nvml.slowed() and time.monotonic() < until:
            time.sleep(REST_S)

    def telemetry(self) -> Telemetry:
        """Read clock, power and temperature now."""
        return self._nvml.telemetry()

    def energy_mj(self) -> int | None:
        """Read the energy that the board has taken since the driver was loaded, in mJ."""
        return self._nvml.energy_mj()

    def judge(self, error: Exception) -> Verdict | None:
        """Return what a CUDA error means. After one, nothing in this context can be trusted."""
        if isinstance(error, MemoryError):
            self.release()
            return _verdict(Status.OOM, error, poisoned=False)
        if not isinstance(error, self._errors):
            return None
        match getattr(error, "status", None):
            case CudaCode.OUT_OF_MEMORY:
                return _verdict(Status.OOM, error, poisoned=True)
            case CudaCode.LAUNCH_OUT_OF_RESOURCES:
                return _verdict(Status.RESOURCES, error, poisoned=True)
            case _:
                return _verdict(Status.RUNTIME_ERROR, error, poisoned=True)

    def release(self) -> None:
        """Give unused memory back to the device."""
        gc.collect()
        self.xp.get_default_memory_pool().free_all_blocks()


class _Startable(Protocol):
    """A loaded kernel, or what is started in its place."""

    def pack(self, pointers: Mapping[str, int]) -> Any: ...

    def start(self, arguments: Any) -> None: ...


class _Call:
    """A library's routine, packed and started as a loaded kernel is."""

    def __init__(self, routine: Routine, stream: int) -> None:
        self._routine = routine
        self._stream = stream

    def pack(self, pointers: Mapping[str, int]) -> Mapping[str, int]:
        return pointers

    def start(self, arguments: Mapping[str, int]) -> None:
        self._routine.start(arguments, self._stream)


class _CudaProgram:
    def __init__(self, cupy: Any, kernel: _Startable, stream: Any) -> None:
        self._cupy = cupy
        self._kernel = kernel
        self._stream = stream

    def run(self, arrays: Arrays) -> None:
        self._kernel.start(self._kernel.pack(_pointers(arrays)))
        self._stream.synchronize()  # an error surfaces here, so that it blames this candidate

    def stopwatch(self, sets: Sequence[Arrays]) -> Stopwatch:
        packed = [self._kernel.pack(_pointers(arrays)) for arrays in sets]
        return _CudaStopwatch(self._cupy, self._kernel, packed, self._stream)


class _CudaStopwatch:
    """Events around each batch. All batches are queued first, so the host is never waited for."""

    def __init__(self, cupy: Any, kernel: _Startable, packed: Sequence[Any], stream: Any) -> None:
        self._cuda = cupy.cuda
        self._kernel = kernel
        self._packed = packed
        self._stream = stream
        self._turn = itertools.cycle(packed)
        self._launches = 1
        self._graph: Any = None

    def load(self, plan: Plan) -> None:
        self._launches = plan.launches
        self._graph = self._captured(plan.launches) if plan.graph else None

    def sample_ns(self, count: int) -> Sequence[float]:
        stream = self._stream
        pairs = [(self._cuda.Event(), self._cuda.Event()) for _ in range(count)]
        for start, stop in pairs:
            start.record(stream)
            self._start_batch()
            stop.record(stream)
        stream.synchronize()
        return [self._cuda.get_elapsed_time(start, stop) * 1e6 for start, stop in pairs]

    def _start_batch(self) -> None:
        if self._graph is not None:
            self._graph.launch(self._stream)
            return
        for arguments in itertools.islice(self._turn, self._launches):
            self._kernel.start(arguments)

    def _captured(self, launches: int) -> Any:
        stream = self._stream
        stream.begin_capture()
        try:
            for arguments in itertools.islice(itertools.cycle(self._packed), launches):
                self._kernel.start(arguments)
        finally:
            graph = stream.end_capture()
        return graph


def _device_count(cupy: Any) -> int:
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:  # no driver, or none that is new enough
        return 0


def _identity(cupy: Any, index: int, nvml: Nvml) -> DeviceIdentity:
    properties = cupy.cuda.runtime.getDeviceProperties(index)
    return DeviceIdentity(
        kind="cuda",
        name=properties["name"].decode(),
        target=target_of(cupy.cuda.Device(index)),
        memory_bytes=int(properties["totalGlobalMem"]),
        driver=nvml.driver() or f"CUDA {cupy.cuda.runtime.driverGetVersion()}",
        uuid=nvml.uuid() or cupy.cuda.Device(index).pci_bus_id,
    )


def _pointers(arrays: Arrays) -> dict[str, int]:
    return {name: array.data.ptr for name, array in arrays.items()}


def _verdict(status: Status, error: Exception, *, poisoned: bool) -> Verdict:
    return Verdict(failure=Failure(status=status, message=str(error)), poisoned=poisoned)
