"""Who is timed in ``gemm.py``: the tuned kernel, NVIDIA's library, and Triton."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from arms import Buffers, arrays, kernel_arm, pointers
from harness import Arm
from matrices import factors
from needs import require, torch
from sources import Source

from autotune.errors import InvalidInput
from autotune.launcher.gpu import target
from autotune.records import Binary, Config, Failure, Routine
from autotune.toolchain import BinaryStore, CompilePool, Nvrtc
from kernel_space.cublas import Cublas
from kernel_space.gemm import Gemm, GemmProblem

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
    """PyTorch's call of NVIDIA's library, and the first algorithms that cublasLt ranks."""

    def __init__(self, algorithms: int) -> None:
        self._ranks = range(algorithms)
        self._kernel = Cublas()

    def prepare(self, problems: Sequence[GemmProblem]) -> None:
        """Do nothing: it is compiled."""

    def contenders(self, problem: GemmProblem, buffers: Sequence[Buffers]) -> list[Contender]:
        """Return PyTorch's choice, and one contender for each rank that the library has."""
        found = [_torch_contender(problem, buffers)]
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

    DTYPES = ("bf16", "fp16")

    def __init__(self) -> None:
        require("triton")

    def prepare(self, problems: Sequence[GemmProblem]) -> None:
        """Compile every candidate of every class of shapes, on every core at a time."""
        import triton_gemm

        for dtype in {problem.dtype for problem in problems}:
            some = [problem for problem in problems if problem.dtype == dtype]
            triton_gemm.warm(some, arrays(GemmProblem(64, 64, 64, dtype).operands))

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


def complain(line: str) -> None:
    """Say on stderr why somebody does not take part."""
    print(line, file=sys.stderr, flush=True)


def _library_contender(name: str, arm: Arm) -> Contender:
    return Contender(name=name, arm=arm, facts={"call": name}, checked=False)


def _torch_contender(problem: GemmProblem, buffers: Sequence[Buffers]) -> Contender:
    views = [{**each, **dict(zip("ab", factors(problem, each), strict=True))} for each in buffers]
    if not problem.scaled:
        return _library_contender("torch.matmul", partial(_multiply, views))
    one = torch.ones(1, device="cuda")
    return _library_contender("torch._scaled_mm", partial(_multiply_scaled, views, one))


def _multiply(views: Sequence[Buffers], i: int) -> None:
    torch.matmul(views[i]["a"], views[i]["b"], out=views[i]["c"])


def _multiply_scaled(views: Sequence[Buffers], one: torch.Tensor, i: int) -> None:
    a, b, scale, c = (views[i][name] for name in ("a", "b", "scale", "c"))
    torch._scaled_mm(  # noqa: SLF001 - the only call that multiplies 8-bit floats into ``out``
        a, b, scale, one, out_dtype=c.dtype, use_fast_accum=True, out=c
    )


def _call(routine: Routine, buffers: Sequence[Buffers], i: int) -> None:
    routine.start(pointers(buffers[i]), torch.cuda.current_stream().cuda_stream)
