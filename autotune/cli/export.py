"""``autotune export``: the best of the database as a lookup table."""

from __future__ import annotations

from pathlib import Path

import click

from autotune.cli.options import db_option, verbosity


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The table to write.")
@click.option("--study", multiple=True, metavar="NAME", help="Use these studies only.")
@click.option("--device", metavar="NAME", help="Use devices with this in their name only.")
@click.option("--unverified", is_flag=True, help="Also use results that were never checked.")
@db_option
@verbosity
def export(
    out: Path, study: tuple[str, ...], device: str | None, *, unverified: bool, url: str | None
) -> None:
    """Write the best verified configurations as a lookup table."""
    from autotune.report.export import write_and_tell
    from autotune.store import Store, default_url

    with Store.open(url or default_url(), read_only=True) as store:
        write_and_tell(out, store, study, device=device, unverified=unverified)
