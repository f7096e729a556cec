"""The stream kernel, as the framework asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotune.records import (
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
from kernel_space.stream import prior
from kernel_space.stream.ladder import stream_ladder
from kernel_space.stream.plan import StreamPlan
from kernel_space.stream.problem import StreamProblem
from kernel_space.stream.space import FIXED, stream_space

SOURCES = Path(__file__).parent


class Stream(Kernel):
    """y = x, y = 3x or y = x + 3w: as fast as memory, if it is kept busy.

    Any config serves any count: elements behind the last whole tile are computed one by one.
    """

    name = "stream"
    problem_type = StreamProblem
    language = "cuda"
    scaled_fields = ("count",)

    def space(self, problem: StreamProblem, target: Target) -> Space:
        """Return the parameters and the named constraints for ``problem`` on ``target``."""
        return stream_space(problem, target)

    def default(self, problem: StreamProblem, target: Target) -> Config:
        """Return plain vector loads and stores, one block for each tile: the yardstick."""
        del problem, target
        return Config(
            mechanism="direct",
            stages=1,
            blocks_per_sm=0,
            copy_bytes=16,
            thread_bytes=32,
            threads=256,
            readers="own",
            eviction="normal",
            store="registers",
        )

    def unit(self, problem: StreamProblem, config: Config, target: Target) -> SourceUnit:
        """Return what to compile: the same for every count and grid."""
        del target
        return SourceUnit(
            language="cuda",
            main=SOURCES / "stream.cu",
            header=StreamPlan.of(config, problem).header(),
            entry="stream",
            include_dirs=(SOURCES, SOURCES.parent),
        )

    def launch(self, problem: StreamProblem, config: Config, target: Target) -> Launch:
        """Return as many blocks as the config keeps resident, or one for each tile."""
        return StreamPlan.of(config, problem).launch(target)

    def operands(self, problem: StreamProblem) -> tuple[Operand, ...]:
        """Return the inputs and y."""
        shape = (problem.count,)
        inputs = (Operand(name=name, dtype=problem.dtype, shape=shape) for name in problem.inputs)
        return (*inputs, Operand(name="y", dtype=problem.dtype, shape=shape, output=True))

    def reference(
        self, problem: StreamProblem, inputs: Mapping[str, Any], xp: Any
    ) -> dict[str, Any]:
        """Return y in the dtype of ``inputs``."""
        del xp
        return problem.reference(inputs)

    def tolerance(self, problem: StreamProblem) -> Tolerance:
        """Return the bound for each element: a rounding or two."""
        return problem.tolerance

    def cost(self, problem: StreamProblem) -> Cost:
        """Return each array once through memory."""
        return Cost(flop=problem.flop, bytes=problem.moved_bytes)

    def estimate(self, problem: StreamProblem, config: Config, target: Target) -> float | None:
        """Predict the time in ns from waves, bandwidths and the mechanism."""
        return prior.estimate(problem, config, target)

    def ladder(self, problem: StreamProblem, target: Target) -> tuple[Rung, ...]:
        """Return each way to bring a tile to the threads that compute."""
        del problem, target
        return stream_ladder()

    def shown(self, config: Config) -> tuple[str, ...]:
        """Return the mechanism, then what it leaves a choice in."""
        hidden = {"mechanism", *FIXED[str(config["mechanism"])]}
        return ("mechanism", *(name for name in config if name not in hidden))
