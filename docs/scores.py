"""The scores of samplers, from the measurements that are committed.

In ``score.md`` the part ``scores GROUP`` is a table of one group of spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from marked import FOLDER, RESULTS, extents, filled, link, table, told

PAGE = FOLDER / "score.md"
FILE = "score.json"
NOT_YET = "Not measured yet."


def score_page() -> str:
    """Return ``score.md`` with every figure as it was measured."""
    names = re.findall(r"<!-- scores ([\w ]+) -->", PAGE.read_text(encoding="utf-8"))
    return filled(PAGE, {f"scores {name}": partial(_part, name) for name in names})


def _part(name: str) -> str:
    content = told(FILE) if (RESULTS / FILE).exists() else {"rows": []}
    group = next((row for row in content["rows"] if row["group"] == name), None)
    if group is None:
        return NOT_YET
    about = content["provenance"]
    tuner = f"Kernel Tuner {about['kernel_tuner']}, " if about["kernel_tuner"] else ""
    source = f"{tuner}{about['date']} ({link(FILE, 'JSON', page=PAGE)})."
    return "\n".join((*table(_lines(group)), "", source))


def _lines(group: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    yield ["sampler", "repeats", "score", "95 %", "tail", *map(_title, group["spaces"])]
    ranked = sorted(group["samplers"].values(), key=lambda mean: -mean["score"])
    for mean in ranked:
        low, high = mean["interval"]
        each = (f"{one['score']:.2f}" for one in mean["each"])
        score, tail = f"{mean['score']:.2f}", f"{mean['tail']:.2f}"
        name = f"`{mean['sampler']}`"
        yield [name, str(mean["repeats"]), score, f"{low:.2f} … {high:.2f}", tail, *each]


def _title(space: Mapping[str, Any]) -> str:
    if {"m", "n", "k"} <= space["problem"].keys():
        return extents(space["problem"])
    return f"`{space['recording'].partition('.')[0]}`"
