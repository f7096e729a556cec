"""A CUDA kernel that doubles a vector, with a knob that breaks it in one way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autotune.records import (
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
from autotune.space import Parameter, Space

FAULTS = "none half out_of_bounds misaligned trap hang overrun waver spoil_input"


@dataclass(frozen=True)
class ScaleProblem(Problem):
    count: int


class Scale(Kernel):
    name = "scale"
    problem_type = ScaleProblem

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
            main=Path(__file__).with_name("scale.cu"),
            header=f"constexpr Fault FAULT = Fault::{config['fault']};\n",
            entry="scale",
        )

    def launch(self, problem, config, target):
        threads = config["threads"]
        return Launch(
            grid=(-(-problem.count // threads), 1, 1),
            block=(threads, 1, 1),
            shared_bytes=config["shared_bytes"] or 4 * threads,
            arguments=("x", "y", Scalar(dtype="int32", value=problem.count)),
        )

    def operands(self, problem):
        return (
            Operand(name="x", dtype="fp32", shape=(problem.count,)),
            Operand(name="y", dtype="fp32", shape=(problem.count,), output=True),
        )

    def reference(self, problem, inputs, xp):
        return {"y": 2 * inputs["x"]}

    def tolerance(self, problem):
        return Tolerance(relative=1e-6, absolute=1e-6)

    def cost(self, problem):
        return Cost(flop=problem.count, bytes=8 * problem.count)
