"""A kernel whose every config fails to compile with the same words."""

from __future__ import annotations

from pathlib import Path

from autotune.records import Config, SourceUnit, load_kernel
from autotune.space import Parameter, Space


class Hopeless(type(load_kernel("host_matmul"))):
    name = "hopeless"

    def space(self, problem, target):
        return Space((Parameter("twin", tuple(range(40))),))

    def default(self, problem, target):
        return Config(twin=0)

    def unit(self, problem, config, target):
        return SourceUnit(
            language="c++",
            main=Path(__file__).with_name("hopeless.cpp"),
            header=f"constexpr int TWIN = {config['twin']};\n",
            entry="matmul",
        )
