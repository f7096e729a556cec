"""Candidates a second, beside Kernel Tuner 1.5 on the same source and configs, in one run.

    python benchmarks/beside_kernel_tuner.py --configs 60 --json results/kernel_tuner_h200.json

Both compile each candidate, check its output once and time it. Kernel Tuner cannot raise a
block's shared memory above 48 KiB, so only configs below that are used. Our run is made with an
empty binary store and again with the full one; Kernel Tuner keeps no binaries.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
import time
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from harness import write_json
from needs import require

from autotune.device import open_device
from autotune.records import (
    QUICK,
    Candidate,
    Config,
    Failure,
    Limits,
    SourceUnit,
    Status,
    Target,
    Tolerance,
)
from kernel_space.gemm import Gemm, GemmProblem

PROBLEM = GemmProblem(2048, 2048, 2048)
SHARED_LIMIT_BYTES = 48 * 1024
SAMPLES = 7  # Kernel Tuner's default


def main() -> None:
    """Run both tuners and print candidates a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configs", type=int, default=60)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    require("kernel_tuner")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["AUTOTUNE_CACHE"] = cache
        device = open_device("cuda:0", limits=Limits())
        target = device.identity.target
        configs = chosen_configs(PROBLEM, target, arguments.configs)
        rows = [_ours(name, device, configs) for name in ("autotune, cold", "autotune, warm")]
        device.close()
    rows.append(_kernel_tuner(configs, target))
    print(f"{'tuner':20} {'candidates':>10} {'right':>6} {'seconds':>8} {'a second':>9}")
    for row in rows:
        print(
            f"{row['tuner']:20} {row['candidates']:10} {row['right']:6}"
            f" {row['seconds']:8.1f} {row['candidates'] / row['seconds']:9.2f}"
        )
    if arguments.json is not None:
        write_json(arguments.json, rows, kernel=Gemm(), problem=PROBLEM)


def chosen_configs(problem: GemmProblem, target: Target, count: int) -> list[Config]:
    """Return random valid configs of the mechanisms that Kernel Tuner can launch, or all."""
    kernel = Gemm()
    space = kernel.space(problem, target).restricted({"mechanism": ["sync1", "sync2", "cp_async"]})
    valid = [
        config
        for config in space
        if kernel.launch(problem, config, target).shared_bytes <= SHARED_LIMIT_BYTES
    ]
    draw = random.Random(0)  # noqa: S311 - a reproducible choice of configs
    return draw.sample(valid, min(count, len(valid)))


def _ours(name: str, device: Any, configs: Sequence[Config]) -> dict[str, Any]:
    kernel = Gemm()
    policy = QUICK.replace(max_samples=SAMPLES, min_samples=3)
    candidates = [
        Candidate("gemm", PROBLEM, config, device.identity.target, kernel) for config in configs
    ]
    started = time.monotonic()
    builds = [device.build(candidate) for candidate in candidates]
    right, times = 0, []
    for candidate, build in zip(candidates, builds, strict=True):
        binary = build.result()
        if isinstance(binary, Failure):
            continue
        outcome = device.measure(candidate, binary, policy)
        right += outcome.status is Status.OK
        times.append(outcome.measurement.median_ns if outcome.measurement else None)
    seconds = time.monotonic() - started
    return _row(name, len(configs), right=right, seconds=seconds, times_ns=times)


def _kernel_tuner(configs: Sequence[Config], target: Target) -> dict[str, Any]:
    times_ns, seconds = evaluated(PROBLEM, configs, target)
    right = sum(ns is not None for _, ns in times_ns)
    return _row(
        "Kernel Tuner 1.5",
        len(configs),
        right=right,
        seconds=seconds,
        times_ns=[ns for _, ns in times_ns],
    )


