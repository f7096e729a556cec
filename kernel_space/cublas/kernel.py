"""The product of NVIDIA's library, as the framework asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotune.records import (
    Config,
    Cost,
    LibraryKernel,
    Operand,
    Routine,
    SourceUnit,
    Target,
    Tolerance,
    Toolchain,
)
from autotune.space import Constraint, Parameter, Space
from kernel_space.cublas import lt
from kernel_space.gemm import Gemm, GemmProblem

ALGORITHMS = Parameter(
    "algorithm", tuple(range(lt.MOST_RANKS)), about="place in the library's own order, best first"
)
EIGHT_BIT_ROW_BYTES = 16
_GEMM = Gemm()  # says what is right, and how much work it is


class Cublas(LibraryKernel):
    """C = A·B as ``gemm`` computes it, by NVIDIA's cublasLt: one of the algorithms it ranks."""

    name = "cublas"
    problem_type = GemmProblem
    scaled_fields = GemmProblem.SIZES

    def toolchain(self) -> Toolchain:
        """Return the version of the cublasLt that would be called."""
        return Toolchain(compiler="cublasLt", version=lt.version())

    def routine(self, problem: GemmProblem, config: Config, target: Target) -> Routine:
        """Return the call with the algorithm of the config's rank."""
        del target
        return lt.Product(problem, rank=int(config["algorithm"]))

    def space(self, problem: GemmProblem, target: Target) -> Space:
        """Return the ranks; how many the library offers is known on the device alone."""
        del target

        def too_short(algorithm: int) -> str | None:
            del algorithm
            return None if problem.k else "cublasLt has no product with k = 0"

        def ragged(algorithm: int) -> str | None:
            del algorithm
            row_bytes = problem.n * problem.result_bytes
            if problem.scaled and row_bytes % EIGHT_BIT_ROW_BYTES:
                return f"of e4m3 it takes rows of C of 16 bytes or multiples, not {row_bytes}"
            return None

        return Space((ALGORITHMS,), (Constraint("sum", too_short), Constraint("rows", ragged)))

    def default(self, problem: GemmProblem, target: Target) -> Config:
        """Return the rank that the library itself prefers."""
        del problem, target
        return Config(algorithm=0)

    def unit(self, problem: GemmProblem, config: Config, target: Target) -> SourceUnit:
        """Return the module that makes the call."""
        del problem, config, target
        return SourceUnit(language=self.language, main=Path(lt.__file__), header="", entry="matmul")

    def operands(self, problem: GemmProblem) -> tuple[Operand, ...]:
        """Return A, B, the scale of 8-bit ones, and C, as they are stored."""
        return problem.operands

    def reference(self, problem: GemmProblem, inputs: Mapping[str, Any], xp: Any) -> dict[str, Any]:
        """Return C as ``gemm`` does."""
        return _GEMM.reference(problem, inputs, xp)

    def tolerance(self, problem: GemmProblem) -> Tolerance:
        """Return the bound that ``gemm`` is held to."""
        return _GEMM.tolerance(problem)

    def cost(self, problem: GemmProblem) -> Cost:
        """Return the work as ``gemm`` counts it."""
        return _GEMM.cost(problem)
