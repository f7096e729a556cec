"""A ladder as a picture: a bar for each rung, and a line for the peer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.records import one_line
from autotune.report.ladder import device_text, ladder_sheet, per_second
from autotune.report.picture import BAR, LINE, QUIET, write_picture
from autotune.report.sheet import Row
from autotune.report.units import Units, amount_text, unit_of
from autotune.study import LadderReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME_LETTERS = 40  # a longer name would leave no room for its bar


def write_plot(path: Path, report: LadderReport) -> None:
    """Draw ``report`` and write it to ``path``, whole or not at all.

    Equal reports give equal files. Raises what ``picture.require_drawable`` does.
    """
    write_picture(path, (8.0, 1.6 + 0.34 * len(report.steps)), partial(_paint, report))


def _paint(report: LadderReport, figure: Figure) -> None:
    _draw(figure.subplots(), report)
    figure.supxlabel(device_text(report), fontsize=8, color=QUIET)


def _draw(axes: Axes, report: LadderReport) -> None:
    rows = ladder_sheet(report).rows
    units = per_second(rows[0])[1]
    rates = [per_second(row)[0] or 0.0 for row in rows]
    scale, unit = unit_of(max(rates), units)
    rungs = [row for row in rows if not row["peer"]]
    lengths = [rate / scale for rate in rates[: len(rungs)]]
    bars = axes.barh(range(len(rungs)), lengths, color=BAR)
    axes.set_yticks(range(len(rungs)), [one_line(row["rung"], NAME_LETTERS) for row in rungs])
    told = [_told(row, rate, units) for row, rate in zip(rungs, rates, strict=False)]
    axes.bar_label(bars, told, padding=4, fontsize=9, color=QUIET)
    for row, rate in zip(rows, rates, strict=True):
        if row["peer"] and rate:
            label = f"{row['rung']}: {_told(row, rate, units)}"
            axes.axvline(rate / scale, color=LINE, linestyle="--", label=label, zorder=0)
            axes.legend(loc="upper right", framealpha=1.0, edgecolor="none")
    axes.invert_yaxis()  # the lowest rung is read first
    axes.margins(x=0.15)
    axes.set_xlabel(unit)
    axes.set_title(f"{report.spec.kernel.name} {report.spec.problem}", loc="left")


def _told(row: Row, rate: float, units: Units) -> str:
    return amount_text(rate, units) if rate else row["status"] or "not measured"
