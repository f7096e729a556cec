"""The shipped C++ product by a candidate with a trick; ``mark`` tells its processes apart."""

from __future__ import annotations

from pathlib import Path

from autotune.records import Config, SourceUnit, load_kernel
from autotune.space import Parameter, Space

TRICKS = "none tire remember spoil_later fork child close garble chatter chdir stop"


class SlyMatmul(type(load_kernel("host_matmul"))):
    name = "sly_matmul"

    def space(self, problem, target):
        tricks = Parameter("trick", tuple(TRICKS.split()), ordered=False)
        return Space((tricks, Parameter("mark", tuple(range(600)))))

    def default(self, problem, target):
        return Config(trick="none", mark=0)

    def unit(self, problem, config, target):
        return SourceUnit(
            language="c++",
            main=Path(__file__).with_suffix(".cpp"),
            header=f"constexpr Trick TRICK = Trick::{config['trick']};\n"
            f'constexpr const char* MARK = "600.{config["mark"]}";\n',
            entry="matmul",
        )
