"""What every benchmark here shares: interleaved timing on cold L2, and honest provenance.

Arms are timed in turns within one run, so that clocks and temperature touch them alike, each
round in another order: whoever follows an arm that draws little power finds higher clocks. Each
arm launches on rotating buffer sets that together exceed three times the L2 cache, inside a CUDA
graph, so that neither launch overhead nor a warm cache is measured.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import results_file
from needs import torch

from autotune.launcher.gpu import target
from autotune.records import Kernel, Problem
from autotune.toolchain import source_digest

Arm = Callable[[int], object]  # launches once, on the buffer set of that number

COLD_BYTES = 3 * 60 * 2**20
MOST_SETS = 128
REPLAY_US = 2000.0
BRIEF_US = 500.0
PACKAGES = (
    *("torch", "cupy-cuda13x", "nvidia-cublas", "triton", "kernel_tuner"),
    "autotune-kernels",
)


def buffer_sets(bytes_each: int) -> int:
    """Return how many buffer sets keep every operand out of L2 between two uses."""
    return max(2, min(MOST_SETS, -(-COLD_BYTES // max(bytes_each, 1))))


def interleave(
    arms: Mapping[str, Arm], sets: int, *, rounds: int = 15, warmup_s: float = 0.25
) -> dict[str, list[float]]:
    """Return the time of one launch of each arm in each round, in µs of device time.

    The orders of the rounds are shuffled, always in the same way.
    """
    graphs = {name: _capture(arm, sets) for name, arm in arms.items()}
    for graph, _ in graphs.values():
        _replay_for(graph, warmup_s / len(graphs))
    times: dict[str, list[float]] = {name: [] for name in arms}
    order, shuffle = list(graphs), Random(0).shuffle  # noqa: S311 - not a secret
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            graph, launches = graphs[name]
            times[name].append(_elapsed_us(graph.replay) / launches)
    return times


def brief_us(arm: Arm, sets: int) -> float:
    """Return about how long one launch takes, in µs: enough to say who is timed in turns."""
    arm(0)
    alone = _elapsed_us(lambda: arm(1 % sets))
    if alone > BRIEF_US:
        return min(alone, _elapsed_us(lambda: arm(0)))
    graph, launches = _capture(arm, sets, BRIEF_US)
    return min(_elapsed_us(graph.replay) for _ in range(3)) / launches


def _capture(arm: Arm, sets: int, replay_us: float = REPLAY_US) -> tuple[torch.cuda.CUDAGraph, int]:
    """Return a graph of about ``replay_us``, and how many launches it holds: whole turns."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for i in range(3):
            arm(i % sets)
    turn = _graph(arm, sets, 1, stream)
    turn.replay()
    turns = max(1, round(replay_us / _elapsed_us(turn.replay)))
    return (turn if turns == 1 else _graph(arm, sets, turns, stream)), turns * sets


def _graph(arm: Arm, sets: int, turns: int, stream: torch.cuda.Stream) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(turns * sets):
            arm(i % sets)
    return graph


def _elapsed_us(work: Callable[[], Any]) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    work()
    end.record()
    end.synchronize()
    return 1000.0 * start.elapsed_time(end)


def _replay_for(graph: torch.cuda.CUDAGraph, seconds: float) -> None:
    spent_us = 0.0
    while spent_us < 1e6 * seconds:
        spent_us += _elapsed_us(graph.replay)


def median_us(times: Mapping[str, list[float]]) -> dict[str, float]:
    """Return the median of each arm, in µs."""
    return {name: median(values) for name, values in times.items()}


def write_json(path: Path, rows: list[dict[str, Any]], *, kernel: Kernel, problem: Problem) -> None:
    """Write rows that were measured on this GPU, with its name, its driver and the software.

    Args:
        path: The file.
        rows: One for each line that was printed.
        kernel: Ours, of which a digest of all sources is written.
        problem: Any that was measured: the digest is the same for all.
    """
    about = {
        "device": torch.cuda.get_device_name(),
        "driver": _driver(),
        "cuda": torch.version.cuda,
        "kernel_source": kernel_source(kernel, problem),
    }
    results_file.write_json(path, rows, packages=PACKAGES, about=about)


def kernel_source(kernel: Kernel, problem: Problem) -> str:
    """Return the digest that a result database knows the kernel's sources by."""
    device = target(0)
    return source_digest(kernel.unit(problem, kernel.default(problem, device), device))


def _driver() -> str:
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
