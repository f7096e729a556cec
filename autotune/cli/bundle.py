"""``autotune bundle``: a table with its binaries, for machines without a compiler."""

from __future__ import annotations

from pathlib import Path

import click

from autotune.cli.options import is_quiet, verbosity


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The new folder.")
@verbosity
def bundle(table: Path, out: Path) -> None:
    """Compile every configuration of TABLE for its device, and write them with it as a folder.

    No GPU is needed. The folder holds the table, the binaries, and a manifest with the SHA-256 of
    each. It appears whole or not at all.
    """
    from autotune.bundle import write_bundle
    from autotune.table import now

    written = write_bundle(table, out, created=now())
    for line in written.warnings:
        click.echo(f"warning: {line}", err=True)
    if not is_quiet():
        told = f"{written.binaries} binaries for {written.answers} configurations"
        click.echo(f"wrote {out}: {told}, {written.size_bytes / 1e6:.1f} MB", err=True)
