"""GPU time that a study needs, with early stop and adaptive repeats, beside all samples of all.

    python benchmarks/savings.py --json benchmarks/results/savings_h200.json

The same study searches every problem of the shipped recording, in the order of the default
sampler, which soon stays among fast configs, and in random order, as a recording is made. Each is
run four times: with all samples that the policy allows (``all``), with early stop, with adaptive
repeats, and with both as a study has them by default (``both``). Only the last holds a final and
reads a yardstick, and these are counted against it: the others go by the search's medians, as
tuners do.

GPU time is what the product's own sampler asks of a stopwatch that draws from the recorded
samples (see ``resampled.py``): a first look, warming up, every batch of launches. To it comes
verification: a launch of the candidate for each case, each repeat, and one after timing. Of all
this, ``again_ms`` (in the JSON) is what the yardstick and the final take. Left out is what does
not depend on the policy: compiling, references, comparing outputs, loading.

What the recording shows and what it does not: it holds up to 11 samples of 0.3 ms of each
config, as ``quick`` took them. A full measurement under ``standard``, 51 samples of 1 ms or what
60 ms allow, is modelled by drawing from these 11, with their scatter: real samples of 1 ms are
means of more launches and scatter less, so adaptive repeats would stop sooner. The drift between
measurements is part of the model; that within one, which may prolong warming up, is not.

``loss`` is by how much the exported winner is slower than the fastest config, by recorded
medians; ``saved`` is the share of the GPU time of ``all`` that ``both`` does without.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

from resampled import Spent, recorded_times
from resampled_study import PACKAGES, make_parser, provenance, ran, study
from results_file import write_json

from autotune.records import PRESETS, Config, Policy, Problem, load_kernel
from autotune.search import SAMPLERS
from autotune.study import DriftSpec, FinalSpec, StudySpec

ARMS = ("all", "early stop", "adaptive", "both")
Times = Mapping[Problem, Mapping[Config, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one study took for one problem, and what it found."""

    spent: Spent
    exported: Config


def main() -> None:
    """Run the study with each way of sampling, print a table, and keep it."""
    arguments = _arguments()
    device, times = recorded_times(arguments.recording, load_kernel(arguments.kernel))
    rows = []
    for policy, sampler in product(arguments.policies, arguments.samplers):
        some = compared(policy, sampler, times, arguments)
        rows += [*some, together(some)]
        show(some, rows[-1])
    if arguments.json is not None:
        write_json(arguments.json, rows, packages=PACKAGES, about=provenance(arguments, device))


def _arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, runs=1)
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=["auto", "random"])
    parser.add_argument("--policies", nargs="+", choices=PRESETS, default=["standard", "quick"])
    return parser.parse_args()


def compared(
    preset: str, sampler: str, times: Times, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return a row for each problem: what each way of sampling costs, and what it finds."""
    costs = {}
    for arm in ARMS:
        policy = sampled(PRESETS[preset], arm)
        spec = study(arguments, tuple(times), sampler=sampler, policy=policy)
        spec = spec if arm == "both" else alone(spec)
        costs[arm] = [run(spec, arguments, seed) for seed in range(arguments.runs)]
    name = {"policy": preset, "sampler": sampler}
    return [
        name | _row(problem, some, {arm: [each[problem] for each in costs[arm]] for arm in ARMS})
        for problem, some in times.items()
    ]


def alone(spec: StudySpec) -> StudySpec:
    """Return a study that goes by the medians of its search."""
    return dataclasses.replace(spec, final=FinalSpec(candidates=0), drift=DriftSpec(every=0))


def sampled(policy: Policy, arm: str) -> Policy:
    """Return ``policy`` without what ``arm`` does without."""
    patient = policy if arm in ("adaptive", "both") else policy.replace(precision=0.0)
    return patient if arm in ("early stop", "both") else patient.replace(stop_factor=0.0)


def run(spec: StudySpec, arguments: argparse.Namespace, seed: int) -> dict[Problem, Cost]:
    """Run the study once with the noise of ``seed``."""
    with ran(spec, arguments, seed) as found:
        spent, exported = found.device.spent, found.exported
        return {each: Cost(spent=spent[each], exported=exported[each]) for each in spec.problems}


def _row(
    problem: Problem,
    times: Mapping[Config, float],
    costs: Mapping[str, Sequence[Cost]],
) -> dict[str, Any]:
    best_ns = min(times.values())
    arms = {
        arm: {
            "gpu_ms": fmean(each.spent.total_ns for each in some) / 1e6,
            "again_ms": fmean(each.spent.again_ns for each in some) / 1e6,
            "verify_ms": fmean(each.spent.verify_ns for each in some) / 1e6,
            "measurements": fmean(each.spent.measurements for each in some),
            "stopped": fmean(each.spent.stopped for each in some),
            "loss": fmean(times[each.exported] / best_ns - 1 for each in some),
        }
        for arm, some in costs.items()
    }
    return {
        "problem": problem.as_dict(),
        "best_us": best_ns / 1e3,
        "arms": arms,
        "saved": _saved(arms),
    }


def together(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a row over all problems: sums of times and counts, means of losses."""
    arms = {
        arm: {
            name: (fmean if name == "loss" else sum)(row["arms"][arm][name] for row in rows)
            for name in rows[0]["arms"][arm]
        }
        for arm in ARMS
    }
    name = {"policy": rows[0]["policy"], "sampler": rows[0]["sampler"]}
    return {**name, "problem": None, "arms": arms, "saved": _saved(arms)}


def _saved(arms: Mapping[str, Mapping[str, float]]) -> float:
    return 1 - arms["both"]["gpu_ms"] / arms["all"]["gpu_ms"]


def show(rows: Sequence[Mapping[str, Any]], total: Mapping[str, Any]) -> None:
    """Print a line for each problem and one for all."""
    print(
        f"\n{total['policy'] + ', ' + total['sampler'] + ': GPU time':28}",
        *(f"{arm:>20}" for arm in ARMS),
        " saved",
    )
    for row in (*rows, total):
        name = ",".join(map(str, row["problem"].values())) if row["problem"] else "all"
        cells = (
            f"{each['gpu_ms'] / 1e3:9.2f} s, {100 * each['loss']:5.2f} %"
            for each in row["arms"].values()
        )
        print(
            f"{name:28}",
            *(f"{cell:>20}" for cell in cells),
            f"{100 * row['saved']:5.1f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
