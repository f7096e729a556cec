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
    """Bring the schema up to date; the results that were there are kept beside."""
    from autotune import store

    done = store.upgrade(url or store.default_url())
    if done.before == done.after:
        click.echo(f"the schema is up to date: {done.after}")
        return
    click.echo(f"upgraded the schema from {done.before or 'nothing'} to {done.after}")
    if done.backup is not None:
        click.echo(f"the database as it was: {done.backup}", err=True)


@db.command()
@db_option
@verbosity
def current(url: str | None) -> None:
    """Print the schema's revision."""
    from autotune import store

    click.echo(store.current(url or store.default_url()) or "none")


@db.command()
@db_option
@verbosity
def check(url: str | None) -> None:
    """Exit with 0 if the schema is up to date, 4 if it is not."""
    from autotune import store

    store.check(url or store.default_url())
    click.echo(f"the schema is up to date: {store.head()}")
