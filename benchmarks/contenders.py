"""Who is timed in ``gemm.py``: the tuned kernel, NVIDIA's library, and Triton."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from arms import Buffers, kernel_arm, pointers, uniform
from harness import Arm

from autotune.dispatch import Table
from autotune.errors import InvalidInput
from autotune.launcher.gpu import target
from autotune.records import Binary, Config, Failure, Routine, Status
from autotune.store import Filter, Store
from autotune.toolchain import BinaryStore, CompilePool, Nvrtc
from kernel_space.cublas import Cublas
from kernel_space.gemm import Gemm, GemmProblem

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
COMPILE_LIMIT_S = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One way to compute a problem.

    Attributes:
        name: What people call it among those of its side.
        arm: Launches it once, on the buffer set of a number.
        facts: What a record says of it.
        checked: Whether it is sent home if a sum is not rounded once, at its end. NVIDIA's
            library may round parts of a sum, as PyTorch lets it by default.
    """

    name: str
    arm: Arm
    facts: Mapping[str, Any]
    checked: bool = True


class Side(Protocol):
    """All contenders of one kind; the best of them speaks for it."""

    def prepare(self, problems: Sequence[GemmProblem]) -> None:
        """Compile ahead whatever these problems need."""

    def contenders(self, problem: GemmProblem, buffers: Sequence[Buffers]) -> list[Contender]:
        """Return who may compute ``problem``; some may still fail when they are started."""


class Source(Protocol):
    """Where tuned configs come from."""

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return how it knows of configs for ``problem``, and the best of them, best first."""


class Tuned:
    """Kernel ``gemm`` with the configs that ``source`` names."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kernel = Gemm()
        self._binaries: dict[tuple[GemmProblem, Config], Binary | Failure] = {}

    def prepare(self, problems: Sequence[GemmProblem]) -> None:
        """Compile every config that may be asked for, on every core at a time."""
        device = target(0)
        with CompilePool(Nvrtc(), BinaryStore(), arch=device.arch, limit_s=COMPILE_LIMIT_S) as pool:
            started = {
                (problem, config): pool.submit(self._kernel.unit(problem, config, device))
                for problem in problems
                for config in self._source.configs(problem)[1]
            }
            self._binaries = {key: build.result() for key, build in started.items()}

    def contenders(self, problem: GemmProblem, buffers: Sequence[Buffers]) -> list[Contender]:
        """Return one contender for each config that compiled."""
        source, configs = self._source.configs(problem)
        found = []
        for config in configs:
            binary = self._binaries[problem, config]
            if isinstance(binary, Failure):
                complain(f"{problem}: {config}: {binary.message}")
                continue
            facts = {"source": source, "config": config.as_dict()}
            arm = kernel_arm(self._kernel, problem, config=config, binary=binary, buffers=buffers)
            found.append(Contender(name=str(config), arm=arm, facts=facts))
        return found


class Library:
    """``torch.matmul`` and the first algorithms that cublasLt ranks."""

    def __init__(self, algorithms: int) -> None:
        self._ranks = range(algorithms)
        self._kernel = Cublas()

    def prepare(self, problems: Sequence[GemmProblem]) -> None:
        """Do nothing: it is compiled."""

    def contenders(self, problem: GemmProblem, buffers: Sequence[Buffers]) -> list[Contender]:
        """Return PyTorch's choice, and one contender for each rank that the library has."""
        views = [_operands(problem, each) for each in buffers]
        found = [_library_contender("torch.matmul", partial(_multiply, views))]
        for rank in self._ranks:
            try:
                routine = self._kernel.routine(problem, Config(algorithm=rank), target(0))
            except InvalidInput:  # it has no more
                break
            arm = partial(_call, routine, buffers)
            found.append(_library_contender(f"cublasLt {rank}", arm))
        return found


class Triton:
    """The persistent kernel of ``triton_gemm.py``, cut up in each way that it may be."""

    def prepare(self, problems: Sequence[GemmProblem]) -> None:
        """Compile every candidate of every class of shapes, on every core at a time."""
        import triton_gemm

        for dtype in {problem.dtype for problem in problems}:
            some = [problem for problem in problems if problem.dtype == dtype]
            triton_gemm.warm(some, matrices(GemmProblem(64, 64, 64, dtype)))

    def contenders(self, problem: GemmProblem, buffers: Sequence[Buffers]) -> list[Contender]:
        """Return one contender for each way to cut the product up."""
        import triton_gemm

        return [
            Contender(
                name=str(blocks),
                arm=triton_gemm.arm(problem, blocks, buffers),
                facts=dataclasses.asdict(blocks),
            )
            for blocks in triton_gemm.candidates(problem)
        ]


