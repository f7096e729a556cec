"""Studies of a small product on the host, for the tests of what goes on in one."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from autotune.records import QUICK, load_kernel
from autotune.study import Silent, StudySpec

FAULTY = f"{Path(__file__).parents[1] / 'kernels' / 'faulty_matmul.py'}:FaultyMatmul"
TWINS = {"twin": [0, 1, 2]}
GOOD = {"fault": ["none"], **TWINS}
PLAIN = (  # what the problem of these studies shows
    "none compile_error half_of_k nan nothing overrun underrun spoil_input waver segfault hang exit"
)
ONE_OF_EACH = {"fault": PLAIN.split(), "twin": [0]}


class Counting(Silent):
    """Counts what reaches the database, and stops the study as a Ctrl-C would."""

    def __init__(self, stop_after=None):
        self.seen = []
        self.stop_after = stop_after

    def trial(self, problem, trial, best):
        self.seen.append(trial)
        if len(self.seen) == self.stop_after:
            raise KeyboardInterrupt


def spec(**changes):
    kernel = load_kernel(FAULTY)
    problem = kernel.problem_type.parse({"m": 8, "n": 8, "k": 8})
    base = StudySpec(
        name="study",
        kernel_ref=FAULTY,
        kernel=kernel,
        problems=(problem,),
        sampler="random",
        trials=3,
        policy=QUICK,
        space=TWINS,
    )
    return dataclasses.replace(base, **changes)
