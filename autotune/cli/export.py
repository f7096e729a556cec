"""``autotune export``: the best of the database as a lookup table."""

from __future__ import annotations

from pathlib import Path

import click

from autotune.cli.options import db_option, verbosity


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The table to write.")
@click.option("--study", "studies", multiple=True, metavar="NAME", help="Only these studies.")
@db_option
@verbosity
def export(out: Path, studies: tuple[str, ...], url: str | None) -> None:
    """Write the best verified configurations as a lookup table."""
    from autotune.report import console
    from autotune.store import Store, default_url
    from autotune.table import build_table, write_table

    with Store.open(url or default_url(), read_only=True) as store:
        table = build_table(store, studies)
    write_table(table, out)
    console.messages().print(f"wrote {out}: {len(table['entries'])} entries")
