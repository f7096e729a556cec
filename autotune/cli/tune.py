"""``autotune tune``: run or resume a study."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autotune.cli.options import (
    Duration,
    Whole,
    db_option,
    device_option,
    format_option,
    is_quiet,
    verbosity,
)
from autotune.errors import InvalidInput, NoValidConfig
from autotune.search import SAMPLERS

if TYPE_CHECKING:
    from autotune.device.protocol import Device
    from autotune.store import Store
    from autotune.study import StudyReport, StudySpec


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@device_option
@db_option
@click.option("--trials", type=Whole(min=1), help="Total for each problem, earlier runs included.")
@click.option("--time-budget", "time_budget_s", type=Duration(), help="Such as 90s, 5m or 1h.")
@click.option("--seed", type=Whole(min=0, max=2**32 - 1), help="Seed of the search.")
@click.option(
    "--sampler",
    type=click.Choice(tuple(SAMPLERS)),
    metavar="NAME",
    help=f"How configs are chosen: {', '.join(SAMPLERS)}.",
)
@click.option(
    "--cross",
    type=Whole(min=0, max=100),
    metavar="N",
    help="Measure the N best of each problem on the others, too.",
)
@click.option(
    "--retry-failed",
    is_flag=True,
    help="Try again what crashed, hung or ran out of memory; not what was wrong.",
)
@click.option(
    "--no-verify",
    "unverified",
    is_flag=True,
    help="Do not check outputs, and write no table: nothing unverified is exported unasked.",
)
@click.option(
    "--export", type=click.Path(path_type=Path), metavar="PATH", help="Write the table there."
)
@format_option
@verbosity
def tune(
    study: Path, device: str, *, url: str | None, layout: str, unverified: bool, **changes: Any
) -> None:
    """Run the study file STUDY: search, compile, verify, time, record.

    The options overrule the file. Every finished trial is kept at once, so the same command goes
    on after an interrupt, and does nothing once the study is finished.
    """
    from autotune.study import load_study

    given = {name: value for name, value in changes.items() if value is not None}
    spec = dataclasses.replace(load_study(study), **given)
    if unverified:
        spec = dataclasses.replace(spec, policy=spec.policy.replace(verify=False))
    try:
        _run(spec, device, url, layout)
    except InvalidInput as error:
        raise type(error)(f"{study}: {error.message}", error.hint) from None
    except KeyboardInterrupt:
        kept = "interrupted: every finished trial is kept; run the same command to go on"
        raise click.Abort(kept) from None


def _run(spec: StudySpec, device_name: str, url: str | None, layout: str) -> None:
    from autotune.device import open_device
    from autotune.files import writable_target
    from autotune.report.sheet import show
    from autotune.report.summary import summary_sheet
    from autotune.store import Store, default_url

    if spec.export is not None:
        writable_target(spec.export, what="table")  # before hours of work, not after
    with (
        closing(open_device(device_name, limits=spec.limits)) as device,
        Store.open(url or default_url()) as store,
    ):
        report = _watched(spec, device, store)
        show(summary_sheet(spec, report), layout)
        _export(spec, device, store, report)
    _require_right_results(report)


def _watched(spec: StudySpec, device: Device, store: Store) -> StudyReport:
    from autotune.report import console
    from autotune.report.progress import watch
    from autotune.study import run_study

    if is_quiet():
        with console.aside():
            return run_study(spec, device=device, store=store)
    with console.aside(), watch(console.messages()) as observer:
        return run_study(spec, device=device, store=store, observer=observer)


def _export(spec: StudySpec, device: Device, store: Store, report: StudyReport) -> None:
    from autotune.report import console
    from autotune.report.export import write_and_tell

    if spec.export is None or not any(found.best for found in report.problems):
        return
    if report.replays or spec.policy.verify:
        write_and_tell(spec.export, store, [spec.name], device=device.identity.key)
    else:
        console.messages().print(f"{spec.export} is not written: no output was checked")


def _require_right_results(report: StudyReport) -> None:
    wrong = [str(found.problem) for found in report.problems if found.total and not found.best]
    if wrong:
        raise NoValidConfig(
            f"no configuration gave a right result for {'; '.join(wrong)}",
            hint=f"autotune query failures --study {report.study}",
        )
