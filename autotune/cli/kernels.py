"""``autotune kernels``: what can be tuned, and what a space holds."""

from __future__ import annotations

import click

from autotune.cli.options import Fields, ProblemFields, format_option, verbosity


@click.command()
@click.argument("name", required=False)
@click.option("--problem", type=ProblemFields(), help="Show the space for this problem.")
@click.option("--target", metavar="ARCH", help="Compile target, such as sm_90a.")
@click.option("--explain", is_flag=True, help="Count what each constraint removes.")
@format_option
@verbosity
def kernels(
    name: str | None, problem: Fields | None, target: str | None, explain: bool, layout: str
) -> None:
    """List the installed kernels, or show one.

    NAME is an installed kernel or path/to/file.py:Class. With --problem its parameters are shown
    for that problem; --explain counts the configurations that each constraint removes.
    """
