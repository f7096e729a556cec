"""``autotune score``: how good samplers are on recordings."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autotune.cli.options import (
    ProblemFields,
    Whole,
    format_option,
    is_quiet,
    verbosity,
)
from autotune.search import SAMPLERS

if TYPE_CHECKING:
    from autotune.score import Judged, Landscape, ScoreSpec
    from autotune.store import Filter

MOST_REPEATS = 10_000


@click.command()
@click.argument("recordings", nargs=-1, required=True, metavar="RECORDING...")
@click.option(
    "--samplers",
    default="auto,tpe,local,random",
    show_default=True,
    metavar="NAME,…",
    help=f"Any of {', '.join(SAMPLERS)}, and kernel_tuner:STRATEGY.",
)
@click.option(
    "--repeats",
    type=Whole(min=1, max=MOST_REPEATS),
    default=50,
    show_default=True,
    help="Searches of each sampler on each problem.",
)
@click.option(
    "--seed",
    type=Whole(min=0, max=2**32 - 1),
    default=0,
    help="All that is random follows from it.",
)
@click.option("--jobs", type=Whole(min=1), default=1, show_default=True, help="Processes at work.")
@click.option(
    "--kernel-tuner",
    "interpreter",
    metavar="PYTHON",
    envvar="AUTOTUNE_KERNEL_TUNER",
    default=sys.executable,
    show_envvar=True,
    help="An interpreter that has Kernel Tuner.  [default: this one]",
)
@click.option("--kernel", metavar="NAME", help="Only this kernel.")
@click.option(
    "--problem",
    type=ProblemFields(),
    default="",
    help="Only problems with these fields, such as m=4096,dtype=bf16.",
)
@click.option(
    "--prior",
    is_flag=True,
    help="Begin as studies do: with the kernel's default and what its model predicts.",
)
@click.option("--equal-costs", is_flag=True, help="Count measurements, not the time they took.")
@click.option(
    "--json",
    "raw_path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Also write each repeat and the curves there.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Draw the curves as .svg or .png.",
)
@format_option
@verbosity
def score(
    recordings: tuple[str, ...],
    samplers: str,
    *,
    prior: bool,
    equal_costs: bool,
    raw_path: Path | None,
    plot: Path | None,
    layout: str,
    **how: Any,
) -> None:
    """Score samplers on everything that each RECORDING holds.

    A RECORDING is one that ships with the package, a result database, or a file that 'autotune
    import' reads. A score of 0 is random search, 1 is to have the best from the start.

    Example: autotune score h200 --problem m=4096,n=4096 --repeats 10 --equal-costs
    """
    from autotune.report import console
    from autotune.score import ScoreSpec, read_landscapes
    from autotune.store import Filter

    wanted = Filter(kernel=how.pop("kernel"), problem=how.pop("problem"))
    spec = ScoreSpec(samplers=_names(samplers), **how)
    _require_writable(raw_path, plot)
    with console.aside():
        spaces = read_landscapes(recordings, wanted, prior=prior)
        found = _scored(spec, [each.unpriced() for each in spaces] if equal_costs else spaces)
    flags = {"prior": prior, "equal_costs": equal_costs}
    about = _about(spec, recordings, wanted, flags)
    _show(found, about, layout)
    if raw_path is not None:
        _keep(raw_path, found, about)
    if plot is not None:
        from autotune.report.score_plot import write_plot

        write_plot(plot, found)


def _require_writable(raw_path: Path | None, plot: Path | None) -> None:
    """Raise before hours of work, not after."""
    from autotune.files import writable_target
    from autotune.report.picture import require_drawable

    if raw_path is not None:
        writable_target(raw_path, what="scores")
    if plot is not None:
        require_drawable(plot)


def _names(samplers: str) -> tuple[str, ...]:
    from autotune.score import KERNEL_TUNER

    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in samplers.split(",")))))
    for name in names:
        if name not in SAMPLERS and not name.startswith(KERNEL_TUNER):
            allowed = f"{', '.join(SAMPLERS)}, {KERNEL_TUNER}STRATEGY"
            raise click.UsageError(f"no sampler named {name!r}; allowed: {allowed}")
    if not names:
        raise click.UsageError("--samplers names none")
    return names


def _scored(spec: ScoreSpec, landscapes: Sequence[Landscape]) -> list[Judged]:
    from autotune.score import score as scores

    found = []
    for judged in scores(spec, landscapes):
        found.append(judged)
        if not is_quiet():
            click.echo(f"{judged.landscape.name}: {judged.sampler} {judged.score:.3f}", err=True)
    return found


def _show(found: Sequence[Judged], about: Mapping[str, Any], layout: str) -> None:
    from autotune.report.score import notes, score_sheet
    from autotune.report.sheet import show

    show(score_sheet(found, about), layout)
    for note in [] if about["equal_costs"] else notes(found):
        click.echo(f"note: {note}", err=True)


def _keep(path: Path, found: Sequence[Judged], about: Mapping[str, Any]) -> None:
    from autotune.files import write_whole
    from autotune.report.score import raw

    text = json.dumps(raw(found, about), allow_nan=False)
    write_whole(path, f"{text}\n".encode(), what="scores")


def _about(
    spec: ScoreSpec, recordings: Sequence[str], wanted: Filter, flags: Mapping[str, bool]
) -> dict[str, Any]:
    """Return what the scores are of, and what to type for the same ones."""
    from autotune.table import now

    words = ["autotune", "score", *(Path(name).name for name in recordings)]
    words += ["--samplers", ",".join(spec.samplers), "--repeats", str(spec.repeats)]
    words += ["--seed", str(spec.seed)] if spec.seed else []
    words += ["--kernel", wanted.kernel] if wanted.kernel else []
    fields = ",".join(f"{name}={value}" for name, value in wanted.problem.items())
    words += ["--problem", fields] if fields else []
    words += [f"--{name.replace('_', '-')}" for name, given in flags.items() if given]
    return {
        "repeats": spec.repeats,
        "seed": spec.seed,
        **flags,
        "date": now().partition("T")[0],
        "command": shlex.join(words),
    }
