"""A ladder as a picture: a bar for each rung, and a line for the peer."""

from __future__ import annotations

import importlib
import importlib.util
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune.errors import AutotuneError, InvalidInput, install_hint
from autotune.files import writable_target, write_whole
from autotune.records import described, one_line
from autotune.report.ladder import device_text, ladder_sheet, per_second
from autotune.report.sheet import Row
from autotune.report.units import Units, amount_text, unit_of
from autotune.study import LadderReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png")
TALLEST = 100.0  # inches: libpng and browsers take no more than 2^16 pixels
NAME_LETTERS = 40  # a longer name would leave no room for its bar
BAR, LINE, QUIET = "#3b6ea5", "#c0392b", "#777777"
STYLE: dict[str, Any] = {
    "svg.hashsalt": "autotune",  # otherwise ids in the file differ from run to run
    "svg.fonttype": "none",
    "text.parse_math": False,  # names are no formulas
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def require_drawable(path: Path) -> None:
    """Raise unless a plot could be written to ``path`` now.

    Raises:
        InvalidInput: The suffix is unknown, or a file cannot be there.
        AutotuneError: matplotlib is not installed, or cannot be loaded.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"plot {str(path)!r}: the name must end in {' or '.join(SUFFIXES)}")
    writable_target(path, what="plot")
    if importlib.util.find_spec("matplotlib") is None:
        raise AutotuneError("a plot needs matplotlib, which is missing", install_hint("plot"))
    try:
        importlib.import_module("matplotlib.figure")
    except Exception as error:
        why = f"a plot needs matplotlib, which cannot be loaded: {described(error)}"
        raise AutotuneError(why, hint="unset MPLBACKEND, or install it again") from error


def write_plot(path: Path, report: LadderReport) -> None:
    """Draw ``report`` and write it to ``path``, whole or not at all.

    Equal reports give equal files. Raises what ``require_drawable`` does.
    """
    require_drawable(path)
    write_whole(path, _drawn(report, path.suffix.lower()[1:]), what="plot")


def _drawn(report: LadderReport, kind: str) -> bytes:
    from matplotlib import style
    from matplotlib.figure import Figure

    image = io.BytesIO()
    with style.context(["default", STYLE], after_reset=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that a font lacks: a box stands for them
        tall = min(1.6 + 0.34 * len(report.steps), TALLEST)
        figure = Figure(figsize=(8.0, tall), layout="constrained")
        _draw(figure.subplots(), report)
        figure.supxlabel(device_text(report), fontsize=8, color=QUIET)
        undated = {"Date": None} if kind == "svg" else {}
        figure.savefig(image, format=kind, dpi=150, metadata=undated)
    return image.getvalue()


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
