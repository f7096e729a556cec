"""``autotune ladder``: every way of a kernel to compute, side by side."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autotune.cli.options import (
    Fields,
    ProblemFields,
    Whole,
    db_option,
    device_option,
    format_option,
    is_quiet,
    verbosity,
)
from autotune.errors import NoValidConfig

if TYPE_CHECKING:
    from autotune.study import LadderReport, LadderSpec

MOST_ROUNDS = 100


@click.command()
@click.argument("name")
@click.option(
    "--problem",
    type=ProblemFields(),
    required=True,
    help="What to compute, such as m=4096,n=4096,k=4096.",
)
@device_option
@db_option
@click.option(
    "--trials",
    type=Whole(min=1),
    default=1,
    show_default=True,
    help="With 1 each rung's representative is shown, else the fastest of so many; of a "
    "recording, the fastest that it holds.",
)
@click.option(
    "--rounds",
    type=Whole(min=1, max=MOST_ROUNDS),
    default=3,
    show_default=True,
    help="How often each is timed, all in turns.",
)
@click.option("--seed", type=Whole(min=0, max=2**32 - 1), default=0, help="Seed of --trials.")
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="PATH", help="Draw it as .svg or .png."
)
@format_option
@verbosity
def ladder(
    name: str, problem: Fields, device: str, url: str | None, plot: Path | None, **how: Any
) -> None:
    """Measure one configuration of each rung of the kernel NAME.

    A rung is a way to compute, a small step from the one below it. All of them are timed in turns
    with the kernel's peer, such as a library, and what was measured is kept as a study of its own.
    A recording is only looked up.

    Example: autotune ladder gemm --problem m=4096,n=4096,k=4096 --device recording:h200
    """
    from autotune.records import absolute_reference, load_kernel
    from autotune.study import LadderSpec

    layout = how.pop("layout")
    reference = absolute_reference(name, Path())
    kernel = load_kernel(reference)
    parsed = kernel.problem_type.parse(problem)
    spec = LadderSpec(kernel_ref=reference, kernel=kernel, problem=parsed, **how)
    if plot is not None:
        from autotune.report.picture import require_drawable

        require_drawable(plot)  # before anything is measured, not after
    report = _climbed(spec, device, url)
    _show(report, layout, plot)


def _climbed(spec: LadderSpec, device_name: str, url: str | None) -> LadderReport:
    from autotune.device import open_device
    from autotune.records import Limits
    from autotune.report import console
    from autotune.store import Store, default_url
    from autotune.study import run_ladder

    with ExitStack() as open_things:
        open_things.enter_context(console.aside())
        device = open_things.enter_context(closing(open_device(device_name, limits=Limits())))
        if device.replays:
            return run_ladder(spec, device=device)
        store = open_things.enter_context(Store.open(url or default_url()))
        try:
            return run_ladder(spec, device=device, store=store, say=_say)
        except KeyboardInterrupt:
            raise click.Abort("interrupted: what was measured so far is kept") from None


def _show(report: LadderReport, layout: str, plot: Path | None) -> None:
    from autotune.report.ladder import ladder_sheet
    from autotune.report.sheet import show

    show(ladder_sheet(report), layout)
    if report.no_peer:
        click.echo(
            f"note: no {report.spec.kernel.peer} to compare with: {report.no_peer}", err=True
        )
    if report.study:
        _say(f"recorded as study {report.study}")
    if plot is not None:
        from autotune.report.ladder_plot import write_plot

        write_plot(plot, report)
        _say(f"drawn as {plot}")
    if not any(step.median_ns for step in report.steps):
        raise NoValidConfig(f"no rung gave a right result for {report.spec.problem}")


def _say(line: str) -> None:
    if not is_quiet():
        click.echo(line, err=True)