class FromTable:
    """The choice of a table: what a program with this table launches."""

    def __init__(self, path: Path) -> None:
        self._table = Table.load(path)

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return the first choice that is valid for this problem, else the default."""
        for choice in self._table.choices("gemm", **problem.as_dict()):
            config = Config(choice.config)
            if _is_valid(problem, config):
                return choice.source, [config]
        return _default(problem)


class FromDatabase:
    """The fastest verified configs of a result database or recording.

    Args:
        url: The database.
        most: How many configs of a problem meet again here, where all sides are timed alike.
    """

    def __init__(self, url: str, most: int) -> None:
        self._url, self._most = url, most
        self._known: dict[GemmProblem, tuple[str, list[Config]]] = {}

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return what was fastest for this problem, else in the other dtype, else the default."""
        if problem not in self._known:
            self._known[problem] = self._found(problem)
        return self._known[problem]

    def _found(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        with Store.open(self._url, read_only=True) as store:
            for dtype in dict.fromkeys((problem.dtype, *DTYPES)):
                fields = problem.as_dict() | {"dtype": dtype}
                rows = store.rows(Filter(kernel="gemm", problem=fields))
                timed = {
                    row.trial.config: row.trial.median_ns
                    for row in rows
                    if row.trial.status is Status.OK and row.trial.verified
                }
                best = sorted(timed, key=lambda config: timed[config] or 0.0)
                valid = [config for config in best if _is_valid(problem, config)][: self._most]
                if valid:
                    return f"recorded in {dtype}", valid
        return _default(problem)


class Defaults:
    """The kernel's own default, for whoever has tuned nothing."""

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return the default."""
        return _default(problem)


def matrices(problem: GemmProblem) -> Buffers:
    """Return a, b and c as they are stored, uniform in [-1, 1]."""
    dtype = DTYPES[problem.dtype]
    return {operand.name: uniform(operand.shape, dtype) for operand in problem.operands}


def exact_product(problem: GemmProblem, buffers: Buffers) -> torch.Tensor:
    """Return C in fp32 by the CUDA cores, which round every partial sum to fp32."""
    a, b, _ = _operands(problem, buffers)
    return torch.matmul(a.float(), b.float())


def wrong_elements(problem: GemmProblem, result: torch.Tensor, exact: torch.Tensor) -> int:
    """Count elements that are further from the exact product than one rounding leaves."""
    tolerance = Gemm().tolerance(problem)
    allowed = exact.abs().mul_(tolerance.relative).add_(tolerance.absolute)
    return int((~((result - exact).abs_() <= allowed)).sum())  # a NaN is not within


def complain(line: str) -> None:
    """Say on stderr why somebody does not take part."""
    print(line, file=sys.stderr, flush=True)


def _library_contender(name: str, arm: Arm) -> Contender:
    return Contender(name=name, arm=arm, facts={"call": name}, checked=False)


def _operands(problem: GemmProblem, buffers: Buffers) -> tuple[torch.Tensor, ...]:
    a, b = buffers["a"], buffers["b"]
    return a.T if problem.a_transposed else a, b.T if problem.b_transposed else b, buffers["c"]


def _multiply(views: Sequence[tuple[torch.Tensor, ...]], i: int) -> None:
    a, b, c = views[i]
    torch.matmul(a, b, out=c)


def _call(routine: Routine, buffers: Sequence[Buffers], i: int) -> None:
    routine.start(pointers(buffers[i]), torch.cuda.current_stream().cuda_stream)


def _default(problem: GemmProblem) -> tuple[str, list[Config]]:
    return "default", [Gemm().default(problem, target(0))]


def _is_valid(problem: GemmProblem, config: Config) -> bool:
    space = Gemm().space(problem, target(0))
    names = {parameter.name for parameter in space.parameters}
    return set(config) == names and space.broken(config) is None
