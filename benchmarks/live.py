"""The same study on a GPU again and again: how soon it ends, what it finds, if it finds it again.

    python benchmarks/live.py --json benchmarks/results/live_h200.json

Each shape is tuned ``--runs`` times with one seed and nothing known of it, each time in a database
of its own. The first run has a process of its own, as ``autotune tune`` has, and an empty cache, of
CuPy's own kernels too. The others share a second process, with what the first left there: of these,
the first one is told as ``warm``. To them comes a study that takes all samples of every candidate
and holds no final. That process also times the fastest recorded configs of the shape. At the end
every winner meets these, in turns on cold L2; ``loss`` is how much slower than the fastest of all
it is there. ``--add`` keeps what the file says of other shapes, and where that comes from.

``cold s`` and ``warm s`` last from the start of the process to the end of its first study, and
``to 2 %`` is when the first trial within 2 % of the fastest median of all, recorded configs
included, was finished, in seconds from the start of the process. ``busy`` is the share of the
study's time in which a candidate was verified or timed, from the first one on, which also readies
the lane, in the process with what the first left; ``util`` is NVML's share of it in which a kernel
ran. ``GPU s`` is the former in seconds, a mean of all runs, and ``saved`` is what it is less than
that of all samples. Of these, ``again`` is what the yardstick and the final took, and ``samples``
what the samples did that are kept: the rest is loading, verifying and warming up. The JSON also
tells how long the first measurement took, and what came before it.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median
from typing import Any

from arms import Buffers, cold_arrays
from contenders import Tuned
from harness import Arm, interleave, median_us, write_json
from needs import require
from resampled import recorded_times
from sources import Fixed

from autotune.records import Config
from kernel_space.gemm import Gemm, GemmProblem

SHAPES = ((1024, 1024, 1024), (4096, 4096, 4096), (16, 4096, 7168), (128, 7168, 2048))
RECORDED = 3  # configs of the recording that meet the winners
CLOSE = 1.02
STARTS = ("before_first_s", "first_s")
SECONDS = ("gpu_s", "again_s", "samples_s")
STUDY = Path(__file__).with_name("live_study.py")
HEADING = (
    f"{'problem':22}{'cold s':>8}{'to 2 %':>8}{'warm s':>8}{'to 2 %':>8}{'busy':>6}{'util':>6}"
    f"{'GPU s':>7}{'again':>7}{'samples':>8}{'saved':>7}{'same':>6}{'or tie':>8}{'loss %':>8}"
    f"{'worst':>7}"
)
Row = dict[str, Any]
Shape = tuple[int, int, int]


def main() -> None:
    """Tune every shape as often as asked, print a line for each, and keep it."""
    arguments = _arguments()
    require()
    _, recorded = recorded_times(arguments.recording, Gemm())
    print(HEADING)
    rows = kept(arguments.json) if arguments.add else {}
    for m, n, k in arguments.shape or SHAPES:
        problem = GemmProblem(m, n, k)
        row = rows[m, n, k] = _row(problem, arguments, recorded.get(problem, {}))
        print(_line(row), flush=True)
        if arguments.json is not None:  # shape by shape: a later one may not come to its end
            write_json(arguments.json, [*rows.values()], kernel=Gemm(), problem=problem)


def kept(file: Path | None) -> dict[Shape, Row]:
    """Return the rows of a file, if it is there, by shape: each with where it comes from."""
    if file is None or not file.exists():
        return {}
    content = json.loads(file.read_text(encoding="utf-8"))
    origin = {"provenance": content["provenance"]}
    return {(row["m"], row["n"], row["k"]): {**origin, **row} for row in content["rows"]}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", action="append", nargs=3, type=int, metavar=("M", "N", "K"))
    parser.add_argument("--runs", type=int, default=3, help="3 or more")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--sampler", default="auto")
    parser.add_argument("--recording", default="h200")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--add", action="store_true", help="keep the file's other shapes")
    return parser.parse_args()


def _row(
    problem: GemmProblem, arguments: argparse.Namespace, recorded: Mapping[Config, float]
) -> Row:
    """Return what all runs of one shape are like."""
    fastest = sorted(recorded, key=lambda config: recorded[config])[:RECORDED]
    again = [False] * (arguments.runs - 1)
    with _empty_caches():
        cold = _process(problem, arguments)
        rest = _process(problem, arguments, patient=[*again, True], known=fastest)
        *runs, patient = cold["studies"] + rest["studies"]
        exported = [Config(run["exported"]) for run in (*runs, patient)]
        us = _met(problem, [*exported, *fastest])
    best_us = min(us.values())
    return {
        **problem.as_dict(),
        "trials": arguments.trials,
        "cold_s": runs[0]["seconds"],
        "warm_s": runs[1]["seconds"],
        **_figures([*runs, patient], rest["known_ns"]),
        **_agreement(runs, [us[each] / best_us - 1 for each in exported[:-1]]),
        "loss_all_samples": us[exported[-1]] / best_us - 1,
        "best_us": best_us,
        "exported": runs[1]["exported"],
        "recorded_us": min((us[each] for each in fastest), default=None),
    }


def _figures(studies: Sequence[Row], known_ns: Sequence[float | None]) -> Row:
    """Return how the studies went: the first with empty caches, the last with all samples.

    Args:
        studies: The second is the first one of the other process.
        known_ns: What the fastest recorded configs take.
    """
    cold, *warm, patient = studies
    tried_ns = (ns for run in studies for ns, _ in run["trials"])
    near_ns = CLOSE * min([*tried_ns, *filter(None, known_ns)])
    mean = {each: fmean(run[each] for run in (cold, *warm)) for each in SECONDS}
    figures = {
        "cold_to_2_s": _reached(cold, near_ns)[1],
        "warm_to_2_s": _reached(warm[0], near_ns)[1],
        "to_2_trials": median(_reached(run, near_ns)[0] for run in (cold, *warm)),
        **{f"cold_{each}": cold[each] for each in STARTS},
        **{f"warm_{each}": warm[0][each] for each in STARTS},
        "cold_busy": cold["busy"],
        "warm_busy": warm[0]["busy"],
        "again_busy": median(run["busy"] for run in warm[1:]),
        "cold_utilization": cold["utilization"],
        "warm_utilization": warm[0]["utilization"],
        **mean,
        "gpu_s_all_samples": patient["gpu_s"],
        "samples_s_all_samples": patient["samples_s"],
        "saved": 1 - mean["gpu_s"] / patient["gpu_s"],
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
    problem: GemmProblem,
    arguments: argparse.Namespace,
    *,
    patient: Sequence[bool] = (False,),
    known: Sequence[Config] = (),
) -> Row:
    """Run studies in a new process and return what it says."""
    asked = {
        "device": "cuda:0",
        "kernel": "gemm",
        "problem": problem.as_dict(),
        "trials": arguments.trials,
        "sampler": arguments.sampler,
        "patient": patient,
        "known": [config.as_dict() for config in known],
        "began": time.time(),
    }
    command = [sys.executable, str(STUDY), json.dumps(asked)]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as the command line has it
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    answer: Row = json.loads(done.stdout)
    return answer


@contextmanager
def _empty_caches() -> Iterator[None]:
    """Let this process and those that it starts keep binaries in new folders."""
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: f"{folder}/{name}" for name in ("AUTOTUNE_CACHE", "CUPY_CACHE_DIR")}
        before = {name: os.environ.get(name) for name in caches}
        os.environ.update(caches)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def _met(problem: GemmProblem, configs: Sequence[Config]) -> dict[Config, float]:
    """Return the time of each config, in µs, all launched in turns."""
    arms, buffers = arms_of(problem, configs)
    named = {str(config): arm for config, arm in arms.items()}
    us = median_us(interleave(named, len(buffers), rounds=9))
    return {config: us[str(config)] for config in arms}


def arms_of(
    problem: GemmProblem, configs: Sequence[Config]
) -> tuple[dict[Config, Arm], list[Buffers]]:
    """Return what launches each config that compiles, and the sets of arrays that it takes."""
    side = Tuned(Fixed(configs))
    side.prepare([problem])
    buffers = cold_arrays(problem.operands, Gemm().cost(problem).bytes)
    found = side.contenders(problem, buffers)
    return {Config(each.facts["config"]): each.arm for each in found}, buffers


def _line(row: Row) -> str:
    name = "x".join(str(row[size]) for size in "mnk")
    times = ("cold_s", "cold_to_2_s", "warm_s", "warm_to_2_s")
    told = "".join("       –" if row[each] is None else f"{row[each]:8.1f}" for each in times)
    busy = (row["warm_busy"], row["warm_utilization"])
    shares = "".join("     –" if each is None else f"{each:6.2f}" for each in busy)
    return (
        f"{name:22}{told}{shares}{row['gpu_s']:7.2f}{row['again_s']:7.2f}{row['samples_s']:8.2f}"
        f"{row['saved']:7.2f}"
        f"{row['same']:6.2f}{row['same_or_tie']:8.2f}{100 * row['loss']:8.2f}"
        f"{100 * row['loss_worst']:7.2f}"
    )


if __name__ == "__main__":
    main()
