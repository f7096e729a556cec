"""How each mechanism hides memory latency: its best recorded config beside cuBLAS, in one run.

    python benchmarks/mechanisms.py --db recording.sqlite --json results/mechanisms_h200.json

The fastest verified config of each mechanism and copy size for the first problem is taken from
the database and timed again on every problem, all of them and cuBLAS in turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arms import Buffers, arrays, kernel_arm
from harness import Arm, buffer_sets, interleave, median_us, write_json
from needs import require, torch

from autotune.launcher.gpu import target
from autotune.records import Binary, Config, Status
from autotune.store import Filter, Store
from autotune.toolchain import BinaryStore, Nvrtc, compile_now
from kernel_space.gemm import Gemm, GemmProblem

PROBLEMS = [GemmProblem(4096, 4096, 4096), GemmProblem(8192, 8192, 8192)]
Rung = tuple[str, int]  # mechanism, bytes of a copy


def main() -> None:
    """Time every rung and print the ladder of each problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    require()
    configs = best_configs(arguments.db, PROBLEMS[0])
    rows = [row for problem in PROBLEMS for row in _ladder(problem, configs)]
    if arguments.json is not None:
        write_json(arguments.json, rows, kernel=Gemm(), problem=PROBLEMS[0])


def best_configs(url: str, problem: GemmProblem) -> dict[Rung, Config]:
    """Return the fastest recorded config of each mechanism and copy size."""
    best: dict[Rung, tuple[float, Config]] = {}
    with Store.open(url, read_only=True) as store:
        for row in store.rows(Filter(kernel="gemm", problem=problem.as_dict())):
            trial = row.trial
            if trial.status is not Status.OK or not trial.verified or trial.median_ns is None:
                continue
            rung = (str(trial.config["mechanism"]), int(trial.config["copy_bytes"]))
            if rung not in best or trial.median_ns < best[rung][0]:
                best[rung] = (trial.median_ns, trial.config)
    return {rung: config for rung, (_, config) in sorted(best.items())}


def _ladder(problem: GemmProblem, configs: Mapping[Rung, Config]) -> list[dict[str, Any]]:
    sets = buffer_sets(problem.moved_bytes)
    buffers = [arrays(problem.operands) for _ in range(sets)]
    arms: dict[str, Arm] = {
        f"{name} {size} B": _arm(problem, config, buffers)
        for (name, size), config in configs.items()
    }
    arms["cuBLAS"] = lambda i: torch.matmul(buffers[i]["a"], buffers[i]["b"].T, out=buffers[i]["c"])
    times = interleave(arms, sets)
    medians = median_us(times)
    chosen = {f"{name} {size} B": config.as_dict() for (name, size), config in configs.items()}
    print(f"\n{problem}")
    for name, us in sorted(medians.items(), key=lambda item: -item[1]):
        rate = Gemm().cost(problem).flop / us / 1e6
        share = medians["cuBLAS"] / us
        print(f"  {name:22} {us:10.1f} µs {rate:7.1f} TFLOP/s  {share:5.3f} of cuBLAS")
    return [
        {
            **problem.as_dict(),
            "arm": name,
            "us": us,
            "config": chosen.get(name),
            "samples_us": times[name],
        }
        for name, us in medians.items()
    ]


def _arm(problem: GemmProblem, config: Config, buffers: list[Buffers]) -> Arm:
    kernel, device = Gemm(), target(0)
    unit = kernel.unit(problem, config, device)
    binary = compile_now(Nvrtc(), BinaryStore(), unit, device.arch)
    if not isinstance(binary, Binary):
        raise SystemExit(f"{config}: {binary.message}")
    return kernel_arm(kernel, problem, config=config, binary=binary, buffers=buffers)


if __name__ == "__main__":
    main()
