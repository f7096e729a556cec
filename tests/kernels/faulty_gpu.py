"""A CUDA kernel for fault campaigns: one fault among candidates that are right and ever slower.

As ``faulty_host`` does it: ``work`` orders the right candidates, and a fault has the least.
"""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import time
from pathlib import Path

from autotune.records import Config, Operand, Scalar, SourceUnit, load_kernel
from autotune.space import Constraint, Parameter, Space

SOURCE = Path(__file__).with_suffix(".cu")
LEAST, THREADS = 1, 128
CYCLES = 8_000  # that a right candidate idles for each unit of work: so a fault is faster
WORKSPACE = 50_000_000_000  # elements: 200 GB

HEADERS = {
    "syntax": "this is no CUDA\n",
    "asserts": 'static_assert(false, "this configuration must not compile");\n',
    "missing_header": '#include "absent.h"\n',
    "no_entry": "#define faulty another_name\n",
    "undefined": '#define CALLS_NOBODY\nextern "C" __device__ void nobody();\n',
}
SHAPES = {
    "empty_grid": {"grid": (0, 1, 1)},
    "too_many_threads": {"block": (2048, 1, 1)},
    "too_much_shared": {"shared_bytes": 1 << 20},
    "too_much_scratch": {},
    "unknown_operand": {"arguments": ("x", "z")},
}
ASKED = ("launch_raises", "lane_exits", "lane_crashes", "sleeps")
_ENUM = SOURCE.read_text().partition("enum class Fault {")[2].partition("}")[0]
IN_SOURCE = frozenset(re.findall(r"\w+", re.sub("//.*", "", _ENUM)))
FAULTS = ("none", *sorted(IN_SOURCE - {"none"}), *SHAPES, *ASKED, *HEADERS)


class FaultyGpu(type(load_kernel(f"{SOURCE.with_name('scale.py')}:Scale"))):
    name = "faulty_gpu"

    def space(self, problem, target):
        return Space(
            (
                Parameter("work", (LEAST, 4, 16, 64)),
                Parameter("fault", FAULTS, ordered=False),
            ),
            (Constraint("one fault", _only_with_least_work),),
        )

    def default(self, problem, target):
        return Config(work=4, fault="none")

    def unit(self, problem, config, target):
        fault = config["fault"]
        known = fault if fault in IN_SOURCE else "none"
        idle = CYCLES * {"none": config["work"], "prints": 2 * LEAST}.get(fault, 0)
        return SourceUnit(
            language="cuda",
            main=SOURCE,
            header=f"constexpr Fault FAULT = Fault::{known};\nconstexpr long long IDLE = {idle};\n"
            + HEADERS.get(fault, ""),
            entry="faulty",
            options=("--maxrregcount=24",) if fault == "spills" else (),
        )

    def launch(self, problem, config, target):
        fault = config["fault"]
        _asked(fault)
        launch = dataclasses.replace(
            super().launch(problem, Config(threads=THREADS), target),
            arguments=("x", "y", Scalar(dtype="int32", value=problem.count), "y"),
        )
        return dataclasses.replace(launch, **_changes(fault, problem.count, launch.arguments))


def _changes(fault, count, arguments):
    """Return what the launch of a fault has that the right one has not."""
    scratch = {"too_much_scratch": WORKSPACE, "trusts_scratch": count, "beyond_scratch": count}
    if fault in scratch:
        workspace = Operand(name="w", dtype="fp32", shape=(scratch[fault],))
        return {"scratch": (workspace,), "arguments": (*arguments[:-1], "w")}
    if fault == "empty_grid" and not _in_lane():
        return {}
    return SHAPES.get(fault, {})


def _asked(fault):
    """Fail as a kernel's own Python may."""
    if fault == "launch_raises":
        raise ValueError("no launch")
    if not _in_lane():
        return
    if fault == "lane_exits":
        raise SystemExit(0)
    if fault == "lane_crashes":
        os.abort()
    if fault == "sleeps":
        with Path(os.environ["FAULTS_WITNESS"], fault).open("ab") as note:
            note.write(b".")
        time.sleep(600)


def _in_lane():
    return "autotune.process.serve" in sys.modules


def _only_with_least_work(work, fault):
    return None if fault == "none" or work == LEAST else "a fault comes with the least work"
