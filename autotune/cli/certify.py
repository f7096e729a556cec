"""``autotune certify``: verify what a table holds once more, and say so in it."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.options import Whole, format_option, is_quiet, verbosity
from autotune.errors import AutotuneError, NoValidConfig

if TYPE_CHECKING:
    from autotune.device import Device
    from autotune.device.sanitizer import Sanitizer
    from autotune.study.certify import CertifyReport
    from autotune.study.examiner import Examined
    from autotune.table import TableFile

MOST_DRAWS = 1000
TOOLS = ("memcheck", "racecheck", "synccheck")


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--device",
    default="auto",
    show_default=True,
    metavar="DEVICE",
    help="auto (the first of the table's kind), cuda:N or host.",
)
@click.option(
    "--draws",
    type=Whole(min=1, max=MOST_DRAWS),
    default=5,
    show_default=True,
    help="Random inputs for each problem.",
)
@click.option(
    "--sanitize/--no-sanitize",
    default=True,
    show_default=True,
    help="On a GPU, also run each configuration once under compute-sanitizer, where it is found.",
)
@click.option(
    "--tool",
    "tools",
    multiple=True,
    type=click.Choice(TOOLS),
    default=TOOLS[:1],
    show_default=True,
    help="Tools of compute-sanitizer. What memcheck reports is a failure; the others misjudge "
    "some ways to wait, so what they report is written down.",
)
@format_option
@verbosity
def certify(
    table: Path, device: str, *, draws: int, sanitize: bool, tools: tuple[str, ...], layout: str
) -> None:
    """Verify every configuration in TABLE again, and write the certificate into it.

    Each is run on its own problem and on a few beside it that its conditions admit: on whole
    numbers, on more random inputs than tuning draws, on NaN and infinities in some places, and
    repeatedly while the device is busy. What fails is removed from the table, and the exit code
    is 1. If no entry is right the table stays as it was, and the exit code is 3.
    """
    from autotune.report.certified import certified_sheet
    from autotune.report.sheet import show
    from autotune.table import TableFile

    file = TableFile.open(table)
    report = _certified(file, device, draws=draws, tools=tools if sanitize else ())
    show(certified_sheet(report), layout)
    _require_right(report, table)


def _certified(
    file: TableFile, device_name: str, *, draws: int, tools: tuple[str, ...]
) -> CertifyReport:
    from autotune.report import console
    from autotune.study.certify import certify, open_measured

    with ExitStack() as open_things:
        open_things.enter_context(console.aside())
        device = open_things.enter_context(closing(open_measured(file, device_name)))
        watching = _sanitizer(device, tools)
        try:
            return certify(file, device=device, draws=draws, sanitizer=watching, say=_say)
        except KeyboardInterrupt:
            raise click.Abort(f"interrupted: table {str(file.path)!r} is as it was") from None


def _sanitizer(device: Device, tools: tuple[str, ...]) -> Sanitizer | str:
    """Return what watches configs on ``device``, or in a few words why nothing does."""
    from autotune.device.sanitizer import Sanitizer, find_sanitizer

    kind, _, index = device.name.partition(":")
    if kind != "cuda":
        return "not for a host"
    if not tools:
        return "off"
    program = find_sanitizer()
    return Sanitizer(program=program, index=int(index), tools=tools) if program else "absent"


def _say(examined: Examined) -> None:
    from autotune.report.certified import fault_line, passed_line

    if not examined.passed:
        click.echo(fault_line(examined), err=True)
    elif not is_quiet():
        click.echo(passed_line(examined), err=True)


def _require_right(report: CertifyReport, table: Path) -> None:
    if not report.entries_left:
        raise NoValidConfig(
            f"no entry of table {str(table)!r} is right on {report.identity.name}",
            hint="the table is as it was; tune again, then export",
        )
    if report.failed:
        raise AutotuneError(
            f"{len(report.failed)} of {len(report.examined)} configurations failed and were "
            f"removed from table {str(table)!r}",
            hint="tune those problems again, then export",
        )
