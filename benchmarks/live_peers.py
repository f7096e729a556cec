"""Triton's autotuner and Kernel Tuner on the shapes of ``live.py``: how long, and how good.

    python benchmarks/live_peers.py --json benchmarks/results/live_peers_h200.json

``live.py`` has run before, on the same machine: what it says of a shape (``--live``) stands beside
the others.

- Triton's autotuner chooses among 40 ways to cut up the persistent TMA kernel of
  ``triton_kernels.py``, in a process of its own: with an empty cache (for the first shape alone, as
  it compiles one after the other) and with a full one.
- Kernel Tuner 1.5 gets the source of ``gemm`` and tries configs as by default, all of those that
  it is given: as many as ours needs to come within 2 %, at random. It cannot raise the shared
  memory of a block above 48 KiB, so these are configs of asynchronous copies and below: neither TMA
  nor wgmma. What it needs to import and to make the inputs does not count.

Then the best of all meet in turns, on cold L2. ``--add`` keeps what the file says of other shapes
and, with ``--only``, of the other tuner; where that comes from is kept, too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Container, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from beside_kernel_tuner import SHARED_LIMIT_BYTES, chosen_configs, evaluated
from contenders import complain
from harness import interleave, median_us, write_json
from live import Row, Shape, arms_of, kept
from needs import require
from resampled import recorded_times

from autotune.launcher.gpu import target
from autotune.records import Config
from kernel_space.gemm import Gemm, GemmProblem

SHAPES = ((4096, 4096, 4096), (16, 4096, 7168))
FEWEST, MOST = 10, 30  # evaluations by Kernel Tuner
OURS = ("cold_s", "cold_to_2_s", "warm_s", "warm_to_2_s", "to_2_trials", "exported")
PEERS = {"Triton": "triton", "Kernel Tuner": "kernel_tuner"}  # modules
SIDES = ("autotune", *PEERS)
LIVE = Path(__file__).parent / "results" / "live_h200.json"
TRITON = Path(__file__).with_name("triton_autotuned.py")
HEADING = (
    f"{'problem':16}{'ours: cold s':>13}{'warm s':>8}{'Triton: cold s':>16}{'warm s':>8}"
    f"{'Kernel Tuner: s':>17}{'for':>5}{'  ours µs':>10}{'Triton':>8}{'Kernel Tuner':>14}"
)


def main() -> None:
    """Tune every shape with every peer that is installed, and keep what came of it."""
    arguments = _arguments()
    require()
    _, recorded = recorded_times(arguments.recording, Gemm())
    live = _live_rows(arguments.live)
    rows = kept(arguments.json) if arguments.add else {}
    print(f"Kernel Tuner: configs of up to {SHARED_LIMIT_BYTES >> 10} KiB of shared memory alone")
    print(HEADING)
    with tempfile.TemporaryDirectory() as cache:
        for number, (m, n, k) in enumerate(arguments.shape or SHAPES):
            problem, before = GemmProblem(m, n, k), rows.get((m, n, k), {})
            ours = live.get((m, n, k)) or _of_recording(recorded.get(problem, {}))
            tuners = {
                "Triton": partial(_triton, problem, cache, cold=not number),
                "Kernel Tuner": partial(_kernel_tuner, problem, ours.get("to_2_trials") or MOST),
            }
            peers = _peers(tuners, arguments.only or PEERS, before)
            row = rows[m, n, k] = _row(problem, {"autotune": ours, **peers})
            print(_line(row), flush=True)
            if arguments.json is not None:  # shape by shape: a later one may not come to its end
                write_json(arguments.json, [*rows.values()], kernel=Gemm(), problem=problem)


def _peers(
    tuners: Mapping[str, Callable[[], Row]], asked: Container[str], before: Row
) -> dict[str, Row]:
    """Return what the peers that are asked make of a shape, and what was known of the others."""
    return {
        name: _if_it_can(name, PEERS[name], tune)
        if name in asked
        else before and {"provenance": before["provenance"], **before[name]}
        for name, tune in tuners.items()
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--live", type=Path, default=LIVE, metavar="JSON", help="what live.py wrote, if it is there"
    )
    parser.add_argument("--shape", action="append", nargs=3, type=int, metavar=("M", "N", "K"))
    parser.add_argument("--only", action="append", choices=PEERS, help="ask no other tuner")
    parser.add_argument("--recording", default="h200")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--add", action="store_true", help="keep what else the file says")
    return parser.parse_args()


def _live_rows(file: Path) -> dict[Shape, Row]:
    if not file.exists():
        complain(f"{file} is not there: recorded configs stand in for ours")
        return {}
    return {shape: {name: row[name] for name in OURS} for shape, row in kept(file).items()}


def _of_recording(recorded: Mapping[Config, float]) -> Row:
    """Return what stands in for a live study: the fastest recorded config."""
    if not recorded:
        return {}
    return {"exported": min(recorded, key=lambda config: recorded[config]).as_dict()}


def _if_it_can(name: str, module: str, tune: Callable[[], Row]) -> Row:
    """Return what a peer makes of a shape, or nothing, with a line that says why."""
    if find_spec(module) is None:
        complain(f"left out: {name}, which is not installed")
        return {}
    try:
        return tune()
    except Exception as error:  # noqa: BLE001 - whatever stops a peer, the others go on
        complain(f"left out: {name}: {error!r:.300}")
        return {}


def _triton(problem: GemmProblem, cache: str, *, cold: bool) -> Row:
    """Return what Triton's autotuner chooses, and the seconds that its process takes."""
    cold_s = None
    if cold:
        cold_s = _tuned_by_triton(problem, cache)["seconds"]
    else:
        _tuned_by_triton(problem, cache, only_compile=True)
    warm = _tuned_by_triton(problem, cache)
    return {"cold_s": cold_s, "warm_s": warm.pop("seconds"), **warm}


