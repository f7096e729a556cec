"""The scores of samplers, from the measurements that are committed.

In ``score.md`` the part ``scores GROUP`` is a table of one group of spaces, in ``README.md`` the
part ``searches`` the means of the two groups where nothing is known before, and that of ``auto``
where the kernel predicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from marked import FOLDER, NOT_YET, README, RESULTS, extents, filled, link, table, told

PAGE = FOLDER / "score.md"
FILE = "score.json"
UNKNOWING = {"hub": "published spaces", "h200": "problems on an H200"}
OURS = ("auto", "tpe", "local", "random")
PREDICTED = "h200 prior"  # no kernel of the published spaces predicts anything


def score_page() -> str:
    """Return ``score.md`` with every figure as it was measured."""
    names = re.findall(r"<!-- scores ([\w ]+) -->", PAGE.read_text(encoding="utf-8"))
    return filled(PAGE, {f"scores {name}": partial(_part, name) for name in names})


def _part(name: str) -> str:
    content = told(FILE) if (RESULTS / FILE).exists() else {"rows": []}
    group = next((row for row in content["rows"] if row["group"] == name), None)
    if group is None:
        return NOT_YET
    return "\n".join((*table(_lines(group)), "", _source(content, PAGE)))


def _source(content: Mapping[str, Any], page: Path) -> str:
    about = content["provenance"]
    tuner = f"Kernel Tuner {about['kernel_tuner']}, " if about["kernel_tuner"] else ""
    return f"{tuner}{about['date']} ({link(FILE, 'JSON', page=page)})."


def searches() -> str:
    """Return the scores of ours, of chance and of Kernel Tuner's best strategy, group by group."""
    every = {row["group"]: row for row in told(FILE)["rows"]}
    groups = [every[name] for name in UNKNOWING]
    head = ["search", *(f"{UNKNOWING[g['group']]} ({len(g['spaces'])})" for g in groups)]
    ours = [[f"`{name}`", *(_mean(g["samplers"][name]) for g in groups)] for name in OURS]
    predicted = every[PREDICTED]["samplers"]["auto"]
    knowing = ["`auto`, told what the kernel predicts", "", _mean(predicted)]
    theirs = ["the best strategy of Kernel Tuner", *map(_best_of_theirs, groups)]
    return "\n".join((*table([head, knowing, *ours, theirs]), "", _source(told(FILE), README)))


def _best_of_theirs(group: Mapping[str, Any]) -> str:
    theirs = (mean for name, mean in group["samplers"].items() if ":" in name)
    best = max(theirs, key=lambda mean: float(mean["score"]))
    return f"{_mean(best)}, `{best['sampler'].partition(':')[2]}`"


def _mean(mean: Mapping[str, Any]) -> str:
    low, high = mean["interval"]
    return f"{mean['score']:.2f} ({low:.2f} … {high:.2f})"


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
