"""``autotune lookup``: what a program that uses the table would launch."""

from __future__ import annotations

from pathlib import Path

import click

from autotune.cli.options import Fields, ProblemFields, format_option, verbosity


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.argument("problem", nargs=-1, required=True, type=ProblemFields(), metavar="FIELD=VALUE…")
@click.option("--kernel", metavar="NAME", help="Needed if the table has several kernels.")
@format_option
@verbosity
def lookup(table: Path, problem: tuple[Fields, ...], kernel: str | None, layout: str) -> None:
    r"""Look a problem up in TABLE, as ``autotune.dispatch`` does in a program.

    \b
    Example:
      autotune lookup table.json m=4096 n=4096 k=4096 dtype=bf16 layout=nt
    """
    from autotune.dispatch import Table
    from autotune.report.records import choice_record
    from autotune.report.sheet import show_record

    fields = {name: value for part in problem for name, value in part.items()}
    loaded = Table.load(table)
    choice = loaded.lookup(kernel, **fields)
    kernel_ref = loaded.kernels[choice.kernel].kernel_ref
    show_record(choice_record(kernel_ref, fields, choice), layout)
