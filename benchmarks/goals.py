"""How much of a front a search of several goals finds, beside chance.

    python benchmarks/goals.py --json benchmarks/results/goals_h200.json

Recorded problems are searched for time and one more goal, from several seeds. The figure is the
area that what was found dominates, as a share of what all recorded configurations do: over the
logarithm of time up to four times the least, and the other goal up to its greatest. Nothing is
measured here: each trial gives what the recorded device measured.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any

from results_file import write_json

from autotune.device import open_device
from autotune.device.protocol import Device
from autotune.records import GOALS, Config, Limits, Trial, load_kernel
from autotune.search import Searcher, make_searcher
from autotune.study import StudySpec
from autotune.study.question import Question

SHAPES = ((1024, 1024, 1024), (4096, 4096, 4096), (16, 4096, 7168), (8192, 8192, 512))
FURTHER = ("shared_memory", "registers")
SAMPLERS = ("tpe", "random")
SLOWEST = 4.0  # times the least time
PACKAGES = ("autotune-kernels", "numpy", "optuna")

Point = tuple[float, float]


def main() -> None:
    """Search the recorded problems, print a table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with closing(open_device("recording:h200", limits=Limits())) as device:
        rows = [*searched(device, seeds=asked.seeds, trials=asked.trials)]
        about = {
            "recorded_on": device.identity.name,
            "seeds": asked.seeds,
            "trials": asked.trials,
        }
    if asked.json is not None:
        write_json(asked.json, rows, packages=PACKAGES, about=about)


def searched(device: Device, *, seeds: int, trials: int) -> Iterator[dict[str, Any]]:
    """Yield, and print, what each sampler finds of each problem's fronts."""
    kernel = load_kernel("gemm")
    for shape in SHAPES:
        problem = kernel.problem_type.parse(dict(zip("mnk", shape, strict=True)))
        spec = StudySpec(name="goals", kernel_ref="gemm", kernel=kernel, problems=(problem,))
        question = Question(spec, problem, device)
        recorded = {trial.config: trial for trial in recorded_trials(question)}
        for further in FURTHER:
            row: dict[str, Any] = {"problem": problem.as_dict(), "further": further}
            for sampler in SAMPLERS:
                asked = (_searcher(question, recorded, sampler, seed) for seed in range(seeds))
                found = [seen(searcher, recorded, further, trials) for searcher in asked]
                shares = [share(recorded, further, some) for some in found]
                row[sampler] = {"mean": round(fmean(shares), 4), "worst": round(min(shares), 4)}
            print(row, flush=True)
            yield row


def recorded_trials(question: Question) -> Iterator[Trial]:
    """Yield the trial of each recorded config."""
    for config in question.valid():
        candidate = question.candidate(config)
        built = question.device.build(candidate).result()
        outcome = question.measure(candidate, built)
        yield question.trial(0, config=config, built=built, outcome=outcome, device_ns=0)


def _searcher(
    question: Question, recorded: Mapping[Config, Trial], sampler: str, seed: int
) -> Searcher:
    return make_searcher(sampler, space=question.space, valid=[*recorded], seed=seed, goals=2)


def seen(
    searcher: Searcher, recorded: Mapping[Config, Trial], further: str, trials: int
) -> list[Trial]:
    """Return so many trials that a search asks for."""
    found = []
    while len(found) < trials and (config := searcher.ask()) is not None:
        trial = recorded[config]
        searcher.tell(config, trial.status, trial.known_ns, [GOALS[further].value(trial)])
        found.append(trial)
    return found


def share(recorded: Mapping[Config, Trial], further: str, found: Iterable[Trial]) -> float:
    """Return the area that ``found`` dominates, as a share of what all that is recorded does."""
    every = points(recorded.values(), further)
    edge = min(every)[0] + math.log(SLOWEST), max(most for _, most in every) * 1.01
    return area(points(found, further), edge) / area(every, edge)


def points(trials: Iterable[Trial], further: str) -> list[Point]:
    """Return the logarithm of the time, and the other goal, of each that ran."""
    value = GOALS[further].value
    return [(math.log(t.median_ns), value(t) or 0.0) for t in trials if t.median_ns]


def area(found: Iterable[Point], edge: Point) -> float:
    """Return the area between ``edge`` and what ``found`` dominates."""
    whole, least = 0.0, edge[1]
    for log_ns, most in sorted(found):
        if log_ns < edge[0] and most < least:
            whole += (edge[0] - log_ns) * (least - most)
            least = most
    return whole


if __name__ == "__main__":
    main()
