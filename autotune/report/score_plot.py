"""Scores as a picture: how far each sampler is ahead of random search, as time goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from autotune.records import one_line
from autotune.report.picture import QUIET, write_picture
from autotune.report.score import MEAN, by_sampler, by_space
from autotune.score import Judged
from autotune.score.landscape import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
TITLE_LETTERS = 44
_Panel = tuple[str, Mapping[str, Floats]]  # title, and a curve for each sampler
DEEPEST = -1.0  # far below random search it matters no more how far


def write_plot(path: Path, found: Sequence[Judged]) -> None:
    """Draw one panel for each space, after one of their mean, and write them to ``path``.

    Equal scores give equal files. Raises what ``picture.require_drawable`` does.
    """
    panels = _panels(found)
    columns = min(COLUMNS, len(panels))
    size = 4.0 * columns + 1.0, 2.8 * math.ceil(len(panels) / columns) + 0.6
    write_picture(path, size, partial(_paint, panels, columns))


def _panels(found: Sequence[Judged]) -> list[_Panel]:
    """Return what to draw: one panel for each space, led by their mean if there are several."""
    panels: list[_Panel] = [
        (one_line(space.name, TITLE_LETTERS), {each.sampler: each.curve for each in some})
        for space, some in by_space(found).items()
    ]
    if len(panels) == 1:
        return panels
    curves = {name: [each.curve for each in some] for name, some in by_sampler(found).items()}
    mean = {name: np.mean(some, axis=0) for name, some in curves.items()}
    return [(f"{MEAN} ({len(panels)})", mean), *panels]


def _paint(panels: Sequence[_Panel], columns: int, figure: Figure) -> None:
    rows = math.ceil(len(panels) / columns)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        _draw(axes, *panel)
    for axes in grid[len(panels) :]:
        axes.remove()
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.supxlabel("time, from the start of the window to its end")
    figure.supylabel("score")


def _draw(axes: Axes, title: str, curves: Mapping[str, Floats]) -> None:
    for sampler, curve in curves.items():
        axes.plot(np.linspace(0, 1, len(curve)), curve, label=sampler, linewidth=1.2)
    axes.axhline(0.0, color=QUIET, linewidth=0.8, linestyle="--")
    axes.set_title(title, fontsize=8, loc="left")
    axes.set_ylim(DEEPEST, 1.02)
