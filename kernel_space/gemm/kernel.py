"""The GEMM kernel, as the framework asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autotune.records import (
    Condition,
    Config,
    Cost,
    Kernel,
    Launch,
    Operand,
    Rung,
    SourceUnit,
    Target,
    Tolerance,
)
from autotune.space import Space
from kernel_space.gemm import accuracy, ampere, hopper, prior
from kernel_space.gemm.ampere import AmperePlan
from kernel_space.gemm.hopper import HopperPlan
from kernel_space.gemm.ladder import gemm_ladder
from kernel_space.gemm.problem import GemmProblem
from kernel_space.gemm.space import gemm_space

SOURCES = Path(__file__).parent


class Gemm(Kernel):
    """C = A·B with fp32 sums: e4m3, bf16 and fp16 on tensor cores, fp32 on CUDA cores."""

    name = "gemm"
    problem_type = GemmProblem
    language = "cuda"
    scaled_fields = GemmProblem.SIZES
    peer = "cublas"

    def space(self, problem: GemmProblem, target: Target) -> Space:
        """Return the parameters and the named constraints for ``problem`` on ``target``."""
        return gemm_space(problem, target)

    def default(self, problem: GemmProblem, target: Target) -> Config:
        """Return a middling config that fits every device of the target's architecture."""
        if ampere.unavailable(problem) or hopper.unavailable(problem, target) is None:
            return hopper.default(problem)
        return ampere.default(problem)

    def unit(self, problem: GemmProblem, config: Config, target: Target) -> SourceUnit:
        """Return what to compile: the same for every shape and raster of a config."""
        del target
        return SourceUnit(
            language="cuda",
            main=SOURCES / "gemm.cu",
            header=_plan(problem, config).header(),
            entry="gemm",
            include_dirs=(SOURCES, SOURCES.parent),
        )

    def launch(self, problem: GemmProblem, config: Config, target: Target) -> Launch:
        """Return one block for each tile of C, or as many as the device holds at a time."""
        return _plan(problem, config).launch(target)

    def operands(self, problem: GemmProblem) -> tuple[Operand, ...]:
        """Return A, B, the scale of 8-bit ones, and C, as they are stored."""
        return problem.operands

    def reference(self, problem: GemmProblem, inputs: Mapping[str, Any], xp: Any) -> dict[str, Any]:
        """Return C in the dtype of ``inputs``."""
        del xp
        return accuracy.reference(problem, inputs)

    def tolerance(self, problem: GemmProblem) -> Tolerance:
        """Return the bound for each element of C by dtype and k."""
        return accuracy.tolerance(problem)

    def cost(self, problem: GemmProblem) -> Cost:
        """Return 2·m·n·k FLOP, and each matrix once through memory."""
        return Cost(flop=2 * problem.m * problem.n * problem.k, bytes=problem.moved_bytes)

    def conditions(self, problem: GemmProblem, config: Config) -> tuple[Condition, ...]:
        """Return the row lengths that the config's copies need."""
        family = hopper if _is_hopper(config) else ampere
        found: tuple[Condition, ...] = family.conditions(problem, config)
        return found

    def estimate(self, problem: GemmProblem, config: Config, target: Target) -> float | None:
        """Predict the time in ns from waves, bandwidths and the mechanism."""
        return self.estimates(problem, [config], target).get(config)

    def estimates(
        self, problem: GemmProblem, configs: Iterable[Config], target: Target
    ) -> dict[Config, float]:
        """Predict the times of many configs at once, in ns: most share parts of the prediction."""
        return dict(prior.estimates(problem, configs, target))

    def ladder(self, problem: GemmProblem, target: Target) -> tuple[Rung, ...]:
        """Return each way to hide the latency of memory, from none to Hopper's."""
        return gemm_ladder(problem, self.default(problem, target))

    def shown(self, config: Config) -> tuple[str, ...]:
        """Return the mechanism, what it leaves a choice in, and what is switched on."""
        idle = {
            "barriers": 0,
            **ampere.FIXED,
            **(hopper.idle(config) if _is_hopper(config) else {}),
        }
        rest = (name for name in config if config[name] != idle.get(name))
        return ("mechanism", *(name for name in rest if name != "mechanism"))


def _plan(problem: GemmProblem, config: Config) -> AmperePlan | HopperPlan:
    return (HopperPlan if _is_hopper(config) else AmperePlan).of(config, problem)


def _is_hopper(config: Config) -> bool:
    return config["mechanism"] in hopper.MECHANISMS