def _tuned_by_triton(problem: GemmProblem, cache: str, *, only_compile: bool = False) -> Row:
    asked = json.dumps({"problem": problem.as_dict(), "only_compile": only_compile})
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(TRITON), asked],
        env={**os.environ, "TRITON_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        check=True,
    )
    answer = {} if only_compile else json.loads(done.stdout.splitlines()[-1])
    return {**answer, "seconds": time.monotonic() - began}


def _kernel_tuner(problem: GemmProblem, evaluations: float) -> Row:
    """Return what Kernel Tuner finds among random configs that it can launch, and its seconds."""
    count = max(FEWEST, min(MOST, int(evaluations)))
    configs = chosen_configs(problem, target(0), count)
    found, seconds = evaluated(problem, configs, target(0))
    right = {config: ns for config, ns in found if ns is not None}
    if not right:
        return {"evaluations": count, "right": 0, "seconds": seconds}
    best = min(right, key=lambda config: right[config]).as_dict()
    return {"evaluations": count, "right": len(right), "seconds": seconds, "exported": best}


def _row(problem: GemmProblem, sides: Mapping[str, Row]) -> Row:
    """Return what each side took and found, and what its best takes in turns with the others."""
    return {**problem.as_dict(), **sides, "us": _met(problem, sides)}


def _met(problem: GemmProblem, sides: Mapping[str, Row]) -> dict[str, float]:
    configs = {name: Config(side["exported"]) for name, side in sides.items() if "exported" in side}
    launched, buffers = arms_of(problem, [*configs.values()])
    arms = {name: launched[config] for name, config in configs.items() if config in launched}
    if blocks := sides["Triton"].get("blocks"):
        import triton_gemm

        arms["Triton"] = triton_gemm.arm(problem, triton_gemm.Blocks(**blocks), buffers)
    return median_us(interleave(arms, len(buffers)))


def _line(row: Mapping[str, Any]) -> str:
    ours, triton, tuner = (row[side] for side in SIDES)
    name = "x".join(str(row[size]) for size in "mnk")
    us = [_cell(row["us"].get(side), width) for side, width in zip(SIDES, (10, 8, 14), strict=True)]
    return (
        f"{name:16}{_cell(ours.get('cold_s'), 13)}{_cell(ours.get('warm_s'), 8)}"
        f"{_cell(triton.get('cold_s'), 16)}{_cell(triton.get('warm_s'), 8)}"
        f"{_cell(tuner.get('seconds'), 17)}{tuner.get('evaluations', '–'):>5}{''.join(us)}"
    )


def _cell(figure: float | None, width: int) -> str:
    return f"{'–':>{width}}" if figure is None else f"{figure:{width}.1f}"


if __name__ == "__main__":
    main()
