"""The GEMM kernel, as the framework asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotune.records import (
    Condition,
    Config,
    Cost,
    Kernel,
    Launch,
    Operand,
    Scalar,
    SourceUnit,
    Target,
    Tolerance,
)
from autotune.space import Space
from kernel_space.gemm import accuracy
from kernel_space.gemm.config import GemmConfig
from kernel_space.gemm.problem import GemmProblem
from kernel_space.gemm.rules import BYPASS_BYTES, MIN_ASYNC_BYTES, widest_copy_bytes
from kernel_space.gemm.space import gemm_space

SOURCES = Path(__file__).parent


class Gemm(Kernel):
    """C = A·B with fp32 sums: bf16 and fp16 on tensor cores, fp32 on CUDA cores."""

    name = "gemm"
    problem_type = GemmProblem
    language = "cuda"
    scaled_fields = GemmProblem.SIZES

    def space(self, problem: GemmProblem, target: Target) -> Space:
        """Return the parameters and the named constraints for ``problem`` on ``target``."""
        return gemm_space(problem, target)

    def default(self, problem: GemmProblem, target: Target) -> Config:
        """Return a middling config that fits every target from sm_80 on."""
        del target
        copy_bytes = widest_copy_bytes(problem)
        if copy_bytes < MIN_ASYNC_BYTES:
            shape = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "warp_m": 32, "warp_n": 32}
            pipeline: dict[str, int | str] = {"mechanism": "sync2", "stages": 2}
        else:
            shape = {"tile_m": 128, "tile_n": 128, "tile_k": 32, "warp_m": 64, "warp_n": 32}
            pipeline = {"mechanism": "cp_async", "stages": 3}
        if not problem.uses_tensor_cores:
            shape |= {"tile_k": 16}
        return Config(
            {
                **shape,
                **pipeline,
                "copy_bytes": copy_bytes,
                "cache": "bypass" if copy_bytes == BYPASS_BYTES else "l1",
                "raster": "along_n",
                "raster_group": 1,
            }
        )

    def unit(self, problem: GemmProblem, config: Config, target: Target) -> SourceUnit:
        """Return what to compile: the same for every shape and raster of a config."""
        del target
        return SourceUnit(
            language="cuda",
            main=SOURCES / "gemm.cu",
            header=GemmConfig.of(config).header(problem),
            entry="gemm",
            include_dirs=(SOURCES,),
        )

    def launch(self, problem: GemmProblem, config: Config, target: Target) -> Launch:
        """Return one block for each tile of C."""
        del target
        grouped = GemmConfig.of(config)
        tiles_m, tiles_n = grouped.tiles(problem)
        sizes = [Scalar(dtype="int32", value=getattr(problem, name)) for name in problem.SIZES]
        pitches = [problem.shape_a[1], problem.shape_b[1], problem.n]
        return Launch(
            grid=(tiles_m * tiles_n, 1, 1),
            block=(grouped.threads, 1, 1),
            shared_bytes=grouped.shared_bytes(problem.element_bytes),
            arguments=(
                *("a", "b", "c"),
                *sizes,
                *(Scalar(dtype="int64", value=pitch) for pitch in pitches),
                Scalar(dtype="int32", value=int(grouped.raster.order == "along_m")),
                Scalar(dtype="int32", value=grouped.raster.group),
            ),
        )

    def operands(self, problem: GemmProblem) -> tuple[Operand, ...]:
        """Return A, B and C as they are stored."""
        return (
            Operand(name="a", dtype=problem.dtype, shape=problem.shape_a),
            Operand(name="b", dtype=problem.dtype, shape=problem.shape_b),
            Operand(name="c", dtype=problem.dtype, shape=(problem.m, problem.n), output=True),
        )

    def reference(self, problem: GemmProblem, inputs: Mapping[str, Any], xp: Any) -> dict[str, Any]:
        """Return C in the dtype of ``inputs``."""
        del xp
        return accuracy.reference(problem, inputs)

    def tolerance(self, problem: GemmProblem) -> Tolerance:
        """Return the bound for each element of C by dtype and k."""
        return accuracy.tolerance(problem)

    def cost(self, problem: GemmProblem) -> Cost:
        """Return 2·m·n·k FLOP, and each matrix once through memory."""
        m, n, k = problem.m, problem.n, problem.k
        elements = m * k + k * n + m * n
        return Cost(flop=2 * m * n * k, bytes=elements * problem.element_bytes)

    def conditions(self, problem: GemmProblem, config: Config) -> tuple[Condition, ...]:
        """Return the row lengths that the config's copy width needs."""
        multiple = GemmConfig.of(config).copy.bytes // problem.element_bytes
        if multiple == 1:
            return ()
        fields = dict.fromkeys(problem.row_fields)
        return tuple(Condition(field=field, multiple_of=multiple) for field in fields)
