"""``autotune query``: read the database back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from autotune.cli.options import ProblemFields, db_option, format_option, verbosity


@click.group()
def query() -> None:
    """Read results back: the best, the front of several goals, every trial, or the failures."""


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose rows, and the usual ones."""
    for add in (
        click.option("--kernel", metavar="NAME", help="Only this kernel."),
        click.option("--device", metavar="NAME", help="Only devices with this in their name."),
        click.option("--study", multiple=True, metavar="NAME", help="Only these studies."),
        click.option(
            "--problem",
            type=ProblemFields(),
            default="",
            help="Only problems with these fields, such as m=4096,dtype=bf16.",
        ),
        db_option,
        format_option,
        verbosity,
    ):
        command = add(command)
    return command


@query.command()
@click.option("--unverified", is_flag=True, help="Also consider what was never checked.")
@_filters
def best(**chosen: Any) -> None:
    """Show the best verified trial of each problem and device."""
    _show("best", **chosen)


@query.command()
@click.option(
    "--goals",
    metavar="GOAL,…",
    help="Such as time,shared_memory.  [default: those of the studies]",
)
@click.option("--unverified", is_flag=True, help="Also consider what was never checked.")
@_filters
def front(
    *, url: str | None, layout: str, goals: str | None, unverified: bool, **chosen: Any
) -> None:
    """Show the verified trials that no other beats in all goals."""
    from autotune.report.console import messages
    from autotune.report.front_sheet import front_sheet, silence, sought
    from autotune.report.nothing import why_no_best
    from autotune.report.sheet import show
    from autotune.store import Filter, Store, default_url

    wanted = Filter(studies=chosen.pop("study"), **chosen)
    with Store.open(url or default_url(), read_only=True) as store:
        named = [name.strip() for name in goals.split(",")] if goals else []
        seek = sought(store, wanted, named)
        found = store.fronts(seek, wanted, unverified=unverified)
        empty = "" if found else why_no_best(store, wanted)
        show(front_sheet(found, seek, empty=empty), layout)
    for line in silence(found, seek):
        messages().print(line)


@query.command()
@_filters
def trials(**chosen: Any) -> None:
    """Show every trial."""
    _show("trials", **chosen)


@query.command()
@_filters
def failures(**chosen: Any) -> None:
    """Show what did not work, and why."""
    _show("failures", **chosen)


def _show(
    what: str,
    *,
    url: str | None,
    layout: str,
    study: tuple[str, ...],
    unverified: bool = False,
    **wanted: Any,
) -> None:
    from autotune.report.nothing import why_no_best, why_nothing
    from autotune.report.records import trials_sheet
    from autotune.report.sheet import show
    from autotune.store import Filter, Store, default_url

    chosen = Filter(studies=study, **wanted)
    with Store.open(url or default_url(), read_only=True) as store:
        if what == "best":
            rows = store.best(chosen, unverified=unverified)
        else:
            rows = store.rows(chosen) if what == "trials" else store.failures(chosen)
        why = why_no_best if what == "best" else why_nothing
        empty = "" if rows else why(store, chosen)
        show(trials_sheet(what, rows, empty=empty), layout)
