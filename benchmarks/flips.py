"""Does the same study export the same winner? From a recording, its noise drawn again each time.

    python benchmarks/flips.py --json benchmarks/results/flips_h200.json

The same study (sampler, seed, policy, final, yardstick) searches every problem of the shipped
recording as often as ``--runs`` says, into a real database, with the noise of another seed each
time: see ``resampled.py`` for how times are drawn and drift. The exported winner is the one of
``build_table``, the declared ties are those of the final.

For each problem: how many runs export the most common winner (``same``), or declare it a tie
with what they export (``same or tie``), and by how much the exported winner is slower than the
fastest config, both by their recorded medians (``loss``: mean and worst). ``untried``, ``absent``
and ``slower`` say why the others do not tie it: it was never measured there, not in the final, or
found to be slower there. ``final`` is how many measurements a final took. Beside it the same of
the argmin of a mean of 7 samples, over the configs that the same search visited, drawn under
the drift of the same moments: other tuners declare no ties and hold no final.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from statistics import fmean
from typing import Any

from resampled import MEAN_OF, recorded_times
from resampled_study import PACKAGES, Ran, make_parser, provenance, ran, study
from results_file import write_json

from autotune.records import PRESETS, Config, Problem, load_kernel, tied
from autotune.study import StudySpec

WHY_NOT = ("untried", "absent", "slower")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one run says of one problem: its winner, what it ties with, and what others say.

    Attributes:
        exported: The winner.
        tied: What the run says to tie with it, and the winner.
        finalists: How often each config of the final was measured there.
        tried: What the search measured.
        by_mean: The argmin of a mean.
    """

    exported: Config
    tied: frozenset[Config]
    finalists: Mapping[Config, int]
    tried: frozenset[Config]
    by_mean: Config

    def why_not(self, config: Config) -> str:
        """Return why ``config`` does not tie here, or nothing."""
        if config in self.tied:
            return ""
        if config not in self.tried:
            return "untried"
        return "slower" if config in self.finalists else "absent"


def main() -> None:
    """Run the study again and again, print a table, and keep it."""
    arguments = _arguments()
    device, times = recorded_times(arguments.recording, load_kernel(arguments.kernel))
    policy = PRESETS[arguments.policy]
    spec = study(arguments, tuple(times), sampler=arguments.sampler, policy=policy)
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        runs = list(pool.map(partial(run, spec, arguments), range(arguments.runs)))
    rows = [judged(each, times[each], [run[each] for run in runs]) for each in spec.problems]
    rows.append(together(rows))
    show(rows)
    if arguments.json is not None:
        asked = {name: getattr(arguments, name) for name in ("sampler", "policy")}
        about = {**provenance(arguments, device), **asked, "mean_of": MEAN_OF}
        write_json(arguments.json, rows, packages=PACKAGES, about=about)


def _arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, runs=20)
    parser.add_argument("--sampler", default="auto")
    parser.add_argument("--policy", choices=PRESETS, default="standard")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; times are modelled")
    return parser.parse_args()


def run(spec: StudySpec, arguments: argparse.Namespace, seed: int) -> dict[Problem, Told]:
    """Run the study once with the noise of ``seed`` and return what it says of each problem."""
    with ran(spec, arguments, seed) as found:
        return {each: told(found, each) for each in spec.problems}


def told(found: Ran, problem: Problem) -> Told:
    """Return what a run says of one problem."""
    finals, exported = found.store.finals(), found.exported[problem]
    held = [
        finals[each.id]
        for each in found.store.contexts()
        if each.context.problem.key == problem.key and each.id in finals
    ]
    finalists = held[0].finalists if held else ()
    drawn_ns = found.device.means_ns
    means = {config: ns for (key, config), ns in drawn_ns.items() if key == problem.key}
    return Told(
        exported=exported,
        tied=frozenset(tied(finalists)) | {exported},
        finalists={each.config: len(each.rounds_ns) for each in finalists},
        tried=frozenset(means),
        by_mean=min(means, key=lambda config: means[config]),
    )


def judged(problem: Problem, times: Mapping[Config, float], runs: Sequence[Told]) -> dict[str, Any]:
    """Return a row: how often the runs agree about one problem, and what they lose."""
    usual = _usual(run.exported for run in runs)
    best_ns = min(times.values())
    return {
        "problem": problem.as_dict(),
        "best_us": best_ns / 1e3,
        "winners": len({run.exported for run in runs}),
        "same": fmean(run.exported == usual for run in runs),
        "same_or_tie": fmean(usual in run.tied for run in runs),
        "tied": fmean(len(run.tied) - 1 for run in runs),
        **{why: fmean(run.why_not(usual) == why for run in runs) for why in WHY_NOT},
        "final": fmean(sum(run.finalists.values()) for run in runs),
        **_losses("loss", [times[run.exported] / best_ns - 1 for run in runs]),
        "by_mean_winners": len({run.by_mean for run in runs}),
        "by_mean_same": fmean(run.by_mean == _usual(r.by_mean for r in runs) for run in runs),
        **_losses("by_mean_loss", [times[run.by_mean] / best_ns - 1 for run in runs]),
    }


def together(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a row over all problems: means, and the worst of what is worst."""
    means = (
        "winners",
        "same",
        "same_or_tie",
        "tied",
        *WHY_NOT,
        "final",
        "loss",
        "by_mean_winners",
        "by_mean_same",
        "by_mean_loss",
    )
    worst = ("loss_worst", "by_mean_loss_worst")
    return {
        "problem": None,
        **{name: fmean(row[name] for row in rows) for name in means},
        **{name: max(row[name] for row in rows) for name in worst},
    }


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for each problem and one for all."""
    print(
        f"{'':32}{'exported: ':>74}|{'  argmin of a mean of 7':>29}\n"
        f"{'problem':32}{'winners':>8}{'same':>6}{'or tie':>8}{'untried':>9}{'absent':>8}"
        f"{'slower':>8}{'final':>6}{'loss %':>9}{'worst':>8}    |"
        f"{'winners':>9}{'same':>6}{'loss %':>9}{'worst':>7}"
    )
    for row in rows:
        fields = row["problem"]
        name = ",".join(map(str, fields.values())) if fields else "all"
        print(
            f"{name:32}{row['winners']:8.3g}{row['same']:6.2f}{row['same_or_tie']:8.3f}"
            f"{row['untried']:9.3f}{row['absent']:8.3f}{row['slower']:8.3f}{row['final']:6.0f}"
            f"{100 * row['loss']:9.3f}{100 * row['loss_worst']:8.3f}    |"
            f"{row['by_mean_winners']:9.3g}{row['by_mean_same']:6.2f}"
            f"{100 * row['by_mean_loss']:9.3f}{100 * row['by_mean_loss_worst']:7.3f}"
        )


def _usual(configs: Iterable[Config]) -> Config:
    return Counter(configs).most_common(1)[0][0]


def _losses(name: str, shares: Sequence[float]) -> dict[str, float]:
    return {name: fmean(shares), f"{name}_worst": max(shares)}


if __name__ == "__main__":
    main()
