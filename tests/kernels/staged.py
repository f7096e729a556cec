"""A doubling that first copies its input to scratch, on the host and on a GPU."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from autotune.records import Config, Launch, Operand, SourceUnit, load_kernel
from autotune.space import Parameter, Space

FAULTS = "none short_copy overrun stale absent huge"
HUGE = 1 << 60  # elements that no memory holds
HERE = Path(__file__).parent


class Staged(type(load_kernel(f"{HERE / 'scale.py'}:Scale"))):
    """Has a knob that breaks the step before, or what it says of it."""

    name = "staged"
    language = "c++"

    def space(self, problem, target):
        return Space((Parameter("fault", tuple(FAULTS.split()), ordered=False),))

    def default(self, problem, target):
        return Config(fault="none")

    def unit(self, problem, config, target):
        return SourceUnit(
            language=self.language,
            main=HERE / ("staged.cpp" if self.language == "c++" else "staged.cu"),
            header=f"constexpr Fault FAULT = Fault::{config['fault']};\n",
            entry="scale",
        )

    def launch(self, problem, config, target):
        count = super().launch(problem, Config(threads=128), target).arguments[2]
        huge = config["fault"] == "huge"
        copy = Operand(name="copy", dtype="fp32", shape=(HUGE if huge else problem.count,))
        last = Launch(
            grid=(-(-problem.count // 128), 1, 1),
            block=(128, 1, 1),
            shared_bytes=0,
            arguments=("copy", "y", count),
            scratch=(copy,),
        )
        entry = "absent" if config["fault"] == "absent" else "stage"
        first = dataclasses.replace(last, arguments=("x", "copy", count), scratch=(), entry=entry)
        return dataclasses.replace(last, before=(first,))


class StagedOnGpu(Staged):
    """The same in CUDA."""

    name = "staged_on_gpu"
    language = "cuda"
