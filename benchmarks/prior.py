"""Trials until a search is within 2 % of the recorded best, by what it knows before.

    python benchmarks/prior.py --json benchmarks/results/prior_h200.json

Every problem of the shipped recording is searched again from many seeds: knowing nothing, with the
kernel's own predictions, with what the three nearest of the other problems took, with both, as a
study begins, and with each of the two turned upside down, so that they promise most where they
should promise least.
Nothing is measured here: each trial gives the time that the recorded device measured. Beside it
stands how well the prior's order agrees with that of the recorded times (Spearman).
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pandas as pd
from results_file import write_json

from autotune.device.names import recordings
from autotune.records import Config, DeviceIdentity, Kernel, Problem, Trial, load_kernel
from autotune.search import make_searcher
from autotune.space import Space
from autotune.store import Store

NEAR = 1.02
NEAREST = 3
PRIOR, WARM = ("off", "on", "misleading"), ("elsewhere", "misleading elsewhere")
BOTH = "both"
ARMS = {
    "gp": (*PRIOR, *WARM, BOTH),
    "tpe": PRIOR,
    "local": PRIOR,
    "exhaustive": PRIOR,
    "random": ("off",),  # it listens to nobody
}
PACKAGES = ("autotune-kernels", "numpy", "scipy", "optuna")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One recorded problem: what became of each config, and what was predicted of it.

    Attributes:
        nearest: The trials of the problems that are most like it.
    """

    problem: Problem
    space: Space
    trials: Mapping[Config, Trial]
    estimates: Mapping[Config, float]
    estimate_us: float
    nearest: Sequence[Mapping[Config, Trial]] = ()

    @property
    def best_ns(self) -> float:
        """The least recorded time, in ns."""
        return min(trial.median_ns for trial in self.trials.values() if trial.median_ns)

    @property
    def agreement(self) -> float:
        """Spearman's correlation of predicted and recorded times."""
        timed = [(self.estimates[c], t.median_ns) for c, t in self.trials.items() if t.median_ns]
        predicted, recorded = (pd.Series(times).rank() for times in zip(*timed, strict=True))
        return float(predicted.corr(recorded))

    def told(self, arm: str) -> dict[str, Any]:
        """Return what a search is told before it begins."""
        if arm == BOTH:
            return self.told("on") | self.told("elsewhere")
        power = -1 if "misleading" in arm else 1
        if "elsewhere" in arm:
            return {"elsewhere": [_times_ns(trials, power) for trials in self.nearest]}
        if arm == "off":
            return {}
        return {"estimates": {config: ns**power for config, ns in self.estimates.items()}}

    def trials_to_near(self, sampler: str, arm: str, *, seed: int, budget: int) -> int:
        """Return how many trials it took, or ``budget + 1`` if so many were not enough."""
        searcher = make_searcher(
            sampler,
            space=self.space,
            valid=list(self.trials),
            seed=seed,
            **self.told(arm),
        )
        enough_ns = NEAR * self.best_ns
        for count in range(1, budget + 1):
            config = searcher.ask()
            if config is None:
                break
            trial = self.trials[config]
            if (trial.median_ns or math.inf) <= enough_ns:
                return count
            searcher.tell(config, trial.status, trial.median_ns)
        return budget + 1


def main() -> None:
    """Search every recorded problem, print a table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recording", default="h200")
    parser.add_argument("--kernel", default="gemm")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    path = recordings()[arguments.recording]
    device, cases = recorded_cases(path, load_kernel(arguments.kernel))
    rows = []
    for case in cases:
        rows.append(searched(case, arguments.seeds, arguments.budget))
        show(rows[-1], first=len(rows) == 1)
    if arguments.json is not None:
        about = {
            "recorded_on": device.name,
            "driver": device.driver,
            "seeds": arguments.seeds,
            "budget": arguments.budget,
            "near": NEAR,
        }
        write_json(arguments.json, rows, packages=PACKAGES, about=about)


def recorded_cases(path: Path, kernel: Kernel) -> tuple[DeviceIdentity, list[Case]]:
    """Return the device of a recording, and its problems of ``kernel``."""
    with closing(Store.open(f"sqlite:///{path}", read_only=True, immutable=True)) as store:
        stored = [each for each in store.contexts() if each.context.kernel == kernel.name]
        device = stored[0].context.device
        cases = [
            _case(kernel, each.context.problem.as_dict(), device, store.answers(each).values())
            for each in stored
        ]
    return device, [_beside(case, cases, kernel.scaled_fields) for case in cases]


def _beside(case: Case, cases: Iterable[Case], sizes: Sequence[str]) -> Case:
    """Return ``case`` with the trials of those that are nearest."""

    def octaves(other: Case) -> float:
        here, there = case.problem.as_dict(), other.problem.as_dict()
        return sum(abs(math.log2(int(here[size]) / int(there[size]))) for size in sizes)

    others = sorted((each for each in cases if each is not case), key=octaves)
    return dataclasses.replace(case, nearest=[each.trials for each in others[:NEAREST]])


def _times_ns(trials: Mapping[Config, Trial], power: int) -> dict[Config, float]:
    return {c: math.inf if t.median_ns is None else t.median_ns**power for c, t in trials.items()}


def _case(
    kernel: Kernel, fields: dict[str, Any], device: DeviceIdentity, trials: Iterable[Trial]
) -> Case:
    problem = kernel.problem_type.parse(fields)
    space = kernel.space(problem, device.target)
    known = {trial.config: trial for trial in trials if space.broken(trial.config) is None}
    started = time.perf_counter()
    estimates = kernel.estimates(problem, known, device.target)
    return Case(
        problem=problem,
        space=space,
        trials=known,
        estimates=estimates,
        estimate_us=1e6 * (time.perf_counter() - started) / len(known),
    )


def searched(case: Case, seeds: int, budget: int) -> dict[str, Any]:
    """Return a row: one problem, every sampler, every arm."""
    row: dict[str, Any] = {
        "problem": case.problem.as_dict(),
        "configs": len(case.trials),
        "best_us": case.best_ns / 1e3,
        "spearman": round(case.agreement, 3),
        "estimate_us": round(case.estimate_us, 1),
    }
    for sampler, arms in ARMS.items():
        for arm in arms:
            counts = [
                case.trials_to_near(sampler, arm, seed=seed, budget=budget) for seed in range(seeds)
            ]
            row[f"{sampler}, {arm}"] = {
                "median": median(counts),
                "p90": round(quantiles(counts, n=10, method="inclusive")[-1]),
                "within_budget": sum(count <= budget for count in counts) / seeds,
            }
    return row


def show(row: dict[str, Any], *, first: bool) -> None:
    """Print the median trials of one problem, under a header if it is the first."""
    arms = {name: value for name, value in row.items() if "," in name}
    if first:
        print(f"{'problem':24}{'spearman':>9}", *(f"{name:>22}" for name in arms))
    problem = ",".join(str(value) for value in row["problem"].values())
    cells = (f"{each['median']:g} (p90 {each['p90']:g})" for each in arms.values())
    print(f"{problem:24}{row['spearman']:9.3f}", *(f"{cell:>22}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
