"""CUDA kernels that double a vector: one that can be broken, one that serves multiples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autotune.records import (
    Condition,
    Config,
    Cost,
    Kernel,
    Launch,
    Operand,
    Problem,
    Scalar,
    SourceUnit,
    Tolerance,
)
from autotune.space import Constraint, Parameter, Space

FAULTS = "none half eighth out_of_bounds misaligned trap hang overrun waver spoil_input"


@dataclass(frozen=True)
class ScaleProblem(Problem):
    count: int
    dtype: str = "fp32"


class Scale(Kernel):
    """Has a knob that breaks it in one way."""

    name = "scale"
    problem_type = ScaleProblem
    scaled_fields = ("count",)

    def space(self, problem, target):
        return Space(
            (
                Parameter("fault", tuple(FAULTS.split()), ordered=False),
                Parameter("threads", (32, 64, 128, 256, 512, 1024)),
                Parameter("shared_bytes", (0, 65536, 1 << 20)),
            )
        )

    def default(self, problem, target):
        return Config(fault="none", threads=128, shared_bytes=0)

    def unit(self, problem, config, target):
        return SourceUnit(
            language="cuda",
            main=Path(__file__).with_suffix(".cu"),
            header=f"constexpr Fault FAULT = Fault::{config.get('fault', 'none')};\n",
            entry="scale",
        )

    def launch(self, problem, config, target):
        threads = config["threads"]
        return Launch(
            grid=(-(-problem.count // threads), 1, 1),
            block=(threads, 1, 1),
            shared_bytes=config.get("shared_bytes") or 4 * threads,
            arguments=("x", "y", Scalar(dtype="int32", value=problem.count)),
        )

    def operands(self, problem):
        return (
            Operand(name="x", dtype=problem.dtype, shape=(problem.count,)),
            Operand(name="y", dtype=problem.dtype, shape=(problem.count,), output=True),
        )

    def reference(self, problem, inputs, xp):
        return {"y": 2 * inputs["x"]}

    def tolerance(self, problem):
        return Tolerance(relative=1e-6, absolute=1e-6)

    def cost(self, problem):
        return Cost(flop=problem.count, bytes=8 * problem.count)


class WideScale(Scale):
    """Would take ``width`` elements at a time, so that a config serves multiples of its width."""

    name = "wide_scale"

    def space(self, problem, target):
        def divides(width):
            return f"{width} does not divide {problem.count}" if problem.count % width else None

        return Space(
            (Parameter("width", (1, 2, 4, 8)), Parameter("threads", (64, 128, 256))),
            (Constraint("divides", divides),),
        )

    def default(self, problem, target):
        return Config(width=4 if problem.count % 4 == 0 else 1, threads=128)

    def conditions(self, problem, config):
        width = config["width"]
        return (Condition(field="count", multiple_of=width),) if width > 1 else ()


class ForeseenScale(WideScale):
    """Knows that few threads are fast below a count that no tuned problem tells."""

    name = "foreseen_scale"
    least = 12_000  # elements that are worth many threads

    def estimate(self, problem, config, target):
        few = config["threads"] == 64
        return problem.count * (1.0 if few == (problem.count < self.least) else 1.5)
