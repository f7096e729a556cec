"""The dispatcher: arrays in, a launch on the caller's stream."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autotune.bundle import Compiling, Images, Packed
from autotune.dispatch import Choice, Table
from autotune.dispatch.bundle import Bundle, opened
from autotune.errors import InvalidInput
from autotune.launcher import gpu, operands
from autotune.launcher.matmul import product
from autotune.launcher.plan import Plan, Planner
from autotune.launcher.recall import Recall
from autotune.launcher.view import View, view
from autotune.records import Problem
from autotune.toolchain import BinaryStore, Nvrtc

if TYPE_CHECKING:
    from autotune.launcher.torch_op import TorchOp

_MAX_PLANS = 4096
_PlanKey = tuple[str, int, Problem]


class Dispatcher:
    """Runs kernels with the configs that a table chooses.

    The first call for a problem compiles (or finds the binary on disk) and loads; later ones
    only launch, and a product like an earlier one but for addresses is launched without a look at
    the table. A choice that does not compile, fit or start is reported once on the logger
    ``autotune.launcher``, and the next best is used. It may be shared between threads.

    Args:
        table: A table or a bundle, or the path of one; None means that every kernel uses its
            default. With a bundle nothing is compiled: no compiler is needed.
        store: Where binaries are kept; None means the usual place.

    Raises:
        InvalidTable: The file is not a sound table, or the folder not a sound bundle.

    Example:
        >>> dispatcher = Dispatcher("table.json")  # doctest: +SKIP
        >>> c = dispatcher(a, w.T)                 # doctest: +SKIP
    """

    def __init__(
        self,
        table: Table | Bundle | str | os.PathLike[str] | None,
        *,
        store: BinaryStore | None = None,
    ) -> None:
        loaded = opened(table) if isinstance(table, str | os.PathLike) else table
        self._images: Images = Compiling(Nvrtc(), store)
        if isinstance(loaded, Bundle):
            self._images = Packed(loaded)
            loaded = loaded.table
        self.table: Table | None = loaded
        self._lock = threading.RLock()
        self._planners: dict[str, Planner] = {}
        self._plans: dict[_PlanKey, Plan] = {}
        self._recall = Recall()
        self._torch_op: TorchOp | None = None

    def matmul(
        self,
        a: Any,
        b: Any,
        *,
        layout: str | None = None,
        out: Any = None,
        stream: Any = None,
    ) -> Any:
        """Return ``a @ b``, computed by the kernel ``gemm``.

        Args:
            a: M×K matrix: CuPy, torch, ``__cuda_array_interface__`` or DLPack. It and ``b`` may
                be transposed views: ``w.T`` of a row-major ``w`` is used as it lies in memory.
            b: K×N matrix of the same dtype and GPU.
            layout: If given, ``a`` and ``b`` are what memory holds instead: with ``nt``, ``b`` is
                N×K.
            out: Row-major M×N array to write, of the dtype of ``a`` or fp32; None makes one of
                that dtype, of torch if ``a`` is.
            stream: A stream or its handle; None means the current one of ``a``'s library.

        Raises:
            InvalidInput: The arrays do not fit together, or lie as no kernel reads them; or a CUDA
                graph is captured, and the problem is new.
            NoValidConfig: No config runs on this GPU.
        """
        again = self._recall.launch(a, b, out, layout, stream)
        return self._matmul(a, b, layout, out=out, stream=stream) if again is None else again

    __call__ = matmul

    def torch_op(self) -> TorchOp:
        """Return products by this dispatcher as an operator of torch.

        It has gradients, ``torch.compile`` keeps it whole, and CUDA graphs hold it.

        Raises:
            InvalidInput: There is no torch.
        """
        from autotune.launcher.torch_op import registered

        with self._lock:
            self._torch_op = self._torch_op or registered(self)
        return self._torch_op

    def run(
        self,
        problem: Problem | Mapping[str, Any],
        arrays: Mapping[str, Any],
        *,
        kernel: str | None = None,
        stream: Any = None,
    ) -> Choice:
        """Launch a kernel on arrays by operand name, outputs included, and say which config ran.

        Args:
            problem: The kernel's problem, or its fields.
            arrays: Row-major arrays on one GPU, shaped as the kernel's operands.
            kernel: The kernel's name; may be left out if the table has one kernel.
            stream: A stream or its handle; None means the current one of the arrays' library.

        Raises:
            InvalidInput: The problem or an array is not what the kernel takes; or a CUDA graph is
                captured, and the problem is new.
            NoValidConfig: No config runs on this GPU.
        """
        planner = self._planner(kernel)
        asked = planner.problem(problem)
        views = {name: view(name, array) for name, array in arrays.items()}
        operands.check(planner.operands(asked), views)
        first = next(iter(views.values()))
        device = gpu.device_of(first)
        pointer = gpu.stream_pointer(stream, arrays[first.name], device)
        with gpu.current(device, pointer) as entered:
            return self._launch(planner, asked, views, stream=entered).choice

    def prepare(
        self, problem: Problem | Mapping[str, Any], *, kernel: str | None = None, device: int = 0
    ) -> Choice:
        """Compile and load for a problem ahead of its first launch, and say which config it is.

        Call it before a CUDA graph is captured: nothing may be loaded while one is.

        Args:
            problem: The kernel's problem, or its fields.
            kernel: The kernel's name; may be left out if the table has one kernel.
            device: The number of the GPU.

        Raises:
            InvalidInput: The problem is not what the kernel takes; or a CUDA graph is captured.
            NoValidConfig: No config runs on this GPU.
        """
        planner = self._planner(kernel)
        asked = planner.problem(problem)
        with gpu.current(device, 0):
            return self._plan(planner, asked, device).choice

    def _matmul(self, a: Any, b: Any, layout: Any, *, out: Any, stream: Any) -> Any:
        """Do what ``matmul`` says after a look at everything, and remember it."""
        written = None if out is None else view("out", out)
        call = product(view("a", a), view("b", b), layout, out=written)
        device = gpu.device_of(call.a)
        pointer = gpu.stream_pointer(stream, a, device)
        planner = self._planner("gemm")
        make_problem: Any = planner.kernel.problem_type  # its fields are sound: spare the parsing
        problem: Problem = make_problem(**call.problem)
        with gpu.current(device, pointer) as entered:
            made = out
            if written is None:
                shape = (int(call.problem["m"]), int(call.problem["n"]))
                made = gpu.empty(shape, call.a.dtype, a, device)
                written = view("out", made)
            views = {"a": call.a, "b": call.b, "c": written}
            operands.check(planner.operands(problem), views)
            program = self._launch(planner, problem, views, stream=entered).program
            if program is not None:
                arrays = (a, b) if out is None else (a, b, out)
                self._recall.keep(arrays, layout, program=program, views=views, device=device)
        return made

    def _launch(
        self, planner: Planner, problem: Problem, views: Mapping[str, View], *, stream: Any
    ) -> Plan:
        device = _one_device(views)
        for each in views.values():
            gpu.wait_for(each, stream)
        pointers = {name: each.pointer for name, each in views.items()}
        while True:
            plan = self._plan(planner, problem, device)
            if plan.program is None:
                return plan
            try:
                plan.program.start(pointers)
            except Exception as error:
                reason = gpu.refusal(error)
                if reason is None:
                    raise
                self._drop(planner, plan, device, reason)
            else:
                return plan

    def _plan(self, planner: Planner, problem: Problem, device: int) -> Plan:
        key = (planner.kernel.name, device, problem)
        plan = self._plans.get(key)
        if plan is None:
            if gpu.capturing():
                raise InvalidInput(
                    f"{planner.kernel.name} {problem} is new, and nothing may be loaded while a "
                    "CUDA graph is captured",
                    hint="launch it once before, or call prepare",
                )
            with self._lock:
                plan = self._plans.get(key) or planner.plan(problem, device)
                if len(self._plans) >= _MAX_PLANS:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = plan
        return plan

    def _drop(self, planner: Planner, failed: Plan, device: int, reason: str) -> None:
        with self._lock:
            planner.fail(failed.candidate, reason)
            self._plans.pop((planner.kernel.name, device, failed.candidate.problem), None)
            self._recall.forget()

    def _planner(self, kernel: str | None) -> Planner:
        known = self.table.kernels if self.table else {}
        if kernel is None:
            if len(known) != 1:
                raise InvalidInput(f"name a kernel; the table has: {', '.join(known) or 'none'}")
            kernel = next(iter(known))
        planner = self._planners.get(kernel)
        if planner is None:
            with self._lock:
                reference = known[kernel].kernel_ref if kernel in known else kernel
                planner = self._planners.get(kernel) or Planner(self.table, reference, self._images)
                self._planners[kernel] = planner
        return planner


def _one_device(views: Mapping[str, View]) -> int:
    devices = {name: gpu.device_of(each) for name, each in views.items()}
    if len(set(devices.values())) > 1:
        where = ", ".join(f"{name} on {device}" for name, device in devices.items())
        raise InvalidInput(f"arrays lie on several GPUs: {where}")
    return next(iter(devices.values()))
