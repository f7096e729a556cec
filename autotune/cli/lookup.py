"""``autotune lookup``: what a program that uses the table would launch."""

from __future__ import annotations

from pathlib import Path

import click

from autotune.cli.options import Fields, ProblemFields, format_option, verbosity


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.argument("problem", nargs=-1, required=True, type=ProblemFields(), metavar="FIELD=VALUE…")
@format_option
@verbosity
def lookup(table: Path, problem: tuple[Fields, ...], layout: str) -> None:
    """Look a problem up in TABLE, as ``autotune.dispatch`` does in a program.

    \b
    Example:
      autotune lookup table.json m=4096 n=4096 k=4096 dtype=bf16 layout=nt
    """
    from autotune.dispatch import Table
    from autotune.report.records import choice_sheet
    from autotune.report.sheet import show

    fields = {name: value for part in problem for name, value in part.items()}
    show(choice_sheet(fields, Table.load(table).lookup(**fields)), layout)
