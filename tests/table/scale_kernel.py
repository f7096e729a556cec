"""A kernel small enough to see through: its config is valid for multiples of its width."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from autotune.records import (
    Condition,
    Config,
    Cost,
    Kernel,
    Launch,
    Operand,
    Problem,
    SourceUnit,
    Tolerance,
)
from autotune.space import Constraint, Parameter, Space


@dataclass(frozen=True)
class ScaleProblem(Problem):
    n: int
    dtype: str = "fp32"


class Scale(Kernel):
    name = "scale"
    problem_type = ScaleProblem
    scaled_fields = ("n",)
    source: ClassVar[Path] = Path(__file__).with_name("scale.cu")

    def space(self, problem, target):
        divides = Constraint(
            "divides", lambda width: None if problem.n % width == 0 else f"{width} does not divide"
        )
        return Space(
            (Parameter("width", (1, 2, 4, 8)), Parameter("block", (64, 128, 256))), (divides,)
        )

    def default(self, problem, target):
        return Config(width=4 if problem.n % 4 == 0 else 1, block=128)

    def unit(self, problem, config, target):
        return SourceUnit(language="cuda", main=self.source, header="", entry="scale")

    def launch(self, problem, config, target):
        return Launch(grid=(1, 1, 1), block=(1, 1, 1), shared_bytes=0, arguments=("x",))

    def operands(self, problem):
        return (Operand(name="x", dtype=problem.dtype, shape=(problem.n,), output=True),)

    def reference(self, problem, inputs, xp):
        return {}

    def tolerance(self, problem):
        return Tolerance(relative=0.0, absolute=0.0)

    def cost(self, problem):
        return Cost(flop=0, bytes=0)

    def conditions(self, problem, config):
        width = config["width"]
        return (Condition(field="n", multiple_of=width),) if width > 1 else ()
