"""``autotune kernels``: what can be tuned, and what a space holds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from autotune.cli.options import Fields, ProblemFields, Whole, format_option, verbosity
from autotune.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from autotune.records import Kernel, Problem, Target
    from autotune.report.sheet import Sheet

    AboutSpace = Callable[[Kernel, Problem, Target], Sheet]

DEFAULT_ARCH = "sm_90a"
MOST_SAMPLED = 1_000_000


@click.command()
@click.argument("name", required=False)
@click.option("--problem", type=ProblemFields(), help="Show the space for this problem.")
@click.option(
    "--target",
    metavar="ARCH",
    help=f"Compile target.  [default: {DEFAULT_ARCH}; for C++, this machine]",
)
@click.option("--explain", is_flag=True, help="Count what each constraint removes.")
@click.option(
    "--sample",
    metavar="N",
    type=Whole(min=1, max=MOST_SAMPLED),
    help="Draw N configurations that keep every constraint.",
)
@click.option("--seed", type=Whole(min=0, max=2**32 - 1), default=0, help="Seed of --sample.")
@format_option
@verbosity
def kernels(
    name: str | None,
    problem: Fields | None,
    target: str | None,
    *,
    explain: bool,
    sample: int | None,
    seed: int,
    layout: str,
) -> None:
    """List the installed kernels, or show one.

    NAME is an installed kernel or path/to/file.py:Class. With --problem its parameters are shown
    for that problem; --explain counts the configurations that each constraint removes. One that
    breaks several is counted once, for the first that it breaks. --sample draws from those that
    break none: each is equally likely, and none comes twice.
    """
    from autotune.report.sheet import show

    if problem is None and (explain or sample or target):
        raise click.UsageError(
            "--explain, --sample and --target need --problem, such as m=4096,n=4096,…"
        )
    if explain and sample:
        raise click.UsageError("--explain and --sample are two questions: ask one at a time")
    if name is None and problem is not None:
        raise click.UsageError("--problem needs the NAME of a kernel")
    if name is None or problem is None:
        show(_listed(name), layout)
        if name is not None and layout == "table":
            _show_an_example(name)
    else:
        show(_space(name, problem, target, _about(sample, seed, explain=explain)), layout)


def _show_an_example(name: str) -> None:
    """Show the parameters for some problem, and what to type for another one."""
    from autotune.records import load_kernel
    from autotune.report.fields import problem_text
    from autotune.report.kernels import example_problem
    from autotune.report.sheet import show

    problem = example_problem(load_kernel(name))
    if problem is not None:
        fields = problem.as_dict()
        click.echo()
        show(_space(name, fields, None, _about()), "table")
        words = f"autotune kernels {name} --problem {problem_text(fields)} --explain"
        click.echo(f"hint: {words}", err=True)


def _listed(name: str | None) -> Sheet:
    from autotune.records import installed_kernels, load_kernel
    from autotune.report.kernels import kernels_sheet

    names = [name] if name else list(installed_kernels())
    return kernels_sheet([(each, load_kernel(each)) for each in names])


def _about(sample: int | None = None, seed: int = 0, *, explain: bool = False) -> AboutSpace:
    """Return what shows what was asked about a space."""
    from autotune.report.kernels import census_sheet, parameters_sheet, sample_sheet

    if sample is not None:
        return partial(sample_sheet, count=sample, seed=seed)
    return census_sheet if explain else parameters_sheet


def _space(name: str, fields: Fields, arch: str | None, about: AboutSpace) -> Sheet:
    from autotune.records import load_kernel

    kernel = load_kernel(name)
    problem = kernel.problem_type.parse(fields)
    return about(kernel, problem, _target(kernel, arch))


def _target(kernel: Kernel, arch: str | None) -> Target:
    from autotune.device.host import host_identity
    from autotune.records import device_language
    from autotune.records.targets import TARGETS

    host = host_identity().target
    on_gpus = device_language(kernel) == "cuda"
    known = TARGETS if on_gpus else {host.arch: host}
    chosen = arch or (DEFAULT_ARCH if on_gpus else host.arch)
    if chosen not in known:
        raise InvalidInput(f"--target: no {chosen!r}; allowed: {', '.join(known)}")
    return known[chosen]
