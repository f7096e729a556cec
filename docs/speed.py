"""The speed of ``gemm``, and README's other figures, from the measurements that are committed.

In ``README.md`` the part ``groups`` sets ``gemm`` beside cuBLAS and Triton by group of shapes, and
``rungs`` is the ladder. In ``speed.md``, ``squares`` is the speed of squares and ``kin`` that of
other types and layouts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from marked import (
    FOLDER,
    README,
    RESULTS,
    command,
    extents,
    filled,
    link,
    table,
    tflops,
    told,
    where,
)
from measured import ladders_of, rungs
from scores import searches

PAGE = FOLDER / "speed.md"
OURS, PEERS = "autotune", ("cuBLAS", "Triton")
MAIN = "gemm_h200.json"
RAGGED = ("tails", "unaligned")
KIN = [f"gemm_{name}_h200.json" for name in ("fp16", "nn", "tn", "tt", "fp8")]
Row = Mapping[str, Any]


def readme() -> str:
    """Return ``README.md`` with every figure as it was measured."""
    ladders = ladders_of(RESULTS)
    names = list(ladders[0].times_us)
    ladder = partial(rungs, ladders, names, page=README)
    return filled(README, {"groups": _groups, "rungs": ladder, "searches": searches})


def speed_page() -> str:
    """Return ``speed.md`` with every figure as it was measured."""
    return filled(PAGE, {"squares": _squares, "kin": _kin})


def compared(rows: Sequence[Row], peer: str) -> tuple[str, str]:
    """Return the geometric mean of a peer's time over ours, and the worst with its shape."""
    ratios = {extents(row): row["us"][peer] / row["us"][OURS] for row in rows if peer in row["us"]}
    if not ratios:
        return "", ""
    worst = min(ratios, key=lambda shape: ratios[shape])
    return f"{geometric_mean(ratios.values()):.3f}", f"{ratios[worst]:.3f} ({worst})"


def _groups() -> str:
    rows: Sequence[Row] = told(MAIN)["rows"]
    aligned, _ = _parted(rows)
    groups = _by_group(rows) | {f"all but {' and '.join(RAGGED)}": aligned}
    lines = [["group", "shapes", *(f"{peer}{what}" for peer in PEERS for what in ("", ", worst"))]]
    for name, some in groups.items():
        cells = (cell for peer in PEERS for cell in compared(some, peer))
        lines.append([name, str(len(some)), *cells])
    return "\n".join((*table(lines), "", *_sources([MAIN], README)))


def _squares() -> str:
    rows = _by_group(told(MAIN)["rows"])["`square`"]
    lines = [["TFLOP/s", *map(extents, rows)]]
    lines += ([side, *(tflops(row, row["us"][side]) for row in rows)] for side in (OURS, *PEERS))
    return "\n".join(table(lines))


def _kin() -> str:
    lines = [["dtype, layout", "shapes", "cuBLAS", "cuBLAS, worst", "configurations"]]
    for file in KIN:
        for what, rows in zip(("", ", ragged"), _parted(told(file)["rows"]), strict=True):
            if rows:
                lines.append(_kin_line(what, rows))
    return "\n".join((*table(lines), "", *_sources(KIN, PAGE)))


def _kin_line(what: str, rows: Sequence[Row]) -> list[str]:
    sources = Counter(row["choice"][OURS]["source"] for row in rows)
    name = f"{rows[0]['dtype']}, `{rows[0]['layout']}`{what}"
    counts = (f"{source} ({count})" for source, count in sources.items())
    return [name, str(len(rows)), *compared(rows, "cuBLAS"), ", ".join(counts)]


def _parted(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of aligned shapes, and those of ragged ones."""
    aligned = [row for row in rows if row["group"] not in RAGGED]
    return aligned, [row for row in rows if row["group"] in RAGGED]


def _by_group(rows: Sequence[Row]) -> dict[str, Sequence[Row]]:
    names = dict.fromkeys(row["group"] for row in rows)
    return {f"`{name}`": [row for row in rows if row["group"] == name] for name in names}


def _sources(files: Sequence[str], page: Path) -> Iterator[str]:
    """Yield device, driver and date, then the command of each file, which may differ in them."""
    runs = {file: told(file)["provenance"] for file in files}
    for place in dict.fromkeys(map(where, runs.values())):
        yield f"{place}:\n"
        for file, about in runs.items():
            if where(about) == place:
                json_file = link(file, "JSON", page=page)
                yield f"- {json_file} at commit `{about['commit']}`: `{command(about)}`"
