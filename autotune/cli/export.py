"""``autotune export``: the best as a lookup table, or all results for other tuners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from autotune.cli.options import (
    FORMATS,
    Fields,
    ProblemFields,
    Whole,
    db_option,
    verbosity,
)

TABLE = "table"


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write.")
@click.option(
    "--format",
    "layout",
    type=click.Choice((TABLE, "t4", "kernel-tuner")),
    default=TABLE,
    show_default=True,
    help="A lookup table, or every result of one problem as T4 or as Kernel Tuner's cache.",
)
@click.option("--study", multiple=True, metavar="NAME", help="Use these studies only.")
@click.option("--device", metavar="NAME", help="Use devices with this in their name only.")
@click.option("--kernel", metavar="NAME", help="Use this kernel only; not for a table.")
@click.option("--problem", type=ProblemFields(), default="", help="This problem; not for a table.")
@click.option(
    "--kernels",
    type=Whole(min=1),
    metavar="K",
    help="Use the K configurations that lose least over all problems, where they were measured.",
)
@click.option(
    "--prefer",
    metavar="WHAT",
    help="The fastest within a limit, such as 'shared_memory<=65536', or the least of another goal,"
    " such as 'shared_memory,time<=103%'.",
)
@click.option(
    "--losses",
    type=click.Choice(FORMATS),
    help="How to write on stdout what 1, 2, … K configurations lose.  [default: table]",
)
@click.option("--unverified", is_flag=True, help="Also use results that were never checked.")
@db_option
@verbosity
def export(
    out: Path,
    layout: str,
    *,
    study: tuple[str, ...],
    device: str | None,
    kernel: str | None,
    problem: Fields,
    url: str | None,
    **choice: Any,
) -> None:
    """Write the best verified configurations as a lookup table, or results for other tuners.

    T4 and Kernel Tuner's cache hold every result of one kernel, problem and device, failures and
    unverified ones too.
    """
    from autotune.report.export import results_and_tell, write_and_tell
    from autotune.store import Filter, Store, default_url

    if layout == TABLE and (kernel or problem):
        raise click.UsageError("--kernel and --problem do not go with a table")
    losses = choice.pop("losses")
    for name in ("kernels", "prefer"):
        if layout != TABLE and choice[name]:
            raise click.UsageError(f"--{name} goes with a table only")
    if choice["kernels"] and choice["prefer"] is not None:
        raise click.UsageError("--kernels chooses by time alone: it does not go with --prefer")
    if losses and not choice["kernels"]:
        raise click.UsageError("--losses needs --kernels")
    with Store.open(url or default_url(), read_only=True) as store:
        if layout == TABLE:
            write_and_tell(out, store, study, device=device, layout=losses or TABLE, **choice)
        else:
            wanted = Filter(kernel=kernel, device=device, problem=problem, studies=study)
            results_and_tell(out, store, wanted, layout=layout)
