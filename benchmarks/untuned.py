"""What a table loses on problems that were not tuned, and by having few configurations.

    python benchmarks/untuned.py h200 --json benchmarks/results/untuned_h200.json

From the rows of a recording that ships, or of a result database, each problem is left out in turn
and answered by the entries of the others, as an export judges itself (see ``docs/table.md``):

- ``nearest``: all fields count alike;
- ``weighed``: with the weights that an export would choose, chosen without each problem's say;
- ``best weights``: the weights of the grid that cost least in hindsight, which is no fair figure:
  what could be won at most;
- ``predicted``: among the configs of the entries, the one that the kernel's own model predicts to
  be fastest. A lookup cannot ask the model: this says whether it should.

``judged`` is how many problems can tell: the config that answers was measured on them. Means of
different problems say little of each other; ``against`` gives the mean of ``nearest`` on the same
problems. Below, what 1, 2, … configurations for all problems lose where they were measured.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from results_file import write_json

from autotune.device import recordings
from autotune.store import Filter, Store
from autotune.table.answered import Answered
from autotune.table.evidence import gather
from autotune.table.portfolio import portfolios
from autotune.table.regret import LeftOut, Losses, grid, judged, summary

MOST_CONFIGS = 16


def main() -> None:
    """Judge, print two tables, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", help="a recording that ships, or the path of a result database")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    problems = answered(recordings().get(arguments.rows, Path(arguments.rows)))
    rules, few = judge(problems), losses(problems)
    for row in rules:
        print("  ".join([f"{row['rule']:13}", f"judged {row['judged']:3}", *_shares(row)]))
    for row in few:
        told = f"{row['configs']:3} configs  {row['served']:3} served"
        print(f"{told}  mean {row['mean']:.1%}  worst {row['worst']:.1%}")
    if arguments.json is not None:
        about = {"rows_of": Path(arguments.rows).stem, "problems": len(problems)}
        rows = [*rules, *few]
        write_json(arguments.json, rows, packages=("autotune-kernels", "numpy"), about=about)


def answered(path: Path) -> list[Answered]:
    """Return the problems of a database, whatever source they were measured with."""
    with Store.open(f"sqlite:///{path.resolve()}", read_only=True) as store:
        rows = [
            dataclasses.replace(
                row, context=dataclasses.replace(row.context, replayed_from=path.stem)
            )
            for row in store.rows(Filter(kernel="gemm"))
        ]
        evidence, _ = gather(rows, store.finals(()))
    found = (Answered.of(each, unverified=False) for each in evidence)
    return [each for each in found if each is not None]


def judge(problems: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return a row for each rule."""
    case = LeftOut(problems, list)
    every = {weights: case.losses(weights) for weights in grid(case.fields)}
    nearest = every[(1,) * case.fields]
    best = min(every, key=lambda weights: _mean_on(every[weights], nearest))
    chosen = judged(case)
    return [
        _row("nearest", nearest, nearest),
        _row("weighed", chosen.losses, nearest, weights=chosen.weights),
        _row("best weights", every[best], nearest, weights=best),
        _row("predicted", predicted(case.problems), nearest),
    ]


def predicted(problems: Sequence[Answered]) -> Losses:
    """Return the regret of each problem if the kernel's model chose among the others' entries."""
    found = np.full(len(problems), np.nan)
    for at, problem in enumerate(problems):
        offered = {
            other.config
            for other in problems
            if other is not problem
            and other.exact_key == problem.exact_key
            and problem.admits(other.config, other)
        }
        evidence = problem.evidence
        target = evidence.context.device.target
        times = evidence.kernel.estimates(evidence.problem, offered, target)
        if times:
            loss = problem.loss_of(min(times, key=times.__getitem__))
            found[at] = np.nan if loss is None else loss
    return found


def losses(problems: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return a row for each number of configurations."""
    return [
        {
            "configs": len(found.configs),
            "served": found.served,
            "mean": round(found.mean, 4),
            "worst": round(found.worst, 4),
        }
        for found in portfolios(problems, MOST_CONFIGS)
    ]


def _row(rule: str, found: Losses, nearest: Losses, weights: Sequence[int] = ()) -> dict[str, Any]:
    both = ~np.isnan(found) & ~np.isnan(nearest)
    return {
        "rule": rule,
        "weights": list(weights),
        **summary(found),
        "on_both": int(both.sum()),
        "mean_on_both": round(float(found[both].mean()), 4) if both.any() else None,
        "against": round(float(nearest[both].mean()), 4) if both.any() else None,
    }


def _mean_on(found: Losses, nearest: Losses) -> float:
    """Return the mean regret if what is not known is as ``nearest`` has it."""
    both = ~np.isnan(found) & ~np.isnan(nearest)
    return float(np.where(both, found - nearest, 0.0).sum())


def _shares(row: dict[str, Any]) -> list[str]:
    names = ("mean", "p95", "worst", "mean_on_both", "against")
    return [f"{name} {'–' if row[name] is None else format(row[name], '.1%')}" for name in names]


if __name__ == "__main__":
    main()
