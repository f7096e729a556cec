"""Launch one small product, or one short stream, with each mechanism: for compute-sanitizer.

    python sanitized_gemm.py [RUNG ...]
    compute-sanitizer --tool racecheck python sanitized_gemm.py [RUNG ...]

The first line compiles what the second finds in the binary store. Nothing runs on the GPU but the
rungs: inputs, references and comparisons are numpy's. Each rung prints a line before it runs and
one after, so that what a tool reports in between is its own: right, wrong, or absent from this GPU.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from gemm_mutants import Elsewhere, Variant

from autotune.device.gpus import target_of
from autotune.launcher.gpu import Program
from autotune.records import (
    Binary,
    Candidate,
    Config,
    Failure,
    Kernel,
    Policy,
    Problem,
    Target,
    Value,
)
from autotune.records.targets import TARGETS
from autotune.toolchain import BinaryStore, Nvrtc, compile_now
from autotune.verify import Arrays, Verifier
from kernel_space.gemm import Gemm, GemmProblem, ampere, hopper
from kernel_space.stream import Stream, StreamProblem

POLICY = Policy(repeats=0)
MULTIPROCESSORS = 4  # as if there were so few: a block then takes several tiles
REPORT_S = 0.1  # for what a tool has found to be printed before the next line

TAILS = GemmProblem(130, 136, 136)
EVEN_ROWS = GemmProblem(130, 136, 138)
ODD_ROWS = GemmProblem(130, 136, 137)
DEEP = GemmProblem(130, 136, 520)  # more tiles of K than stages, to go round a ring
DEEP_ODD = GemmProblem(130, 133, 521)
COUNT = 40_007

SMALL = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "warp_m": 32, "warp_n": 32}
BATCHES = {**SMALL, "mechanism": "cp_async", "stages": 3, "barriers": 2}
LOADS = {**SMALL, "mechanism": "sync1", "stages": 1, "barriers": 0, "cache": "l1"}
RING = {**SMALL, "mechanism": "mbarrier", "stages": 3, "barriers": 0}
WS_RING = {**RING, "mechanism": "ws_cp_async"}
ENGINE = {"tile_m": 64, "tile_n": 64, "stages": 10}
SHARED = {"mechanism": "ws_cooperative", "tile_m": 128, "tile_n": 128, "stages": 5}

# racecheck takes the one arrival that a warp makes after __syncwarp() for that of a lone lane, and
# the reads of the other lanes for unordered with the copies that refill the stage. With an arrival
# of each lane nothing else changes, and it can follow every read to its refill.
EVERY_LANE_ARRIVES = Variant(
    file="**/*.cuh",
    edits=(
        ("if (threadIdx.x % 32 == 0) consumer_release(at);", "consumer_release(at);"),
        ("COPIERS, CONSUMERS / 32)", "COPIERS, CONSUMERS)"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One config of a kernel for one problem; ``knobs`` differ from a default.

    With a ``variant``, the sources of the GEMM are changed first.
    """

    kernel: Kernel
    problem: Problem
    base: Config
    knobs: Mapping[str, Value]
    variant: Variant | None = None

    @property
    def config(self) -> Config:
        """The config that is launched."""
        return self.base.replace(**self.knobs)

    def built(self, target: Target) -> Binary | Failure:
        """Compile it, unless the binary store has it."""
        with TemporaryDirectory() as folder:
            kernel = self.kernel
            if self.variant is not None:
                kernel = Elsewhere(self.variant.write(Path(folder)))
            unit = kernel.unit(self.problem, self.config, target)
            return compile_now(Nvrtc(), BinaryStore(), unit, target.arch)


def _threads(problem: GemmProblem, variant: Variant | None = None, **knobs: Value) -> Rung:
    base = ampere.default(problem)
    return Rung(kernel=Gemm(), problem=problem, base=base, knobs=knobs, variant=variant)


def _engine(problem: GemmProblem, **knobs: Value) -> Rung:
    return Rung(kernel=Gemm(), problem=problem, base=hopper.default(problem), knobs=knobs)


def _stream(**knobs: Value) -> Rung:
    problem = StreamProblem(COUNT, "fp32", "triad")
    base = Stream().default(problem, TARGETS["sm_80"]).replace(threads=64, thread_bytes=32)
    return Rung(kernel=Stream(), problem=problem, base=base, knobs=knobs)


