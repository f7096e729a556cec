"""Pictures as files: equal ones give equal bytes."""

from __future__ import annotations

import importlib
import importlib.util
import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune.errors import AutotuneError, InvalidInput, install_hint
from autotune.files import writable_target, write_whole
from autotune.records import described

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png")
TALLEST = 100.0  # inches: libpng and browsers take no more than 2^16 pixels
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


def write_picture(path: Path, size: tuple[float, float], draw: Callable[[Figure], None]) -> None:
    """Write what ``draw`` puts on a figure to ``path``, whole or not at all.

    Args:
        path: Its suffix says of which kind it is.
        size: Width and height, in inches.
        draw: Called with an empty figure.

    Raises what ``require_drawable`` does.
    """
    require_drawable(path)
    write_whole(path, _drawn(size, draw, path.suffix.lower()[1:]), what="plot")


def _drawn(size: tuple[float, float], draw: Callable[[Figure], None], kind: str) -> bytes:
    from matplotlib import style
    from matplotlib.figure import Figure

    image = io.BytesIO()
    with style.context(["default", STYLE], after_reset=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that a font lacks: a box stands for them
        wide, tall = size
        figure = Figure(figsize=(wide, min(tall, TALLEST)), layout="constrained")
        draw(figure)
        undated = {"Date": None} if kind == "svg" else {}
        figure.savefig(image, format=kind, dpi=150, metadata=undated)
    return image.getvalue()
