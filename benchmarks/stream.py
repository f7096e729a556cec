"""Speed of the stream by mechanism, stages and copy size, beside the device's own copy, in one run.

    python benchmarks/stream.py --json results/stream_h200.json

For each mechanism, number of stages and copy size some configs are drawn from the space and timed
briefly; the best of each is then timed again, all of them in turns with ``memcpy`` (``copy_`` of
PyTorch, of as many bytes) and with PyTorch's own kernel for the operation. Speeds count bytes
read and bytes written.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from arms import Buffers, cold_arrays, kernel_arm
from harness import Arm, interleave, median_us, write_json
from needs import require, torch

from autotune.launcher.gpu import target
from autotune.records import Binary, Config
from autotune.toolchain import BinaryStore, CompilePool, Nvrtc
from kernel_space.stream import Stream, StreamProblem
from kernel_space.stream.problem import DTYPES, FACTOR, INPUTS

STAGES = range(1, 9)
BRIEF_LAUNCHES = 3
Cell = tuple[str, int, int]  # mechanism, bytes of a copy, stages


def main() -> None:
    """Time every cell of every operation and print the curves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2**28)
    parser.add_argument("--dtype", choices=DTYPES, default="fp32")
    parser.add_argument("--operations", nargs="+", choices=tuple(INPUTS), default=["copy"])
    parser.add_argument("--candidates", type=int, default=32, help="configs tried in each cell")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    require()
    rows: list[dict[str, Any]] = []
    for operation in arguments.operations:
        problem = StreamProblem(arguments.count, arguments.dtype, operation)
        rows += _curve(problem, arguments.candidates, arguments.rounds)
    if arguments.json is not None:
        write_json(arguments.json, rows, kernel=Stream(), problem=problem)


def _curve(problem: StreamProblem, candidates: int, rounds: int) -> list[dict[str, Any]]:
    buffers = cold_arrays(Stream().operands(problem), problem.moved_bytes)
    best = _best_of_cells(problem, draw(problem, candidates), buffers)
    arms = {_name(cell): arm for cell, (_, arm) in best.items()}
    times = interleave(arms | _peers(problem, buffers), len(buffers), rounds=rounds)
    speeds = _speeds(problem, median_us(times))
    configs = {_name(cell): config for cell, (config, _) in best.items()}
    _print(problem, list(best), speeds, configs)
    return [
        {
            **problem.as_dict(),
            "arm": name,
            "gb_per_s": speeds[name],
            "config": configs[name].as_dict() if name in configs else None,
            "samples_us": times[name],
        }
        for name in times
    ]


def draw(problem: StreamProblem, candidates: int) -> dict[Cell, list[Config]]:
    """Return up to ``candidates`` configs of each cell, the same in every run."""
    cells: defaultdict[Cell, list[Config]] = defaultdict(list)
    for config in Stream().space(problem, target(0)):
        cell = str(config["mechanism"]), int(config["copy_bytes"]), int(config["stages"])
        cells[cell].append(config)
    chance = random.Random(0)  # noqa: S311 - reproducible configs
    return {
        cell: chance.sample(configs, min(candidates, len(configs)))
        for cell, configs in cells.items()
    }


def _best_of_cells(
    problem: StreamProblem, cells: Mapping[Cell, list[Config]], buffers: list[Buffers]
) -> dict[Cell, tuple[Config, Arm]]:
    binaries = _compiled(problem, (config for configs in cells.values() for config in configs))
    best = {}
    for cell, configs in cells.items():
        arms = {
            config: kernel_arm(
                Stream(), problem, config=config, binary=binaries[config], buffers=buffers
            )
            for config in configs
        }
        fastest = min(arms, key=lambda config: _brief_us(arms[config]))
        _check(problem, fastest, arms[fastest], buffers[0])
        best[cell] = fastest, arms[fastest]
    return best


def _compiled(problem: StreamProblem, configs: Iterable[Config]) -> dict[Config, Binary]:
    kernel, device = Stream(), target(0)
    with CompilePool(Nvrtc(), BinaryStore(), arch=device.arch, limit_s=60) as pool:
        builds = {config: pool.submit(kernel.unit(problem, config, device)) for config in configs}
        made = {config: build.result() for config, build in builds.items()}
    for config, binary in made.items():
        if not isinstance(binary, Binary):
            raise SystemExit(f"{config}: {binary.message}")
    return made  # type: ignore[return-value]  # failures have left


def _brief_us(arm: Arm) -> float:
    arm(0)
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(BRIEF_LAUNCHES + 1)]
    marks[0].record()
    for i, mark in enumerate(marks[1:]):
        arm(i % 2)
        mark.record()
    marks[-1].synchronize()
    return 1000.0 * min(float(a.elapsed_time(b)) for a, b in pairwise(marks))


def _check(problem: StreamProblem, config: Config, arm: Arm, buffers: Buffers) -> None:
    buffers["y"].fill_(torch.nan)
    arm(0)
    expected = torch.empty_like(buffers["y"])
    _torch_kernel(problem, {**buffers, "y": expected})
    torch.testing.assert_close(buffers["y"], expected, msg=lambda text: f"{config}: {text}")


def _peers(problem: StreamProblem, buffers: list[Buffers]) -> dict[str, Arm]:
    return {
        "memcpy": lambda i: buffers[i]["y"].copy_(buffers[i]["x"]),
        "torch kernel": lambda i: _torch_kernel(problem, buffers[i]),
    }


def _torch_kernel(problem: StreamProblem, buffers: Buffers) -> None:
    x, y = buffers["x"], buffers["y"]
    if problem.operation == "triad":
        torch.add(x, buffers["w"], alpha=FACTOR, out=y)
    else:
        torch.mul(x, FACTOR if problem.operation == "scale" else 1, out=y)


def _speeds(problem: StreamProblem, us: Mapping[str, float]) -> dict[str, float]:
    """Return GB/s of each arm; memcpy reads one array, whatever the operation reads."""
    copied = 2 * problem.count * problem.element_bytes
    return {
        name: (copied if name == "memcpy" else problem.moved_bytes) / each / 1e3
        for name, each in us.items()
    }


def _print(
    problem: StreamProblem,
    cells: list[Cell],
    speeds: Mapping[str, float],
    configs: Mapping[str, Config],
) -> None:
    print(f"\n{problem}: GB/s read and written, by number of stages")
    print(f"{'mechanism':18} {'copy':>4} " + "".join(f"{stages:7}" for stages in STAGES))
    for mechanism, copy_bytes in dict.fromkeys(cell[:2] for cell in cells):
        names = (_name((mechanism, copy_bytes, stages)) for stages in STAGES)
        figures = (f"{speeds[name]:7.0f}" if name in speeds else f"{'–':>7}" for name in names)
        print(f"{mechanism:18} {copy_bytes:2} B " + "".join(figures))
    for name in ("memcpy", "torch kernel"):
        print(f"{name:22} {speeds[name]:8.0f}")
    best = max(configs, key=lambda name: speeds[name])
    ratio = speeds[best] / speeds["memcpy"]
    print(f"{'best':22} {speeds[best]:8.0f}  {ratio:.3f} of memcpy: {configs[best]}")


def _name(cell: Cell) -> str:
    mechanism, copy_bytes, stages = cell
    return f"{mechanism} {copy_bytes} B x{stages}"


if __name__ == "__main__":
    main()