def evaluated(
    problem: GemmProblem, configs: Sequence[Config], target: Target
) -> tuple[list[tuple[Config, float | None]], float]:
    """Return what Kernel Tuner measures of configs, in ns, and how many seconds that takes.

    It tries them all, as it does by default. A config that fails has no time.
    """
    kernel = Gemm()
    by_threads: dict[int, list[Config]] = {}
    for config in configs:
        by_threads.setdefault(kernel.launch(problem, config, target).block[0], []).append(config)
    operands = _operands(problem)
    started = time.monotonic()
    found = [
        (group[row["candidate_number"]], row["time"])
        for threads, group in by_threads.items()
        for row in _tuned(problem, group, target, threads=threads, operands=operands)
    ]
    seconds = time.monotonic() - started
    return [(each, ms * 1e6 if isinstance(ms, float) else None) for each, ms in found], seconds


def _tuned(
    problem: GemmProblem,
    configs: Sequence[Config],
    target: Target,
    *,
    threads: int,
    operands: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> list[dict[str, Any]]:
    """Tune over configs of one block size, which is a parameter that Kernel Tuner must know."""
    import kernel_tuner

    kernel = Gemm()
    launches = [kernel.launch(problem, config, target) for config in configs]
    sources = [flat_source(kernel.unit(problem, config, target)) for config in configs]
    a, b, answer = operands
    scalars = [_scalar(argument) for argument in launches[0].arguments[3:9]]
    arguments = [a, b, np.zeros_like(answer), *scalars, np.int32(0), np.int32(1)]
    results, _ = kernel_tuner.tune_kernel(
        "gemm",
        lambda params: sources[params["candidate_number"]],
        lambda params: (launches[params["candidate_number"]].grid[0], 1, 1),
        arguments,
        {"candidate_number": list(range(len(configs))), "block_size_x": [threads]},
        grid_div_x=[],
        answer=[None, None, answer, *[None] * (len(arguments) - 3)],
        verify=partial(_right, kernel.tolerance(problem)),
        smem_args={"size": lambda params: launches[params["candidate_number"]].shared_bytes},
        lang="CUPY",
        compiler_options=["-std=c++17"],
        iterations=SAMPLES,
        quiet=True,
    )
    return list(results)


def flat_source(unit: SourceUnit) -> str:
    """Return a source as one text: Kernel Tuner has no place for headers.

    Each file keeps out what follows it again. It cannot be left out there instead: where it is
    mentioned first may be in a branch that is not compiled.
    """

    @cache
    def guarded(file: Path) -> str:
        text = unit.header if file.name == unit.header_name else file.read_text(encoding="utf-8")
        mark = f"FLAT_{re.sub('[^A-Za-z0-9]', '_', str(file.relative_to(unit.main.parents[1])))}"
        text = text.replace("#pragma once", "")
        inner = re.sub(r'(?m)^ *#include "([^"]+)" *$', partial(included, file), text)
        return f"#ifndef {mark}\n#define {mark}\n{inner}\n#endif"

    def included(file: Path, match: re.Match[str]) -> str:
        folders = (file.parent, *unit.include_dirs)
        found = (path for folder in folders if (path := folder / match[1]).exists())
        return guarded(next(found, unit.main.parent / match[1]))

    return guarded(unit.main) + "\n"


def _operands(problem: GemmProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    shapes = (problem.m, problem.k), (problem.n, problem.k)
    a, b = (_bf16(draw.uniform(-1, 1, shape).astype(np.float32)) for shape in shapes)
    product = _fp32(a) @ _fp32(b).T
    return a, b, _bf16(product)


def _bf16(values: np.ndarray) -> np.ndarray:
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def _fp32(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _right(tolerance: Tolerance, answer: Sequence[Any], result: Sequence[Any], atol: float) -> bool:
    del atol
    expected, found = _fp32(answer[2]), _fp32(result[2])
    allowed = 2 * (tolerance.absolute + tolerance.relative * np.abs(expected))
    return bool((np.abs(found - expected) <= allowed).all())


def _scalar(argument: Any) -> Any:
    return {"int32": np.int32, "int64": np.int64}[argument.dtype](argument.value)


def _row(
    tuner: str, candidates: int, *, right: int, seconds: float, times_ns: list[float | None]
) -> dict[str, Any]:
    return {
        "tuner": tuner,
        "candidates": candidates,
        "right": right,
        "seconds": seconds,
        "times_ns": times_ns,
    }


if __name__ == "__main__":
    main()
