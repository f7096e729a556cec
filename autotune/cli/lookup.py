"""``autotune lookup``: what a program that uses the table would launch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.options import Fields, ProblemFields, format_option, merged, verbosity
from autotune.errors import InvalidProblem

if TYPE_CHECKING:
    from autotune.dispatch import Table

FAR_OCTAVES = 2.0  # a time from this far away says little of the problem that was asked for


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.argument("problem", nargs=-1, required=True, type=ProblemFields(), metavar="FIELD=VALUE…")
@click.option("--kernel", metavar="NAME", help="Needed if the table has several kernels.")
@click.option("--explain", is_flag=True, help="Show every candidate, and why it was taken or not.")
@format_option
@verbosity
def lookup(
    table: Path, problem: tuple[Fields, ...], *, kernel: str | None, explain: bool, layout: str
) -> None:
    """Look a problem up in TABLE, as ``autotune.dispatch`` does in a program.

    A field that has one value in the whole table, such as dtype, may be left out here.

    Example: autotune lookup table.json m=4096 n=4096 k=4096 dtype=bf16 layout=nt
    """
    from autotune.dispatch import Table
    from autotune.report.explained import explained_sheet
    from autotune.report.records import choice_record, octaves_off
    from autotune.report.sheet import show, show_record

    loaded = Table.load(table)
    fields = _completed(loaded, kernel, merged(problem))
    if explain:
        considered = list(loaded.considered(kernel, **fields))
        show(explained_sheet(loaded.finder(kernel).table, fields, considered), layout)
    choice = loaded.lookup(kernel, **fields)
    answered = loaded.kernels[choice.kernel]
    if not explain:
        show_record(choice_record(answered, fields, choice), layout)
    far = octaves_off(answered, fields, choice)
    if choice.source == "nearest" and far > FAR_OCTAVES:
        click.echo(f"warning: {far:.1f} octaves are far; tune this problem to be sure", err=True)


def _completed(table: Table, kernel: str | None, fields: Fields) -> Fields:
    """Return ``fields`` with those that the table leaves no choice about.

    Raises:
        InvalidProblem: A field is missing of which the table has several values.
    """
    name = kernel or (next(iter(table.kernels)) if len(table.kernels) == 1 else "")
    if name not in table.kernels:
        return fields  # the lookup says which kernels there are
    found = table.kernels[name]
    complete = dict(fields)
    for field in found.exact_fields:
        values = list(dict.fromkeys(entry.problem[field] for entry in found.entries))
        if field not in fields and len(values) == 1:
            complete[field] = values[0]
        elif field not in fields:
            listed = ", ".join(map(str, values))
            raise InvalidProblem(f"problem: missing field {field}; the table has {listed}")
    return complete
