"""``autotune kernels``: what can be tuned, and what a space holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from autotune.cli.options import Fields, ProblemFields, format_option, verbosity
from autotune.errors import InvalidInput

if TYPE_CHECKING:
    from autotune.records import Kernel, Target
    from autotune.report.sheet import Sheet


DEFAULT_ARCH = "sm_90a"


@click.command()
@click.argument("name", required=False)
@click.option("--problem", type=ProblemFields(), help="Show the space for this problem.")
@click.option(
    "--target",
    metavar="ARCH",
    help=f"Compile target.  [default: {DEFAULT_ARCH}; for C++, this machine]",
)
@click.option("--explain", is_flag=True, help="Count what each constraint removes.")
@format_option
@verbosity
def kernels(
    name: str | None, problem: Fields | None, target: str | None, *, explain: bool, layout: str
) -> None:
    """List the installed kernels, or show one.

    NAME is an installed kernel or path/to/file.py:Class. With --problem its parameters are shown
    for that problem; --explain counts the configurations that each constraint removes. One that
    breaks several is counted once, for the first that it breaks.
    """
    from autotune.report.sheet import show

    if problem is None and (explain or target):
        raise click.UsageError("--explain and --target need --problem, such as m=4096,n=4096,…")
    if name is None and problem is not None:
        raise click.UsageError("--problem needs the NAME of a kernel")
    if name is None or problem is None:
        show(_listed(name), layout)
        if name is not None and layout == "table":
            _show_an_example(name)
    else:
        show(_space(name, problem, target, explain=explain), layout)


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
        show(_space(name, fields, None, explain=False), "table")
        words = f"autotune kernels {name} --problem {problem_text(fields)} --explain"
        click.echo(f"hint: {words}", err=True)


def _listed(name: str | None) -> Sheet:
    from autotune.records import installed_kernels, load_kernel
    from autotune.report.kernels import kernels_sheet

    names = [name] if name else list(installed_kernels())
    return kernels_sheet([(each, load_kernel(each)) for each in names])


def _space(name: str, fields: Fields, arch: str | None, *, explain: bool) -> Sheet:
    from autotune.records import load_kernel
    from autotune.report.kernels import census_sheet, parameters_sheet

    kernel = load_kernel(name)
    problem = kernel.problem_type.parse(fields)
    sheet = census_sheet if explain else parameters_sheet
    return sheet(kernel, problem, _target(kernel, arch))


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