RUNGS: dict[str, Rung] = {
    "sync1": _threads(TAILS, **LOADS),
    "sync1 of odd rows": _threads(ODD_ROWS, **LOADS),
    "sync2_smem": _threads(TAILS, **{**LOADS, "mechanism": "sync2_smem", "stages": 2}),
    "sync2": _threads(TAILS, **{**LOADS, "mechanism": "sync2", "stages": 2}),
    "cg_memcpy_async": _threads(
        TAILS, **{**BATCHES, "mechanism": "cg_memcpy_async", "stages": 1, "barriers": 0}
    ),
    "cp_async with two barriers": _threads(TAILS, **BATCHES),
    "cp_async with one barrier": _threads(TAILS, **{**BATCHES, "barriers": 1}),
    "cp_async of 4 bytes": _threads(EVEN_ROWS, **BATCHES),
    "cp_async of fp32": _threads(GemmProblem(130, 136, 136, "fp32"), **BATCHES),
    "pipeline_thread with two barriers": _threads(
        TAILS, **{**BATCHES, "mechanism": "pipeline_thread"}
    ),
    "pipeline_thread with one barrier": _threads(
        TAILS, **{**BATCHES, "mechanism": "pipeline_thread", "barriers": 1}
    ),
    "pipeline_block": _threads(TAILS, **{**RING, "mechanism": "pipeline_block"}),
    "mbarrier": _threads(TAILS, **RING),
    "ws_cp_async": _threads(TAILS, **WS_RING),
    "mbarrier at which every lane arrives": _threads(TAILS, EVERY_LANE_ARRIVES, **RING),
    "ws_cp_async at which every lane arrives": _threads(TAILS, EVERY_LANE_ARRIVES, **WS_RING),
    "tma": _engine(DEEP, **ENGINE, mechanism="tma", in_flight=1),
    "ws_basic": _engine(DEEP, **ENGINE, mechanism="ws_basic"),
    "ws_cooperative": _engine(DEEP, **SHARED),
    "ws_pingpong": _engine(DEEP, **ENGINE, mechanism="ws_pingpong"),
    "ws_pingpong of tn": _engine(
        GemmProblem(136, 136, 136, "bf16", "tn"), **ENGINE, mechanism="ws_pingpong"
    ),
    "cluster": _engine(DEEP, **SHARED, cluster_m=2),
    "cluster of four": _engine(DEEP, **SHARED, cluster_m=2, cluster_n=2),
    "cluster of four in a row": _engine(DEEP, **SHARED, cluster_m=4),
    "cluster that splits K": _engine(DEEP, **SHARED, cluster_m=2, split_k=2, epilogue="direct"),
    "swapped operands": _engine(DEEP, **ENGINE, mechanism="ws_basic", operands="swapped"),
    "direct stores": _engine(DEEP, **ENGINE, mechanism="ws_basic", epilogue="direct"),
    "repacked rows": _engine(DEEP_ODD, **ENGINE, mechanism="ws_pingpong"),
    "stream direct": _stream(mechanism="direct"),
    "stream sync1": _stream(mechanism="sync1", blocks_per_sm=2, readers="any"),
    "stream cp_async": _stream(mechanism="cp_async", blocks_per_sm=2, stages=3, readers="any"),
    "stream pipeline_mbarrier": _stream(
        mechanism="pipeline_mbarrier", blocks_per_sm=2, stages=3, readers="any"
    ),
    "stream bulk": _stream(mechanism="bulk", blocks_per_sm=2, stages=3, readers="any"),
    "stream bulk that stores": _stream(
        mechanism="bulk", blocks_per_sm=2, stages=3, readers="any", store="bulk"
    ),
}


def verdict(rung: Rung, target: Target) -> str:
    """Launch a rung on integers and on fractions, and return a word on it, with the reason."""
    few = dataclasses.replace(target, sm_count=MULTIPROCESSORS)
    candidate = Candidate(rung.kernel.name, rung.problem, rung.config, few, rung.kernel)
    broken = rung.kernel.space(rung.problem, target).broken(rung.config)
    if broken is not None:
        return f"absent: {broken[1]}"
    binary = rung.built(few)
    if isinstance(binary, Failure):
        return f"wrong: {binary.message}"
    program = Program(binary, candidate.launch())
    verifier = Verifier(rung.kernel, rung.problem, POLICY, np)
    failure = verifier.check(lambda arrays: run(program, arrays))
    return "right" if failure is None else f"wrong: {failure.message}"


def run(program: Program, arrays: Arrays) -> None:
    """Launch once on copies of numpy arrays, which then hold what it wrote."""
    import cupy

    copies: dict[str, Any] = {name: cupy.asarray(array) for name, array in arrays.items()}
    program.start({name: copy.data.ptr for name, copy in copies.items()})
    cupy.cuda.get_current_stream().synchronize()
    for name, copy in copies.items():
        arrays[name][...] = copy.get()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(names: list[str]) -> None:
    import cupy

    cupy.cuda.set_allocator(None)  # memory that ends where its array ends
    target = target_of(cupy.cuda.Device())
    say(f"on {target.arch}")
    for name in names or RUNGS:
        say(f"rung {name}")
        word = verdict(RUNGS[name], target)
        time.sleep(REPORT_S)
        say(f"{name} is {word}")


if __name__ == "__main__":
    main(sys.argv[1:])
