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
    SourceUnit,
    Target,
    Tolerance,
    Value,
)
from autotune.space import Space
from kernel_space.gemm import accuracy, hopper
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
        """Return a middling config that fits every device of the target's architecture."""
        if hopper.unavailable(problem, target) is None:
            return Config(_HOPPER_DEFAULT)
        return Config(_copying_default(problem))

    def unit(self, problem: GemmProblem, config: Config, target: Target) -> SourceUnit:
        """Return what to compile: the same for every shape and raster of a config."""
        del target
        if config["mechanism"] in hopper.MECHANISMS:
            folder, main = hopper.SOURCES, hopper.SOURCES / "gemm_hopper.cu"
            header = hopper.HopperPlan.of(config, problem).header()
        else:
            folder, main = SOURCES, SOURCES / "gemm.cu"
            header = GemmConfig.of(config).header(problem)
        return SourceUnit(
            language="cuda", main=main, header=header, entry="gemm", include_dirs=(folder,)
        )

    def launch(self, problem: GemmProblem, config: Config, target: Target) -> Launch:
        """Return one block for each tile of C, or as many as the device holds at a time."""
        if config["mechanism"] in hopper.MECHANISMS:
            return hopper.HopperPlan.of(config, problem).launch(self.operands(problem), target)
        return GemmConfig.of(config).launch(problem)

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
        """Return the row lengths that the config's copies need."""
        if config["mechanism"] in hopper.MECHANISMS:
            return hopper.conditions(problem, config)
        multiple = GemmConfig.of(config).copy.bytes // problem.element_bytes
        if multiple == 1:
            return ()
        fields = dict.fromkeys(problem.row_fields)
        return tuple(Condition(field=field, multiple_of=multiple) for field in fields)


_HOPPER_DEFAULT: dict[str, Value] = {
    **hopper.FIXED,
    **hopper.ELSEWHERE,
    "mechanism": "ws_pingpong",
    "tile_m": 128,
    "tile_n": 128,
    "stages": 5,
    "l2_promotion": 256,
    "raster": "along_m",
    "raster_group": 1,
}


def _copying_default(problem: GemmProblem) -> dict[str, Value]:
    copy_bytes = widest_copy_bytes(problem)
    if copy_bytes < MIN_ASYNC_BYTES:
        shape = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "warp_m": 32, "warp_n": 32}
        pipeline: dict[str, Value] = {"mechanism": "sync2", "stages": 2}
    else:
        shape = {"tile_m": 128, "tile_n": 128, "tile_k": 32, "warp_m": 64, "warp_n": 32}
        pipeline = {"mechanism": "cp_async", "stages": 3}
    if not problem.uses_tensor_cores:
        shape |= {"tile_k": 16}
    return {
        **hopper.ELSEWHERE,
        **shape,
        **pipeline,
        "copy_bytes": copy_bytes,
        "cache": "bypass" if copy_bytes == BYPASS_BYTES else "l1",
        "raster": "along_n",
        "raster_group": 1,
    }
