"""The same study on a GPU again and again: how soon it ends, what it finds, if it finds it again.

    python benchmarks/live.py --json benchmarks/results/live_h200.json

Each shape is tuned ``--runs`` times with one seed, each time in a process and a database of its
own, as ``autotune tune`` does it: first with an empty store of binaries, then with a full one. One
more run takes all samples of every candidate and holds no final. At the end every winner meets the
fastest recorded configs of the shape, in turns on cold L2; ``loss`` is how much slower than the
fastest of all it is there.

``to 2 %`` is when the first trial within 2 % of the fastest median of all runs was finished, in
seconds from the start of the process. ``busy`` is the share of the study's time in which a
candidate was measured, from the first one on, which also starts the lane. ``GPU s`` is that time,
the final included, and ``saved`` is what it is less than that of all samples.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

from arms import arrays
from contenders import Tuned
from harness import buffer_sets, interleave, median_us, write_json
from needs import require
from resampled import recorded_times
from resampled_study import exports
from savings import alone, sampled

from autotune.device import Device, open_device
from autotune.records import STANDARD, Config, Limits, Outcome, leaders
from autotune.store import Store
from autotune.study import StudySpec, run_study
from kernel_space.gemm import Gemm, GemmProblem

SHAPES = ((1024, 1024, 1024), (4096, 4096, 4096), (16, 4096, 7168), (128, 7168, 2048))
RECORDED = 3  # configs of the recording that meet the winners
CLOSE = 1.02
Row = dict[str, Any]


class Metered:
    """A device that counts the seconds in which it measures, but for the first measurement."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.measured_s = 0.0
        self.first_at: float | None = None

    def measure(self, *asked: Any, **how: Any) -> Outcome:
        """Measure, and add up how long it took."""
        began = time.monotonic()
        outcome = self._device.measure(*asked, **how)
        if self.first_at is None:
            self.first_at = time.monotonic()
        else:
            self.measured_s += time.monotonic() - began
        return outcome

    def __getattr__(self, name: str) -> Any:
        """Be the device in all else."""
        return getattr(self._device, name)


class Fixed:
    """A source of tuned configs that were chosen before."""

    def __init__(self, configs: Sequence[Config]) -> None:
        self._configs = list(dict.fromkeys(configs))

    def configs(self, problem: GemmProblem) -> tuple[str, list[Config]]:
        """Return all of them."""
        del problem
        return "chosen before", self._configs


def main() -> None:
    """Tune every shape as often as asked, print a line for each, and keep it."""
    arguments = _arguments()
    if arguments.once is not None:
        print(json.dumps(_tune(json.loads(arguments.once))))
        return
    require()
    _, recorded = recorded_times(arguments.recording, Gemm())
    print(f"{'problem':22}{'cold s':>8}{'to 2 %':>8}{'warm s':>8}{'to 2 %':>8}{'busy':>6}"
          f"{'GPU s':>7}{'saved':>7}{'same':>6}{'or tie':>8}{'loss %':>8}{'worst':>7}")  # fmt: skip
    rows = []
    for shape in arguments.shape or SHAPES:
        problem = GemmProblem(*shape)
        rows.append(_row(problem, arguments, recorded.get(problem, {})))
        print(_line(rows[-1]), flush=True)
    if arguments.json is not None:
        write_json(arguments.json, rows, kernel=Gemm(), problem=GemmProblem(*SHAPES[0]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", action="append", nargs=3, type=int, metavar=("M", "N", "K"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--sampler", default="auto")
    parser.add_argument("--recording", default="h200")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--once", help=argparse.SUPPRESS)  # what a process is told
    return parser.parse_args()


def _row(
    problem: GemmProblem, arguments: argparse.Namespace, recorded: Mapping[Config, float]
) -> Row:
    """Return what all runs of one shape are like."""
    with tempfile.TemporaryDirectory() as store:
        runs = [_process(problem, arguments, store) for _ in range(arguments.runs)]
        patient = _process(problem, arguments, store, patient=True)
    fastest = sorted(recorded, key=lambda config: recorded[config])[:RECORDED]
    exported = [Config(run["exported"]) for run in (*runs, patient)]
    us = _met(problem, [*exported, *fastest])
    best_us = min(us.values())
    return {
        **problem.as_dict(),
        "trials": arguments.trials,
        **_times([*runs, patient]),
        **_agreement(runs, [us[each] / best_us - 1 for each in exported[:-1]]),
        "loss_all_samples": us[exported[-1]] / best_us - 1,
        "best_us": best_us,
        "recorded_us": min((us[each] for each in fastest), default=None),
    }


def _times(runs: Sequence[Row]) -> Row:
    """Return how long the runs took: the first with an empty store, the last with all samples."""
    cold, *warm, patient = runs
    near_ns = CLOSE * min(ns for run in runs for ns, _ in run["trials"])
    gpu_s = fmean(run["gpu_s"] for run in (cold, *warm))
    trials, seconds = (
        median(each) for each in zip(*(_reached(run, near_ns) for run in warm), strict=True)
    )
    figures = {
        "cold_s": cold["seconds"],
        "cold_to_2_s": _reached(cold, near_ns)[1],
        "cold_busy": cold["busy"],
        "warm_s": median(run["seconds"] for run in warm),
        "warm_to_2_s": seconds,
        "warm_to_2_trials": trials,
        "warm_busy": median(run["busy"] for run in warm),
        "gpu_s": gpu_s,
        "gpu_s_all_samples": patient["gpu_s"],
        "saved": 1 - gpu_s / patient["gpu_s"],
    }
    return _finite(figures)


def _agreement(runs: Sequence[Row], losses: Sequence[float]) -> Row:
    """Return how often the runs export the usual winner, or tie it, and what they lose."""
    winners = [Config(run["exported"]) for run in runs]
    usual = Counter(winners).most_common(1)[0][0]
    return {
        "winners": len(set(winners)),
        "same": fmean(each == usual for each in winners),
        "same_or_tie": fmean(usual.as_dict() in run["tied"] for run in runs),
        "loss": fmean(losses),
        "loss_worst": max(losses),
    }


def _reached(run: Row, near_ns: float) -> tuple[float, float]:
    """Return after how many trials a run came so near, and seconds; or infinities."""
    found = ((i, at) for i, (ns, at) in enumerate(run["trials"], 1) if ns <= near_ns)
    return next(found, (math.inf, math.inf))


def _finite(figures: Row) -> Row:
    """Return the figures with None for what was never reached: JSON has no infinity."""
    return {name: None if figure == math.inf else figure for name, figure in figures.items()}


def _process(
    problem: GemmProblem, arguments: argparse.Namespace, store: str, *, patient: bool = False
) -> Row:
    """Tune in a new process and return what it says, with its wall time."""
    asked = {
        **problem.as_dict(),
        "trials": arguments.trials,
        "sampler": arguments.sampler,
        "patient": patient,
        "began": time.time(),
    }
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, __file__, "--once", json.dumps(asked)],
        env={**os.environ, "AUTOTUNE_CACHE": store},
        stdout=subprocess.PIPE,
        check=True,
    )
    return {**json.loads(done.stdout), "seconds": time.monotonic() - began}


