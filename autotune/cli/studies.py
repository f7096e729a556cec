"""``autotune studies``: what the database holds."""

from __future__ import annotations

import click

from autotune.cli.options import db_option, format_option, verbosity


@click.command()
@db_option
@format_option
@verbosity
def studies(url: str | None, layout: str) -> None:
    """List the studies in the database."""
    from autotune.report.records import studies_sheet
    from autotune.report.sheet import show
    from autotune.store import Store, default_url

    with Store.open(url or default_url(), read_only=True) as store:
        show(studies_sheet(store.studies()), layout)
