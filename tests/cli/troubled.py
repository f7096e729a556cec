"""The shipped C++ product, with a knob that breaks it; ``twin`` makes more configs of a kind."""

from __future__ import annotations

from pathlib import Path

from autotune.records import Config, SourceUnit, load_kernel
from autotune.space import Parameter, Space

SOURCE = Path(__file__).with_name("troubled.cpp")


class Troubled(type(load_kernel("host_matmul"))):
    """A product that may refuse to compile, hang or be wrong."""

    name = "troubled"

    def space(self, problem, target):
        return Space(
            (
                Parameter("trouble", ("none", "refuse", "hang", "wrong"), ordered=False),
                Parameter("twin", tuple(range(40))),
            )
        )

    def default(self, problem, target):
        return Config(trouble="none", twin=0)

    def unit(self, problem, config, target):
        return SourceUnit(
            language="c++",
            main=SOURCE,
            header=f"constexpr Trouble TROUBLE = Trouble::{config['trouble']};\n"
            f"constexpr int TWIN = {config['twin']};\n",
            entry="matmul",
        )
