"""``autotune doctor``: what this machine has, and what to do about what it lacks."""

from __future__ import annotations

import click

from autotune.cli.options import db_option, format_option, verbosity


@click.command()
@db_option
@format_option
@verbosity
def doctor(url: str | None, layout: str) -> int:
    """Say what this machine can tune, and what is missing.

    A missing GPU or CUDA package is no fault: exit code 1 means that something here is broken.
    """
    from autotune.report.doctor import State, checks_sheet, examine
    from autotune.report.sheet import show

    checks = examine(url)
    show(checks_sheet(checks), layout)
    return int(any(check.state is State.BROKEN for check in checks))
