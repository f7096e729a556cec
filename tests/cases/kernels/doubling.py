"""y = 2 x on the host and on a GPU, by candidates that are right or meet their named fate.

``candidates`` are the space, in order; the first is the default. Whatever follows ``:`` tells
candidates of one fate apart.
"""

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
    Rung,
    Scalar,
    SourceUnit,
    Tolerance,
)
from autotune.space import Parameter, Space

HERE = Path(__file__)
HOST, CUDA = f"{HERE}:Doubling", f"{HERE}:DoublingOnGpu"
THREADS = 128


@dataclass(frozen=True)
class DoublingProblem(Problem):
    count: int


class Doubling(Kernel):
    name = "doubling"
    problem_type = DoublingProblem
    language = "c++"
    scaled_fields = ("count",)
    source = HERE.with_suffix(".cpp")
    candidates = ("right", "right:1", "odd_is_wrong")

    def space(self, problem, target):
        return Space((Parameter("candidate", self.candidates, ordered=False),))

    def default(self, problem, target):
        return Config(candidate=self.candidates[0])

    def unit(self, problem, config, target):
        name = config["candidate"]
        fate = name.partition(":")[0]
        header = f'constexpr Fate FATE = Fate::{fate};\nconstexpr char NAME[] = "{name}";\n'
        return SourceUnit(language=self.language, main=self.source, header=header, entry="doubled")

    def launch(self, problem, config, target):
        arguments = ("x", "y", Scalar(dtype="int32", value=problem.count))
        grid = (-(-problem.count // THREADS), 1, 1)
        return Launch(grid=grid, block=(THREADS, 1, 1), shared_bytes=0, arguments=arguments)

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

    def ladder(self, problem, target):
        return tuple(_rung(name) for name in self.candidates)


class DoublingOnGpu(Doubling):
    name = "doubling_on_gpu"
    language = "cuda"
    source = HERE.with_suffix(".cu")


def _rung(name):
    of = {"candidate": name}
    return Rung(name=name, where=of, preferred=(Config(of),), change="another", why="to see it")
