"""``autotune header``: a table as C++ constants with a lookup."""

from __future__ import annotations

import re
from pathlib import Path

import click

from autotune.cli.options import is_quiet, verbosity

_NAMESPACE = re.compile(r"[a-z][a-z0-9_]*", re.ASCII | re.IGNORECASE)


def _namespace(context: click.Context, parameter: click.Parameter, value: str) -> str:
    del context
    if _NAMESPACE.fullmatch(value) is None or "__" in value:
        raise click.BadParameter(f"{value!r} is not a name in C++", param=parameter)
    return value


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The folder to write into."
)
@click.option(
    "--name",
    default="tuned",
    show_default=True,
    callback=_namespace,
    help="The namespace, and the name of the file.",
)
@verbosity
def header(table: Path, out: Path, *, name: str) -> None:
    """Write TABLE, or a bundle, as a C++17 header that looks problems up.

    Beside it goes the folder autotune/ with the headers that it includes. That of a bundle also
    says how each configuration is launched; autotune/bundle.hpp then launches it.

    Example: autotune header table.json --out include --name gemm_h200
    """
    from autotune.cpp import write_header

    written = write_header(table, out, name=name)
    if not is_quiet():
        click.echo(f"wrote {written[-1]}; compile with -std=c++17 -I{out}", err=True)
