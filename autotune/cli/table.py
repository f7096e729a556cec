"""``autotune table``: what may be asked of a table file."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.options import Whole, format_option, verbosity
from autotune.errors import AutotuneError, DeviceUnavailable

if TYPE_CHECKING:
    from autotune.device import Device
    from autotune.dispatch import Table
    from autotune.study.check import Checked, Retimed


@click.group()
def table() -> None:
    """Check what a lookup table says."""


@table.command()
@click.argument("path", type=click.Path(path_type=Path), metavar="TABLE")
@click.option(
    "--db",
    "url",
    metavar="URL",
    help="Compare the policy with the newest one of the same study in this database.",
)
@click.option(
    "--device",
    "device_name",
    default="auto",
    show_default=True,
    metavar="DEVICE",
    help="auto (the first of the table's kind, if there is one), cuda:N or host.",
)
@click.option(
    "--retime",
    type=Whole(min=1),
    metavar="N",
    help="Verify and time the N entries with the shortest times again; the table stays.",
)
@format_option
@verbosity
def check(
    path: Path, *, url: str | None, device_name: str, retime: int | None, layout: str
) -> None:
    """Say field by field what differs between TABLE and today.

    Compared are the kernels' sources, the compiler, the device and its driver, and with --db the
    policy. What this machine cannot tell is said, and counts as no difference. The exit code is 1
    if something differs, or if an entry that was verified again is not right.
    """
    from autotune.dispatch import Table
    from autotune.report.checked import checked_sheet, retimed_sheet
    from autotune.report.sheet import show

    loaded = Table.load(path)
    with ExitStack() as things:
        device = _device(loaded, device_name, needed=retime is not None)
        if device is not None:
            things.enter_context(closing(device))
        checked = _checked(loaded, device, url)
        again = _retimed(loaded, device, retime) if device is not None and retime else None
    show(checked_sheet(checked, again), layout)
    if again is not None and layout == "table":
        show(retimed_sheet(again), layout)
    _require_the_same(path, checked, again or [])


def _device(table: Table, name: str, *, needed: bool) -> Device | None:
    """Return the device to ask, or None if ``auto`` finds none and none is needed."""
    from autotune.device import open_device
    from autotune.records import Limits

    first = {"cuda": "cuda:0"}.get(table.device.kind, table.device.kind)
    try:
        return open_device(first if name == "auto" else name, limits=Limits())
    except DeviceUnavailable:
        if needed or name != "auto":
            raise
        return None


def _checked(table: Table, device: Device | None, url: str | None) -> list[Checked]:
    from autotune.store import Store
    from autotune.study.check import check

    if url is None:
        return list(check(table, device, None))
    with Store.open(url, read_only=True) as store:
        return list(check(table, device, store))


def _retimed(table: Table, device: Device, most: int) -> list[Retimed]:
    from autotune.report import console
    from autotune.study.check import retime

    with console.aside():
        return list(retime(table, device, most))


def _require_the_same(path: Path, checked: list[Checked], retimed: list[Retimed]) -> None:
    wrong = sum(each.change is None for each in retimed)
    if wrong:
        raise AutotuneError(
            f"{wrong} of the {len(retimed)} entries of {str(path)!r} that ran again were not right",
            hint=f"autotune certify {path} removes what is wrong; tune those problems again",
        )
    differ = [each.field for each in checked if each.differs]
    if differ:
        raise AutotuneError(
            f"{str(path)!r} differs from today in {', '.join(dict.fromkeys(differ))}",
            hint=f"autotune table check {path} --retime 5 tells whether its times still hold",
        )
