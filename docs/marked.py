"""Fill the parts of a page that follow from measurements.

Such a part stands between ``<!-- NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
README = FOLDER.parent / "README.md"
RESULTS = FOLDER.parent / "benchmarks" / "results"
NOT_YET = "Not measured yet."  # where there are no results
_MARKED = re.compile(r"<!-- ([\w ]+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(page: Path, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with each marked part as the function of that name tells it."""

    def written(match: re.Match[str]) -> str:
        return f"<!-- {match[1]} -->\n{parts[match[1]]()}\n<!-- end -->"

    return _MARKED.sub(written, page.read_text(encoding="utf-8"))


def told(name: str) -> dict[str, Any]:
    """Return what a committed file of results tells."""
    text = (RESULTS / name).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def table(lines: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose first line is its head."""
    head, *body = lines
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *body)]


def extents(of: Mapping[str, Any]) -> str:
    """Return the extents of a product in short: ``4096³``, or one after the other."""
    m, n, k = (of[name] for name in "mnk")
    return f"{m}³" if m == n == k else f"{m}×{n}×{k}"


def tflops(of: Mapping[str, Any], time_us: float) -> str:
    """Return the rate of a product in TFLOP/s."""
    return f"{2 * of['m'] * of['n'] * of['k'] / time_us / 1e6:.0f}"


def where(about: Mapping[str, Any]) -> str:
    """Return the device, its driver and the date."""
    return f"{about['device']}, driver {about['driver']}, {about['date']}"


def command(about: Mapping[str, Any]) -> str:
    """Return what was typed, but for where the results were written."""
    return str(about["command"]).partition(" --json ")[0]


def link(name: str, text: str, *, page: Path) -> str:
    """Return a link from a page to a committed file of results."""
    return f"[{text}]({os.path.relpath(RESULTS / name, page.parent)})"
