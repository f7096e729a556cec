"""Kernels that fail at the questions they are asked; ``Unsound.<question>`` says which."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from autotune.records import Config, SourceUnit, load_kernel
from autotune.space import Parameter, Space

HERE = Path(__file__).parent


class Unsound(type(load_kernel("host_matmul"))):
    name = "unsound"

    def space(self, problem, target):
        return Space((Parameter("twin", (0, 1, 2)),))

    def default(self, problem, target):
        return Config(twin=0)

    def unit(self, problem, config, target):
        return SourceUnit(
            language="c++",
            main=HERE / "faulty_matmul.cpp",
            header="constexpr Fault FAULT = Fault::none;\n"
            f"constexpr int TWIN = {config['twin']};\n",
            entry="matmul",
        )


def _failing(question):
    def answer(_kernel, *_arguments):
        raise KeyError(f"no {question}")

    return type(question.title(), (Unsound,), {question: answer})


Space_, Default, Unit, Launch = map(_failing, ("space", "default", "unit", "launch"))
Operands, Reference = map(_failing, ("operands", "reference"))
Tolerance, Cost, Estimate = map(_failing, ("tolerance", "cost", "estimate"))


class Aloof(Unsound):
    """Answers nothing when it is asked for a space."""

    def space(self, problem, target): ...


class Misnaming(Unsound):
    """Launches on an array that nobody has."""

    def launch(self, problem, config, target):
        return dataclasses.replace(super().launch(problem, config, target), arguments=("a", "d"))


class SomeUnits(Unsound):
    def unit(self, problem, config, target):
        if config["twin"] == 1:
            raise ValueError("no source for 1")
        return super().unit(problem, config, target)


class SomeLaunches(Unsound):
    def launch(self, problem, config, target):
        if config["twin"] == 1:
            raise ValueError("no launch for 1")
        return super().launch(problem, config, target)


class Headless(Unsound):
    def unit(self, problem, config, target):
        return SourceUnit(language="c++", main=HERE / "headless.cpp", header="", entry="matmul")