def _tune(asked: Mapping[str, Any]) -> Row:
    """Run the study in this process."""
    fields = dict(asked)
    began = datetime.fromtimestamp(fields.pop("began"), UTC)
    spec = _study(fields)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_device("cuda:0", limits=Limits())) as device,
        closing(Store.open(f"{folder}/results.db")) as store,
    ):
        metered: Any = Metered(device)
        run_study(spec, device=metered, store=store)
        ended = time.monotonic()
        [exported] = exports(store, spec).values()
        finals = store.finals().values()
        tied = [exported, *(each for final in finals for each in leaders(final.finalists))]
        trials = [row.trial for row in store.rows()]
    return {
        "exported": exported.as_dict(),
        "tied": [each.as_dict() for each in tied],
        "gpu_s": metered.measured_s,
        "busy": metered.measured_s / (ended - metered.first_at),
        "trials": [
            (each.median_ns, (each.finished_at - began).total_seconds())
            for each in trials
            if each.median_ns is not None
        ],
    }


def _study(fields: dict[str, Any]) -> StudySpec:
    trials, sampler, patient = (fields.pop(name) for name in ("trials", "sampler", "patient"))
    spec = StudySpec(
        name="live",
        kernel_ref="gemm",
        kernel=Gemm(),
        problems=(GemmProblem.parse(fields),),
        sampler=sampler,
        trials=trials,
        policy=sampled(STANDARD, "all" if patient else "both"),
    )
    return alone(spec) if patient else spec


def _met(problem: GemmProblem, configs: Sequence[Config]) -> dict[Config, float]:
    """Return the time of each config, in µs, all launched in turns."""
    side = Tuned(Fixed(configs))
    side.prepare([problem])
    buffers = [arrays(problem.operands) for _ in range(buffer_sets(Gemm().cost(problem).bytes))]
    contenders = side.contenders(problem, buffers)
    us = median_us(interleave({each.name: each.arm for each in contenders}, len(buffers), rounds=9))
    return {Config(each.facts["config"]): us[each.name] for each in contenders}


def _line(row: Row) -> str:
    name = "x".join(str(row[size]) for size in "mnk")
    times = ("cold_s", "cold_to_2_s", "warm_s", "warm_to_2_s")
    told = "".join("       –" if row[each] is None else f"{row[each]:8.1f}" for each in times)
    return (
        f"{name:22}{told}{row['warm_busy']:6.2f}{row['gpu_s']:7.2f}{row['saved']:7.2f}"
        f"{row['same']:6.2f}{row['same_or_tie']:8.2f}{100 * row['loss']:8.2f}"
        f"{100 * row['loss_worst']:7.2f}"
    )


if __name__ == "__main__":
    main()
