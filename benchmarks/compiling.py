"""Compile the practical Hopper variants of ``gemm`` into an empty store, on every core.

    python benchmarks/compiling.py --json benchmarks/results/compiling.json

The variants are those with tensor copies and warp-group products that the shipped recording of an
NVIDIA H200 found fastest: of every problem the first, then of every problem the second, and so on,
until ``--count`` distinct binaries are together. No GPU is needed. ``seconds`` counts from the
start of the first compiler's process. ``mean_s`` and ``worst_s`` are what one binary takes in its
process; ``cpu_s`` is the processors' time of all processes over the count, their start included.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any

from resampled import recorded_times
from results_file import write_json

from autotune.records import Binary, Config, Failure, Problem, SourceUnit, Target
from autotune.toolchain import BinaryStore, CompilePool, Nvrtc
from autotune.toolchain.pool import usable_cpus
from kernel_space.gemm import Gemm

COMPILE_LIMIT_S = 120.0
PACKAGES = ("autotune-kernels", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "cuda-core")
SERIALIZED = "serialized"  # what the assembler says of warp-group products that wait
Row = dict[str, Any]
Times = Mapping[Problem, Mapping[Config, float]]


def main() -> None:
    """Compile them all and print a line."""
    arguments = _arguments()
    load = os.getloadavg()[0]
    device, times = recorded_times(arguments.recording, Gemm())
    units = [*islice(practical(times, device.target), arguments.count)]
    row = compiled(units, device.target.arch, arguments.processes)
    print(" ".join(f"{name:>10}" for name in row))
    print(" ".join(f"{figure:10.4g}" for figure in row.values()))
    if arguments.json is not None:
        about = {
            "arch": device.target.arch,
            "compiler": str(Nvrtc().toolchain.version),
            "processors": usable_cpus(),
            "load_at_start": load,
        }
        write_json(arguments.json, [row], packages=PACKAGES, about=about)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=120, help="binaries")
    parser.add_argument("--processes", type=int, default=usable_cpus())
    parser.add_argument("--recording", default="h200")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def practical(times: Times, target: Target) -> Iterator[SourceUnit]:
    """Yield the sources of distinct binaries, those of the fastest configs first.

    Args:
        times: By problem, what each config takes.
        target: What is compiled for.
    """
    kernel, seen = Gemm(), set()
    by_speed = (sorted(some, key=some.__getitem__) for some in times.values())
    for rank in zip_longest(*by_speed):
        for problem, config in zip(times, rank, strict=True):
            if config is None or not _by_tensor_copies(str(config["mechanism"])):
                continue
            unit = kernel.unit(problem, config, target)
            if unit.header not in seen:
                seen.add(unit.header)
                yield unit


def compiled(units: Sequence[SourceUnit], arch: str, processes: int) -> Row:
    """Return how long it took to compile ``units``, and what the compiler says of them."""
    with tempfile.TemporaryDirectory() as folder:
        before, began = _children_s(), time.monotonic()
        pool = CompilePool(
            Nvrtc(),
            BinaryStore(Path(folder)),
            arch=arch,
            limit_s=COMPILE_LIMIT_S,
            workers=processes,
        )
        with pool:
            outcomes = [build.result() for build in [pool.submit(unit) for unit in units]]
            seconds = time.monotonic() - began
        cpu_s = _children_s() - before
    return {
        "processes": processes,
        "seconds": seconds,
        **_told(outcomes),
        "cpu_s": cpu_s / len(units),
    }


def _told(outcomes: Iterable[Binary | Failure]) -> Row:
    outcomes = [*outcomes]
    made = [each for each in outcomes if isinstance(each, Binary)]
    warned = [" ".join(each.resources.warnings) for each in made]
    return {
        "binaries": len({each.key for each in made}),
        "failed": len(outcomes) - len(made),
        "mean_s": fmean(each.compile_ns for each in made) / 1e9,
        "worst_s": max(each.compile_ns for each in made) / 1e9,
        "spilling": sum(each.resources.spill_bytes > 0 for each in made),
        "serialized": sum(SERIALIZED in text for text in warned),
    }


def _by_tensor_copies(mechanism: str) -> bool:
    return mechanism.startswith(("tma", "ws_")) and mechanism != "ws_cp_async"


def _children_s() -> float:
    """Return the processors' time of all processes that this one started and has seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
