"""The shipped C++ product with a knob that breaks it; ``twin`` makes more configs of a kind."""

from __future__ import annotations

from pathlib import Path

from autotune.records import Config, SourceUnit, load_kernel
from autotune.space import Parameter, Space

SOURCE = Path(__file__).with_suffix(".cpp")
FAULTS = (
    "none compile_error half_of_k nan nothing overrun underrun spoil_input waver segfault hang "
    "exit odd_rows odd_crash swallow_nan"
)


class FaultyMatmul(type(load_kernel("host_matmul"))):
    name = "faulty_matmul"

    def space(self, problem, target):
        return Space(
            (
                Parameter("fault", tuple(FAULTS.split()), ordered=False),
                Parameter("twin", tuple(range(40))),
            )
        )

    def default(self, problem, target):
        return Config(fault="none", twin=0)

    def unit(self, problem, config, target):
        return SourceUnit(
            language="c++",
            main=SOURCE,
            header=f"constexpr Fault FAULT = Fault::{config['fault']};\n"
            f"constexpr int TWIN = {config['twin']};\n",
            entry="matmul",
        )


class SeldomWrong(FaultyMatmul):
    """A kernel of which most configs are wrong once in 200 launches."""

    name = "seldom_wrong"

    def space(self, problem, target):
        return Space(
            (Parameter("fault", ("none", "seldom"), ordered=False), Parameter("twin", (0, 1)))
        )


class Divergent(FaultyMatmul):
    """A kernel whose reference overflows."""

    name = "divergent"

    def reference(self, problem, inputs, xp):
        answer = super().reference(problem, inputs, xp)
        answer["c"][0, 0] = float("inf")
        return answer


class Raising(FaultyMatmul):
    """A kernel whose reference raises."""

    name = "raising"

    def reference(self, problem, inputs, xp):
        raise KeyError("weights")
