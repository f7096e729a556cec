"""``autotune db``: the schema of the result database."""

from __future__ import annotations

import click

from autotune.cli.options import db_option, verbosity


@click.group()
def db() -> None:
    """Bring the result database's schema up to date, or check it."""


@db.command()
@db_option
@verbosity
def upgrade(url: str | None) -> None:
    """Bring the schema up to date."""
    from autotune import store

    store.upgrade(url or store.default_url())
    click.echo(f"{url or store.default_url()}: schema {store.current(url or store.default_url())}")


@db.command()
@db_option
@verbosity
def current(url: str | None) -> None:
    """Print the schema's revision."""
    from autotune import store

    click.echo(store.current(url or store.default_url()))


@db.command()
@db_option
@verbosity
def check(url: str | None) -> None:
    """Exit with 0 if the schema is up to date, 4 if it is not."""
    from autotune import store

    store.check(url or store.default_url())
    click.echo("the schema is up to date", err=True)
